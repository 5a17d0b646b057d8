"""Prints infra/template.yaml as CloudFormation sees it after SAM's transform, as JSON.

usage: translate.py <template> [<parameter>=<value>]...
"""

import json
import sys

from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform


class NoManagedPolicies:
    """The template names no managed policies of its own, so nothing is looked up in an account."""

    def load(self):
        return {}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        template = yaml_parse(file.read())
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            # SAM accepts no local folder here; `sam deploy` replaces it by what it has uploaded.
            resource["Properties"]["CodeUri"] = "s3://code/of-the-function"
    template.get("Globals", {}).get("Function", {}).pop("CodeUri", None)
    given = dict(word.split("=", 1) for word in sys.argv[2:])
    json.dump(transform(template, given, NoManagedPolicies()), sys.stdout)


main()

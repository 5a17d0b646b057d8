"""Prints the property in which each type of resource has its tags, as JSON, or null for a type that cannot have any.

cfn-lint has the schemas that AWS publishes.

usage: taggable.py <type>...
"""

import json
import sys

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER


def property_of_tags(kind):
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema
    # Some schemas have the property, and say nothing about tagging.
    name = schema.get("tagging", {}).get("tagProperty", "/properties/Tags").rsplit("/", 1)[1]
    return name if name in schema["properties"] else None


json.dump({kind: property_of_tags(kind) for kind in sys.argv[1:]}, sys.stdout)

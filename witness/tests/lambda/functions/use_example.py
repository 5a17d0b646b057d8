"""Calls the example as a handler would."""

import json
import sys
from types import SimpleNamespace

sys.path.insert(0, sys.argv[1])
from report import report  # noqa: E402

context = SimpleNamespace(**json.loads(sys.argv[2]))
try:
    {}["price"]
except KeyError as error:
    report(error, json.loads(sys.argv[3])["Records"], context)

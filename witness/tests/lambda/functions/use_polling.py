"""Calls the example for services that receive by themselves, with an error whose text is long and not ASCII."""

import sys

sys.path.insert(0, sys.argv[1])
from report_polling import report  # noqa: E402

messages = [
    {"MessageId": f"00000000-0000-4000-8000-{number:012}", "Attributes": {"ApproximateReceiveCount": "2"}}
    for number in range(10)
]
try:
    raise ValueError("Ж" * 20_000)
except ValueError as error:
    report(error, messages, sys.argv[2], "orders-worker")

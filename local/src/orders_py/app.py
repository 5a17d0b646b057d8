"""The demo's Python consumer: an ordinary function that throws, and the loop that hands it batches.

A batch is a line of JSON on stdin, an event as Lambda delivers it; the answer is a line on stdout. Nothing here reports
anything: that an order failed stands in the log only.
"""

import json
import logging
import sys
import time

logger = logging.getLogger("orders-py")


def handler(event, context):
    """Adds up partner orders."""
    for record in event["Records"]:
        order = json.loads(record["body"])
        total = order["price"] * order["quantity"]
        logger.info("order %s costs %s", order["order_id"], total)


def main():
    lines = logging.FileHandler(sys.argv[1])
    formatter = logging.Formatter("%(asctime)s %(levelname)s %(name)s - %(message)s")
    formatter.converter = time.gmtime
    lines.setFormatter(formatter)
    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
    for line in sys.stdin:
        try:
            handler(json.loads(line), None)
            answer = {"ok": True}
        except Exception:
            logger.exception("invocation failed")
            answer = {"ok": False}
        print(json.dumps(answer), flush=True)


main()

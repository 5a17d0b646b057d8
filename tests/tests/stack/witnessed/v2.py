"""The consumer once it is mended: payments without a price are free."""

import json


def charge(payment):
    return payment.get("price", 0) * 100


def handle(event, context):
    for record in event["Records"]:
        charge(json.loads(record["body"]))

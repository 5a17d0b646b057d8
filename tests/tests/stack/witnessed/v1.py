"""A consumer that fails on payments without a price. Nothing in it knows of the office."""

import json


def charge(payment):
    return payment["price"] * 100


def handle(event, context):
    for record in event["Records"]:
        charge(json.loads(record["body"]))

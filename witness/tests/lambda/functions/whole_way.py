"""Deploys a failing function with `dlo-witness run` to an endpoint that speaks AWS, and waits until its messages are dead.

Arguments: the witness, the Python of the function. Prints the bodies on the reports queue and the ids on the
dead-letter queue as JSON.
"""

import io
import json
import sys
import time
import zipfile

import boto3

witness, python = sys.argv[1:]
sqs, functions = boto3.client("sqs"), boto3.client("lambda")


def queue(name, **attributes):
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    return url, arn


reports, _ = queue("reports")
dead, dead_arn = queue("orders-dlq")
redrive = json.dumps({"deadLetterTargetArn": dead_arn, "maxReceiveCount": 2})
orders, orders_arn = queue("orders", VisibilityTimeout="1", RedrivePolicy=redrive)

archive = io.BytesIO()
with zipfile.ZipFile(archive, "w") as code:
    bootstrap = zipfile.ZipInfo("bootstrap")
    bootstrap.external_attr = 0o755 << 16
    code.writestr(bootstrap, f"#!/bin/sh\ncd \"$LAMBDA_TASK_ROOT\"\nexec {witness} run -- {python} -m awslambdaric app.handle\n")
    code.write("app.py")
functions.create_function(
    FunctionName="orders",
    Runtime="provided.al2023",
    Handler="app.handle",
    Role="arn:aws:iam::000000000000:role/orders",
    Code={"ZipFile": archive.getvalue()},
    Timeout=60,
    Environment={"Variables": {"DLO_REPORTS": reports, "DLO_WITNESS_PORT": sys.stdin.readline().strip()}},
)
functions.create_event_source_mapping(FunctionName="orders", EventSourceArn=orders_arn, BatchSize=1)
sent = sqs.send_message(QueueUrl=orders, MessageBody=json.dumps({"do": "raise"}))["MessageId"]


def receive(url):
    messages = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1).get("Messages", [])
    for message in messages:
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return messages


received, ids = [], []
deadline = time.monotonic() + 110
while (len(received) < 2 or not ids) and time.monotonic() < deadline:
    received += [message["Body"] for message in receive(reports)]
    ids += [message["MessageId"] for message in receive(dead)]
print(json.dumps({"sent": sent, "reports": received, "dead": ids}))

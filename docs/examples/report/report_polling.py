"""Reports a message that failed, from a service that receives by itself. Call it where the handler catches an error, and do
not delete the message. Receive with `MessageSystemAttributeNames=["ApproximateReceiveCount"]`."""

import json
import os
import socket
import time
import traceback
import uuid

import boto3

sqs = boto3.client("sqs")


def report(error, messages, queue_arn, service):
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    body = {
        "v": 1,
        "kind": "error",
        "request_id": str(uuid.uuid4()),
        "function": service,
        "instance": socket.gethostname(),
        "queue": queue_arn,
        "failed_at": round(time.time() * 1000),
        "error": {"type": type(error).__name__, "message": str(error)[:3000], "stack": stack[-6000:]},
        "messages": [
            {"id": message["MessageId"], "receives": int(message["Attributes"]["ApproximateReceiveCount"])}
            for message in messages
        ],
    }
    sqs.send_message(QueueUrl=os.environ["DLO_REPORTS"], MessageBody=json.dumps(body, ensure_ascii=False))

"""Reports a failed batch. Call it where the handler catches an error, then raise the error again."""

import json
import os
import time
import traceback

import boto3

sqs = boto3.client("sqs")


def report(error, records, context):
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    body = {
        "v": 1,
        "kind": "error",
        "request_id": context.aws_request_id,
        "function": context.invoked_function_arn,
        "version": context.function_version,
        "instance": context.log_stream_name,
        "queue": records[0]["eventSourceARN"],
        "failed_at": round(time.time() * 1000),
        "error": {"type": type(error).__name__, "message": str(error)[:3000], "stack": stack[-6000:]},
        "messages": [
            {"id": record["messageId"], "receives": int(record["attributes"]["ApproximateReceiveCount"])}
            for record in records
        ],
    }
    sqs.send_message(QueueUrl=os.environ["DLO_REPORTS"], MessageBody=json.dumps(body, ensure_ascii=False))

"""An ordinary consumer: what it does with a message is in the message's body."""

import json
import logging
import os
import signal
import time
import urllib.request

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

logger = logging.getLogger()
processor = BatchProcessor(event_type=EventType.SQS)


def handle(event, context):
    if "Records" not in event:
        return event
    failed = []
    for record in event["Records"]:
        order = json.loads(record["body"])
        try:
            work(order, record)
        except TooMuch:
            return "x" * 7_000_000
        except Much:
            return "x" * 3_000_000
        except Returned:
            failed.append({"itemIdentifier": record["messageId"]})
        except NotANumber:
            return {"batchItemFailures": [{"itemIdentifier": record["messageId"]}], "mean_ms": float("nan")}
    return {"batchItemFailures": failed} if failed else {"api": os.environ["AWS_LAMBDA_RUNTIME_API"]}


def work(order, record):
    match order["do"]:
        case "raise":
            price = order["price"]
        case "refuse":
            raise ValueError(f"order {order['id']} was refused")
        case "return":
            logger.error("cannot charge %s", record["messageId"])
            raise Returned
        case "return silently":
            raise Returned
        case "answer no number":
            raise NotANumber
        case "answer too much":
            raise TooMuch
        case "answer much":
            raise Much
        case "fail much":
            raise ValueError("x" * 1_200_000)
        case "sleep":
            time.sleep(3600)
        case "exit":
            print("fatal error: the database is gone", flush=True)
            os._exit(7)
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "eat":
            eaten = []
            while True:
                eaten.append(bytearray(os.urandom(1024)) * 1024)


class Returned(Exception):
    pass


class NotANumber(Exception):
    pass


class Much(Exception):
    pass


class TooMuch(Exception):
    pass


def late(event, context):
    """Ends after it has been reported as too late."""
    while urllib.request.urlopen(os.environ["DLO_REPORTS"]).read() == b"0":
        time.sleep(0.01)


def powertools(event, context):
    return process_partial_response(event=event, record_handler=charge, processor=processor, context=context)


def charge(record):
    order = json.loads(record.body)
    if order["do"] == "raise":
        raise ValueError(f"order {order['id']} was refused")

"""Checks requests of the functions against AWS's own service models, as botocore carries them, and against quotas that
the models do not have.

usage: requests.py <file>, with one request per line: {"service": "sqs", "operation": "SendMessageBatch", "raw": "<base64>"}

Prints how many requests of each operation it has checked, and each fault. The endpoints of this machine accept much that
AWS refuses.
"""

import base64
import json
import re
import sys
from collections import Counter
from urllib.parse import parse_qsl

import cbor2
from botocore.loaders import Loader
from botocore.model import ServiceModel

# The names of services in signatures, where the models' folders have others.
MODELS = {"monitoring": "cloudwatch"}
# Their requests are paths and headers, which the SDK makes from the same models.
WITHOUT_BODY = {"s3", "lambda"}
FAULTS_SHOWN = 20
NUMBERS = {"integer": int, "long": int, "double": (int, float), "float": (int, float), "timestamp": (int, float)}


def problems(shape, value, at):
    """Yields what is wrong with a value of a shape."""
    kind, rules = shape.type_name, shape.metadata
    if kind == "structure":
        if not isinstance(value, dict):
            yield f"{at} is no structure"
            return
        for name in shape.required_members:
            if value.get(name) is None:
                yield f"{at} lacks {name}"
        for name, member in value.items():
            if name not in shape.members:
                yield f"{at} has {name}, which does not exist"
            elif member is not None:
                yield from problems(shape.members[name], member, f"{at}.{name}")
        if shape.is_tagged_union and len(value) != 1:
            yield f"{at} has {len(value)} members of a union"
        return
    if kind in ("list", "map"):
        expected = list if kind == "list" else dict
        if not isinstance(value, expected):
            yield f"{at} is no {kind}"
            return
        yield from bounds(rules, len(value), f"{at} has {len(value)} members")
        for key, member in enumerate(value) if kind == "list" else value.items():
            yield from problems(shape.member if kind == "list" else shape.value, member, f"{at}[{key}]")
        if kind == "map":
            for key in value:
                yield from problems(shape.key, key, f"{at}, key {key!r}")
        return
    if kind == "blob":
        if isinstance(value, str):
            try:
                base64.b64decode(value, validate=True)
            except ValueError:
                yield f"{at} is not base64"
        elif not isinstance(value, bytes):
            yield f"{at} is no blob"
        return
    if kind == "boolean":
        if not isinstance(value, bool) and value not in ("true", "false"):
            yield f"{at} is no boolean"
        return
    if kind == "string":
        if not isinstance(value, str):
            yield f"{at} is no string"
            return
        yield from bounds(rules, len(value), f"{at} has {len(value)} characters")
        if getattr(shape, "enum", None) and value not in shape.enum:
            yield f"{at} is {value!r}, which the model does not name"
        if "pattern" in rules and not matches(rules["pattern"], value):
            yield f"{at} does not match {rules['pattern']}"
        return
    if kind in NUMBERS:
        if isinstance(value, bool) or not isinstance(value, NUMBERS[kind]):
            # CBOR has its own kind of time.
            if not (kind == "timestamp" and hasattr(value, "timestamp")):
                yield f"{at} is no number"
            return
        yield from bounds(rules, value, f"{at} is {value}")
        return
    yield f"{at} has the kind {kind}, which this check does not know"


def bounds(rules, value, words):
    if value < rules.get("min", value) or value > rules.get("max", value):
        yield f"{words}; {rules.get('min', 0)} to {rules.get('max', 'any number')} are allowed"


def matches(pattern, value):
    try:
        return re.search(pattern, value) is not None
    except re.error:
        # A few patterns are Java's.
        return True


def size(message):
    """The bytes of a message of SQS: body, and name, type and value of each attribute."""
    total = len(message.get("MessageBody", "").encode())
    for name, attribute in (message.get("MessageAttributes") or {}).items():
        binary = attribute.get("BinaryValue")
        value = len(base64.b64decode(binary)) if binary else len(attribute.get("StringValue", "").encode())
        total += len(name.encode()) + len(attribute["DataType"].encode()) + value
    return total


def message_faults(message, at):
    if not 1 <= len(message.get("MessageBody", "")):
        yield f"{at} has no body"
    if len(message.get("MessageAttributes") or {}) > 10:
        yield f"{at} has more than 10 attributes"
    if not 0 <= message.get("DelaySeconds", 0) <= 900:
        yield f"{at} is delayed by more than 15 minutes"
    if size(message) > 1_048_576:
        yield f"{at} has {size(message)} bytes"


def quotas(service, operation, request):
    """Yields what breaks a quota that the model does not have: those of docs.aws.amazon.com for SQS, DynamoDB, CloudWatch
    and EventBridge."""
    if service == "sqs" and operation.endswith("Batch"):
        entries = request["Entries"]
        ids = [entry["Id"] for entry in entries]
        if not 1 <= len(entries) <= 10:
            yield f"a batch of {len(entries)} entries"
        if len(set(ids)) != len(ids) or not all(re.fullmatch(r"[A-Za-z0-9_-]{1,80}", one) for one in ids):
            yield "ids of a batch must differ and be names"
        if operation == "SendMessageBatch":
            for entry in entries:
                yield from message_faults(entry, f"entry {entry['Id']}")
            if sum(map(size, entries)) > 1_048_576:
                yield "a batch of more than 1 MiB"
    if service == "sqs" and operation == "SendMessage":
        yield from message_faults(request, "the message")
    if service == "sqs" and operation == "ReceiveMessage":
        if not 1 <= request.get("MaxNumberOfMessages", 1) <= 10 or not 0 <= request.get("WaitTimeSeconds", 0) <= 20:
            yield "receives 1 to 10 messages, and waits 0 to 20 s"
    if service == "dynamodb" and operation == "TransactWriteItems":
        if len(json.dumps(request)) > 4_000_000:
            yield "a transaction of more than 4 MB"
        keys = [json.dumps(key(next(iter(item.values()))), sort_keys=True) for item in request["TransactItems"]]
        if len(set(keys)) != len(keys):
            yield "a transaction that names one item twice"
        if len(request.get("ClientRequestToken", "")) > 36:
            yield "a token of more than 36 characters"
    if service == "dynamodb" and operation == "PutItem" and len(json.dumps(request["Item"])) > 550_000:
        yield "an item of more than 400 KB"
    if service == "dynamodb":
        used = json.dumps([request.get(name, "") for name in request if name.endswith("Expression")])
        for names in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
            unused = [name for name in request.get(names, {}) if name not in used]
            if unused and operation != "TransactWriteItems":
                yield f"{names} that no expression uses: {', '.join(unused)}"
    if service == "monitoring" and operation == "PutMetricData":
        for metric in request.get("MetricData", []):
            if len(metric.get("Dimensions", [])) > 30 or len(metric.get("Values", [])) > 150:
                yield f"{metric['MetricName']} has too many dimensions or values"
    if service == "events" and operation == "PutEvents":
        if sum(len(json.dumps(entry).encode()) for entry in request["Entries"]) > 1_048_576:
            yield "events of more than 1 MiB"


def key(action):
    """The key of an item in a transaction, of this table: `pk` and `sk`."""
    item = action.get("Key") or action.get("Item", {})
    return {"table": action.get("TableName"), "pk": item.get("pk"), "sk": item.get("sk")}


def body(service, raw):
    if service == "monitoring":
        return cbor2.loads(raw)
    if service == "sns":
        return {name: value for name, value in parse_qsl(raw.decode()) if name not in ("Action", "Version")}
    return json.loads(raw or b"{}")


def faults(models, service, operation, raw):
    """Returns everything that is wrong with a request."""
    name = MODELS.get(service, service)
    if name not in models:
        models[name] = ServiceModel(Loader().load_service_model(name, "service-2"))
    request = body(service, raw)
    if service == "sns":
        operation = dict(parse_qsl(raw.decode()))["Action"]
        # Lists and maps are spelled out in names with dots: those of this office are attributes of messages.
        request = {name: value for name, value in request.items() if "." not in name}
    shape = models[name].operation_model(operation).input_shape
    found = list(problems(shape, request, operation))
    return found or list(quotas(service, operation, request))


def prove(models):
    """A check that finds nothing wrong must be able to."""
    many = [{"Id": str(n), "MessageBody": "x"} for n in range(11)]
    for service, operation, request, expected in [
        ("sqs", "SendMessageBatch", {"QueueUrl": "q", "Entries": many}, "a batch of 11 entries"),
        ("sqs", "SendMessageBatch", {"Entries": []}, "SendMessageBatch lacks QueueUrl"),
        ("sqs", "DeleteMessage", {"QueueUrl": "q", "ReceiptHandle": 7}, "is no string"),
        ("dynamodb", "GetItem", {"TableName": "t", "Key": {}, "Consistent": True}, "which does not exist"),
        ("dynamodb", "TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "t", "Item": {}}}] * 101}, "1 to 100"),
        ("dynamodb", "TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "t", "Item": {}}}] * 2}, "twice"),
        ("dynamodb", "Query", {"TableName": "t", "ExpressionAttributeNames": {"#a": "a"}}, "no expression uses"),
        ("dynamodb", "PutItem", {"TableName": "t", "Item": {}, "ReturnValues": "SOME"}, "the model does not name"),
    ]:
        found = faults(models, service, operation, json.dumps(request).encode())
        assert any(expected in fault for fault in found), f"{operation}: {expected} is not among {found}"


def main(path):
    models, checked, wrong = {}, Counter(), Counter()
    prove(models)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            call = json.loads(line)
            service, operation = call["service"], call["operation"]
            if service in WITHOUT_BODY:
                continue
            checked[f"{service} {operation}"] += 1
            for fault in faults(models, service, operation, base64.b64decode(call["raw"])):
                wrong[f"{service}: {fault}"] += 1
    for operation, count in sorted(checked.items()):
        print(f"{count:6} {operation}")
    for fault, count in wrong.most_common(FAULTS_SHOWN):
        print(f"FAULT, {count} times: {fault}")
    if not checked:
        print("FAULT: no request was recorded")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""What only a real account can prove about the deployed stacks, and what an endpoint on this machine can prove of it.

usage: account.py <stack of the office> <stack of the demo>

Uses the credentials, the region and, if there is one, the AWS_ENDPOINT_URL of the environment. It adds three people to the
office's pool and lowers the waits of its policy, and takes both back at the end. It places orders in the demo's queue,
which nobody else may use meanwhile. Prints a line for each check, and exits with 1 if one fails. The first one says what
the stacks lack for this test; without that, nothing else is done.
"""

import hashlib
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone

import boto3
import botocore.exceptions

ORDERS = 12
DEADLINE_S = 300
PAUSE_S = 1
# A sweep each minute records metrics, and CloudWatch shows them a little later.
METRICS_DEADLINE_S = 600
ROLES = {"account-test-operator": "operator", "account-test-approver": "approver", "account-test-admin": "admin"}
# Waits of seconds, as for the demo on one machine.
QUICK = {
    "gate": {"quiet_ms": 3000},
    "message_types": [{"message_type": "*", "idempotent": True}],
    "replay": {"window_slack_ms": 1000, "wave_delay_ms": 1000, "wave_delay_ms_max": 2000},
}
LOCAL = os.environ.get("AWS_ENDPOINT_URL", "")


class Skipped(Exception):
    """A check that this endpoint cannot answer."""


def until(what, look, deadline_s=DEADLINE_S):
    """Waits for a condition, and returns its value."""
    ends = time.monotonic() + deadline_s
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < ends, f"{what}: not within {deadline_s} s"
        time.sleep(PAUSE_S)


class Account:
    def __init__(self, office, demo):
        self.office = office
        client = boto3.client
        self.stacks, self.sqs, self.functions = client("cloudformation"), client("sqs"), client("lambda")
        self.people, self.metrics = client("cognito-idp"), client("cloudwatch")
        self.demo, self.outputs = demo, {}
        self.tokens, self.policy, self.group, self.run = {}, None, None, secrets.token_hex(4)

    def described(self, stack):
        """Returns the outputs and the parameters of a stack, or `None` if it is not deployed."""
        try:
            found = self.stacks.describe_stacks(StackName=stack)["Stacks"][0]
        except botocore.exceptions.ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
        outputs = {output["OutputKey"]: output["OutputValue"] for output in found.get("Outputs", [])}
        return outputs, {given["ParameterKey"]: given["ParameterValue"] for given in found.get("Parameters", [])}

    def http(self, method, path, token=None, body=None):
        """Returns status, headers and text of an answer of the office."""
        host = self.url.removeprefix("https://")
        request = urllib.request.Request((LOCAL.rstrip("/") or self.url) + path, method=method)
        if LOCAL:
            request.add_header("host", host)
        if token:
            # CloudFront in front of the office replaces Authorization, and signs a body by the hash that the caller sends.
            request.add_header("dlo-authorization", f"Bearer {token}")
        if body is not None:
            request.add_header("content-type", "application/json")
            request.data = json.dumps(body).encode()
        if method != "GET":
            request.add_header("x-amz-content-sha256", hashlib.sha256(request.data or b"").hexdigest())
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def api(self, who, method, path, body=None, may_be=(200,)):
        status, _, text = self.http(method, f"/api/v1{path}", self.tokens[who], body)
        assert status in may_be, f"{method} {path}: {status} {text}"
        return json.loads(text)

    # The checks, in their order.

    def the_stacks_are_set_up_for_this_test(self):
        """Names all that is missing at once, by the steps of *Test a deployed stack* in docs/operations.md."""
        office, demo = self.described(self.office), self.described(self.demo)
        absent = [f"deploy the stack {name}" for name, found in [(self.demo, demo), (self.office, office)] if not found]
        assert not absent, "; ".join(absent)
        (self.outputs, given), (outputs, _) = office, demo
        self.main = outputs["MainQueue"]
        orders = self.functions.get_function_configuration(FunctionName="orders")
        receipts = orders["Environment"]["Variables"].get("ORDERS_RECEIPTS")
        watched = [given.get(f"{which}DeadLetterQueueArn") for which in ("", "Second", "Third")]
        listed = lambda name: given.get(name, "").split(",")
        steps = [
            (outputs["DeadLetterQueue"] in watched, f"DeadLetterQueueArn={outputs['DeadLetterQueue']} of the office"),
            (self.main in listed("MainQueueArns"), f"MainQueueArns={self.main} of the office"),
            (
                orders["FunctionArn"] in listed("ConsumerFunctionArns"),
                f"ConsumerFunctionArns={orders['FunctionArn']} of the office",
            ),
            (given.get("IntakeEnabled") == "true", "IntakeEnabled=true of the office"),
            (given.get("ReplaysEnabled") == "true", "ReplaysEnabled=true of the office"),
            # Local endpoints refuse the alarm that the parameter creates.
            (LOCAL or given.get("RetryShareAlarm") != "0", "RetryShareAlarm=5 of the office"),
            ("PeoplePool" in self.outputs, "IssuerUrl, blank, of the office: the test adds people to the stack's own pool"),
            (LOCAL or given.get("Mfa") == "OPTIONAL", "Mfa=OPTIONAL of the office: the test signs in with passwords alone"),
            (
                receipts == self.outputs["ReceiptsQueue"],
                f"ReceiptsQueueArn={self.outputs['ReceiptsQueue']} of the demo service",
            ),
        ]
        missing = [what for is_there, what in steps if not is_there]
        assert not missing, f"set these parameters: {'; '.join(missing)}"
        self.url = self.outputs["Dashboard"].rstrip("/")
        self.queue = self.sqs.get_queue_url(QueueName=self.main.rsplit(":", 1)[1])["QueueUrl"]

    def the_function_url_serves_the_dashboard(self):
        status, headers, text = self.http("GET", "/")
        assert status == 200 and "<html" in text, f"{status}: {text[:200]}"
        assert "content-security-policy" in headers, "no content security policy"

    def browsers_are_told_to_use_tls_only(self):
        if LOCAL:
            raise Skipped("an endpoint on this machine speaks HTTP")
        assert "strict-transport-security" in self.http("GET", "/")[1], "no HSTS"

    def who_has_no_token_is_refused(self):
        for token in (None, "forged"):
            status, _, text = self.http("GET", "/api/v1/groups", token)
            assert status == 401, f"{status}: {text}"

    def people_of_the_pool_get_tokens_with_their_roles(self):
        pool, app = self.outputs["PeoplePool"], self.outputs["PeopleClientId"]
        password = secrets.token_urlsafe(16) + "-aA1"
        for name, role in ROLES.items():
            person = {"UserPoolId": pool, "Username": name}
            self.people.admin_create_user(MessageAction="SUPPRESS", **person)
            self.people.admin_set_user_password(Password=password, Permanent=True, **person)
            self.people.admin_add_user_to_group(GroupName=role, **person)
            sign_in = {"ClientId": app, "AuthParameters": {"USERNAME": name, "PASSWORD": password}}
            if LOCAL:
                found = self.people.initiate_auth(AuthFlow="USER_PASSWORD_AUTH", **sign_in)
            else:
                found = self.people.admin_initiate_auth(UserPoolId=pool, AuthFlow="ADMIN_USER_PASSWORD_AUTH", **sign_in)
            self.tokens[role] = found["AuthenticationResult"]["IdToken"]
            me = self.api(role, "GET", "/me")
            assert me["role"] == role, me

    def passwords_do_not_pass_through_the_public_api(self):
        if LOCAL:
            raise Skipped("the pool of a local endpoint allows it for tests")
        try:
            self.people.initiate_auth(
                ClientId=self.outputs["PeopleClientId"],
                AuthFlow="USER_PASSWORD_AUTH",
                AuthParameters={"USERNAME": "x", "PASSWORD": "y"},
            )
        except self.people.exceptions.InvalidParameterException:
            return
        raise AssertionError("USER_PASSWORD_AUTH is on")

    def the_policy_can_be_changed_and_every_function_follows(self):
        self.policy = self.api("admin", "GET", "/policy")
        changed = {**self.policy["policy"], **{
            key: {**self.policy["policy"][key], **value} if isinstance(value, dict) else value
            for key, value in QUICK.items()
        }}
        request = {"policy": changed, "version": self.policy["version"], "reason": "a test of the account"}
        self.api("admin", "PUT", "/policy", request)

    def orders_that_fail_are_redriven_and_counted_once(self):
        before = self.api("operator", "GET", "/groups")["summary"]["open_letters"]
        self.deploy("v0")
        self.place(ORDERS)
        look = lambda: self.api("operator", "GET", "/groups")
        found = until(
            f"{ORDERS} more open letters",
            lambda: (now := look())["summary"]["open_letters"] >= before + ORDERS and now,
        )
        assert found["summary"]["open_letters"] == before + ORDERS, found["summary"]
        groups = [row for row in found["groups"] if row["queue"] == self.main.rsplit(":", 1)[1] and row["open"]["letters"]]
        self.group = max(groups, key=lambda row: row["last_died_at"] or 0)["id"]

    def a_warning_is_stored_at_its_level(self):
        if LOCAL:
            raise Skipped("a local endpoint stores lines as they are")
        self.api("operator", "PUT", "/policy", {"policy": {}, "version": 0, "reason": "no right"}, may_be=(403,))
        started_ms = int((time.time() - DEADLINE_S) * 1000)
        resources = self.stacks.describe_stack_resources(StackName=self.office, LogicalResourceId="ApiLog")
        group = resources["StackResources"][0]["PhysicalResourceId"]
        warned = '{ $.level = "WARN" && $.fields.message = "a call without permission*" && $.timestamp = "*" }'
        logs = boto3.client("logs")
        search = lambda: logs.filter_log_events(logGroupName=group, startTime=started_ms, filterPattern=warned)["events"]
        until("the line of the refused call, with the level WARN", search)

    def sqs_says_which_queue_a_letter_came_from(self):
        letters = self.api("operator", "GET", f"/groups/{self.group}/letters")["letters"]
        letter = self.api("operator", "GET", f"/letters/{letters[0]['id']}")
        if LOCAL:
            raise Skipped("a local endpoint omits DeadLetterQueueSourceArn; DefaultMainQueueArn stands in for it")
        assert letter["main_queue"] == self.main, letter["main_queue"]

    def a_replay_delivers_them_confirmed_by_receipts(self):
        self.deploy("v3")
        self.api("operator", "POST", f"/groups/{self.group}/fix", {"kind": "deploy", "reference": "v3"})
        plan = self.api("operator", "POST", f"/groups/{self.group}/plan", {})
        request = {"plan_hash": plan["hash"], "reason": "a test of the account", "waivers": []}
        path = f"/groups/{self.group}/approve"
        self.api("operator", "POST", path, request, may_be=(403,))
        until("the gate opens", lambda: "code" not in self.api("approver", "POST", path, request, may_be=(200, 409)))
        replay = lambda: self.api("operator", "GET", f"/replays/{plan['plan']['id']}")
        done = until("the replay ends", lambda: (now := replay())["replay"]["state"] != "running" and now)
        total = done["total"]
        assert done["replay"]["state"] == "finished", done["replay"]
        assert total["delivered"] == plan["plan"]["letters"]["letters"], done
        assert total["confirmed"] == total["delivered"], f"not confirmed by receipts: {total}"

    def metrics_have_the_name_of_the_stack(self):
        def look():
            found = self.metrics.list_metrics(
                Namespace="DeadLetterOffice", Dimensions=[{"Name": "Office", "Value": self.office}]
            )
            return {metric["MetricName"] for metric in found["Metrics"]}
        names = until("metrics", look, METRICS_DEADLINE_S)
        assert "Arrivals" in names, names

    def alarms_have_data(self):
        if LOCAL:
            raise Skipped("a local endpoint evaluates no alarms")
        found = self.metrics.describe_alarms(AlarmNamePrefix=f"{self.office}-")["MetricAlarms"]
        assert any("RetriesRise" in alarm["AlarmName"] for alarm in found), "the stack has no alarm RetriesRise"
        silent = [alarm["AlarmName"] for alarm in found if alarm["StateValue"] == "INSUFFICIENT_DATA"]
        assert not silent, f"no data: {', '.join(silent)}"

    def nothing_is_left_in_the_queue_for_failed_work(self):
        resources = self.stacks.describe_stack_resources(StackName=self.office, LogicalResourceId="Failed")
        url = resources["StackResources"][0]["PhysicalResourceId"]
        found = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
        assert found["Attributes"]["ApproximateNumberOfMessages"] == "0", found["Attributes"]

    # What the checks use.

    def deploy(self, version):
        found = self.functions.get_function_configuration(FunctionName="orders")["Environment"]["Variables"]
        variables = {**found, "SERVICE_VERSION": version}
        self.functions.update_function_configuration(FunctionName="orders", Environment={"Variables": variables})
        self.functions.get_waiter("function_updated_v2").wait(FunctionName="orders")

    def place(self, count):
        now = datetime.now(timezone.utc)
        stamp = lambda time: time.strftime("%Y-%m-%dT%H:%M:%SZ")
        for number in range(count):
            order = {
                "type": "order.placed", "order_id": f"account_{self.run}_{number}", "tenant": "acme",
                "customer": {"id": "cus_0001", "name": "Ada Vermeer", "email": "ada@example.com"},
                "total": {"amount": "55.40", "currency": "EUR"}, "placed_at": stamp(now),
                "deliver_by": stamp(now + timedelta(days=2)),
                "items": [{"sku": "sku_1001", "name": "Fountain pen", "quantity": 1, "unit_price": "49.00"}],
            }
            attributes = {"message_type": {"DataType": "String", "StringValue": "order.placed"}}
            self.sqs.send_message(QueueUrl=self.queue, MessageBody=json.dumps(order), MessageAttributes=attributes)

    def take_back(self):
        if self.policy:
            now = self.api("admin", "GET", "/policy")
            request = {"policy": self.policy["policy"], "version": now["version"], "reason": "the test of the account ended"}
            # 400 if the policy is as it was.
            self.api("admin", "PUT", "/policy", request, may_be=(200, 400))
        for name in ROLES if "PeoplePool" in self.outputs else ():
            try:
                self.people.admin_delete_user(UserPoolId=self.outputs["PeoplePool"], Username=name)
            except self.people.exceptions.UserNotFoundException:
                pass


CHECKS = [
    Account.the_stacks_are_set_up_for_this_test,
    Account.the_function_url_serves_the_dashboard,
    Account.browsers_are_told_to_use_tls_only,
    Account.who_has_no_token_is_refused,
    Account.people_of_the_pool_get_tokens_with_their_roles,
    Account.passwords_do_not_pass_through_the_public_api,
    Account.the_policy_can_be_changed_and_every_function_follows,
    Account.orders_that_fail_are_redriven_and_counted_once,
    Account.a_warning_is_stored_at_its_level,
    Account.sqs_says_which_queue_a_letter_came_from,
    Account.a_replay_delivers_them_confirmed_by_receipts,
    Account.metrics_have_the_name_of_the_stack,
    Account.alarms_have_data,
    Account.nothing_is_left_in_the_queue_for_failed_work,
]


def main(office, demo):
    who = boto3.client("sts").get_caller_identity()
    print(f"account {who['Account']}, {boto3.session.Session().region_name}: the stacks {office} and {demo}", flush=True)
    account, failed = Account(office, demo), 0
    try:
        for check in CHECKS:
            words = check.__name__.replace("_", " ")
            try:
                check(account)
                print(f"passed: {words}", flush=True)
            except Skipped as why:
                print(f"skipped: {words}: {why}", flush=True)
            except Exception as error:  # Whatever it is, the other checks and the end still run.
                failed += 1
                print(f"FAILED: {words}: {error}", flush=True)
                if check is CHECKS[0]:
                    break
    finally:
        account.take_back()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

//! The AWS CLI and the SAM CLI at the endpoint, as a person who deploys uses them.

use dlo_tests::deployed::variable;
use domain::id::QueueArn;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// The tools, pointed at the endpoint.
pub struct Cloud {
    endpoint: String,
    path: String,
    /// Holds an `aws` that is pointed at the endpoint, for scripts.
    _folder: TempDir,
}

impl Cloud {
    pub fn at(endpoint: &str) -> Self {
        let (tools, inherited) = (variable("DLO_STACK_TOOLS"), std::env::var("PATH").unwrap_or_default());
        let folder = tempfile::tempdir().expect("a folder");
        // The AWS CLI ignores the variable for some services.
        let aws = format!("#!/bin/sh\nexec '{tools}/aws' --endpoint-url '{endpoint}' \"$@\"\n");
        let file = folder.path().join("aws");
        std::fs::write(&file, aws).expect("it can be written");
        std::fs::set_permissions(&file, Permissions::from_mode(0o755)).expect("it is ours");
        let path = format!("{}:{tools}:{inherited}", folder.path().display());
        Self { endpoint: endpoint.to_owned(), path, _folder: folder }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("PATH", &self.path).env("AWS_ENDPOINT_URL", &self.endpoint).env("SAM_CLI_TELEMETRY", "0");
        for name in ["AWS_REGION", "AWS_DEFAULT_REGION"] {
            command.env(name, "us-east-1");
        }
        command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test").env("AWS_PAGER", "");
        command
    }

    /// Runs a script, which must succeed.
    pub fn sh(&self, script: &str) {
        let done = self.command("sh").args(["-c", script]).output().expect("a shell");
        assert!(done.status.success(), "{}{}", text(&done.stdout), text(&done.stderr));
    }

    /// Deploys a template as a stack. Fails with what the SAM CLI says.
    pub fn deploy(&self, stack: &str, template: &str, parameters: &[String]) -> Result<(), String> {
        let mut sam = self.command("sam");
        let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../samconfig.toml");
        sam.args(["deploy", "--config-file", config, "--template-file", template, "--stack-name", stack]);
        let done = sam.args(["--no-fail-on-empty-changeset", "--parameter-overrides"]).args(parameters).output();
        let done = done.expect("the SAM CLI");
        if done.status.success() { Ok(()) } else { Err(text(&done.stdout) + &text(&done.stderr)) }
    }

    /// Writes a copy of a template with one more resource, which is created last and fails. Returns its file.
    pub fn broken(&self, template: &str) -> PathBuf {
        let text = std::fs::read_to_string(template).expect("the built template");
        let broken = "\nResources:\n  Broken:\n    Type: AWS::Lambda::Url\n    DependsOn: [Table, Contents, IntakeOfFirst]\n    \
                      Properties: { TargetFunctionArn: no-such-function, AuthType: AWS_IAM }\n";
        assert_eq!(text.matches("\nResources:\n").count(), 1, "where resources begin");
        // Beside the template, because it names its functions' folders.
        let file = PathBuf::from(template).with_file_name("broken.yaml");
        std::fs::write(&file, text.replace("\nResources:\n", broken)).expect("it can be written");
        file
    }

    /// Asks the AWS CLI for JSON.
    fn ask(&self, args: &[&str]) -> Value {
        let mut aws = self.command("aws");
        let done = aws.args(["--output", "json"]).args(args).output().expect("the AWS CLI");
        assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
        // Some calls have an empty answer.
        serde_json::from_slice(&done.stdout).unwrap_or_default()
    }

    fn stack(&self, stack: &str) -> Value {
        self.ask(&["cloudformation", "describe-stacks", "--stack-name", stack])["Stacks"][0].take()
    }

    /// Returns the status of a stack.
    pub fn status(&self, stack: &str) -> String {
        self.stack(stack)["StackStatus"].as_str().expect("a status").to_owned()
    }

    /// Returns an output of a stack.
    pub fn output(&self, stack: &str, key: &str) -> String {
        let outputs = self.stack(stack)["Outputs"].take();
        let found = outputs.as_array().into_iter().flatten().find(|output| output["OutputKey"] == key);
        found
            .and_then(|output| output["OutputValue"].as_str())
            .unwrap_or_else(|| panic!("no {key}: {outputs}"))
            .to_owned()
    }

    /// What the rollback of a stack left, by its name in the template: `docs/operations.md` asks the same.
    pub fn left_by_rollback(&self, stack: &str) -> BTreeMap<String, String> {
        let query = "StackEvents[?ResourceStatus=='DELETE_SKIPPED'].[LogicalResourceId,PhysicalResourceId]";
        let asked = self.ask(&["cloudformation", "describe-stack-events", "--stack-name", stack, "--query", query]);
        serde_json::from_value::<Vec<(String, String)>>(asked).expect("pairs of names").into_iter().collect()
    }

    /// Deletes a stack, and waits until it is gone.
    pub fn delete(&self, stack: &str) {
        self.ask(&["cloudformation", "delete-stack", "--stack-name", stack]);
        self.ask(&["cloudformation", "wait", "stack-delete-complete", "--stack-name", stack]);
    }

    pub fn tables(&self) -> Vec<String> {
        strings(&self.ask(&["dynamodb", "list-tables", "--query", "TableNames"]))
    }

    /// Restores a table as docs/operations.md says. Returns the name of the restored one.
    pub fn restored(&self, table: &str) -> String {
        let restored = format!("{table}-restored");
        self.sh(&format!(
            "set -e
            aws dynamodb restore-table-to-point-in-time --source-table-name {table} --target-table-name {restored} \\
                --use-latest-restorable-time
            aws dynamodb wait table-exists --table-name {restored}
            aws dynamodb update-time-to-live --table-name {restored} \\
                --time-to-live-specification Enabled=true,AttributeName=ttl
            aws dynamodb update-continuous-backups --table-name {restored} \\
                --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true"
        ));
        restored
    }

    /// What names an office in its tag, by ARN: `docs/operations.md` asks the same. MiniStack lists few types, and no bucket.
    pub fn tagged(&self, office: &str) -> Vec<String> {
        let filter = format!("Key=dlo-office,Values={office}");
        let query = ["--query", "ResourceTagMappingList[].ResourceARN"];
        let asked = ["resourcegroupstaggingapi", "get-resources", "--tag-filters", &filter];
        strings(&self.ask(&[&asked[..], &query].concat()))
    }

    pub fn buckets(&self) -> Vec<String> {
        strings(&self.ask(&["s3api", "list-buckets", "--query", "Buckets[].Name"]))
    }

    /// The queues that event source mappings read.
    pub fn mappings(&self) -> Vec<String> {
        strings(&self.ask(&["lambda", "list-event-source-mappings", "--query", "EventSourceMappings[].EventSourceArn"]))
    }

    /// The alarms whose names begin like this.
    pub fn alarms(&self, prefix: &str) -> Vec<String> {
        let query = "MetricAlarms[].AlarmName";
        strings(&self.ask(&["cloudwatch", "describe-alarms", "--alarm-name-prefix", prefix, "--query", query]))
    }

    pub fn url(&self, queue: &QueueArn) -> String {
        let asked = self.ask(&["sqs", "get-queue-url", "--queue-name", queue.name(), "--query", "QueueUrl"]);
        asked.as_str().expect("a URL").to_owned()
    }

    /// The office's tag of a queue.
    pub fn tag(&self, queue: &QueueArn) -> String {
        let tags = self.ask(&["sqs", "list-queue-tags", "--queue-url", &self.url(queue)]);
        tags["Tags"]["dead-letter-office"].as_str().unwrap_or_default().to_owned()
    }

    /// The sum of a metric of one office, since 1970.
    pub fn metric_sum(&self, office: &str, name: &str) -> f64 {
        let dimension = format!("Name=Office,Value={office}");
        let answer = self.ask(&[
            "cloudwatch",
            "get-metric-statistics",
            "--namespace",
            domain::metric::NAMESPACE,
            "--metric-name",
            name,
            "--dimensions",
            &dimension,
            "--start-time",
            "1970-01-01T00:00:00Z",
            "--end-time",
            "2100-01-01T00:00:00Z",
            "--period",
            "86400",
            "--statistics",
            "Sum",
            "--query",
            "Datapoints[].Sum",
        ]);
        answer.as_array().into_iter().flatten().filter_map(Value::as_f64).sum()
    }
}

fn strings(list: &Value) -> Vec<String> {
    let mut found: Vec<String> =
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect();
    found.sort();
    found
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

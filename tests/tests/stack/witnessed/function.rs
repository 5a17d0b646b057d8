//! The Python function behind the witness, as a custom runtime: MiniStack runs neither wrappers nor extensions, but the
//! `bootstrap` of `provided` functions, with Amazon's own runtime client behind it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dlo_tests::deployed::{Deployed, variable};
use domain::id::QueueArn;
use reqwest::Method;
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The code of each version.
const VERSIONS: [(&str, &str); 2] = [("v1", include_str!("v1.py")), ("v2", include_str!("v2.py"))];

pub struct Function {
    stack: Deployed,
    name: String,
    /// The URL of the receipts queue.
    reports: String,
}

impl Function {
    /// Creates the function in its first version.
    pub async fn create(name: &str, reports: &str) -> Self {
        let function = Self { stack: Deployed::find(), name: name.to_owned(), reports: reports.to_owned() };
        let create = json!({
            "FunctionName": name, "Runtime": "provided.al2023", "Handler": "app.handle", "Timeout": 60,
            "Role": format!("arn:aws:iam::000000000000:role/{name}"), "Code": { "ZipFile": code("v1") },
            "Environment": function.environment(),
        });
        function.stack.lambda(Method::POST, "functions", Some(&create)).await;
        function
    }

    /// What the documents tell people to set.
    fn environment(&self) -> Value {
        json!({ "Variables": { "DLO_REPORTS": self.reports } })
    }

    /// Lets the function consume a queue.
    pub async fn consume(&self, queue: &QueueArn) {
        let mapping = json!({ "FunctionName": self.name, "EventSourceArn": queue.as_str(), "BatchSize": 10 });
        self.stack.lambda(Method::POST, "event-source-mappings", Some(&mapping)).await;
    }

    /// Replaces the function's code.
    pub async fn deploy(&self, version: &str) {
        let path = format!("functions/{}", self.name);
        self.stack.lambda(Method::PUT, &format!("{path}/code"), Some(&json!({ "ZipFile": code(version) }))).await;
    }

    /// Deletes the function and its mapping.
    pub async fn delete(&self) {
        let found =
            self.stack.lambda(Method::GET, &format!("event-source-mappings?FunctionName={}", self.name), None).await;
        for mapping in found["EventSourceMappings"].as_array().expect("a list") {
            let id = mapping["UUID"].as_str().expect("an id");
            self.stack.lambda(Method::DELETE, &format!("event-source-mappings/{id}"), None).await;
        }
        self.stack.lambda(Method::DELETE, &format!("functions/{}", self.name), None).await;
    }
}

/// Packs a version of the function with the `bootstrap` that starts it behind the witness. Returns the archive in base64.
fn code(version: &str) -> String {
    let (witness, python) = (variable("DLO_STACK_WITNESS"), variable("DLO_STACK_PYTHON"));
    let (_, app) = VERSIONS.iter().find(|(name, _)| *name == version).expect("a version");
    let folder = tempfile::tempdir().expect("a folder");
    let bootstrap = format!(
        "#!/bin/sh\ncd \"$LAMBDA_TASK_ROOT\"\nexport PYTHONDONTWRITEBYTECODE=1\nexec '{witness}' run -- '{python}' -m awslambdaric app.handle\n"
    );
    write(folder.path(), "bootstrap", &bootstrap, 0o755);
    write(folder.path(), "app.py", app, 0o644);
    let mut zip = Command::new(&python);
    zip.args(["-m", "zipfile", "-c", "code.zip", "bootstrap", "app.py"]).current_dir(folder.path());
    assert!(zip.status().expect("Python").success(), "the archive");
    STANDARD.encode(std::fs::read(folder.path().join("code.zip")).expect("it was written"))
}

fn write(folder: &Path, name: &str, text: &str, mode: u32) {
    let file = folder.join(name);
    std::fs::write(&file, text).expect("it can be written");
    std::fs::set_permissions(&file, Permissions::from_mode(mode)).expect("it is ours");
}

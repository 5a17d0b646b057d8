//! The stacks at an endpoint: deploys them and reads their outputs.

use super::endpoint::Endpoint;
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::tools::{aws, lambda_runtimes};
use crate::{function, progress, run, say};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The office's stack.
pub const OFFICE: &str = "dead-letter-office";
/// The demo's stack.
pub const DEMO: &str = "dlo-demo";
/// The people of an office at a local endpoint, with their roles.
pub const PEOPLE: &[(&str, &str)] = &[("vera", "viewer"), ("otto", "operator"), ("anna", "approver"), ("ada", "admin")];
/// The password of each of them.
pub const PASSWORD: &str = "correct-Horse-9-battery";
/// The orders' ARN: a local endpoint has one account and one region.
pub const ORDERS: &str = "arn:aws:sqs:us-east-1:000000000000:orders";
/// The table of their payments.
const PAYMENTS: &str = "orders-payments";
/// The function that consumes them.
const CONSUMER: &str = "arn:aws:lambda:us-east-1:000000000000:function:orders";
/// Short, for trying it out: the gate opens after seconds, and a replay takes less than a minute.
const DEMO_PARAMETERS: [&str; 2] = ["VisibilitySeconds=2", "TimeoutSeconds=2"];
/// MiniStack names no function as the sender of a message, so what the demo service declares does not count there.
const POLICY: &str = r#"{"gate":{"quiet_ms":3000},"message_types":[{"message_type":"*","idempotent":true}],"replay":{"window_slack_ms":1000,"wave_delay_ms":1000,"wave_delay_ms_max":2000}}"#;

pub struct Stack<'a> {
    paths: &'a Paths,
    endpoint: &'a Endpoint,
    programs: PathBuf,
    /// The office's template with its built functions.
    template: PathBuf,
    url: String,
    receipts: String,
    pool: String,
    client: String,
}

/// Deploys the demo service and the office with functions from a folder, as `sam deploy` does on AWS.
pub fn deploy<'a>(paths: &'a Paths, endpoint: &'a Endpoint, functions: &Path) -> Outcome<Stack<'a>> {
    let programs = aws::ensure_sam(paths)?;
    let sam = Sam { paths, endpoint, programs, functions };
    say::phase("deploying the demo service (sam build, sam deploy)", || {
        sam.build("demo.yaml", DEMO)?;
        sam.deploy(DEMO, &DEMO_PARAMETERS)
    })?;
    say::phase("deploying the office (sam build, sam deploy)", || {
        sam.build("template.yaml", OFFICE)?;
        let parameters = [
            format!("DeadLetterQueueArn={ORDERS}-dlq"),
            format!("MainQueueArns={ORDERS}"),
            format!("ConsumerFunctionArns={CONSUMER}"),
            // MiniStack omits the main queue's ARN from the events that it hands to functions.
            format!("DefaultMainQueueArn={ORDERS}"),
            format!("DiscoveryUrl={}", endpoint.url),
            "BatchingWindowSeconds=1".to_owned(),
            // The browser tests open many tabs at once.
            "ApiConcurrency=0".to_owned(),
            // MiniStack does not know AWS::Logs::QueryDefinition.
            "SavedQueries=false".to_owned(),
            format!("Policy=\"{}\"", POLICY.replace('"', "\\\"")),
        ];
        sam.deploy(OFFICE, &parameters.each_ref().map(String::as_str))
    })?;
    let stack = Stack::find(paths, endpoint)?;
    say::phase("telling the demo service where receipts go (sam deploy)", || {
        let receipts = format!("ReceiptsQueueArn={}", stack.receipts);
        sam.deploy(DEMO, &[&DEMO_PARAMETERS[..], &[&receipts]].concat())
    })?;
    say::phase("adding people", || {
        stack.send_back_here()?;
        PEOPLE.iter().try_for_each(|(name, role)| stack.add(name, role))
    })?;
    Ok(stack)
}

/// The SAM CLI at an endpoint.
struct Sam<'a> {
    paths: &'a Paths,
    endpoint: &'a Endpoint,
    programs: PathBuf,
    functions: &'a Path,
}

impl Sam<'_> {
    fn built(&self, stack: &str) -> PathBuf {
        built(self.paths, stack)
    }

    fn command(&self, verb: &str) -> Command {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(self.programs.clone()).chain(std::env::split_paths(&inherited)));
        let mut sam = run::cleaned(Command::new(self.programs.join("sam")), self.paths);
        sam.env("PATH", path.unwrap_or(inherited));
        sam.arg(verb).arg("--config-file").arg(self.paths.root.join("samconfig.toml"));
        self.endpoint.named_to(&mut sam);
        sam
    }

    fn build(&self, template: &str, stack: &str) -> Outcome<()> {
        let mut build = self.command("build");
        build.arg("--template-file").arg(self.paths.root.join("infra").join(template));
        build.arg("--build-dir").arg(self.built(stack));
        progress::watched(build.env(function::BUILT, self.functions).env("CARGO_TARGET_DIR", &self.paths.target))
    }

    fn deploy(&self, stack: &str, parameters: &[&str]) -> Outcome<()> {
        let mut deploy = self.command("deploy");
        deploy.arg("--template-file").arg(self.built(stack).join("template.yaml")).args(["--stack-name", stack]);
        deploy.args(["--no-fail-on-empty-changeset", "--parameter-overrides"]).args(parameters);
        progress::watched(&mut deploy)
    }
}

/// Not `.aws-sam`: a later `sam deploy` to AWS must not send functions that were built for this machine.
fn built(paths: &Paths, stack: &str) -> PathBuf {
    paths.target.join("aws-build").join(stack)
}

/// Another version of the demo's consumer.
pub fn deploy_version(paths: &Paths, endpoint: &Endpoint, version: &str) -> Outcome<()> {
    let stack = Stack::find(paths, endpoint)?;
    let receipts = &stack.receipts;
    let own = format!("ORDERS_QUEUE={ORDERS},ORDERS_PAYMENTS={PAYMENTS},ORDERS_RECEIPTS={receipts}");
    let variables = format!("Variables={{SERVICE_VERSION={version},{own}}}");
    let update = ["lambda", "update-function-configuration", "--function-name", "orders", "--environment", &variables];
    stack.ask(&update)?;
    stack.ask(&["lambda", "wait", "function-updated", "--function-name", "orders"])?;
    Ok(())
}

/// Deletes both stacks; the office's table stays, as the template says.
pub fn delete(paths: &Paths, endpoint: &Endpoint) -> Outcome<()> {
    let programs = aws::ensure_sam(paths)?;
    for stack in [OFFICE, DEMO] {
        say::phase(&format!("deleting the stack {stack}"), || {
            ask(endpoint, &programs, &["cloudformation", "delete-stack", "--stack-name", stack])?;
            ask(endpoint, &programs, &["cloudformation", "wait", "stack-delete-complete", "--stack-name", stack])
        })?;
    }
    say::note("the office's table and its people stay: letters in custody are never deleted with a stack");
    Ok(())
}

impl<'a> Stack<'a> {
    pub fn find(paths: &'a Paths, endpoint: &'a Endpoint) -> Outcome<Self> {
        let programs = aws::ensure_sam(paths)?;
        let output = |key: &str| -> Outcome<String> {
            let query = format!("Stacks[0].Outputs[?OutputKey=='{key}'].OutputValue");
            let asked = ["cloudformation", "describe-stacks", "--stack-name", OFFICE, "--query", &query];
            let missing = || Failure::new("The office is not deployed.").remedy("Deploy it with: cargo aws up");
            let text = ask(endpoint, &programs, &asked).map_err(|failure| Failure { log: failure.log, ..missing() })?;
            if text.is_empty() { Err(missing()) } else { Ok(text) }
        };
        let (url, pool, client) = (output("Dashboard")?, output("PeoplePool")?, output("PeopleClientId")?);
        let receipts = output("ReceiptsQueue")?;
        let template = built(paths, OFFICE).join("template.yaml");
        Ok(Self { paths, endpoint, programs, template, url, receipts, pool, client })
    }

    fn ask(&self, args: &[&str]) -> Outcome<String> {
        ask(self.endpoint, &self.programs, args)
    }

    /// Signing in redirects to the function URL, which on this machine differs from the one in the stack.
    fn send_back_here(&self) -> Outcome<()> {
        // As a JSON list: the AWS CLI would fetch a bare URL as the value.
        let pages = format!("[\"{}signin\"]", self.dashboard());
        let client = ["--user-pool-id", &self.pool, "--client-id", &self.client, "--callback-urls", &pages];
        self.ask(&[&["cognito-idp", "update-user-pool-client"][..], &client].concat()).map(drop)
    }

    fn add(&self, name: &str, role: &str) -> Outcome<()> {
        let person = ["--user-pool-id", &self.pool, "--username", name];
        let has = self.ask(&[&["cognito-idp", "admin-get-user"][..], &person].concat()).is_ok();
        if !has {
            self.ask(&[&["cognito-idp", "admin-create-user", "--message-action", "SUPPRESS"][..], &person].concat())?;
        }
        let password = ["--password", PASSWORD, "--permanent"];
        self.ask(&[&["cognito-idp", "admin-set-user-password"][..], &person, &password].concat())?;
        self.ask(&[&["cognito-idp", "admin-add-user-to-group", "--group-name", role][..], &person].concat())?;
        Ok(())
    }

    /// Returns an ID token for a person, valid for one hour.
    pub fn token(&self, name: &str) -> Outcome<String> {
        let who = format!("USERNAME={name},PASSWORD={PASSWORD}");
        let asked = ["cognito-idp", "initiate-auth", "--auth-flow", "USER_PASSWORD_AUTH", "--client-id", &self.client];
        self.ask(&[&asked[..], &["--auth-parameters", &who, "--query", "AuthenticationResult.IdToken"]].concat())
    }

    /// The function URL as a browser on this machine reaches it.
    pub fn dashboard(&self) -> String {
        let port = self.endpoint.url.rsplit_once(':').map_or("80", |(_, port)| port.trim_end_matches('/'));
        format!("http://{}.localhost:{port}/", self.host())
    }

    fn host(&self) -> &str {
        self.url.trim_start_matches("https://").trim_end_matches('/')
    }

    /// Sets the variables by which a test finds the stack and its people, deploys another office with the same people, and
    /// runs a Python function behind the witness, which is in the folder `programs`.
    pub fn tell(&self, test: &mut Command, programs: &Path) -> Outcome<()> {
        test.env("DLO_STACK_WITNESS", programs.join("dlo-witness"));
        test.env("DLO_STACK_PYTHON", lambda_runtimes::ensure_python(self.paths)?);
        test.env("DLO_STACK_TOOLS", &self.programs).env("DLO_STACK_TEMPLATE", &self.template);
        test.env("DLO_STACK_ISSUER", format!("https://cognito-idp.us-east-1.amazonaws.com/{}", self.pool));
        test.env("DLO_STACK_CLIENT", &self.client);
        test.env("DLO_STACK_DISCOVERY", format!("{}/{}", self.endpoint.url, self.pool));
        test.env("DLO_STACK_ENDPOINT", &self.endpoint.url).env("DLO_STACK_HOST", self.host());
        test.env("DLO_STACK_DASHBOARD", self.dashboard()).env("DLO_STACK_PASSWORD", PASSWORD);
        for (name, role) in PEOPLE {
            test.env(format!("DLO_STACK_{}", role.to_uppercase()), self.token(name)?);
        }
        Ok(())
    }
}

fn ask(endpoint: &Endpoint, programs: &Path, args: &[&str]) -> Outcome<String> {
    let mut aws = Command::new(programs.join("aws"));
    // It ignores the variable for some services.
    endpoint.named_to(&mut aws).args(["--endpoint-url", &endpoint.url, "--output", "text"]).args(args);
    Ok(run::captured(&mut aws)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    /// Returns the text of a resource of the template.
    fn resource(name: &str) -> &'static str {
        let template = include_str!("../../../infra/people.yaml");
        let from = template.find(&format!("\n  {name}:\n")).expect("the resource");
        let text = &template[from + 1..];
        let end = text.match_indices("\n  ").find(|(at, _)| !text[at + 3..].starts_with([' ', '#']));
        &text[..end.map_or(text.len(), |(at, _)| at)]
    }

    #[test]
    fn passwords_reach_the_api_of_local_endpoints_only() {
        let client = resource("PeopleClient");
        let local = "- IsLocal\n        - [ALLOW_USER_SRP_AUTH, ALLOW_USER_PASSWORD_AUTH, ";
        assert!(client.contains(local), "{client}");
        assert_eq!(client.matches("ALLOW_USER_PASSWORD_AUTH").count(), 1, "{client}");
    }

    #[test]
    fn tokens_last_an_hour_and_refresh_tokens_rotate() {
        let client = resource("PeopleClient");
        for line in ["IdTokenValidity: 1", "AccessTokenValidity: 1", "IdToken: hours", "Feature: ENABLED"] {
            assert!(client.contains(line), "{line}: {client}");
        }
    }

    #[test]
    fn an_authenticator_app_is_required_except_at_local_endpoints() {
        let pool = resource("People");
        assert!(pool.contains("MfaConfiguration: !If [IsLocal, OPTIONAL, !Ref Mfa]"), "{pool}");
        assert!(pool.contains("EnabledMfas: [SOFTWARE_TOKEN_MFA]"), "{pool}");
    }
}

//! `dlo attach`: checks a dead-letter queue, and prints a script that attaches it to an office on AWS. Like
//! `dlo witness add`, it changes nothing itself: the script is to be read first and then run.

use crate::doctor;
use domain::doctor::{Check, Checkup, DlqFacts, Fact, Finding, QueueFacts, examine};
use domain::id::QueueArn;
use domain::impact::Severity;
use lambda::connect::SdkConfig;
use lambda::queue::SqsQueue;
use office::doctor::{QUEUES_MAX, look};
use queue::QueueError;
use sha2::{Digest as _, Sha256};

/// The checks that concern a queue before it is attached. The others concern its main queues and their consumers.
const CHECKS: [Check; 4] = [Check::DeadLetterChain, Check::Retention, Check::RetentionOrder, Check::IntakeVisibility];
/// What to do with a queue that has a dead-letter queue itself. Attached, it would lose its live messages to the office.
const IS_NO_DLQ: &str = "Attach the queue that it names. Only if nothing but failed messages arrives in this one, remove its redrive policy, and attach it then.";
/// The alias of the key that SQS manages: every role of the account may use it through SQS.
const SQS_KEY: &str = "alias/aws/sqs";
/// How much of a hash makes the name of a stack unique, hexadecimal digits.
const HASH_CHARS: usize = 8;

/// What is known about a queue before it is attached.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The dead-letter queue.
    pub queue: QueueArn,
    /// The queues whose redrive policies name it.
    pub mains: Vec<QueueArn>,
    /// What is wrong, most severe first.
    pub findings: Vec<Finding>,
    /// What else to do before letters arrive, in sentences.
    pub remarks: Vec<String>,
}

/// Why a queue cannot be attached.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The queue does not answer.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A name would become part of the script and is not plain.
    #[error("{what} has characters that AWS does not allow: {text}")]
    NotPlain {
        /// What it is.
        what: &'static str,
        /// The text.
        text: String,
    },
}

/// Examines the dead-letter queue with this URL. It only reads.
pub async fn examined(aws: &SdkConfig, url: &str, office_stack: &str) -> Result<Candidate, AttachError> {
    let sqs = SqsQueue::new(aws);
    let queue = sqs.at(url).await?;
    let mains = sqs.sources(&queue).await?;
    let mut checkups = Vec::new();
    for main in mains.iter().take(QUEUES_MAX) {
        let (settings, dlq) = look(&sqs, main).await;
        checkups.push(judged(main, settings, dlq));
    }
    if mains.is_empty() {
        let settings = office::doctor::settings(&sqs, &queue).await;
        let unread = Fact::Unknown("No queue names this one as its dead-letter queue.".into());
        let dlq = DlqFacts { queue: queue.clone(), settings, alarms: Fact::Missing, watched: None };
        checkups.push(judged(&queue, unread, Some(dlq)));
    }
    let findings = findings(&checkups);
    let mut keys = vec![(queue.clone(), Some(sqs.key(&queue).await?))];
    for main in mains.iter().take(QUEUES_MAX) {
        // A main queue that cannot be read keeps nobody from attaching its dead-letter queue.
        keys.push((main.clone(), sqs.key(main).await.ok()));
    }
    let readers = doctor::consumers(aws, &queue).await;
    let readers = readers.known().into_iter().flatten().map(|reader| reader.service.clone()).collect::<Vec<_>>();
    let remarks = remarks(&queue, &mains, &keys, (&readers, office_stack));
    Ok(Candidate { queue, mains, findings, remarks })
}

fn judged(main: &QueueArn, settings: Fact<domain::doctor::QueueSettings>, dlq: Option<DlqFacts>) -> Checkup {
    let not_read = || Fact::Unknown("not read".into());
    let (queue, returns_failures) = (main.clone(), false);
    let letters = Fact::Unknown("not read".into());
    let failed_starts = Fact::Unknown("not read".into());
    examine(&QueueFacts { queue, settings, dlq, consumers: not_read(), returns_failures, failed_starts, letters })
}

/// Returns what is wrong with the dead-letter queue itself, each once.
fn findings(checkups: &[Checkup]) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for finding in checkups.iter().flat_map(|checkup| &checkup.findings) {
        if CHECKS.contains(&finding.check) && !found.contains(finding) {
            found.push(finding.clone());
        }
    }
    for finding in found.iter_mut().filter(|finding| finding.check == Check::DeadLetterChain) {
        finding.level = Severity::Critical;
        finding.remedy = IS_NO_DLQ.into();
    }
    found.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    found
}

/// A queue with the key that encrypts it, `Some(None)` if SQS has one of its own, and `None` if that could not be read.
type Key = (QueueArn, Option<Option<String>>);

fn remarks(
    queue: &QueueArn,
    mains: &[QueueArn],
    keys: &[Key],
    (readers, office_stack): (&[String], &str),
) -> Vec<String> {
    let name = queue.name();
    let mut remarks = Vec::new();
    if mains.is_empty() {
        remarks.push(format!(
            "No queue names {name} as its dead-letter queue. If a consumer sends messages to it by hand, tag their main queue dead-letter-office={office_stack}:replay, and add it to queues.main of the office's policy."
        ));
    }
    for (encrypted, key) in keys {
        let is = encrypted.name();
        let otherwise = if encrypted == queue { "nothing arrives" } else { "no letter can be sent back" };
        match key {
            Some(Some(key)) if !key.ends_with(SQS_KEY) => remarks.push(format!(
                "{is} is encrypted with the key {key}. The parameter KmsKeyArns of the office's stack must name it, or {otherwise}."
            )),
            Some(_) => {}
            None => remarks.push(format!(
                "Could not check which key encrypts {is}. If it is a key of yours, the parameter KmsKeyArns of the office's stack must name it, or {otherwise}."
            )),
        }
    }
    // SAM names a function after its stack and its logical id.
    let of_office = format!("{office_stack}-Intake-");
    let (own, others): (Vec<&String>, Vec<&String>) = readers.iter().partition(|name| name.starts_with(&of_office));
    if !own.is_empty() {
        remarks.push(format!(
            "The office {office_stack} reads {name} already. If the stack {} exists, the script updates it. Otherwise the office's own stack names the queue: do not run the script.",
            stack_name(queue)
        ));
    }
    if !others.is_empty() {
        let others = others.into_iter().cloned().collect::<Vec<_>>().join(", ");
        remarks.push(format!(
            "Other event source mappings read {name} already ({others}). Each letter goes to only one of them. Disable them."
        ));
    }
    remarks
}

/// Returns the name of the stack that attaches a queue. The name of a stack has no dots and underscores, so a queue whose
/// name has them gets a hash: `my_dlq` and `my-dlq` are two queues.
pub fn stack_name(queue: &QueueArn) -> String {
    let name = queue.name();
    // SQS allows 80 characters and CloudFormation 128, so nothing has to be cut.
    let plain = name.replace(['.', '_'], "-");
    if plain == name {
        return format!("dlo-attach-{plain}");
    }
    let hash: String = Sha256::digest(name).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("dlo-attach-{plain}-{}", &hash[..HASH_CHARS])
}

impl Candidate {
    /// Whether attaching would fail, or letters would be lost.
    pub fn is_refused(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == Severity::Critical)
    }

    /// Returns findings and remarks as text.
    pub fn report(&self) -> String {
        let findings = self
            .findings
            .iter()
            .map(|finding| format!("{}: {}\n  {}\n", doctor::level(finding.level), finding.problem, finding.remedy));
        let remarks = self.remarks.iter().map(|remark| format!("NOTE: {remark}\n"));
        findings.chain(remarks).collect()
    }

    /// Returns the script that attaches the queue with this URL to the office of a stack.
    pub fn script(&self, url: &str, office_stack: &str) -> Result<String, AttachError> {
        const SCRIPT: &str = include_str!("attach/attach.sh");
        const TEMPLATE: &str = include_str!("../../infra/attach.yaml");
        let url = plain("the queue's URL", url)?;
        let (arn, name) = (plain("the queue's ARN", self.queue.as_str())?, self.queue.name());
        let office_stack = plain("the name of the office's stack", office_stack)?;
        let stack = stack_name(&self.queue);
        let region = arn.split(':').nth(3).unwrap_or_default();
        let mains = self.mains.iter().map(|main| plain("the name of a main queue", main.name()));
        let mains = mains.map(|name| Ok(format!("'{}'", name?))).collect::<Result<Vec<_>, AttachError>>()?.join(" ");
        let names = [
            ("QUEUE_URL", url),
            ("QUEUE_ARN", arn),
            ("QUEUE_NAME", name),
            ("QUEUE_REGION", region),
            ("OFFICE_STACK", office_stack),
            ("ATTACH_STACK", &stack),
            ("MAIN_NAMES", &mains),
            ("TEMPLATE_TEXT", TEMPLATE.trim_end()),
        ];
        Ok(names.iter().fold(SCRIPT.to_owned(), |script, (place, text)| script.replace(place, text)))
    }
}

/// Accepts names, ARNs and URLs of AWS. They become part of a script: no other character does.
fn plain<'a>(what: &'static str, text: &'a str) -> Result<&'a str, AttachError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '/');
    if !text.is_empty() && text.chars().all(is_plain) {
        return Ok(text);
    }
    Err(AttachError::NotPlain { what, text: text.to_owned() })
}

#[cfg(test)]
mod tests;

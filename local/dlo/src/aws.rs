//! The commands that need the AWS SDK and print what they did.

use crate::{on_runtime, print};
use local::{doctor, evacuate, remote};
use std::error::Error;
use std::process::ExitCode;

/// Examines a queue, and prints what is wrong.
pub fn examine(queue: &str, json: bool) -> Result<ExitCode, Box<dyn Error>> {
    is_url(queue)?;
    let checkups = on_runtime(async {
        let aws = lambda::connect::for_queue(queue).await;
        doctor::run(&aws, queue).await.map_err(|error| with_remedy(&error))
    })?;
    print(&if json { serde_json::to_string_pretty(&checkups)? + "\n" } else { doctor::report(&checkups) })?;
    let is_well = checkups.iter().all(|checkup| checkup.findings.is_empty());
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Says on stderr what is wrong with a dead-letter queue, and prints the script that attaches it.
pub fn attach(queue: &str, office: &str) -> Result<ExitCode, Box<dyn Error>> {
    is_url(queue)?;
    let candidate = on_runtime(async {
        let aws = lambda::connect::for_queue(queue).await;
        local::attach::examined(&aws, queue, office).await.map_err(|error| with_remedy(&error))
    })?;
    let report = candidate.report();
    if !report.is_empty() {
        office::say_error!("{}", report.trim_end());
    }
    if candidate.is_refused() {
        // The output is read by a shell, which must fail too.
        print("echo 'Nothing was attached.' >&2\nexit 1\n")?;
        return Ok(ExitCode::from(1));
    }
    print(&candidate.script(queue, office)?)?;
    Ok(ExitCode::SUCCESS)
}

/// What the AWS SDK says if it has found no credentials.
const NO_CREDENTIALS: [&str; 2] = ["credential provider was not enabled", "no providers in chain provided credentials"];

/// What it says before the reason, if credentials are set up and could not be read.
const NOT_LOADED: &str = "an error occurred while loading credentials: ";

/// Says what to do where the machine has no credentials. Without them nothing was sent.
pub fn with_remedy(error: &(dyn Error + 'static)) -> Box<dyn Error> {
    let words = office::error::chain(error);
    if NO_CREDENTIALS.iter().any(|no| words.contains(no)) {
        return "there are no AWS credentials here. Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            .into();
    }
    if let Some((_, reason)) = words.split_once(NOT_LOADED) {
        let reason = reason.trim_end_matches('.');
        return format!(
            "the AWS credentials could not be loaded, so nothing was sent: {reason}. Set AWS_PROFILE, or \
             AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in again"
        )
        .into();
    }
    words.into()
}

/// SQS finds a queue by its URL.
fn is_url(queue: &str) -> Result<(), Box<dyn Error>> {
    if queue.starts_with("arn:") {
        return Err(format!(
            "{queue} is an ARN. Give the queue's URL, as this prints it: aws sqs get-queue-url --queue-name {}",
            queue.rsplit(':').next().unwrap_or_default()
        )
        .into());
    }
    Ok(())
}

/// Sends an office's open letters back, and says where they are.
pub fn evacuate_office(office: &str) -> Result<ExitCode, Box<dyn Error>> {
    let token = std::env::var(remote::TOKEN).ok();
    let evacuated = on_runtime(async {
        let office = remote::Remote::at(office, token.as_deref())?;
        let aws = lambda::connect::from_env().await;
        let queue = lambda::queue::SqsQueue::new(&aws);
        Ok(evacuate::run(&office, &queue, &evacuate::Mappings(&aws)).await?)
    })?;
    print(&evacuated.report())?;
    Ok(if evacuated.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_its_remedy() {
        let arn = is_url("arn:aws:sqs:eu-west-1:111122223333:orders-dlq").expect_err("an ARN").to_string();
        assert!(arn.ends_with("aws sqs get-queue-url --queue-name orders-dlq"), "{arn}");
        assert!(is_url("https://sqs.eu-west-1.amazonaws.com/111122223333/orders-dlq").is_ok());
        let said = |words: &str| with_remedy(&std::io::Error::other(words.to_owned())).to_string();
        assert!(said("other: the credential provider was not enabled").contains("AWS_PROFILE"));
        let forbidden = said("the queue q could not be read: an error occurred while loading credentials: forbidden.");
        assert!(forbidden.contains("nothing was sent: forbidden. Set AWS_PROFILE, or "), "{forbidden}");
        assert_eq!(said("access denied"), "access denied");
    }
}

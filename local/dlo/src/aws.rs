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
        Ok(doctor::run(&aws, queue).await?)
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
        Ok(local::attach::examined(&aws, queue, office).await?)
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

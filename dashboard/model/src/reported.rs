//! What the page says about a report: who said why the message failed, how sure it is, and what the invocation was like.

use domain::reading::Reported;
use domain::report::ReportKind;
use domain::report::judge::{Verdict, Why};

/// Returns the name of a function from its ARN, or the name as it stands. A version or an alias after it is left out.
pub fn function(by: &str) -> &str {
    match by.split_once(":function:") {
        Some((_, rest)) => rest.split(':').next().unwrap_or(rest),
        None => by,
    }
}

/// Returns who reported the failure, and how the invocation ended.
pub fn source(reported: &Reported) -> String {
    let ended = match reported.kind {
        ReportKind::Error | ReportKind::Partial => "failed",
        ReportKind::Timeout => "did not end in time",
        ReportKind::Crash => "ended without an answer",
        ReportKind::OutOfMemory => "ran out of memory",
        ReportKind::Init => "did not start",
        ReportKind::Withdrawn => "succeeded later",
    };
    let version = reported.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    format!("Reported by {}{version}, which {ended}", function(&reported.by))
}

/// Returns how sure it is that the error is this message's, and why.
pub fn certainty(reported: &Reported) -> String {
    let why = match reported.why {
        Why::OnlyMessage => "it was the only message of its batch",
        Why::OwnError => "the consumer reported an error of its own for it",
        Why::Named => "the error or a log line names it",
        Why::Value => "the error contains a value that only this message contains",
        Why::OnlyFailed => "it was the only message that the consumer returned as failed",
        Why::FirstOfGroup => "it was the first failed message of its message group",
        Why::AfterFailed => "it came after a failed message of its message group",
        Why::MateFailed => "the error is another message's",
        Why::OnlyCommon => "it is the only message that was in every batch that failed with this error",
        Why::Batch => "nothing tells the messages of the batch apart",
        Why::NotStarted => "the function could not start when the message was first received, and no report names it",
    };
    match reported.verdict {
        Verdict::Certain => format!("Certain: {why}."),
        Verdict::Strong => format!("Very likely: {why}."),
        Verdict::Share { suspects } => format!("One of {suspects} messages caused it: {why}."),
        Verdict::Bystander => format!("Failed with its batch: {why}. It needs no fix of its own."),
    }
}

/// Returns what is known about the invocation, for one line; empty if nothing is.
pub fn invocation(reported: &Reported) -> String {
    let memory = match (reported.memory_used_mb, reported.memory_mb) {
        (Some(used), Some(of)) => Some(format!("{used} of {of} MB")),
        (None, Some(of)) => Some(format!("{of} MB")),
        (Some(used), None) => Some(format!("{used} MB used")),
        (None, None) => None,
    };
    let facts = [
        reported.duration_ms.map(|ms| format!("{ms} ms")),
        memory,
        reported.cold.filter(|cold| *cold).map(|_| "cold start".to_string()),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::Timestamp;

    fn reported(verdict: Verdict, why: Why) -> Reported {
        Reported {
            by: "arn:aws:lambda:eu-west-1:111122223333:function:orders-fn:live".into(),
            reporter: None,
            version: Some("7".into()),
            request_id: "r".into(),
            kind: ReportKind::Error,
            verdict,
            why,
            instances: None,
            failed_at: Timestamp::from_ms(0),
            instance: None,
            log_group: None,
            cold: None,
            duration_ms: None,
            memory_mb: None,
            memory_used_mb: None,
            logs: Vec::new(),
        }
    }

    #[test]
    fn a_report_is_described_in_sentences() {
        let certain = reported(Verdict::Certain, Why::OnlyMessage);
        assert_eq!(source(&certain), "Reported by orders-fn 7, which failed");
        let late = Reported { kind: ReportKind::Timeout, version: None, by: "billing".into(), ..certain.clone() };
        assert_eq!(source(&late), "Reported by billing, which did not end in time");
        for (verdict, why, wanted) in [
            (Verdict::Certain, Why::OnlyMessage, "Certain: it was the only message of its batch."),
            (Verdict::Strong, Why::Value, "Very likely: the error contains a value that only this message contains."),
            (
                Verdict::Share { suspects: 4 },
                Why::Batch,
                "One of 4 messages caused it: nothing tells the messages of the batch apart.",
            ),
            (
                Verdict::Bystander,
                Why::MateFailed,
                "Failed with its batch: the error is another message's. It needs no fix of its own.",
            ),
        ] {
            assert_eq!(certainty(&reported(verdict, why)), wanted);
        }
    }

    #[test]
    fn an_invocation_is_described_as_far_as_it_is_known() {
        let none = reported(Verdict::Certain, Why::OnlyMessage);
        assert_eq!(invocation(&none), "");
        let some = Reported { duration_ms: Some(42), memory_mb: Some(128), ..none.clone() };
        assert_eq!(invocation(&some), "42 ms · 128 MB");
        let all = Reported { memory_used_mb: Some(80), cold: Some(true), ..some };
        assert_eq!(invocation(&all), "42 ms · 80 of 128 MB · cold start");
    }
}

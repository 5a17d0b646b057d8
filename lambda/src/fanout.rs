//! Sends each alert to every sink, and decides what may leave the account with it.

use async_trait::async_trait;
use domain::alert::Alert;
use domain::text::is_hidden;
use office::port::{Alerts, SinkError};

/// Sends each alert to all sinks. Without a sink, an alert becomes a log line, which omits the title.
pub(super) struct AlertFanout {
    /// Where alerts go.
    pub sinks: Vec<Box<dyn Alerts>>,
    /// Whether titles have the words of a letter's error message (data in them is masked). SNS does not encrypt subjects,
    /// mails are not encrypted, and rules forward events.
    pub carries_titles: bool,
}

#[async_trait]
impl Alerts for AlertFanout {
    async fn raise(&self, alert: &Alert) -> Result<(), SinkError> {
        if self.sinks.is_empty() {
            let Alert { kind, level, group, .. } = alert;
            let group = group.as_ref().map(|group| group.as_str());
            tracing::warn!(?kind, ?level, group, "an alert was raised, but no alert sink is configured");
        }
        let alert = outgoing(alert.clone(), self.carries_titles);
        // A failing sink must not keep the alert from the others.
        let mut outcome = Ok(());
        for sink in &self.sinks {
            outcome = outcome.and(sink.raise(&alert).await);
        }
        outcome
    }
}

fn outgoing(alert: Alert, carries_titles: bool) -> Alert {
    if carries_titles { Alert { title: plain(&alert.title), ..alert } } else { alert.without_words() }
}

/// Returns a title on one line, without links and control characters: whoever sends letters must not put a link into the
/// mails of the people who are on call. Mail programs make a link of a bare name of a host too, so a dot within a word
/// becomes `[.]`, as reports of attacks write it.
fn plain(title: &str) -> String {
    let shown: String = title.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect();
    let is_link = |word: &str| word.contains("://") || word.to_ascii_lowercase().contains("www.");
    let words = shown.split(' ').map(|word| if is_link(word) { "(link)".to_owned() } else { undotted(word) });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns a word in which no dot stands between two characters.
fn undotted(word: &str) -> String {
    // The three others are dots in names of hosts as well (UTS 46).
    let is_dot = |c: char| matches!(c, '.' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}');
    let ends = word.len() - word.trim_end_matches(is_dot).len();
    let (inner, end) = word.split_at(word.len() - ends);
    let starts = inner.len() - inner.trim_start_matches(is_dot).len();
    let (start, inner) = inner.split_at(starts);
    [start, &inner.split(is_dot).collect::<Vec<_>>().join("[.]"), end].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alerts::tests::alert;
    use crate::{alerts, events};
    use std::sync::{Arc, Mutex, PoisonError};

    /// A sink that keeps what it would send: subject, body and event.
    struct Sent(Arc<Mutex<Vec<String>>>);

    #[async_trait]
    impl Alerts for Sent {
        async fn raise(&self, alert: &Alert) -> Result<(), SinkError> {
            let event = events::entry("bus", alert, None).unwrap().build();
            let texts = [alerts::subject(alert), alerts::message(alert, None), format!("{event:?}")];
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(texts);
            Ok(())
        }
    }

    /// Returns subject, body and event of an alert with this title.
    async fn sent(title: &str, carries_titles: bool) -> Vec<String> {
        let texts = Arc::new(Mutex::new(Vec::new()));
        let sinks: Vec<Box<dyn Alerts>> = vec![Box::new(Sent(texts.clone()))];
        AlertFanout { sinks, carries_titles }.raise(&alert(&format!("New group: {title}"))).await.unwrap();
        let texts = texts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        assert_eq!(texts.len(), 3);
        texts
    }

    #[tokio::test]
    async fn subject_body_and_event_have_no_word_of_a_letter_by_default() {
        for title in [
            "no account for customer mueller of tenant acme",
            "patient diagnosed with diabetes",
            "see evil.example/login",
        ] {
            for text in sent(title, false).await {
                assert!(text.contains("New group (permanent, StorageError, order.placed, group 3fa9)"), "{text}");
                for word in title.split(' ').filter(|word| word.len() > 3) {
                    assert!(!text.contains(word), "{text} has the word {word}");
                }
            }
            for text in sent(title, true).await {
                assert!(text.contains(&title.replace('.', "[.]")), "with the parameter: {text}");
            }
        }
    }

    #[tokio::test]
    async fn a_letter_writes_no_link_and_no_second_line_into_a_mail() {
        let hostile = "sign in\r\nat https://evil.example/u?x=1 or \"WWW.evil.example\" \u{202e}gnp.exe";
        let texts = sent(hostile, true).await;
        assert_eq!(texts[0], "[CRITICAL] New group: sign in  at (link) or (link)  gnp[.]exe");
        assert_eq!(texts[1], "New group: sign in  at (link) or (link)  gnp[.]exe\n\nOpen the group.\n\nGroup 3fa9\n");
        assert!(!texts[2].contains("evil"), "{}", texts[2]);
        for (word, shown) in [
            ("evil-two.example.com", "evil-two[.]example[.]com"),
            ("anna@mail.example:", "anna@mail[.]example:"),
            ("evil\u{3002}example", "evil[.]example"),
            ("orders.", "orders."),
            ("203.0.113.7/login", "203[.]0[.]113[.]7/login"),
            ("i\u{2764}.ws", "i\u{2764}[.]ws"),
            (".net", ".net"),
            ("...", "..."),
        ] {
            assert_eq!(plain(word), shown);
        }
    }
}

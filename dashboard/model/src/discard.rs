//! Discards in words: the question, what is left out, how far one is, and the form.

use crate::gate::to_type;
use crate::money::{counted, line};
use domain::discard::{Discard, DiscardReason};
use domain::group::Tally;
use domain::group::discarding::Progress;
use domain::replay::LeftOut;
use wire::DiscardPreviewAnswer;

/// The form of a discard, as filled in so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The chosen reason.
    pub reason: Option<DiscardReason>,
    /// The note as typed.
    pub note: String,
    /// The typed count, for a large discard.
    pub typed: String,
}

impl Form {
    /// Returns why the form cannot be sent; `None` if it can.
    pub fn missing(&self, preview: Option<&DiscardPreviewAnswer>) -> Option<String> {
        let Some(preview) = preview else { return Some("Counting the letters…".to_string()) };
        if preview.letters.letters <= 0 {
            return Some("No letter can be discarded.".to_string());
        }
        let Some(reason) = self.reason else { return Some("Choose a reason.".to_string()) };
        if reason.needs_note() && self.note.trim().is_empty() {
            return Some("Describe the reason.".to_string());
        }
        let digits: String = self.typed.chars().filter(char::is_ascii_digit).collect();
        to_type(&preview.letters).filter(|n| digits != n.to_string()).map(|n| format!("Type {n} to confirm."))
    }
}

/// Returns the title of the dialog.
pub fn question(preview: Option<&DiscardPreviewAnswer>) -> String {
    match preview {
        Some(preview) => format!("Discard {}?", letters(&preview.letters)),
        None => "Discard letters?".to_string(),
    }
}

/// Returns the money of letters in a sentence: exact, or at least what is known.
pub fn money(letters: &Tally) -> String {
    if letters.money.is_empty() {
        return "No amounts found in these letters.".to_string();
    }
    let known = if letters.priced < letters.letters { "at least " } else { "" };
    format!("This gives up {known}{}.", line(&letters.money))
}

/// Returns what is not included, a line for each reason.
pub fn left_out(left_out: &[LeftOut]) -> Vec<String> {
    left_out.iter().map(|left| format!("{} {}", counted(left.letters, "letter", "letters"), left.reason)).collect()
}

/// Returns how far a discard is, or the undoing of one.
pub fn progress(progress: &Progress) -> String {
    let done = letters(&progress.done);
    let what = if progress.undo { "taking discarded letters back" } else { "discarding letters" };
    format!("{} is {what}: {done} so far. It continues every minute, even if you close this page.", progress.by)
}

/// Returns why a letter was discarded and by whom, in one line.
pub fn why(discard: &Discard) -> String {
    let note = discard.note.as_ref().map(|note| format!(", \"{note}\"")).unwrap_or_default();
    format!("{} ({}{note})", discard.reason.label(), discard.by)
}

fn letters(tally: &Tally) -> String {
    counted(tally.letters.max(0).unsigned_abs(), "letter", "letters")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::Actor;
    use domain::money::{Currency, Money, Purse};
    use domain::time::Timestamp;

    fn preview(letters: i64, priced: i64, euros: i64) -> DiscardPreviewAnswer {
        let money = Money { amount: euros.into(), currency: Currency::parse("EUR").unwrap() };
        let money = Purse::from((euros > 0).then_some(money));
        let (seen_at, left_out) = (Timestamp::from_ms(1), Vec::new());
        DiscardPreviewAnswer { letters: Tally { letters, priced, money }, left_out, seen_at, kept_until: None }
    }

    #[test]
    fn a_form_says_what_is_missing() {
        let (small, large) = (preview(3, 3, 30), preview(20_000, 0, 0));
        let form = |reason, note: &str, typed: &str| Form { reason, note: note.into(), typed: typed.into() };
        let (test, other) = (Some(DiscardReason::TestData), Some(DiscardReason::Other));
        for (form, preview, missing) in [
            (form(test, "", ""), None, Some("Counting the letters…")),
            (form(test, "", ""), Some(&preview(0, 0, 0)), Some("No letter can be discarded.")),
            (form(None, "", ""), Some(&small), Some("Choose a reason.")),
            (form(test, "", ""), Some(&small), None),
            (form(other, " ", ""), Some(&small), Some("Describe the reason.")),
            (form(other, "a mistake", ""), Some(&small), None),
            (form(test, "", "2000"), Some(&large), Some("Type 20000 to confirm.")),
            (form(test, "", "20,000"), Some(&large), None),
        ] {
            assert_eq!(form.missing(preview).as_deref(), missing, "{form:?}");
        }
    }

    #[test]
    fn letters_and_their_money_are_named() {
        assert_eq!(question(None), "Discard letters?");
        assert_eq!(question(Some(&preview(1, 1, 5))), "Discard 1 letter?");
        assert_eq!(question(Some(&preview(1_200, 1, 5))), "Discard 1,200 letters?");
        assert_eq!(money(&preview(2, 2, 5).letters), "This gives up €5.00.");
        assert_eq!(money(&preview(2, 1, 5).letters), "This gives up at least €5.00.");
        assert_eq!(money(&preview(2, 0, 0).letters), "No amounts found in these letters.");
        let stays = [LeftOut { reason: "in replay r, which is under way".into(), letters: 2 }];
        assert_eq!(left_out(&stays), ["2 letters in replay r, which is under way"]);
        let by = Actor::from("anna");
        let mut discard = Discard {
            at: Timestamp::from_ms(1),
            by: by.clone(),
            reason: DiscardReason::TestData,
            note: None,
            quarantined_at: None,
        };
        assert_eq!(why(&discard), "Test data (anna)");
        discard.note = Some("load test".into());
        assert_eq!(why(&discard), "Test data (anna, \"load test\")");
        let done = Progress { undo: false, by, at: Timestamp::from_ms(1), done: preview(1_200, 0, 0).letters };
        assert!(progress(&done).starts_with("anna is discarding letters: 1,200 letters so far."));
    }
}

//! A plan that is being made in steps, in words.

use crate::money::{count, counted};
use wire::DraftView;

/// Returns how many letters are read, of how many.
pub fn letters_read(draft: &DraftView) -> String {
    format!("{} of {} read", count(draft.read), counted(draft.waiting, "letter", "letters"))
}

/// Returns how far a plan is.
pub fn progress(draft: &DraftView) -> String {
    let so_far = counted(draft.letters, "letter", "letters");
    format!(
        "{} is making a plan: {}, {so_far} in the plan so far. It continues even if you close this page.",
        draft.made_by,
        letters_read(draft)
    )
}

/// Returns why no plan can be made; `None` while it is being made.
pub fn problem(draft: &DraftView) -> Option<String> {
    let why = draft.failed.as_ref()?;
    let mut chars = why.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    Some(format!("No plan was made. {first}{}.", chars.as_str().trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::filter::LetterFilter;
    use domain::id::{Actor, ReplayId};
    use domain::time::Timestamp;

    #[test]
    fn a_draft_says_how_far_it_is_or_why_there_is_no_plan() {
        let draft = |read, waiting, letters, failed: Option<&str>| DraftView {
            id: ReplayId::new("r"),
            made_by: Actor::from("anna"),
            made_at: Timestamp::from_ms(1),
            filter: LetterFilter::default(),
            read,
            waiting,
            letters,
            failed: failed.map(Into::into),
        };
        let under_way = draft(20_000, 1_000_000, 1, None);
        assert_eq!(letters_read(&under_way), "20,000 of 1,000,000 letters read");
        assert_eq!(
            progress(&under_way),
            "anna is making a plan: 20,000 of 1,000,000 letters read, 1 letter in the plan so far. It continues even if you close this page."
        );
        assert_eq!(problem(&under_way), None);
        let failed = draft(5, 5, 0, Some("no letter of this group can be replayed now"));
        let words = "No plan was made. No letter of this group can be replayed now.";
        assert_eq!(problem(&failed).as_deref(), Some(words));
    }
}

//! Staying signed in: when to warn a person who makes no input, when to sign them out, and when to renew their token.

use crate::when::span;
use domain::person::IdentityKind;
use domain::time::{Span, Timestamp};

/// How long before the sign-out the warning appears; less if a session may be idle for less than twice this time.
const WARN_BEFORE: Span = Span::from_mins(2);
/// How long before its expiry a token is renewed; less if it is valid for less than twice this time.
const RENEW_BEFORE: Span = Span::from_mins(5);

/// What happens to text that a person has typed when their session ends.
pub const DRAFTS_KEPT: &str = "Text in open forms is kept in this tab.";

/// What to do about a person who makes no input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Nothing.
    Active,
    /// Warn them. They are signed out at this time.
    Warned(Timestamp),
    /// Sign them out.
    Over,
}

/// Returns what to do about a person whose last input was at a time. `limit` is `None` if a session may be idle for ever.
pub fn idle(last_input_at: Timestamp, limit: Option<Span>, now: Timestamp) -> Idle {
    let Some(limit) = limit.filter(|limit| *limit > Span::ZERO) else { return Idle::Active };
    let ends_at = last_input_at.plus(limit);
    let warns_at = ends_at.minus(WARN_BEFORE.min(Span::from_ms(limit.as_ms() / 2)));
    match now {
        now if now >= ends_at => Idle::Over,
        now if now >= warns_at => Idle::Warned(ends_at),
        _ => Idle::Active,
    }
}

/// Returns when to renew a token that was received at a time and is valid for a span. Counts on this machine's clock
/// only, which may differ from the office's.
pub fn renew_at(received_at: Timestamp, lasts: Span) -> Timestamp {
    received_at.plus(lasts).minus(RENEW_BEFORE.min(Span::from_ms(lasts.as_ms() / 2)))
}

/// Explains a sign-out for lack of input.
pub fn why_signed_out(limit: Option<Span>) -> String {
    let limit = limit.map(|limit| format!(" for {}", span(limit))).unwrap_or_default();
    format!("There was no input{limit}. {DRAFTS_KEPT}")
}

/// Returns what an approval does not prove, or `None` if an issuer knows the person.
pub fn caveat(identity: IdentityKind, name: &str) -> Option<String> {
    match identity {
        IdentityKind::Issuer => None,
        IdentityKind::OneMachine => Some(format!(
            "All sign-in links of this machine belong to {name}. This is not a second person's approval. The audit log says so, too."
        )),
        IdentityKind::Demo => Some(format!(
            "{name} is a demo identity. Anyone at this machine can sign in with any role and approve their own fix."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

    #[test]
    fn a_person_without_input_is_warned_and_then_signed_out() {
        let half_an_hour = Some(Span::from_mins(30));
        let ends_at = NOW.plus(Span::from_mins(30));
        for (limit, seconds, expected) in [
            (half_an_hour, 0, Idle::Active),
            (half_an_hour, 28 * 60 - 1, Idle::Active),
            (half_an_hour, 28 * 60, Idle::Warned(ends_at)),
            (half_an_hour, 30 * 60 - 1, Idle::Warned(ends_at)),
            (half_an_hour, 30 * 60, Idle::Over),
            // The machine slept.
            (half_an_hour, 24 * 60 * 60, Idle::Over),
            (Some(Span::from_secs(10)), 4, Idle::Active),
            (Some(Span::from_secs(10)), 5, Idle::Warned(NOW.plus(Span::from_secs(10)))),
            (None, 24 * 60 * 60, Idle::Active),
            (Some(Span::ZERO), 24 * 60 * 60, Idle::Active),
        ] {
            assert_eq!(idle(NOW, limit, NOW.plus(Span::from_secs(seconds))), expected, "{limit:?} {seconds}");
        }
    }

    #[test]
    fn a_token_is_renewed_five_minutes_before_its_expiry_or_after_half_its_time() {
        for (lasts_s, renewed_after_s) in [(3_600, 3_300), (600, 300), (60, 30), (0, 0)] {
            let at = renew_at(NOW, Span::from_secs(lasts_s));
            assert_eq!(at, NOW.plus(Span::from_secs(renewed_after_s)), "{lasts_s}");
        }
    }

    #[test]
    fn only_identities_of_an_issuer_prove_a_second_person() {
        assert_eq!(caveat(IdentityKind::Issuer, "anna"), None);
        for (kind, words) in [
            (IdentityKind::OneMachine, "belong to maria. This is not a second person's approval."),
            (IdentityKind::Demo, "maria is a demo identity."),
        ] {
            assert!(caveat(kind, "maria").is_some_and(|text| text.contains(words)), "{kind:?}");
        }
    }

    #[test]
    fn a_sign_out_for_lack_of_input_says_so() {
        assert_eq!(
            why_signed_out(Some(Span::from_mins(30))),
            "There was no input for 30 min. Text in open forms is kept in this tab."
        );
    }
}

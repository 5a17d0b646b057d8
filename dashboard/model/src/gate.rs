//! The gate as a person reads it, and what an approval still lacks.

use super::money::{count, counted};
use domain::gate::{Condition, ConditionKind, Status};
use domain::group::Tally;
use domain::money::Decimal;
use domain::time::Timestamp;
use wire::GateView;
use wire::WaiverRequest;

use super::words::Tone;

/// From this many letters on, the count has to be typed: a click can be an accident, a number cannot.
const TYPED_ABOVE_LETTERS: i64 = 100;

/// From this sum on in any one currency, too.
const TYPED_FROM_MONEY: i64 = 10_000;

/// How a condition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It holds.
    Met,
    /// It does not, and somebody has to do something.
    Unmet,
    /// It does not yet; it follows from something else.
    Waits,
    /// It opens by itself then.
    Opens(Timestamp),
    /// A person set it aside.
    Waived,
}

impl Mark {
    /// Tone, shape and word.
    pub fn look(self) -> (Tone, &'static str, &'static str) {
        match self {
            Self::Met => (Tone::Ok, "✓", "met"),
            Self::Unmet => (Tone::Danger, "✕", "not met"),
            Self::Waits => (Tone::Quiet, "○", "not yet"),
            Self::Opens(_) => (Tone::Info, "◔", "opens by itself"),
            Self::Waived => (Tone::Warn, "◇", "waived"),
        }
    }
}

/// How a condition of this gate stands. What only waits for the fix, or for a second person, is not a fault of its own.
pub fn mark(gate: &GateView, condition: &Condition) -> Mark {
    let has_fix = gate.conditions.iter().any(|c| c.kind == ConditionKind::FixDeclared && c.holds());
    match (&condition.status, condition.kind) {
        (Status::Met, _) => Mark::Met,
        (Status::Waived { .. }, _) => Mark::Waived,
        (Status::Unmet { opens_at: Some(at) }, _) => Mark::Opens(*at),
        (Status::Unmet { .. }, ConditionKind::Approval) => Mark::Waits,
        (Status::Unmet { .. }, kind) if !has_fix && kind.is_waivable() => Mark::Waits,
        (Status::Unmet { .. }, _) => Mark::Unmet,
    }
}

/// When the gate changes by itself next.
pub fn opens_at(gate: &GateView) -> Option<Timestamp> {
    let at = |c: &Condition| match c.status {
        Status::Unmet { opens_at } => opens_at,
        _ => None,
    };
    gate.conditions.iter().filter_map(at).min()
}

/// Conditions that stand in the way but may be set aside with a reason.
pub fn waivable(gate: &GateView) -> Vec<Condition> {
    gate.conditions.iter().filter(|c| !c.holds() && c.kind.is_waivable()).cloned().collect()
}

/// What stands in the way and cannot be set aside, in a sentence for this person; none if nothing does.
pub fn blocked(gate: &GateView, declarer: Option<&str>, me: Option<&str>) -> Option<String> {
    let condition = gate.conditions.iter().find(|c| !c.holds() && !c.kind.is_waivable())?;
    Some(match condition.kind {
        ConditionKind::Approval if me.is_some() && declarer == me => {
            "You declared the fix: somebody else must approve it.".to_string()
        }
        _ => condition.evidence.clone(),
    })
}

/// What a person has put into a dialog of consent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    /// Why.
    pub reason: String,
    /// The count, typed.
    pub typed: String,
    /// Why a condition may be set aside.
    pub waivers: Vec<(ConditionKind, String)>,
}

impl Consent {
    /// The reason for setting a condition aside.
    pub fn waiver(&self, kind: ConditionKind) -> &str {
        self.waivers.iter().find(|(of, _)| *of == kind).map_or("", |(_, reason)| reason)
    }

    /// Writes the reason for setting a condition aside.
    pub fn waive(&mut self, kind: ConditionKind, reason: String) {
        self.waivers.retain(|(of, _)| *of != kind);
        self.waivers.push((kind, reason));
    }

    /// The waivers that the gate still needs.
    pub fn asks(&self, gate: &GateView) -> Vec<WaiverRequest> {
        let ask = |c: Condition| WaiverRequest { condition: c.kind, reason: self.waiver(c.kind).trim().to_string() };
        waivable(gate).into_iter().map(ask).collect()
    }

    /// What is missing before it can be sent; none if nothing is. `to_type` is the count that has to be typed.
    pub fn lacks(&self, gate: &GateView, to_type: Option<u64>) -> Option<String> {
        if self.reason.trim().is_empty() {
            return Some("Write a reason.".to_string());
        }
        if let Some(condition) = waivable(gate).iter().find(|c| self.waiver(c.kind).trim().is_empty()) {
            return Some(format!("\"{}\" is not met: wait, or say why it may be set aside.", condition.kind.label()));
        }
        match to_type {
            Some(n) if !is_count(&self.typed, n) => Some(format!("Type {n} to confirm.")),
            _ => None,
        }
    }
}

/// The count that has to be typed before these letters are sent; none where a click is enough.
pub fn to_type(letters: &Tally) -> Option<u64> {
    let dear = letters.money.sums().iter().any(|sum| sum.amount >= Decimal::from(TYPED_FROM_MONEY));
    (letters.letters > TYPED_ABOVE_LETTERS || dear).then(|| letters.letters.max(0).unsigned_abs())
}

/// Whether a text is this count, however a person groups the digits.
fn is_count(text: &str, n: u64) -> bool {
    let digits: String =
        text.chars().filter(|c| !matches!(c, ' ' | ',' | '.' | '\'' | '\u{202f}' | '\u{a0}')).collect();
    !digits.is_empty() && digits == n.to_string()
}

/// `1 letter`, `2,000 letters`.
pub fn letters(n: u64) -> String {
    counted(n, "letter", "letters")
}

/// `Replay 7,162 letters to orders?`
pub fn question(letters: &Tally, queue: &str) -> String {
    let n = letters.letters.max(0).unsigned_abs();
    let word = if n == 1 { "letter" } else { "letters" };
    format!("Replay {} {word} to {queue}?", count(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::{Actor, GroupId};
    use domain::money::{Currency, Money, Purse};

    fn gate(conditions: &[(ConditionKind, Status, &str)]) -> GateView {
        let condition = |(kind, status, evidence): &(ConditionKind, Status, &str)| Condition {
            kind: *kind,
            status: status.clone(),
            evidence: (*evidence).to_string(),
        };
        GateView { group: GroupId::new("g"), conditions: conditions.iter().map(condition).collect() }
    }

    const UNMET: Status = Status::Unmet { opens_at: None };

    #[test]
    fn only_what_asks_for_action_is_a_fault() {
        use ConditionKind::*;
        let at = Timestamp::from_ms(5);
        let waived = Status::Waived { by: Actor::new("ana"), reason: "r".into() };
        // (conditions, the marks of the second one)
        let rows = [
            (FixDeclared, UNMET, FixIsLive, UNMET, Mark::Waits),
            (FixDeclared, UNMET, Quiet, UNMET, Mark::Waits),
            (FixDeclared, UNMET, QueueReady, UNMET, Mark::Unmet),
            (FixDeclared, Status::Met, FixIsLive, UNMET, Mark::Unmet),
            (FixDeclared, Status::Met, Quiet, Status::Unmet { opens_at: Some(at) }, Mark::Opens(at)),
            (FixDeclared, Status::Met, Quiet, waived, Mark::Waived),
            (FixDeclared, Status::Met, Approval, UNMET, Mark::Waits),
            (FixDeclared, Status::Met, Approval, Status::Met, Mark::Met),
        ];
        for (first, first_status, second, status, expected) in rows {
            let gate = gate(&[(first, first_status, ""), (second, status, "")]);
            assert_eq!(mark(&gate, &gate.conditions[1]), expected, "{second:?}");
        }
    }

    #[test]
    fn who_may_not_approve_is_told_why() {
        use ConditionKind::*;
        let four_eyes =
            gate(&[(Quiet, UNMET, "wait"), (Approval, UNMET, "ana declared the fix; somebody else must approve it.")]);
        assert_eq!(
            blocked(&four_eyes, Some("ana"), Some("ana")).as_deref(),
            Some("You declared the fix: somebody else must approve it.")
        );
        let no_queue = gate(&[(QueueReady, UNMET, "orders does not exist."), (Approval, Status::Met, "")]);
        assert_eq!(blocked(&no_queue, Some("ana"), Some("bo")).as_deref(), Some("orders does not exist."));
        assert_eq!(blocked(&gate(&[(Quiet, UNMET, "wait")]), None, None), None);
    }

    #[test]
    fn consent_is_complete_or_says_what_it_lacks() {
        use ConditionKind::*;
        let open = gate(&[(Quiet, Status::Met, ""), (Approval, Status::Met, "")]);
        let noisy = gate(&[(Quiet, UNMET, ""), (Approval, Status::Met, "")]);
        let consent = |reason: &str, typed: &str, waiver: &str| Consent {
            reason: reason.into(),
            typed: typed.into(),
            waivers: vec![(Quiet, waiver.into())],
        };
        let rows = [
            (&open, consent("fixed", "", ""), None, None),
            (&open, consent("  ", "", ""), None, Some("Write a reason.")),
            (
                &noisy,
                consent("fixed", "", " "),
                None,
                Some("\"Quiet since the fix\" is not met: wait, or say why it may be set aside."),
            ),
            (&noisy, consent("fixed", "", "known noise"), None, None),
            (&open, consent("fixed", "", ""), Some(7162), Some("Type 7162 to confirm.")),
            (&open, consent("fixed", "716", ""), Some(7162), Some("Type 7162 to confirm.")),
            (&open, consent("fixed", " 7,162 ", ""), Some(7162), None),
        ];
        for (gate, consent, to_type, lacks) in rows {
            assert_eq!(consent.lacks(gate, to_type).as_deref(), lacks, "{consent:?}");
        }
        assert_eq!(consent("", "", "x").asks(&open).len(), 0, "what is met needs no waiver");
        assert_eq!(consent("", "", "x").asks(&noisy).len(), 1);
    }

    #[test]
    fn many_letters_and_much_money_are_typed() {
        let tally = |letters: i64, euros: i64| Tally {
            letters,
            priced: letters,
            money: Purse::from(Some(Money { amount: euros.into(), currency: Currency::parse("EUR").unwrap() })),
        };
        for (letters, euros, typed) in
            [(100, 9_999, None), (101, 0, Some(101)), (3, 10_000, Some(3)), (1, 1, None), (0, 0, None)]
        {
            assert_eq!(to_type(&tally(letters, euros)), typed, "{letters} {euros}");
        }
        assert_eq!(question(&tally(7162, 1), "orders"), "Replay 7,162 letters to orders?");
        assert_eq!(question(&tally(1, 1), "orders"), "Replay 1 letter to orders?");
    }
}

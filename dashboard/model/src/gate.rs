//! Shows the gate's conditions, and checks whether an approval is complete.

use super::money::{count, counted};
use domain::gate::{Condition, ConditionKind, ONE_MACHINE, Status};
use domain::group::Tally;
use domain::money::Decimal;
use domain::replay::Plan;
use domain::time::Timestamp;
use wire::{GateView, WaiverRequest};

use super::words::Tone;

/// Above this number of letters, the approver types the count: a click can be an accident, a number cannot.
const TYPED_ABOVE_LETTERS: i64 = 100;

/// From this sum in any currency, the approver types the count as well.
const TYPED_FROM_MONEY: i64 = 10_000;

/// The mark of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The condition is met.
    Met,
    /// The condition is not met and needs an action.
    Unmet,
    /// The condition depends on a later step, such as the approval itself.
    Pending,
    /// The condition clears by itself at this time.
    Clears(Timestamp),
    /// A person waived the condition.
    Waived,
}

impl Mark {
    /// Returns the mark's tone, shape and label.
    pub fn look(self) -> (Tone, &'static str, &'static str) {
        match self {
            Self::Met => (Tone::Ok, "✓", "met"),
            Self::Unmet => (Tone::Danger, "✕", "unmet"),
            Self::Pending => (Tone::Quiet, "○", "pending"),
            Self::Clears(_) => (Tone::Info, "◔", "clears automatically"),
            Self::Waived => (Tone::Warn, "◇", "waived"),
        }
    }
}

/// Returns the mark of a condition.
///
/// A condition that only waits for the fix or for the second person is pending, not unmet. *Safe to repeat* waits for
/// neither. The approval stays pending
/// until someone approves, even if the reader may approve.
pub fn mark(gate: &GateView, condition: &Condition) -> Mark {
    let has_fix = gate.conditions.iter().any(|c| c.kind == ConditionKind::FixDeclared && c.holds());
    match (&condition.status, condition.kind) {
        (Status::Met | Status::Unmet { .. }, ConditionKind::Approval) => Mark::Pending,
        (Status::Met, _) => Mark::Met,
        (Status::Waived { .. }, _) => Mark::Waived,
        (Status::Unmet { opens_at: Some(at) }, _) => Mark::Clears(*at),
        (Status::Unmet { .. }, kind) if !has_fix && kind.is_waivable() && kind != ConditionKind::SafeToRepeat => {
            Mark::Pending
        }
        (Status::Unmet { .. }, _) => Mark::Unmet,
    }
}

/// Returns a condition's evidence, addressed to the reader.
pub fn evidence(condition: &Condition) -> String {
    match (&condition.status, condition.kind) {
        // The office evaluates the gate for the reader, so this means: the reader may approve.
        (Status::Met, ConditionKind::Approval) if condition.evidence.ends_with(ONE_MACHINE) => {
            format!("You can approve. {ONE_MACHINE}")
        }
        (Status::Met, ConditionKind::Approval) => "You can approve.".to_string(),
        _ => condition.evidence.clone(),
    }
}

/// Returns the earliest time at which a condition clears by itself.
pub fn opens_at(gate: &GateView) -> Option<Timestamp> {
    let at = |c: &Condition| match c.status {
        Status::Unmet { opens_at } => opens_at,
        _ => None,
    };
    gate.conditions.iter().filter_map(at).min()
}

/// Returns the unmet conditions that may be waived with a reason.
pub fn waivable(gate: &GateView) -> Vec<Condition> {
    gate.conditions.iter().filter(|c| !c.holds() && c.kind.is_waivable()).cloned().collect()
}

/// Explains the first unmet condition that cannot be waived, addressed to `me`. Returns `None` if there is none.
pub fn blocked(gate: &GateView, declarer: Option<&str>, me: Option<&str>) -> Option<String> {
    let condition = gate.conditions.iter().find(|c| !c.holds() && !c.kind.is_waivable())?;
    Some(match condition.kind {
        ConditionKind::Approval if me.is_some() && declarer == me => {
            "You declared the fix, so someone else must approve it.".to_string()
        }
        _ => condition.evidence.clone(),
    })
}

/// The content of an approval or resume dialog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    /// The reason.
    pub reason: String,
    /// The typed count.
    pub typed: String,
    /// The reason for each waived condition.
    pub waivers: Vec<(ConditionKind, String)>,
}

impl Consent {
    /// Returns the reason for waiving a condition.
    pub fn waiver(&self, kind: ConditionKind) -> &str {
        self.waivers.iter().find(|(other, _)| *other == kind).map_or("", |(_, reason)| reason)
    }

    /// Sets the reason for waiving a condition.
    pub fn waive(&mut self, kind: ConditionKind, reason: String) {
        self.waivers.retain(|(other, _)| *other != kind);
        self.waivers.push((kind, reason));
    }

    /// Returns the waivers that the gate still needs.
    pub fn needed_waivers(&self, gate: &GateView) -> Vec<WaiverRequest> {
        let waiver = |c: Condition| WaiverRequest { condition: c.kind, reason: self.waiver(c.kind).trim().to_string() };
        waivable(gate).into_iter().map(waiver).collect()
    }

    /// Explains what is missing. Returns `None` if the dialog can be sent. `to_type` is the count that must be typed.
    pub fn missing(&self, gate: &GateView, to_type: Option<u64>) -> Option<String> {
        if self.reason.trim().is_empty() {
            return Some("Enter a reason.".to_string());
        }
        if let Some(condition) = waivable(gate).iter().find(|c| self.waiver(c.kind).trim().is_empty()) {
            return Some(format!("\"{}\" is unmet. Wait, or enter a reason to waive it.", condition.kind.label()));
        }
        match to_type {
            Some(n) if !is_count(&self.typed, n) => Some(format!("Type {n} to confirm.")),
            _ => None,
        }
    }
}

/// Returns the count that must be typed to send these letters, or `None` if a click is enough.
pub fn to_type(letters: &Tally) -> Option<u64> {
    let dear = letters.money.sums().iter().any(|sum| sum.amount >= Decimal::from(TYPED_FROM_MONEY));
    (letters.letters > TYPED_ABOVE_LETTERS || dear).then(|| letters.letters.max(0).unsigned_abs())
}

/// Returns whether a text is this count, in any digit grouping.
fn is_count(text: &str, n: u64) -> bool {
    let digits: String =
        text.chars().filter(|c| !matches!(c, ' ' | ',' | '.' | '\'' | '\u{202f}' | '\u{a0}')).collect();
    !digits.is_empty() && digits == n.to_string()
}

/// Formats a number of letters: `1 letter`, `2,000 letters`.
pub fn letters(n: u64) -> String {
    counted(n, "letter", "letters")
}

/// Returns the title of the approval dialog: `Replay 7,162 letters to orders?`
pub fn question(letters: &Tally, queue: &str) -> String {
    let n = letters.letters.max(0).unsigned_abs();
    let word = if n == 1 { "letter" } else { "letters" };
    format!("Replay {} {word} to {queue}?", count(n))
}

/// Returns what a pause stops: `After a pause, at most 50 letters still go out.` The executor has them in hand.
pub fn after_pause(plan: &Plan) -> String {
    let letters = plan.letters.letters.max(0).unsigned_abs();
    match plan.in_hand_max().min(letters) {
        0 | 1 => "After a pause, at most one letter still goes out.".to_string(),
        n => format!("After a pause, at most {} letters still go out.", count(n)),
    }
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
    fn only_conditions_that_need_action_are_unmet() {
        use ConditionKind::*;
        let at = Timestamp::from_ms(5);
        let waived = Status::Waived { by: Actor::new("ana"), reason: "r".into() };
        // (conditions, the marks of the second one)
        let rows = [
            (FixDeclared, UNMET, FixIsLive, UNMET, Mark::Pending),
            (FixDeclared, UNMET, Quiet, UNMET, Mark::Pending),
            (FixDeclared, UNMET, QueueReady, UNMET, Mark::Unmet),
            (FixDeclared, UNMET, SafeToRepeat, UNMET, Mark::Unmet),
            (FixDeclared, Status::Met, FixIsLive, UNMET, Mark::Unmet),
            (FixDeclared, Status::Met, Quiet, Status::Unmet { opens_at: Some(at) }, Mark::Clears(at)),
            (FixDeclared, Status::Met, Quiet, waived, Mark::Waived),
            (FixDeclared, Status::Met, Approval, UNMET, Mark::Pending),
            (FixDeclared, Status::Met, Approval, Status::Met, Mark::Pending),
        ];
        for (first, first_status, second, status, expected) in rows {
            let gate = gate(&[(first, first_status, ""), (second, status, "")]);
            assert_eq!(mark(&gate, &gate.conditions[1]), expected, "{second:?}");
        }
    }

    #[test]
    fn a_refused_approver_sees_the_reason() {
        use ConditionKind::*;
        let four_eyes =
            gate(&[(Quiet, UNMET, "wait"), (Approval, UNMET, "ana declared the fix; somebody else must approve it.")]);
        assert_eq!(
            blocked(&four_eyes, Some("ana"), Some("ana")).as_deref(),
            Some("You declared the fix, so someone else must approve it.")
        );
        let no_queue = gate(&[(QueueReady, UNMET, "orders does not exist."), (Approval, Status::Met, "")]);
        assert_eq!(blocked(&no_queue, Some("ana"), Some("bo")).as_deref(), Some("orders does not exist."));
        assert_eq!(blocked(&gate(&[(Quiet, UNMET, "wait")]), None, None), None);
    }

    #[test]
    fn a_possible_approval_addresses_the_reader() {
        let open =
            gate(&[(ConditionKind::Quiet, Status::Met, "quiet"), (ConditionKind::Approval, Status::Met, "ana can")]);
        let texts: Vec<_> = open.conditions.iter().map(evidence).collect();
        assert_eq!(texts, ["quiet", "You can approve."]);
        let machine = gate(&[(ConditionKind::Approval, Status::Met, &format!("ana can approve. {ONE_MACHINE}"))]);
        assert_eq!(evidence(&machine.conditions[0]), format!("You can approve. {ONE_MACHINE}"));
    }

    #[test]
    fn consent_is_complete_or_names_what_is_missing() {
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
            (&open, consent("  ", "", ""), None, Some("Enter a reason.")),
            (
                &noisy,
                consent("fixed", "", " "),
                None,
                Some("\"Quiet since the fix\" is unmet. Wait, or enter a reason to waive it."),
            ),
            (&noisy, consent("fixed", "", "known noise"), None, None),
            (&open, consent("fixed", "", ""), Some(7162), Some("Type 7162 to confirm.")),
            (&open, consent("fixed", "716", ""), Some(7162), Some("Type 7162 to confirm.")),
            (&open, consent("fixed", " 7,162 ", ""), Some(7162), None),
        ];
        for (gate, consent, to_type, missing) in rows {
            assert_eq!(consent.missing(gate, to_type).as_deref(), missing, "{consent:?}");
        }
        assert_eq!(consent("", "", "x").needed_waivers(&open).len(), 0, "a met condition needs no waiver");
        assert_eq!(consent("", "", "x").needed_waivers(&noisy).len(), 1);
    }

    #[test]
    fn large_replays_need_a_typed_count() {
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

//! What consumers say of themselves, and the two conditions of the gate that depend on it.

use domain::filter::LetterFilter;
use domain::fix::{Fix, FixKind};
use domain::gate::{
    Condition, ConditionKind, ConsumerFacts, GateFacts, QueueFact, Repeat, Repeatable, Status, evaluate,
};
use domain::group::Tally;
use domain::id::{Actor, GroupId};
use domain::money::{Currency, Decimal, Money};
use domain::notice::{
    CIRCUITS_MAX, Circuit, CircuitNotice, CircuitState, DECLARATIONS_MAX, Declaration, FailedOn, KeptNotices,
    NOTICE_VERSION, Notice, Source, Statement, of_stamp,
};
use domain::person::Person;
use domain::policy::GatePolicy;
use domain::reading::Class;
use domain::replay::{Waiver, Wrapped};
use domain::time::{Span, Timestamp};

fn s(seconds: i64) -> Timestamp {
    Timestamp::from_ms(1_800_000_000_000).plus(Span::from_secs(seconds))
}

fn circuit(dependency: &str, state: CircuitState, said_at: Timestamp) -> Circuit {
    Circuit { dependency: dependency.into(), state, consumer: "orders".into(), said_at }
}

fn declaration(message_type: &str, idempotent: bool, source: Source, said_at: Timestamp) -> Declaration {
    let message_type = Some(message_type.into());
    Declaration { message_type, idempotent, consumer: "orders".into(), version: "v3".into(), source, said_at }
}

fn repeat(known: Repeatable) -> Repeat {
    Repeat { message_type: Some("order.placed".into()), known }
}

/// Evaluates one condition, ten minutes after the fix.
fn condition(
    kind: ConditionKind,
    (class, fix): (Class, FixKind),
    consumers: ConsumerFacts<'_>,
    last_died_at: Option<Timestamp>,
    waivers: &[Waiver],
) -> Option<Condition> {
    let fix = Fix {
        kind: fix,
        reference: "v2".into(),
        note: None,
        declared_by: Actor::from("otto"),
        declared_by_id: None,
        declared_at: s(0),
        effective_at: s(0),
        transform: None,
    };
    let mut letters = Tally { letters: 3, ..Tally::default() };
    letters.money.add(Money { amount: Decimal::from(9), currency: Currency::parse("EUR").unwrap() });
    let facts = GateFacts {
        group: &GroupId::from("g"),
        class,
        fix: Some(&fix),
        last_died_at,
        last_undated_at: None,
        dry_run: None,
        filter: &LetterFilter::default(),
        deployment: None,
        consumers,
        letters: &letters,
        left_out: &[],
        unchecked: &[],
        wrapped: &Wrapped::default(),
        queue: QueueFact::Ready("orders answers".into()),
        approver: Some(&Person::from("anna")),
        waivers,
        four_eyes: true,
    };
    let gate = evaluate(&facts, &GatePolicy::default(), s(600));
    gate.conditions().iter().find(|condition| condition.kind == kind).cloned()
}

/// Checks *dependency healthy* of a transient group whose last letter died at 100 s. It is now 600 s.
#[track_caller]
fn check_health(fix: FixKind, dependency: Option<&str>, circuits: &[Circuit], holds: bool, words: &str) {
    let consumers = ConsumerFacts { circuits, dependency, ..ConsumerFacts::default() };
    let kind = ConditionKind::DependencyHealthy;
    let found = condition(kind, (Class::Transient, fix), consumers, Some(s(100)), &[]).unwrap();
    assert_eq!(found.holds(), holds, "{found:?}");
    assert!(found.evidence.contains(words), "{found:?}");
}

#[test]
fn a_circuit_closes_the_gate_and_opens_it_only_for_its_own_dependency_after_the_last_death() {
    use CircuitState::{Closed, HalfOpen, Open};
    use FixKind::{DependencyRecovered as Recovered, Deploy};
    let one = |state, at| vec![circuit("payments", state, s(at))];
    let payments = Some("payments");
    // The fix, the group's dependency, the circuits, whether it holds, and words of the evidence.
    check_health(Deploy, None, &[], false, "Declare that the dependency has recovered.");
    check_health(Recovered, None, &[], true, "otto declared that it has recovered (v2)");
    check_health(Recovered, payments, &one(Open, 590), false, "orders reports that its circuit to payments is open.");
    check_health(Recovered, payments, &one(HalfOpen, 590), false, "is half-open.");
    check_health(Recovered, Some("mail"), &one(Open, 590), true, "otto declared");
    check_health(Recovered, None, &one(Open, 590), false, "payments is open");
    // Nobody has said so for 15 minutes.
    check_health(Recovered, payments, &one(Open, -301), true, "otto declared");
    check_health(
        Recovered,
        payments,
        &one(Closed, 590),
        true,
        "; orders reports that its circuit to payments has closed",
    );
    check_health(Deploy, payments, &one(Closed, 101), true, "has closed since the last failure");
    check_health(Deploy, payments, &one(Closed, 100), false, "Declare that");
    check_health(Deploy, payments, &one(Closed, 99), false, "Declare that");
    check_health(Recovered, payments, &one(Closed, 99), true, "otto declared");
    check_health(Deploy, None, &one(Closed, 590), false, "Declare that");
    check_health(Deploy, Some("mail"), &one(Closed, 590), false, "Declare that");
    let both = [circuit("mail", Closed, s(590)), circuit("payments", Open, s(590))];
    check_health(Deploy, Some("mail"), &both, true, "mail has closed");
    check_health(Deploy, payments, &both, false, "payments is open");
}

#[test]
fn letters_with_money_need_the_word_of_the_policy_or_of_the_consumer() {
    use Source::{Notice, Receipt, Stamp};
    let declared =
        |idempotent, source| repeat(Repeatable::Declared(declaration("order.placed", idempotent, source, s(0))));
    let by_policy = |safe| repeat(Repeatable::Policy(safe));
    let unknown = || Repeat { message_type: Some("refund".into()), known: Repeatable::Unknown };
    let untyped = || Repeat { message_type: None, known: Repeatable::Unknown };
    let rows: [(Vec<Repeat>, bool, &str); 10] = [
        (vec![], false, "nobody has declared that handling them twice does no harm"),
        (vec![unknown()], false, "handling refund twice does no harm"),
        (vec![untyped()], false, "handling messages without a type twice"),
        (vec![declared(true, Notice)], true, "order.placed: declared by orders v3 in a notice"),
        (vec![declared(true, Stamp)], true, "in a stamp"),
        (vec![declared(true, Receipt)], true, "in a receipt"),
        (vec![declared(false, Receipt)], false, "orders v3 does not declare that handling order.placed twice"),
        (vec![by_policy(true)], true, "order.placed: declared in the policy"),
        (vec![by_policy(false)], false, "The policy says that order.placed must not be handled twice."),
        (vec![declared(true, Stamp), unknown()], false, "handling refund twice"),
    ];
    let safe = |repeats: &[Repeat], waivers: &[Waiver]| {
        let consumers = ConsumerFacts { repeats, ..ConsumerFacts::default() };
        let kinds = (Class::Permanent, FixKind::Deploy);
        condition(ConditionKind::SafeToRepeat, kinds, consumers, Some(s(-60)), waivers).unwrap()
    };
    let waiver = Waiver {
        condition: ConditionKind::SafeToRepeat,
        by: "anna".into(),
        reason: "the bank rejects a second payment".into(),
        at: s(0),
    };
    for (repeats, holds, words) in rows {
        let found = safe(&repeats, &[]);
        assert_eq!(found.holds(), holds, "{repeats:?}: {found:?}");
        assert!(found.evidence.contains(words), "{found:?}");
        let waived = safe(&repeats, std::slice::from_ref(&waiver));
        assert!(waived.holds() && matches!(waived.status, Status::Waived { .. }) != holds, "{waived:?}");
    }
}

#[test]
fn the_newest_statement_counts_and_only_news_are_written() {
    use CircuitState::{Closed, Open};
    let now = s(1_000);
    let empty = KeptNotices::new("orders".into(), now);
    let says = |kept: &KeptNotices, state, at| kept.with(&[Statement::Circuit(circuit("payments", state, s(at)))], now);
    let open = says(&empty, Open, 900).unwrap();
    assert_eq!((open.version, open.circuits.as_slice()), (1, &[circuit("payments", Open, s(900))][..]));
    // Statements may overtake each other on their queue.
    assert_eq!(says(&open, Closed, 899), None);
    assert_eq!(says(&open, Open, 950), None, "nothing new");
    let closed = says(&open, Closed, 950).unwrap();
    assert_eq!((closed.version, closed.circuits.as_slice()), (2, &[circuit("payments", Closed, s(950))][..]));
    // A clock that is ahead does not win for ever.
    assert_eq!(says(&open, Closed, 5_000).unwrap().circuits, [circuit("payments", Closed, now)]);
    let ahead = KeptNotices { circuits: vec![circuit("payments", Open, s(9_000))], ..empty.clone() };
    assert_eq!(says(&ahead, Closed, 990).unwrap().circuits, [circuit("payments", Closed, s(990))]);
    // It is written again when it is said ten minutes later.
    let early = says(&empty, Open, 300).unwrap();
    assert_eq!(says(&early, Open, 899), None);
    assert_eq!(says(&early, Open, 900).map(|kept| kept.version), Some(2));
}

#[test]
fn a_receipt_stays_the_evidence_until_something_else_is_said() {
    let now = s(5_000);
    let after = |kept: &KeptNotices, said: Declaration| kept.with(&[Statement::Repeat(said)], now).unwrap();
    let receipt = after(&KeptNotices::new("orders".into(), now), declaration("order", true, Source::Receipt, s(0)));
    let stamped = after(&receipt, declaration("order", true, Source::Stamp, s(700)));
    let found = stamped.declaration(Some("order")).unwrap();
    assert_eq!((found.source, found.said_at), (Source::Receipt, s(700)));
    let denied = after(&stamped, declaration("order", false, Source::Stamp, s(800)));
    assert_eq!(denied.declaration(Some("order")).map(|it| (it.idempotent, it.source)), Some((false, Source::Stamp)));
    assert_eq!(denied.declaration(Some("refund")), None);
    assert_eq!(denied.declaration(None), None);
}

#[test]
fn what_is_kept_is_bounded_and_forgotten() {
    let now = s(0);
    let types =
        (0..DECLARATIONS_MAX as i64 + 5).map(|n| declaration(&format!("t{n}"), true, Source::Notice, s(n - 999)));
    let circuits = (0..CIRCUITS_MAX as i64 + 5).map(|n| circuit(&format!("d{n}"), CircuitState::Open, s(n - 999)));
    let said: Vec<_> = types.map(Statement::Repeat).chain(circuits.map(Statement::Circuit)).collect();
    let kept = KeptNotices::new("orders".into(), now).with(&said, now).unwrap();
    assert_eq!((kept.circuits.len(), kept.declarations.len()), (CIRCUITS_MAX, DECLARATIONS_MAX));
    assert!(kept.declaration(Some("t4")).is_none() && kept.declaration(Some("t5")).is_some(), "the oldest are dropped");
    let later = now.plus(Span::from_days(31));
    let long = declaration(&"ä".repeat(500), true, Source::Notice, later);
    let kept = kept.with(&[Statement::Repeat(long)], later).unwrap();
    assert_eq!((kept.circuits.len(), kept.declarations.len()), (0, 1), "nobody repeated them for 30 days");
    assert_eq!(kept.declarations[0].message_type.as_deref().map(str::len), Some(200));
}

#[test]
fn a_notice_is_read_within_its_limits_and_nothing_else_is_one() {
    let notice = Notice {
        v: NOTICE_VERSION,
        queue: "arn:aws:sqs:eu-west-1:111122223333:orders".into(),
        consumer: "orders".into(),
        consumer_version: "v3".into(),
        noticed_at: s(0),
        circuits: vec![CircuitNotice { dependency: "payments".into(), state: CircuitState::HalfOpen }],
        idempotent: vec!["order.placed".into()],
    };
    assert_eq!(Notice::parse(&notice.print()), Some(notice.clone()));
    assert_eq!(
        notice.statements(),
        [
            Statement::Circuit(circuit("payments", CircuitState::HalfOpen, s(0))),
            Statement::Repeat(declaration("order.placed", true, Source::Notice, s(0))),
        ]
    );
    let later = notice.print().replace("\"v\":1", "\"v\":2,\"more\":true");
    assert_eq!(Notice::parse(&later).map(|read| read.v), Some(2));
    let many = Notice { idempotent: vec!["t".into(); 1_000], ..notice.clone() };
    assert_eq!(Notice::parse(&many.print()).map(|read| read.idempotent.len()), Some(50));
    let silent = Notice { circuits: Vec::new(), idempotent: Vec::new(), ..notice.clone() };
    let undated = Notice { noticed_at: Timestamp::from_ms(-1), ..notice.clone() };
    for text in
        ["", "[]", "{}", "null", &silent.print(), &undated.print(), &notice.print().replace("\"v\":1", "\"v\":0")]
    {
        assert_eq!(Notice::parse(text), None, "{text}");
    }
}

#[test]
fn a_stamp_states_what_its_consumer_knew_when_the_message_died() {
    let read = |stamp: &str| of_stamp(stamp, &GroupId::from("g"), Some("order"), s(10));
    let at = s(5).as_ms();
    let stamp = |more: &str| {
        format!(r#"{{"v":1,"consumer":"orders","consumer_version":"v3","failed_at":{at},"reason":"permanent"{more}}}"#)
    };
    let says = |idempotent| Statement::Repeat(declaration("order", idempotent, Source::Stamp, s(5)));
    assert_eq!(read(&stamp("")), [says(false)], "a stamp with a context that leaves it out says no");
    assert_eq!(read(&stamp(r#","idempotent":true"#)), [says(true)]);
    let failed_on = Statement::FailedOn(FailedOn { group: "g".into(), dependency: "payments".into(), said_at: s(5) });
    let with =
        |state: &str| stamp(&format!(r#","circuit":{{"dependency":"payments","state":"{state}","budget":{{}}}}"#));
    let open = Statement::Circuit(circuit("payments", CircuitState::Open, s(5)));
    assert_eq!(read(&with("open")), [failed_on.clone(), open, says(false)]);
    assert_eq!(read(&with("closed")), [failed_on, says(false)], "a failed call does not show a healthy dependency");
    // The time of a stamp is never after its arrival.
    let Statement::Repeat(found) = &read(&stamp("").replace(&at.to_string(), "1900000000000"))[0] else { panic!() };
    assert_eq!(found.said_at, s(10));
    for other in ["", "{}", r#"{"v":1,"message":"m"}"#, r#"{"v":1,"idempotent":true}"#, &with("ajar")] {
        assert_eq!(read(other), [], "{other}");
    }
}

//! The gate, condition by condition.

use domain::deployment::Deployment;
use domain::filter::LetterFilter;
use domain::fix::{Fix, FixKind};
use domain::gate::{ConditionKind, ConsumerFacts, Gate, GateFacts, QueueFact, Status, evaluate};
use domain::group::Tally;
use domain::id::{Actor, GroupId};
use domain::money::{Currency, Decimal, Money};
use domain::person::{Person, PersonId};
use domain::policy::{GatePolicy, MessageTypeRule, Policy};
use domain::reading::Class;
use domain::replay::{Waiver, Wrapped};
use domain::time::{Span, Timestamp};
use domain::transform::{DryCounts, DryRun, Transform};

const FIXED_AT: Timestamp = Timestamp::from_ms(1_800_000_000_000);

pub fn s(seconds: i64) -> Timestamp {
    FIXED_AT.plus(Span::from_secs(seconds))
}

/// A world in which every condition holds; each row changes one thing.
pub struct World {
    class: Class,
    pub fix: Option<Fix>,
    pub dry_run: Option<DryRun>,
    filter: LetterFilter,
    last_died_at: Option<Timestamp>,
    last_undated_at: Option<Timestamp>,
    pub deployment: Option<Deployment>,
    letters: Tally,
    pub wrapped: Wrapped,
    queue: QueueFact,
    approver: Option<Person>,
    waivers: Vec<Waiver>,
    policy: GatePolicy,
    pub now: Timestamp,
}

pub fn fix(kind: FixKind, reference: &str) -> Fix {
    Fix {
        kind,
        reference: reference.into(),
        note: None,
        declared_by: Actor::from("otto"),
        declared_by_id: None,
        declared_at: FIXED_AT,
        effective_at: FIXED_AT,
        transform: None,
    }
}

pub fn deployed(version: &str, at: Timestamp) -> Option<Deployment> {
    Some(Deployment { service: "orders".into(), version: version.into(), commit: None, at })
}

pub fn good() -> World {
    World {
        class: Class::Permanent,
        fix: Some(fix(FixKind::Deploy, "v2")),
        dry_run: None,
        filter: LetterFilter::default(),
        last_died_at: Some(s(-60)),
        last_undated_at: None,
        deployment: deployed("v2", s(-5)),
        letters: Tally { letters: 3, ..Tally::default() },
        wrapped: Wrapped::default(),
        queue: QueueFact::Ready("orders answers".into()),
        approver: Some(Person::from("anna")),
        waivers: Vec::new(),
        policy: GatePolicy::default(),
        now: s(600),
    }
}

pub fn gate(world: &World) -> Gate {
    gate_with_unchecked(world, &[])
}

fn gate_with_unchecked(world: &World, unchecked: &[String]) -> Gate {
    let group = GroupId::from("g");
    let facts = GateFacts {
        group: &group,
        class: world.class,
        fix: world.fix.as_ref(),
        last_died_at: world.last_died_at,
        last_undated_at: world.last_undated_at,
        dry_run: world.dry_run.as_ref(),
        filter: &world.filter,
        deployment: world.deployment.as_ref(),
        consumers: ConsumerFacts::default(),
        letters: &world.letters,
        left_out: &[],
        unchecked,
        wrapped: &world.wrapped,
        queue: world.queue.clone(),
        approver: world.approver.as_ref(),
        waivers: &world.waivers,
        four_eyes: world.policy.four_eyes,
    };
    evaluate(&facts, &world.policy, world.now)
}

#[test]
fn unchecked_payloads_are_reported_and_do_not_close_the_gate() {
    let unchecked = ["2 with payloads in S3 that cannot be checked: access denied".to_string()];
    let gate = gate_with_unchecked(&good(), &unchecked);
    let condition = gate.conditions().iter().find(|c| c.kind == ConditionKind::LettersReplayable).unwrap();
    assert_eq!(condition.evidence, format!("3 letters can be sent; not checked: {}", unchecked[0]));
    assert!(condition.holds());
    let world = World { letters: Tally { letters: 1_234_567, ..Tally::default() }, ..good() };
    let evidence = gate_with_unchecked(&world, &[]).conditions().iter().map(|c| c.evidence.clone()).collect::<Vec<_>>();
    assert!(evidence.contains(&"1,234,567 letters can be sent".to_string()), "{evidence:?}");
}

#[test]
fn one_message_type_that_requires_four_eyes_is_enough() {
    let rule = |message_type: &str, four_eyes| MessageTypeRule {
        message_type: message_type.into(),
        four_eyes,
        ..MessageTypeRule::default()
    };
    let rules = vec![rule("payment", Some(true)), rule("newsletter", Some(false)), rule("order", None)];
    let rows: [(&[&str], [bool; 2]); 7] = [
        // types               without and with the gate's four-eyes default
        (&[], [false, true]),
        (&["order"], [false, true]),
        (&["something"], [false, true]),
        (&["newsletter"], [false, false]),
        (&["newsletter", "order"], [false, true]),
        (&["payment"], [true, true]),
        (&["newsletter", "payment"], [true, true]),
    ];
    for (types, expected) in rows {
        let types: Vec<_> = types.iter().map(|name| Some(name.to_string())).collect();
        for (four_eyes, expected) in [false, true].into_iter().zip(expected) {
            let gate = GatePolicy { four_eyes, ..GatePolicy::default() };
            let policy = Policy { gate, message_types: rules.clone(), ..Policy::default() };
            assert_eq!(policy.four_eyes(&types), expected, "{types:?}, {four_eyes}");
        }
    }
}

/// Checks which conditions are unmet after a change of the good world.
#[track_caller]
pub fn check(change: impl FnOnce(&mut World), unmet: &[ConditionKind]) {
    let mut world = good();
    change(&mut world);
    let gate = gate(&world);
    let found: Vec<_> = gate.conditions().iter().filter(|c| !c.holds()).map(|c| c.kind).collect();
    assert_eq!(found, unmet, "{gate:#?}");
    assert_eq!(gate.open().is_ok(), unmet.is_empty());
    assert!(gate.conditions().iter().all(|c| !c.evidence.is_empty()), "every condition shows its evidence");
}

#[test]
fn each_condition_closes_the_gate_alone() {
    use ConditionKind::{Approval, DependencyHealthy, FixDeclared, FixIsLive};
    use ConditionKind::{LettersReplayable, QueueReady, Quiet, SafeToRepeat, Unwrapped};
    let eur = |amount| Money { amount: Decimal::from(amount), currency: Currency::parse("EUR").unwrap() };

    check(|_| {}, &[]);
    check(|w| w.fix = None, &[FixDeclared, FixIsLive, Quiet]);
    check(|w| w.deployment = deployed("v1", s(-500)), &[FixIsLive]);
    check(|w| w.deployment = None, &[]);
    check(|w| w.fix = Some(fix(FixKind::DataRepair, "T-1")), &[]);
    // A failure after the fix took effect disproves it. The deployment's time counts, not the declaration's.
    check(|w| w.last_died_at = Some(s(1)), &[FixIsLive]);
    check(|w| w.last_died_at = Some(s(-3)), &[FixIsLive]);
    check(|w| w.last_died_at = Some(s(-6)), &[]);
    check(|w| w.last_died_at = None, &[]);
    // Letters that died at an unknown time before they were read disprove nothing, and end no quiet time either.
    check(|w| (w.last_died_at, w.last_undated_at) = (Some(s(-900)), Some(s(0))), &[]);
    check(|w| (w.last_died_at, w.last_undated_at) = (Some(s(-900)), Some(s(301))), &[Quiet]);
    check(|w| (w.last_died_at, w.last_undated_at) = (Some(s(1)), Some(s(301))), &[FixIsLive, Quiet]);
    check(|w| w.now = s(10), &[Quiet]);
    check(|w| w.policy.quiet_ms = Span::from_secs(700), &[Quiet]);
    check(|w| w.class = Class::Transient, &[DependencyHealthy]);
    check(|w| (w.class, w.fix) = (Class::Transient, Some(fix(FixKind::DependencyRecovered, "status page"))), &[]);
    check(|w| w.letters = Tally::default(), &[LettersReplayable]);
    check(|w| w.queue = QueueFact::NotReady("gone".into()), &[QueueReady]);
    check(|w| w.approver = None, &[Approval]);
    check(|w| w.approver = Some(Person::from("otto")), &[Approval]);
    check(|w| (w.approver, w.policy.four_eyes) = (Some(Person::from("otto")), false), &[]);
    check(
        |w| {
            (w.approver, w.policy.four_eyes) = (Some(Person::from("otto")), false);
            w.policy.four_eyes_from = vec![eur(1000)];
            w.letters.money.add(eur(1000));
        },
        &[SafeToRepeat, Approval],
    );
    check(|w| w.letters.money.add(eur(1)), &[SafeToRepeat]);
    check(|w| w.wrapped.letters = 1, &[Unwrapped]);
}

pub fn transform(version: u32, program: &str) -> Transform {
    Transform {
        group: GroupId::from("g"),
        version,
        program: program.into(),
        note: None,
        saved_by: Actor::from("otto"),
        saved_at: s(-100),
    }
}

pub fn tried(of: &Transform, (changed, unchanged, failed): (u64, u64, u64), next: Option<&str>) -> Option<DryRun> {
    let run = DryRun::begun(of, &LetterFilter::default(), &Actor::from("otto"), s(0), 0);
    let counts = DryCounts { changed, unchanged, failed };
    Some(run.counted(counts, Vec::new(), next.map(Into::into), s(1)))
}

#[test]
fn four_eyes_compare_identities_and_names_only_where_a_record_has_no_identity() {
    let id = |subject: &str| Some(PersonId { issuer: "https://issuer".into(), subject: subject.into() });
    let rows = [
        // declared by          approved by           allowed
        (("otto", id("s-1")), ("anna", id("s-2")), true),
        (("otto", id("s-1")), ("otto", id("s-1")), false),
        // Renamed at the issuer between the two acts.
        (("otto", id("s-1")), ("otto.m", id("s-1")), false),
        // Two people whom the issuer gives the same name.
        (("otto", id("s-1")), ("otto", id("s-2")), true),
        // Records of older versions have no identity.
        (("otto", None), ("otto", id("s-1")), false),
        (("otto", None), ("anna", id("s-2")), true),
        (("otto", id("s-1")), ("otto", None), false),
        // Demo people differ, and the one person of a machine is not held to a rule for two.
        (("otto", Some(PersonId::of_demo("otto"))), ("otto", Some(PersonId::of_demo("otto"))), false),
        (("otto", Some(PersonId::of_demo("otto"))), ("anna", Some(PersonId::of_demo("anna"))), true),
        (("maria", Some(PersonId::of_machine("maria"))), ("maria", Some(PersonId::of_machine("maria"))), true),
    ];
    for ((declarer, declarer_id), (approver, approver_id), allowed) in rows {
        let fix =
            Fix { declared_by: declarer.into(), declared_by_id: declarer_id.clone(), ..fix(FixKind::Deploy, "v2") };
        let approver = Person { name: approver.into(), id: approver_id.clone() };
        let world = World { fix: Some(fix), approver: Some(approver), ..good() };
        assert_eq!(gate(&world).open().is_ok(), allowed, "{declarer} {declarer_id:?}, then {approver_id:?}");
    }
}

#[test]
fn an_approval_on_one_machine_is_never_called_a_second_persons() {
    let machine = Person { name: "maria".into(), id: Some(PersonId::of_machine("maria")) };
    let world = World { approver: Some(machine), ..good() };
    let gate = gate(&world);
    let approval = gate.conditions().iter().find(|c| c.kind == ConditionKind::Approval).unwrap();
    assert_eq!(
        approval.evidence,
        "maria can approve. All sign-in links of this machine belong to one person, so this is not a second person's approval."
    );
    assert_eq!(approval.kind.label(), "Approval");
}

#[test]
fn a_transform_must_be_tried_and_must_change_something() {
    let declared = |named: &Transform| {
        Some(Fix { transform: Some(named.named()), ..fix(FixKind::PayloadTransform, &format!("v{}", named.version)) })
    };
    let (one, two) = (transform(1, ".a = 1"), transform(2, ".a = 2"));
    let rows: [(&str, Option<DryRun>, bool); 8] = [
        ("none", None, false),
        ("of another version", tried(&two, (3, 0, 0), None), false),
        ("of another program", tried(&transform(1, ".a = 3"), (3, 0, 0), None), false),
        ("not done", tried(&one, (3, 0, 0), Some("letters:1:x")), false),
        ("over nothing", tried(&one, (0, 0, 0), None), false),
        ("changes nothing", tried(&one, (0, 3, 0), None), false),
        ("fails on every letter", tried(&one, (0, 0, 3), None), false),
        ("changes one", tried(&one, (1, 1, 1), None), true),
    ];
    for (name, run, holds) in rows {
        let unmet: &[ConditionKind] = if holds { &[] } else { &[ConditionKind::DryRun] };
        println!("{name}");
        check(|w| (w.fix, w.dry_run) = (declared(&one), run.clone()), unmet);
        // New failures in the meantime do not matter, and neither does the deployed version.
        check(
            |w| {
                (w.fix, w.dry_run, w.last_died_at) = (declared(&one), run, Some(s(599)));
                w.deployment = deployed("v1", s(-500));
            },
            unmet,
        );
    }
    check(|w| w.fix = Some(fix(FixKind::PayloadTransform, "v1")), &[ConditionKind::DryRun]);

    // A dry run over all letters applies to any plan; a dry run over some letters applies only to those.
    let refunds = LetterFilter { message_type: Some("order.refund".into()), ..LetterFilter::default() };
    let of_acme = LetterFilter { tenant: Some("acme".into()), ..refunds.clone() };
    let all = LetterFilter::default();
    for (tried_over, planned, holds) in [
        (&all, &all, true),
        (&all, &refunds, true),
        (&refunds, &refunds, true),
        (&refunds, &all, false),
        (&refunds, &of_acme, false),
        (&of_acme, &refunds, false),
    ] {
        let run = tried(&one, (1, 1, 1), None).map(|run| DryRun { filter: tried_over.clone(), ..run });
        let unmet: &[ConditionKind] = if holds { &[] } else { &[ConditionKind::DryRun] };
        check(|w| (w.fix, w.dry_run, w.filter) = (declared(&one), run, planned.clone()), unmet);
    }
}

#[test]
fn quiet_clears_without_action_and_says_when() {
    let mut world = good();
    world.now = s(10);
    let opens_at = |world: &World| {
        let gate = gate(world);
        let quiet = gate.conditions().iter().find(|c| c.kind == ConditionKind::Quiet).unwrap().status.clone();
        match quiet {
            Status::Unmet { opens_at } => opens_at,
            _ => None,
        }
    };
    assert_eq!(opens_at(&world), Some(s(-5 + 300)));
    world.now = s(295);
    assert_eq!(opens_at(&world), None);
}

#[test]
fn only_conditions_with_fallible_evidence_can_be_waived() {
    let waiver = |condition| Waiver {
        condition,
        by: Actor::from("anna"),
        reason: "the clock of the CI is wrong".into(),
        at: s(0),
    };
    let all: Vec<_> = ConditionKind::ALL.into_iter().map(waiver).collect();
    let waive = |w: &mut World| w.waivers = all.clone();
    let and = |w: &mut World, change: fn(&mut World)| {
        waive(w);
        change(w);
    };
    check(|w| and(w, |w| w.last_died_at = Some(s(1))), &[]);
    check(|w| and(w, |w| w.now = s(10)), &[]);
    check(|w| and(w, |w| w.class = Class::Transient), &[]);
    check(|w| and(w, |w| w.wrapped.letters = 3), &[]);
    let eur = Money { amount: Decimal::from(1), currency: Currency::parse("EUR").unwrap() };
    check(
        |w| {
            waive(w);
            w.letters.money.add(eur);
        },
        &[],
    );
    check(|w| and(w, |w| w.fix = None), &[ConditionKind::FixDeclared]);
    check(|w| and(w, |w| w.fix = Some(fix(FixKind::PayloadTransform, "v1"))), &[ConditionKind::DryRun]);
    check(|w| and(w, |w| w.letters = Tally::default()), &[ConditionKind::LettersReplayable]);
    check(|w| and(w, |w| w.queue = QueueFact::NotReady("gone".into())), &[ConditionKind::QueueReady]);
    check(|w| and(w, |w| w.approver = None), &[ConditionKind::Approval]);
}

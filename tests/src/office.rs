//! Records for tests: letters, groups, plans, replays. The same arguments give the same record, always.

use domain::audit::{Act, AuditRecord};
use domain::filter::LetterFilter;
use domain::fix::{Fix, FixKind};
use domain::gate::Gate;
use domain::group::{CountsDeltas, Group, GroupState, Tally};
use domain::id::{Actor, DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId, hash_hex};
use domain::impact::{Impact, Severity};
use domain::kin::Kin;
use domain::letter::{Death, Letter, LetterState};
use domain::message::{Attribute, Content};
use domain::money::{Currency, Decimal, Money};
use domain::reading::{Category, Class, Classification, Confidence, EnvelopeKind, Failure, Replayability};
use domain::replay::{Approval, Entry, Outcome, Plan, Replay, letters_digest};
use domain::time::{Span, Timestamp};
use lambda::port::{Expect, Write};

/// The moment at which tests begin.
pub const START: Timestamp = Timestamp::from_ms(1_763_600_000_000);

/// So many seconds after [`START`].
pub fn at_s(seconds: i64) -> Timestamp {
    START.plus(Span::from_secs(seconds))
}

/// Numbers that look random and are the same for the same seed (SplitMix64).
#[derive(Clone)]
pub struct Chance(pub u64);

impl Chance {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.number() % n.max(1) as u64) as usize
    }
}

/// The id of a group.
pub fn group_id(name: &str) -> GroupId {
    GroupId::new(hash_hex(&["test group", name]))
}

/// The main queue of every letter here.
pub fn main_queue() -> QueueArn {
    QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:orders")
}

/// Its dead-letter queue.
pub fn dlq() -> QueueArn {
    QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:orders-dlq")
}

/// So much of a currency, in its minor unit.
pub fn money(minor: i64, currency: &str) -> Money {
    let currency = Currency::parse(currency).expect("three letters");
    Money { amount: Decimal::new(minor, 2), currency }
}

/// The failure of every letter here.
pub fn failure() -> Failure {
    Failure {
        error_type: Some("orders::catalogue::UnknownProduct".into()),
        message: Some("product 4711 is not in the catalogue".into()),
        stack: Some("   0: orders::catalogue::price\n             at ./src/catalogue.rs:41:9".into()),
        stated_class: Some(Class::Permanent),
    }
}

/// The title of every letter and group here.
const TITLE: &str = "UnknownProduct: product <n> is not in the catalogue";

fn classification() -> Classification {
    Classification {
        class: Class::Permanent,
        category: Category::MissingReference,
        confidence: Confidence::from_pct(90),
        reason: "matched: UnknownProduct".into(),
    }
}

/// The `n`th letter of a group: sent `n` seconds after [`START`], lost `n` hours after that, one of seven customers,
/// with money in euro.
pub fn letter(group: &GroupId, n: u64) -> Letter {
    let original_message_id = MessageId::new(hash_hex(&["test message", group.as_str(), &n.to_string()]));
    let sent_at = at_s(n as i64);
    let body = format!("{{\"type\":\"order.placed\",\"order\":{n},\"product\":4711,\"total\":\"12.50\"}}");
    Letter {
        id: LetterId::of(&main_queue(), &original_message_id),
        version: 1,
        group: group.clone(),
        main_queue: Some(main_queue()),
        dlq: dlq(),
        original_message_id,
        sequence_number: None,
        content: Content {
            body,
            attributes: [("tenant".into(), Attribute::text("acme"))].into(),
            message_group_id: None,
            trace_header: None,
        },
        envelope: EnvelopeKind::Consumer,
        title: TITLE.into(),
        failure: failure(),
        classification: classification(),
        impact: Impact {
            money: Some(money(1250 + n as i64, "EUR")),
            customer: Some(format!("customer-{}", n % 7)),
            severity: Severity::Warning,
            deadline: None,
            guessed: false,
        },
        message_type: Some("order.placed".into()),
        consumer: Some("orders".into()),
        consumer_version: Some("1.4.0".into()),
        producer: Some("shop".into()),
        producer_version: None,
        tenant: None,
        attempts: Some(3),
        first_tried_at: None,
        replayability: Replayability::Replayable,
        remarks: Vec::new(),
        sent_at,
        loss_at: sent_at.plus(Span::from_mins(60).times(n as i64)),
        died_at: sent_at.plus(Span::from_secs(30)),
        kept_at: sent_at.plus(Span::from_secs(31)),
        deaths: 1,
        replays: 0,
        replays_forgiven: 0,
        state: LetterState::Waiting,
    }
}

/// The letters `0..count` of a group.
pub fn letters(group: &GroupId, count: u64) -> Vec<Letter> {
    (0..count).map(|n| letter(group, n)).collect()
}

/// The `number`th death of a letter; from the second on it came back from a replay.
pub fn death(letter: &Letter, number: u32) -> Death {
    let message = MessageId::new(format!("{}-{number}", letter.original_message_id));
    Death {
        id: DeathId::of(&main_queue(), &message),
        letter: letter.id.clone(),
        number,
        died_at: letter.died_at.plus(Span::from_mins(10).times(i64::from(number) - 1)),
        group: letter.group.clone(),
        title: TITLE.into(),
        consumer_version: letter.consumer_version.clone(),
        replay: (number > 1).then(|| replay_id("the replay that it came back from")),
    }
}

/// A group's head as its first letter opens it.
pub fn group(id: &GroupId) -> Group {
    Group {
        id: id.clone(),
        version: 1,
        main_queue: Some(main_queue()),
        dlq: dlq(),
        title: TITLE.into(),
        culprit: Some("orders::catalogue::price (catalogue.rs)".into()),
        classification: classification(),
        failure: failure(),
        consumer: Some("orders".into()),
        message_type: Some("order.placed".into()),
        severity: Severity::Warning,
        first_died_at: at_s(30),
        note: None,
        owner: None,
        skeleton: None,
        kin: Kin::default(),
        state: GroupState::Open,
    }
}

/// A fix that was deployed two hours after [`START`].
pub fn fix() -> Fix {
    Fix {
        kind: FixKind::Deploy,
        reference: "1.4.1".into(),
        note: Some("the catalogue is complete again".into()),
        declared_by: Actor::from("olga"),
        declared_at: at_s(7_200),
        effective_at: at_s(7_200),
        transform: None,
    }
}

/// The id of a replay.
pub fn replay_id(name: &str) -> ReplayId {
    ReplayId::new(hash_hex(&["test replay", name]))
}

/// A plan for these letters: a canary of one, then waves of three. Its id follows from its name.
pub fn plan(name: &str, group: &GroupId, letters: &[Letter]) -> Plan {
    let mut tally = Tally::default();
    for money in letters.iter().filter_map(|letter| letter.impact.money) {
        tally.priced += 1;
        tally.money.add(money);
    }
    tally.letters = letters.len() as i64;
    let rest = letters.len().saturating_sub(1) as u64;
    let mut waves = vec![1];
    waves.extend((0..rest.div_ceil(3)).map(|wave| (rest - wave * 3).min(3)));
    Plan {
        id: replay_id(name),
        group: group.clone(),
        main_queue: main_queue(),
        made_by: Actor::from("olga"),
        made_at: at_s(7_300),
        fix: fix(),
        filter: LetterFilter::default(),
        letters: tally,
        message_types: Vec::new(),
        letters_digest: letters_digest(letters.iter().map(|letter| &letter.id)),
        oldest_sent_at: letters.iter().map(|letter| letter.sent_at).min(),
        left_out: Vec::new(),
        unchecked: Vec::new(),
        rounds: waves.len() as u64,
        waves,
        pace_per_s: 50,
        stop_share_pct: 50,
        sample_letters_min: 5,
        window_ms: Span::from_secs(120),
        slack_ms: Span::from_secs(30),
        backlog_ms_max: Span::from_mins(60),
        rest_ms: Span::from_secs(10),
        rest_ms_max: Span::from_mins(5),
    }
}

/// The entries of such a plan, all pending.
pub fn entries(plan: &Plan, letters: &[Letter]) -> Vec<Entry> {
    let wave = |seq: usize| if seq == 0 { 0 } else { 1 + (seq as u32 - 1) / 3 };
    let entry = |(seq, letter): (usize, &Letter)| Entry {
        replay: plan.id.clone(),
        seq: seq as u64,
        letter: letter.id.clone(),
        wave: wave(seq),
        outcome: Outcome::Pending,
        sends: 0,
        lane: None,
        changed_by: None,
    };
    letters.iter().enumerate().map(entry).collect()
}

/// The replay of a plan that was approved at a moment through an open gate.
pub fn replay(plan: &Plan, approved_at: Timestamp) -> Replay {
    let gate = Gate { group: plan.group.clone(), conditions: Vec::new() }.open().expect("nothing is unmet");
    let approval = Approval {
        by: Actor::from("anna"),
        at: approved_at,
        reason: "the catalogue was checked".into(),
        plan_hash: plan.hash(),
        waivers: Vec::new(),
    };
    plan.clone().approve(gate, approval).expect("the plan's own hash")
}

/// An audit record of a group.
pub fn audit(group: &GroupId, at: Timestamp, detail: &str) -> AuditRecord {
    AuditRecord {
        at,
        actor: Actor::from("olga"),
        act: Act::NoteChanged,
        group: group.clone(),
        replay: None,
        detail: detail.into(),
        reason: None,
    }
}

/// The writes that keep new letters and count them, as intake makes them; the group's head aside.
pub fn keep(letters: &[Letter]) -> Vec<Write> {
    let mut deltas = CountsDeltas::default();
    let mut writes = Vec::new();
    for letter in letters {
        deltas.moved(None, letter);
        deltas.died(letter);
        writes.push(Write::Letter { letter: Box::new(letter.clone()), expect: Expect::Absent });
    }
    writes.extend(count(deltas));
    writes
}

/// The write that opens a group.
pub fn open(group: &Group) -> Write {
    Write::Group { group: Box::new(group.clone()), expect: Expect::Absent }
}

/// The write that puts the next version of a letter in the place of the one before.
pub fn put(letter: &Letter) -> Write {
    Write::Letter { letter: Box::new(letter.clone()), expect: Expect::Version(letter.version - 1) }
}

/// The writes that move letters to their next version and keep the counters right.
pub fn move_letters(moves: &[(Letter, Letter)]) -> Vec<Write> {
    let mut deltas = CountsDeltas::default();
    let mut writes: Vec<_> = moves.iter().map(|(_, after)| put(after)).collect();
    for (before, after) in moves {
        deltas.moved(Some(before), after);
    }
    writes.extend(count(deltas));
    writes
}

/// The writes that add deltas to counters.
pub fn count(deltas: CountsDeltas) -> impl Iterator<Item = Write> {
    deltas.0.into_iter().map(|(group, delta)| Write::Counts { group, delta: Box::new(delta) })
}

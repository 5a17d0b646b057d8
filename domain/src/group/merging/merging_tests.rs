//! The table of groups depends on what was seen, not on the order in which it was; and what people do stays.

use super::steps::fits;
use super::*;
use crate::fix::{Fix, FixKind};
use crate::group::merging::{GroupChange, RulesPreview};
use crate::id::{Actor, QueueArn, ReplayId};
use crate::impact::Severity;
use crate::merge::Skeleton;
use crate::policy::{GroupAct, GroupRule};
use crate::reading::{Category, Class, Classification, Confidence, Failure};
use crate::time::Timestamp;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use proptest::prelude::*;

type Groups = BTreeMap<GroupId, Variant>;

const TEMPLATES: [&str; 10] = [
    "volume /srv/a lost its index",
    "volume /srv/b lost its index",
    "volume /srv/c lost its index",
    "volume /srv/d lost its index",
    "volume /srv/e lost its index",
    "no price for the weekday",
    "no price for the weekend",
    "disk /mnt/a is full of old orders",
    "disk /mnt/b is full of old orders",
    "disk /mnt/c is full of old orders",
];

fn group(template: &str, age_ms: i64) -> Variant {
    Variant {
        id: GroupId::new(template),
        version: 1,
        main_queue: Some(QueueArn::from("q")),
        dlq: QueueArn::from("d"),
        title: template.to_string(),
        culprit: None,
        classification: Classification {
            class: Class::Unknown,
            category: Category::Unknown,
            confidence: Confidence::from_pct(10),
            reason: String::new(),
        },
        failure: Failure::default(),
        consumer: None,
        message_type: None,
        severity: Severity::Warning,
        first_died_at: Timestamp::from_ms(age_ms),
        note: None,
        owner: None,
        skeleton: Some(Skeleton { family: "f".to_string(), template: template.to_string() }),
        merge: MergeState::default(),
        state: GroupState::Open,
    }
}

fn fix() -> Fix {
    let at = Timestamp::from_ms(0);
    Fix {
        kind: FixKind::Deploy,
        reference: "v2".to_string(),
        note: None,
        declared_by: Actor::from("otto"),
        declared_at: at,
        effective_at: at,
        transform: None,
    }
}

/// A sweep: does every step, each of which must be possible.
fn sweep(groups: &mut Groups, rules: &[GroupRule]) -> usize {
    let steps = steps(groups, rules);
    for step in &steps {
        let (Step::Join { group, head } | Step::Leave { group, head }) = step;
        let done = match step {
            Step::Join { .. } => groups[group].joined(&groups[head]),
            Step::Leave { .. } => groups[group].left(&groups[head]),
        };
        let (member, leader) = done.unwrap_or_else(|| panic!("{step:?} cannot be done"));
        groups.insert(member.id.clone(), member);
        groups.insert(leader.id.clone(), leader);
    }
    steps.len()
}

/// The table: which group each fingerprint is seen in. Pointers and lists must agree.
fn table(groups: &Groups) -> BTreeMap<String, String> {
    for (id, group) in groups {
        assert!(group.merge.into.is_none() || group.merge.members.is_empty(), "a head that is merged: {id}");
        let pointing = groups.values().filter(|other| other.merge.into.as_ref() == Some(id));
        assert_eq!(pointing.map(|other| other.id.clone()).collect::<BTreeSet<_>>(), group.merge.members);
    }
    let head = |group: &Variant| group.merge.into.as_ref().unwrap_or(&group.id).to_string();
    groups.iter().map(|(id, group)| (id.to_string(), head(group))).collect()
}

fn seen(templates: &[&str]) -> Groups {
    let mut groups: Groups =
        templates.iter().zip(0..).map(|(template, age)| (GroupId::new(*template), group(template, age))).collect();
    while sweep(&mut groups, &[]) > 0 {}
    groups
}

proptest! {
    #[test]
    fn the_table_does_not_depend_on_the_order_of_arrival_nor_on_when_is_swept(
        order in Just((0..TEMPLATES.len()).collect::<Vec<_>>()).prop_shuffle(),
        ages in proptest::collection::vec(0_i64..5, TEMPLATES.len()),
        sweeps in proptest::collection::vec(proptest::bool::ANY, TEMPLATES.len()),
    ) {
        let mut groups = Groups::new();
        for (at, n) in order.into_iter().enumerate() {
            groups.insert(GroupId::new(TEMPLATES[n]), group(TEMPLATES[n], ages[n]));
            if sweeps[at] {
                sweep(&mut groups, &[]);
                table(&groups);
            }
        }
        let mut at_once: Groups =
            TEMPLATES.iter().zip(&ages).map(|(t, age)| (GroupId::new(*t), group(t, *age))).collect();
        sweep(&mut at_once, &[]);
        sweep(&mut groups, &[]);
        prop_assert_eq!(sweep(&mut groups, &[]), 0, "a second sweep has nothing to do");
        prop_assert_eq!(table(&groups), table(&at_once));
    }
}

#[test]
fn the_oldest_fingerprint_is_the_head_and_what_may_be_another_cause_stays_apart() {
    let groups = seen(&TEMPLATES);
    assert_eq!(groups[&GroupId::from(TEMPLATES[0])].merge.members.len(), 4);
    assert_eq!(groups[&GroupId::from(TEMPLATES[7])].merge.members.len(), 2);
    let table = table(&groups);
    assert_eq!((&*table[TEMPLATES[5]], &*table[TEMPLATES[6]]), (TEMPLATES[5], TEMPLATES[6]));
}

#[test]
fn what_a_person_took_out_is_not_taken_in_again() {
    let mut groups = seen(&TEMPLATES);
    let (member, head) = (GroupId::from(TEMPLATES[2]), GroupId::from(TEMPLATES[0]));
    let (mut out, without) = groups[&member].left(&groups[&head]).unwrap();
    out.merge.unmerged = true;
    groups.insert(member.clone(), out);
    groups.insert(head.clone(), without);
    assert_eq!(sweep(&mut groups, &[]), 0);
    assert_eq!(table(&groups)[TEMPLATES[2]], TEMPLATES[2]);
    assert_eq!(groups[&head].merge.members.len(), 3, "merges that were found stay, though fewer would prove less now");
    let rules = [rule("Lost indexes", &["* lost its index"], GroupAct::Merge)];
    sweep(&mut groups, &rules);
    assert_eq!(table(&groups)[TEMPLATES[2]], TEMPLATES[0], "but by a rule of the policy");
    sweep(&mut groups, &[]);
    assert_eq!(table(&groups)[TEMPLATES[2]], TEMPLATES[2], "as long as there is one");
}

#[test]
fn a_group_that_somebody_works_on_stays_as_it_is_until_they_are_done() {
    let mut groups = seen(&TEMPLATES[..3]);
    let older = group(TEMPLATES[3], -1);
    let mut busy = group(TEMPLATES[4], 99);
    busy.state = GroupState::FixDeclared { fix: fix() };
    let head = groups.get_mut(&GroupId::from(TEMPLATES[0])).unwrap();
    head.state = GroupState::Replaying { replay: ReplayId::from("r"), fix: fix() };
    for group in [older, busy] {
        groups.insert(group.id.clone(), group);
    }
    sweep(&mut groups, &[]);
    let now = table(&groups);
    assert_eq!(now[TEMPLATES[1]], TEMPLATES[0], "its members stay");
    assert_eq!(now[TEMPLATES[3]], TEMPLATES[0], "an older one comes to where the work is");
    assert_eq!(now[TEMPLATES[4]], TEMPLATES[4], "a fix that waits for its replay keeps its group");
    groups.get_mut(&GroupId::from(TEMPLATES[4])).unwrap().state = GroupState::Open;
    sweep(&mut groups, &[]);
    assert_eq!(table(&groups)[TEMPLATES[4]], TEMPLATES[0], "until it is withdrawn");
}

#[test]
fn a_head_has_room_for_so_many() {
    let templates: Vec<String> =
        (0..MERGED_VARIANTS_MAX + 20).map(|n| format!("volume /srv/{} lost its index", word(n))).collect();
    let mut groups = seen(&templates.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(groups.values().map(|group| group.merge.members.len()).max(), Some(MERGED_VARIANTS_MAX));
    assert_eq!(sweep(&mut groups, &[]), 0);
}

/// A number in letters.
fn word(n: usize) -> String {
    n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

fn rule(name: &str, titles: &[&str], act: GroupAct) -> GroupRule {
    GroupRule {
        name: name.to_string(),
        fingerprints: Vec::new(),
        titles: titles.iter().map(|title| (*title).to_string()).collect(),
        act,
    }
}

#[test]
fn the_policy_merges_splits_and_names_and_a_preview_says_what_it_would() {
    let mut groups = seen(&TEMPLATES);
    let rules = [
        rule("No prices", &["no price for *"], GroupAct::Merge),
        rule("not the same disk", &["disk /mnt/c *"], GroupAct::Split),
        rule("Lost indexes", &[TEMPLATES[0]], GroupAct::Name),
        rule("nobody", &["gone"], GroupAct::Merge),
    ];
    let preview = RulesPreview::of(&groups, &[], &rules);
    assert_eq!(preview.idle, ["nobody"]);
    let kinds = preview.changes.iter().map(|change| match change {
        GroupChange::Merged { group, into } => format!("{} into {}", group.title, into.title),
        GroupChange::Unmerged { group, from } => format!("{} from {}", group.title, from.title),
        GroupChange::Renamed { group, to } => format!("{} is {to}", group.title),
    });
    let kinds: Vec<String> = kinds.collect();
    assert!(kinds.contains(&"no price for the weekend into no price for the weekday".to_string()), "{kinds:?}");
    assert!(kinds.contains(&format!("{} from {}", TEMPLATES[9], TEMPLATES[7])), "{kinds:?}");
    assert!(kinds.contains(&format!("{} is Lost indexes", TEMPLATES[0])), "{kinds:?}");
    sweep(&mut groups, &rules);
    assert_eq!(sweep(&mut groups, &rules), 0);
    let now = table(&groups);
    assert_eq!((&*now[TEMPLATES[6]], &*now[TEMPLATES[9]]), (TEMPLATES[5], TEMPLATES[9]));
    assert_eq!(name(&groups[&GroupId::from(TEMPLATES[6])], &rules), "No prices");
    assert!(RulesPreview::of(&groups, &rules, &rules).changes.is_empty());
}

#[test]
fn a_rule_joins_within_one_main_queue() {
    let mut other = group(TEMPLATES[6], 1);
    other.main_queue = Some(QueueArn::from("another"));
    let mut groups: Groups = [group(TEMPLATES[5], 0), other].into_iter().map(|g| (g.id.clone(), g)).collect();
    assert_eq!(sweep(&mut groups, &[rule("No prices", &["no price for *"], GroupAct::Merge)]), 0);
}

#[test]
fn patterns_of_titles_fit() {
    for (pattern, text, expected) in [
        ("*", "", true),
        ("a*c", "abc", true),
        ("a*c", "ac", true),
        ("a*c", "acb", false),
        ("a*b*c", "a-b-b-c", true),
        ("*ab", "aab", true),
        ("ab*ba", "aba", false),
        ("abc", "abc", true),
        ("abc", "abcd", false),
        ("", "", true),
        ("", "a", false),
    ] {
        assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
    }
}

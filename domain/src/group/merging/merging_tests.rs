//! The table of groups depends on the seen variants, not on their order of arrival; and people's decisions stay.

use super::steps::fits;
use super::*;
use crate::fix::{Fix, FixKind};
use crate::group::TitleValues;
use crate::group::merging::{GroupChange, RulesPreview};
use crate::id::{Actor, QueueArn, ReplayId};
use crate::impact::Severity;
use crate::merge::Skeleton;
use crate::policy::{GroupAct, GroupRule};
use crate::reading::{Category, Class, Classification, Confidence, Failure};
use crate::time::Timestamp;
use crate::watch::Notified;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use proptest::prelude::*;

type Variants = BTreeMap<GroupId, Variant>;

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

pub(in crate::group) fn variant(template: &str, age_ms: i64) -> Variant {
    Variant {
        id: GroupId::new(template),
        version: 1,
        main_queue: Some(QueueArn::from("q")),
        dlq: QueueArn::from("d"),
        title: template.to_string(),
        title_values: TitleValues::default(),
        culprit: None,
        classification: Classification {
            class: Class::Unknown,
            category: Category::Unknown,
            confidence: Confidence::from_pct(10),
            reason: String::new(),
        },
        failure: Failure::default(),
        reported: None,
        consumer: None,
        died_on: Vec::new(),
        message_type: None,
        severity: Severity::Warning,
        first_died_at: Timestamp::from_ms(age_ms),
        note: None,
        owner: None,
        skeleton: Some(Skeleton { family: "f".to_string(), template: template.to_string() }),
        notified: Notified::default(),
        merge: MergeState::default(),
        discarding: None,
        drafts: Vec::new(),
        logs: None,
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
        declared_by_id: None,
        declared_at: at,
        effective_at: at,
        transform: None,
    }
}

/// A sweep: executes every step, each of which must be possible.
fn sweep(variants: &mut Variants, rules: &[GroupRule]) -> usize {
    let steps = steps(variants, rules);
    for step in &steps {
        let (MergeStep::Merge { variant, representative } | MergeStep::Unmerge { variant, representative }) = step;
        let done = match step {
            MergeStep::Merge { .. } => variants[variant].merged_into(&variants[representative]),
            MergeStep::Unmerge { .. } => variants[variant].unmerged_from(&variants[representative]),
        };
        let (member, representative) = done.unwrap_or_else(|| panic!("{step:?} cannot be done"));
        variants.insert(member.id.clone(), member);
        variants.insert(representative.id.clone(), representative);
    }
    steps.len()
}

/// The table from fingerprint to representative. Pointers and lists must agree.
fn table(variants: &Variants) -> BTreeMap<String, String> {
    for (id, variant) in variants {
        assert!(variant.merge.into.is_none() || variant.merge.members.is_empty(), "a merged representative: {id}");
        let pointing = variants.values().filter(|other| other.merge.into.as_ref() == Some(id));
        assert_eq!(pointing.map(|other| other.id.clone()).collect::<BTreeSet<_>>(), variant.merge.members);
    }
    let representative = |variant: &Variant| variant.merge.into.as_ref().unwrap_or(&variant.id).to_string();
    variants.iter().map(|(id, variant)| (id.to_string(), representative(variant))).collect()
}

fn seen(templates: &[&str]) -> Variants {
    let mut variants: Variants =
        templates.iter().zip(0..).map(|(template, age)| (GroupId::new(*template), variant(template, age))).collect();
    while sweep(&mut variants, &[]) > 0 {}
    variants
}

proptest! {
    #[test]
    fn the_table_depends_neither_on_the_order_of_arrival_nor_on_the_times_of_sweeps(
        order in Just((0..TEMPLATES.len()).collect::<Vec<_>>()).prop_shuffle(),
        ages in proptest::collection::vec(0_i64..5, TEMPLATES.len()),
        sweeps in proptest::collection::vec(proptest::bool::ANY, TEMPLATES.len()),
    ) {
        let mut variants = Variants::new();
        for (at, n) in order.into_iter().enumerate() {
            variants.insert(GroupId::new(TEMPLATES[n]), variant(TEMPLATES[n], ages[n]));
            if sweeps[at] {
                sweep(&mut variants, &[]);
                table(&variants);
            }
        }
        let mut at_once: Variants =
            TEMPLATES.iter().zip(&ages).map(|(t, age)| (GroupId::new(*t), variant(t, *age))).collect();
        sweep(&mut at_once, &[]);
        sweep(&mut variants, &[]);
        prop_assert_eq!(sweep(&mut variants, &[]), 0, "a second sweep has nothing to do");
        prop_assert_eq!(table(&variants), table(&at_once));
    }
}

#[test]
fn the_oldest_fingerprint_represents_its_group_and_possible_other_causes_stay_groups_of_their_own() {
    let variants = seen(&TEMPLATES);
    assert_eq!(variants[&GroupId::from(TEMPLATES[0])].merge.members.len(), 4);
    assert_eq!(variants[&GroupId::from(TEMPLATES[7])].merge.members.len(), 2);
    let table = table(&variants);
    assert_eq!((&*table[TEMPLATES[5]], &*table[TEMPLATES[6]]), (TEMPLATES[5], TEMPLATES[6]));
}

/// A variant that a version of the fingerprint made.
fn of_version(version: u32, template: &str, age_ms: i64) -> Variant {
    let id = GroupId::new(format!("{version}: {template}"));
    Variant { id, ..variant(template, age_ms) }
}

#[test]
fn a_new_fingerprint_of_a_known_cause_joins_its_group_and_old_letters_stay() {
    let known = "order * is closed";
    let all = [of_version(3, known, 0), of_version(4, known, 9), of_version(4, "order * is closed by \"owner\"", 9)];
    let mut variants: Variants = all.into_iter().map(|variant| (variant.id.clone(), variant)).collect();
    sweep(&mut variants, &[]);
    let (old, new, finer) = ("3: order * is closed", "4: order * is closed", "4: order * is closed by \"owner\"");
    let table = table(&variants);
    assert_eq!(table[old], old, "the group of the old letters stays what it was");
    assert_eq!(table[new], old, "the same skeleton is the same cause");
    assert_eq!(table[finer], finer, "a cause that the old version could not tell apart is a group of its own");
    // A group that people work on stays the representative, too, and takes the new fingerprint once it is idle.
    let mut working = variants[&GroupId::from(old)].clone();
    working.merge = MergeState::default();
    working.note = Some("known".to_string());
    let both = [working, of_version(4, known, -9)];
    let mut variants: Variants = both.into_iter().map(|variant| (variant.id.clone(), variant)).collect();
    sweep(&mut variants, &[]);
    assert_eq!(variants[&GroupId::from(new)].merge.into.as_ref().map(GroupId::as_str), Some(old));
}

#[test]
fn a_merged_group_is_not_named_after_the_data_of_one_variant() {
    let mut variants = seen(&TEMPLATES);
    let id = GroupId::from(TEMPLATES[0]);
    assert_eq!(name(&variants[&id], &[]), "volume * lost its index");
    let members: Vec<GroupId> = variants[&id].merge.members.iter().cloned().collect();
    for member in members {
        let (member, representative) = variants[&member].unmerged_from(&variants[&id]).unwrap();
        variants.insert(member.id.clone(), member);
        variants.insert(id.clone(), representative);
    }
    assert_eq!(name(&variants[&id], &[]), TEMPLATES[0], "alone, it has its own title again");
}

#[test]
fn an_unmerged_variant_is_not_merged_again() {
    let mut variants = seen(&TEMPLATES);
    let (member, representative) = (GroupId::from(TEMPLATES[2]), GroupId::from(TEMPLATES[0]));
    let (mut out, without) = variants[&member].unmerged_from(&variants[&representative]).unwrap();
    out.merge.unmerged = true;
    variants.insert(member.clone(), out);
    variants.insert(representative.clone(), without);
    assert_eq!(sweep(&mut variants, &[]), 0);
    assert_eq!(table(&variants)[TEMPLATES[2]], TEMPLATES[2]);
    assert_eq!(
        variants[&representative].merge.members.len(),
        3,
        "existing merges stay, although fewer skeletons would prove less now"
    );
    let rules = [rule("Lost indexes", &["* lost its index"], GroupAct::Merge)];
    sweep(&mut variants, &rules);
    assert_eq!(table(&variants)[TEMPLATES[2]], TEMPLATES[0], "a rule of the policy merges it");
    sweep(&mut variants, &[]);
    assert_eq!(table(&variants)[TEMPLATES[2]], TEMPLATES[2], "without the rule it is unmerged");
}

#[test]
fn a_group_with_work_in_progress_stays_unchanged_until_it_is_done() {
    let mut variants = seen(&TEMPLATES[..3]);
    let older = variant(TEMPLATES[3], -1);
    let mut busy = variant(TEMPLATES[4], 99);
    busy.state = GroupState::FixDeclared { fix: fix() };
    let representative = variants.get_mut(&GroupId::from(TEMPLATES[0])).unwrap();
    representative.state = GroupState::Replaying { replay: ReplayId::from("r"), fix: fix() };
    for variant in [older, busy] {
        variants.insert(variant.id.clone(), variant);
    }
    sweep(&mut variants, &[]);
    let now = table(&variants);
    assert_eq!(now[TEMPLATES[1]], TEMPLATES[0], "its members stay");
    assert_eq!(now[TEMPLATES[3]], TEMPLATES[0], "an older one is merged into the busy group");
    assert_eq!(now[TEMPLATES[4]], TEMPLATES[4], "a declared fix keeps its group");
    variants.get_mut(&GroupId::from(TEMPLATES[4])).unwrap().state = GroupState::Open;
    sweep(&mut variants, &[]);
    assert_eq!(table(&variants)[TEMPLATES[4]], TEMPLATES[0], "until it is withdrawn");
}

#[test]
fn a_representative_has_a_maximum_of_members() {
    let templates: Vec<String> =
        (0..MERGED_VARIANTS_MAX + 20).map(|n| format!("volume /srv/{} lost its index", word(n))).collect();
    let mut variants = seen(&templates.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(variants.values().map(|variant| variant.merge.members.len()).max(), Some(MERGED_VARIANTS_MAX));
    assert_eq!(sweep(&mut variants, &[]), 0);
}

/// A number spelled with letters.
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
fn the_policy_merges_splits_and_names_and_a_preview_predicts_it() {
    let mut variants = seen(&TEMPLATES);
    let rules = [
        rule("No prices", &["no price for *"], GroupAct::Merge),
        rule("not the same disk", &["disk /mnt/c *"], GroupAct::Split),
        rule("Lost indexes", &[TEMPLATES[0]], GroupAct::Name),
        rule("nobody", &["gone"], GroupAct::Merge),
    ];
    let preview = RulesPreview::new(&variants, &[], &rules);
    assert_eq!(preview.idle, ["nobody"]);
    let kinds = preview.changes.iter().map(|change| match change {
        GroupChange::Merged { group: variant, into } => format!("{} into {}", variant.title, into.title),
        GroupChange::Unmerged { group: variant, from } => format!("{} from {}", variant.title, from.title),
        GroupChange::Renamed { group: variant, to } => format!("{} is {to}", variant.title),
    });
    let kinds: Vec<String> = kinds.collect();
    assert!(kinds.contains(&"no price for the weekend into no price for the weekday".to_string()), "{kinds:?}");
    assert!(kinds.contains(&format!("{} from disk * is full of old orders", TEMPLATES[9])), "{kinds:?}");
    assert!(kinds.contains(&"volume * lost its index is Lost indexes".to_string()), "{kinds:?}");
    sweep(&mut variants, &rules);
    assert_eq!(sweep(&mut variants, &rules), 0);
    let now = table(&variants);
    assert_eq!((&*now[TEMPLATES[6]], &*now[TEMPLATES[9]]), (TEMPLATES[5], TEMPLATES[9]));
    assert_eq!(name(&variants[&GroupId::from(TEMPLATES[6])], &rules), "No prices");
    assert!(RulesPreview::new(&variants, &rules, &rules).changes.is_empty());
}

#[test]
fn a_rule_merges_only_within_one_main_queue() {
    let mut other = variant(TEMPLATES[6], 1);
    other.main_queue = Some(QueueArn::from("another"));
    let mut variants: Variants = [variant(TEMPLATES[5], 0), other].into_iter().map(|g| (g.id.clone(), g)).collect();
    assert_eq!(sweep(&mut variants, &[rule("No prices", &["no price for *"], GroupAct::Merge)]), 0);
}

#[test]
fn patterns_match_titles() {
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

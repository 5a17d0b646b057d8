//! The reader's own exam: errors that libraries print, each with the repository and the path of its origin.
//!
//! The cases are in `tests/reader`, one file for each question: the class, which errors share a cause, which variants
//! are merged, and the title. The cases were written before the code that answers them. All answers are one golden
//! file with the score of each mechanism at its end: a rule that changes the answer to any case shows in its
//! difference. `UPDATE=1 cargo test -p dlo-domain --test rules reader` rewrites it; review the difference.

use domain::id::GroupId;
use domain::merge::{Groups, Skeleton, find_groups_seen};
use domain::policy::Policy;
use domain::read::{Assessment, classify_failure, skeleton};
use domain::reading::{Class, Failure};
use domain::time::{Span, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// The files of errors with their class, whose titles are checked too.
#[rustfmt::skip]
pub const CLASSES: [&str; 37] = [
    "classes.txt", "fresh_classes.txt", "second_classes.txt", "third_classes.txt", "fourth_classes.txt",
    "fifth_classes.txt", "sixth_classes.txt", "seventh_classes.txt", "eighth_classes.txt", "ninth_classes.txt",
    "tenth_classes.txt", "eleventh_classes.txt", "twelfth_classes.txt", "thirteenth_classes.txt",
    "fourteenth_classes.txt", "fifteenth_classes.txt", "sixteenth_classes.txt", "held_sixteenth_classes.txt",
    "seventeenth_classes.txt", "held_seventeenth_classes.txt", "nineteenth_classes.txt", "twentieth_classes.txt",
    "twentyfirst_classes.txt", "twentysecond_classes.txt", "twentythird_classes.txt", "twentyfourth_classes.txt",
    "twentyfifth_classes.txt",
    "advice_classes.txt",
    "order_classes.txt", "parts_classes.txt", "unfinished_classes.txt", "codes_classes.txt", "held_codes_classes.txt",
    "data_classes.txt", "held_data_classes.txt", "shapes_classes.txt", "held_out_classes.txt",
];
/// The files of errors that share a cause or do not, whose titles are checked too.
#[rustfmt::skip]
pub const PAIRS: [&str; 29] = [
    "pairs.txt", "nineteenth_pairs.txt", "twentieth_pairs.txt", "fresh_pairs.txt", "second_pairs.txt",
    "third_pairs.txt", "fourth_pairs.txt", "fifth_pairs.txt", "sixth_pairs.txt", "seventh_pairs.txt",
    "eighth_pairs.txt", "ninth_pairs.txt", "eleventh_pairs.txt", "twelfth_pairs.txt", "thirteenth_pairs.txt",
    "fourteenth_pairs.txt", "grouping_pairs.txt", "mechanisms_pairs.txt", "grouping_held_out_pairs.txt",
    "sixteenth_pairs.txt", "held_sixteenth_pairs.txt", "eighteenth_pairs.txt", "held_eighteenth_pairs.txt",
    "family_pairs.txt", "more_family_pairs.txt", "family_stacks_pairs.txt",
    "held_family_pairs.txt", "attacked_pairs.txt", "held_last_family_pairs.txt",
];

/// The newest of them, which come last in the golden file.
#[rustfmt::skip]
const NEWEST_PAIRS: [&str; 12] = [
    "nineteenth", "twentieth", "sixteenth", "held_sixteenth", "eighteenth", "held_eighteenth", "family", "more_family", "held_family",
    "attacked", "family_stacks", "held_last_family",
];

/// The newest files of classes, which come after those.
#[rustfmt::skip]
const NEWEST_CLASSES: [&str; 8] = [
    "nineteenth", "twentieth", "twentyfirst", "twentysecond", "twentythird", "twentyfourth", "twentyfifth", "advice",
];

/// A case: its mechanism and its fields.
pub struct Case {
    pub mechanism: String,
    pub fields: Vec<String>,
}

pub fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
}

/// Reads a file of cases. A line `## name: …` begins a mechanism.
pub fn cases(file: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(folder().join("reader").join(file)).unwrap();
    let mut mechanism = String::new();
    let mut cases = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("## ") {
            mechanism = name.split(':').next().unwrap().to_owned();
        } else if !line.starts_with("# ") {
            cases.push(Case { mechanism: mechanism.clone(), fields: line.split(" ¦ ").map(unescaped).collect() });
        }
    }
    cases
}

fn unescaped(field: &str) -> String {
    field.replace("\\n", "\n").replace("\\t", "\t").replace("\\e", "\u{1b}")
}

pub fn failure(error_type: &str, message: &str) -> Failure {
    let (message, stack) =
        message.split_once(" ¦¦ ").map_or((message, None), |(message, stack)| (message, Some(stack)));
    Failure {
        error_type: Some(error_type.to_owned()),
        message: Some(message.to_owned()),
        stack: stack.map(str::to_owned),
        ..Failure::default()
    }
}

pub fn assess(error_type: &str, message: &str) -> Assessment {
    classify_failure(&failure(error_type, message), None, &Policy::default())
}

/// The answers to all cases of a file, and how many of each mechanism are right.
#[derive(Default)]
struct Answers {
    text: String,
    scores: Vec<(String, u32, u32)>,
}

impl Answers {
    fn add(&mut self, mechanism: &str, is_right: bool, answer: &str) {
        if self.scores.last().is_none_or(|(name, ..)| name != mechanism) {
            self.scores.push((mechanism.to_owned(), 0, 0));
            writeln!(self.text, "## {mechanism}").unwrap();
        }
        let (_, right, all) = self.scores.last_mut().unwrap();
        *right += u32::from(is_right);
        *all += 1;
        let mark = if is_right { "right" } else { "WRONG" };
        writeln!(self.text, "{mark} {}", answer.replace('\n', "\\n").replace('\u{1b}', "\\e")).unwrap();
    }
}

fn classes(file: &str) -> Answers {
    let mut answers = Answers::default();
    for Case { mechanism, fields } in cases(file) {
        let [expected, error_type, message, _origin] = &fields[..] else { panic!("{fields:?} has four fields") };
        let found = assess(error_type, message).classification;
        let pct = found.confidence.as_pct();
        let (class, category) = expected.split_once(' ').unwrap_or((expected, ""));
        let is_right = match class {
            "T" => found.class == Class::Transient,
            "P" => found.class == Class::Permanent,
            "C" => (found.class == Class::Unknown || pct <= 60) && found.reason.contains("; but "),
            "U" => found.firm_class() == Class::Unknown,
            other => panic!("{other}: T, P, C or U"),
        };
        // Where a category is asked for, a guess is no answer.
        let named = serde_json::to_value(found.category).unwrap();
        let is_named = category.is_empty() || named == category && found.firm_class() == found.class;
        let is_right = is_right && is_named;
        let expected = if is_named { class.to_owned() } else { format!("{expected}, not {}", named.as_str().unwrap()) };
        let answer = format!("{expected} {:?} {pct}% {} | {error_type}: {message}", found.class, found.reason);
        answers.add(&mechanism, is_right, &answer);
    }
    answers
}

fn normal_form(failure: &Failure) -> String {
    skeleton(failure, None).map(|skeleton| skeleton.template).unwrap_or_default()
}

fn pairs(file: &str) -> Answers {
    let mut answers = Answers::default();
    for Case { mechanism, fields } in cases(file) {
        let [expected, error_type, a, b, _origin] = &fields[..] else { panic!("{fields:?} has five fields") };
        let is_same = assess(error_type, a).group == assess(error_type, b).group;
        let (a, b) = (normal_form(&failure(error_type, a)), normal_form(&failure(error_type, b)));
        let shown = if a == b { a } else { format!("{a} | {b}") };
        answers.add(&mechanism, is_same == (expected == "="), &format!("{expected} {error_type}: {shown}"));
    }
    answers
}

/// The skeletons of letters with these messages, by fingerprint.
fn skeletons(error_type: &str, messages: &[String]) -> BTreeMap<GroupId, Skeleton> {
    let one = |message: &String| {
        let failure = failure(error_type, message);
        let group = classify_failure(&failure, None, &Policy::default()).group;
        skeleton(&failure, None).map(|skeleton| (group, skeleton))
    };
    messages.iter().filter_map(one).collect()
}

/// Returns the groups of letters that are each from another day, but those of one letter.
fn groups_of(skeletons: &BTreeMap<GroupId, Skeleton>) -> Groups {
    let days =
        skeletons.keys().zip(0..).map(|(id, day)| (id.clone(), Timestamp::from_ms(Span::from_days(day).as_ms())));
    find_groups_seen(skeletons, &BTreeSet::new(), &days.collect())
}

/// How many groups the letters with these messages are.
pub fn merged(error_type: &str, messages: &[String]) -> usize {
    let skeletons = skeletons(error_type, messages);
    let groups = groups_of(&skeletons);
    skeletons.len() - groups.iter().map(|group| group.len() - 1).sum::<usize>()
}

fn merges(file: &str) -> Answers {
    let mut answers = Answers::default();
    for Case { mechanism, fields } in cases(file) {
        let [expected, message, fillings, _origin] = &fields[..] else { panic!("{fields:?} has four fields") };
        let messages: Vec<String> = fillings.split(' ').map(|filling| message.replacen('_', filling, 1)).collect();
        let skeletons = skeletons("Error", &messages);
        let largest = groups_of(&skeletons).iter().map(BTreeSet::len).max().unwrap_or(1);
        let is_right = if expected == "+" { largest == skeletons.len() } else { largest == 1 && skeletons.len() > 1 };
        let answer = format!("{expected} {largest} of {} merged | {message} | {fillings}", skeletons.len());
        answers.add(&mechanism, is_right, &answer);
    }
    answers
}

fn titles(file: &str) -> Answers {
    let mut answers = Answers::default();
    for Case { mechanism, fields } in cases(file) {
        let (error_type, title) = (&fields[0], &fields[fields.len() - 2]);
        let message = fields[1..fields.len() - 2].join(" ¦ ");
        let found = assess(error_type, &message).title;
        answers.add(&mechanism, found == *title, &found);
    }
    answers
}

#[test]
fn every_case_is_answered_as_in_the_golden_file() {
    let all = [
        ("classes", classes("classes.txt")),
        ("pairs", pairs("pairs.txt")),
        ("merges", merges("merges.txt")),
        ("titles", titles("titles.txt")),
        ("classes", classes("held_out_classes.txt")),
        ("pairs", pairs("held_out_pairs.txt")),
        ("titles", titles("held_out_titles.txt")),
        ("classes", classes("fresh_classes.txt")),
        ("pairs", pairs("fresh_pairs.txt")),
        ("titles", titles("fresh_titles.txt")),
        ("classes", classes("second_classes.txt")),
        ("pairs", pairs("second_pairs.txt")),
        ("classes", classes("third_classes.txt")),
        ("pairs", pairs("third_pairs.txt")),
        ("classes", classes("fourth_classes.txt")),
        ("pairs", pairs("fourth_pairs.txt")),
        ("classes", classes("fifth_classes.txt")),
        ("pairs", pairs("fifth_pairs.txt")),
        ("classes", classes("sixth_classes.txt")),
        ("pairs", pairs("sixth_pairs.txt")),
        ("classes", classes("seventh_classes.txt")),
        ("pairs", pairs("seventh_pairs.txt")),
        ("classes", classes("eighth_classes.txt")),
        ("pairs", pairs("eighth_pairs.txt")),
        ("classes", classes("ninth_classes.txt")),
        ("pairs", pairs("ninth_pairs.txt")),
        ("classes", classes("tenth_classes.txt")),
        ("classes", classes("eleventh_classes.txt")),
        ("pairs", pairs("eleventh_pairs.txt")),
        ("classes", classes("twelfth_classes.txt")),
        ("pairs", pairs("twelfth_pairs.txt")),
        ("classes", classes("thirteenth_classes.txt")),
        ("pairs", pairs("thirteenth_pairs.txt")),
        ("classes", classes("fourteenth_classes.txt")),
        ("pairs", pairs("fourteenth_pairs.txt")),
        ("classes", classes("order_classes.txt")),
        ("classes", classes("parts_classes.txt")),
        ("classes", classes("unfinished_classes.txt")),
        ("classes", classes("fifteenth_classes.txt")),
        ("classes", classes("sixteenth_classes.txt")),
        ("classes", classes("held_sixteenth_classes.txt")),
        ("classes", classes("seventeenth_classes.txt")),
        ("classes", classes("held_seventeenth_classes.txt")),
        ("classes", classes("codes_classes.txt")),
        ("classes", classes("held_codes_classes.txt")),
        ("classes", classes("data_classes.txt")),
        ("classes", classes("held_data_classes.txt")),
        ("classes", classes("shapes_classes.txt")),
        ("merges", merges("filled_merges.txt")),
        ("pairs", pairs("grouping_pairs.txt")),
        ("pairs", pairs("mechanisms_pairs.txt")),
        ("pairs", pairs("grouping_held_out_pairs.txt")),
    ];
    let last = NEWEST_PAIRS.into_iter().map(|set| ("pairs", pairs(&format!("{set}_pairs.txt"))));
    let newest = NEWEST_CLASSES.into_iter().map(|set| ("classes", classes(&format!("{set}_classes.txt"))));
    let mut text = String::new();
    let mut scores = String::new();
    for (name, answers) in all.into_iter().chain(last).chain(newest) {
        writeln!(text, "# {name}\n{}", answers.text).unwrap();
        for (mechanism, right, all) in answers.scores {
            writeln!(scores, "{name} {mechanism}: {right} of {all}").unwrap();
        }
    }
    write!(text, "# scores\n{scores}").unwrap();
    golden("reader.txt", &text);
}

/// Compares a text with a golden file, or writes it there if `UPDATE` is set.
pub fn golden(name: &str, text: &str) {
    let golden = folder().join("golden").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&golden, text).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    for (found, expected) in text.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(text, expected);
}

/// Every error of this exam, of the tables of classification and of the fuzzers' corpus.
pub fn all_errors() -> Vec<Failure> {
    let mut all = Vec::new();
    for Case { fields, .. } in CLASSES.into_iter().flat_map(cases) {
        all.push(failure(&fields[1], &fields[2]));
    }
    for Case { fields, .. } in PAIRS.into_iter().flat_map(cases) {
        all.extend([failure(&fields[1], &fields[2]), failure(&fields[1], &fields[3])]);
    }
    for Case { fields, .. } in ["titles.txt", "fresh_titles.txt"].into_iter().flat_map(cases) {
        all.push(failure(&fields[0], &fields[1..fields.len() - 2].join(" ¦ ")));
    }
    for (error_type, message, _) in crate::classification::rows() {
        all.push(failure(error_type, message));
    }
    for (a, b) in crate::causes::pairs() {
        all.extend([failure("", a), failure("Error", b)]);
    }
    for corpus in ["template", "frames"] {
        let folder = folder().join("../../fuzz/corpus").join(corpus);
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = String::from_utf8_lossy(&std::fs::read(entry.unwrap().path()).unwrap()).into_owned();
            let stack = (corpus == "frames").then(|| text.clone());
            all.push(Failure { message: Some(text), stack, ..Failure::default() });
        }
    }
    all
}

/// Removes the control sequences of a terminal.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once(|c: char| c.is_ascii_alphabetic()).map_or(part, |(_, rest)| rest));
    first + &rest.collect::<Vec<_>>().concat()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect()
}

#[test]
fn no_title_has_a_word_that_its_error_lacks() {
    let errors = all_errors();
    assert!(errors.len() > 1_300, "{} errors", errors.len());
    for error in errors {
        check_title(&error);
    }
}

#[test]
fn a_title_masks_what_names_a_person_or_opens_a_door() {
    for (message, title) in [
        ("payment for anna@example.com with card 4111 1111 1111 1111 refused", "payment for * with card * refused"),
        ("customer Anna Kowalski (anna@example.com) has no address", "customer * has no address"),
        ("IBAN DE89370400440532013000 invalid", "IBAN * invalid"),
        ("invalid phone +49 170 1234567", "invalid phone *"),
        ("Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc rejected", "Bearer * rejected"),
        ("token sk_live_51Habcdef0123456789 expired", "token * expired"),
    ] {
        let error = Failure { message: Some(message.into()), ..Failure::default() };
        assert_eq!(classify_failure(&error, None, &Policy::default()).title, title);
    }
}

/// Checks what holds of every title: no other words than the error's, few masks, marks in pairs, one line.
pub fn check_title(error: &Failure) {
    let title = classify_failure(error, None, &Policy::default()).title;
    let parts = [&error.error_type, &error.message, &error.stack];
    let text: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    let text = without_colours(&text.join(" "));
    let own = words(&text);
    let is_none = title == "No error recorded";
    for word in words(&title) {
        assert!(is_none || own.contains(word), "{word:?} is not in the error: {title}\n{text}");
    }
    assert!(title.matches('*').count() <= 3, "{title}");
    assert!(title.matches('"').count().is_multiple_of(2), "a lone quotation mark: {title}");
    assert!(!title.contains('\n') && !title.is_empty() && title.len() <= 256, "{title}");
}

proptest::proptest! {
    #[test]
    fn every_title_keeps_its_rules(
        kind in "([a-z]{1,5}\\.){0,2}[A-Z][a-z]{2,9}(Error|Exception)?",
        message in "(\\PC|[ '\"`{}()<>=:/.,*#\\n]|deliveries |retry |7 |é|7, |\\(Caused by |nested exception is |\\[SQL: |[a-z]{1,6} ){0,60}",
    ) {
        check_title(&failure(&kind, &message.replace(" ¦¦ ", " ")));
    }
}

//! Grouping and titles on errors that no rule was made from: what a title shows, and a stream of letters.
//!
//! The pairs of this set are in `reader`. A title is right if it has the parts that a person needs and none of the data.
//! The stream is read like letters that arrive: each gets its fingerprint, and the fingerprints are merged from time to
//! time. `UPDATE=1 cargo test -p dlo-domain --test rules grouping` rewrites the golden file; review the difference.

use crate::reader::{Case, assess, cases, check_title, failure};
use domain::id::GroupId;
use domain::merge::{Skeleton, find_groups_seen};
use domain::policy::Policy;
use domain::read::{classify_failure, skeleton};
use domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// How often each message of the stream is filled in.
const FILLINGS: usize = 40;
/// The letters between two merges.
const SWEEP_LETTERS: usize = 100;
/// The time between two letters.
const LETTER_MS: i64 = 60_000;

fn titles(text: &mut String) {
    let (mut right, mut all) = (0, 0);
    for Case { fields, .. } in cases("grouping_titles.txt") {
        let [error_type, message, shown, hidden, _origin] = &fields[..] else { panic!("{fields:?} has five fields") };
        let title = assess(error_type, message).title;
        let lacks: Vec<&str> = shown.split(" & ").filter(|part| !title.contains(part)).collect();
        let tells: Vec<&str> = hidden.split(" & ").filter(|part| *part != "-" && title.contains(part)).collect();
        all += 1;
        right += u32::from(lacks.is_empty() && tells.is_empty());
        let mark = if lacks.is_empty() && tells.is_empty() { "right" } else { "WRONG" };
        writeln!(text, "{mark} {title}").unwrap();
        if mark == "WRONG" {
            writeln!(text, "      lacks {lacks:?}, tells {tells:?}").unwrap();
        }
        check_title(&failure(error_type, message));
    }
    writeln!(text, "titles: {right} of {all}\n").unwrap();
}

/// Numbers from a seed (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 16).unwrap() % end
    }

    fn one<'a>(&mut self, list: &'a str) -> &'a str {
        let all: Vec<&str> = list.split('|').collect();
        all[self.below(all.len())]
    }

    fn filling(&mut self, kind: &str) -> String {
        let n = self.next() >> 20;
        match kind {
            "id" => (n % 60_000).to_string(),
            "hex" => format!("{:08x}", n & 0xffff_ffff),
            "uuid" => format!(
                "{:08x}-{:04x}-4{:03x}-9{:03x}-{n:012x}",
                n & 0xffff_ffff,
                n & 0xffff,
                n & 0xfff,
                n >> 4 & 0xfff
            ),
            "sku" => format!("{}-{}", self.one("LAMP|lamp|A|Stuhl|B7|tisch_gross"), n % 990),
            "word" => self.one(WORDS).to_owned(),
            "person" => self.one(PERSONS).to_owned(),
            "mail" => {
                format!("{}{}@{}.example", self.one("anna|zoe.brandt|bo|info"), n % 9, self.one("mail|post|shop"))
            }
            "ip" => format!("10.{}.{}.{}", n % 9, n % 250, n % 199),
            "host" => self.one("pay.internal|pay.internal|pay.internal").to_owned(),
            "path" => {
                format!("/{}/{}/{}", self.one("srv/in|tmp|data"), self.one("2026-11-02|eu|kunden"), self.one(FILES))
            }
            "time" => format!("2026-{:02}-{:02}T{:02}:14:0{}Z", n % 12 + 1, n % 28 + 1, n % 24, n % 10),
            "money" => format!("{}.{:02} {}", n % 2_000, n % 100, self.one("EUR|EUR|EUR")),
            "text" => self.one(TEXTS).to_owned(),
            "json" => format!(
                "{{ sku: \"{}\", note: \"{}\", tags: [{}] }}",
                self.one("A-7|lampe|B"),
                self.one(TEXTS),
                self.one("|\"a\", \"b\"|7")
            ),
            "query" => format!("key={:x}&page={}", n & 0xffff, n % 90),
            "ms" => format!("{}{}", n % 9_000, self.one("ms|.5s|s")),
            "n" => (n % 30).to_string(),
            other => panic!("{other} is no filling"),
        }
    }

    fn filled(&mut self, message: &str) -> String {
        let mut out = String::new();
        let mut rest = message;
        while let Some(open) = rest.find('{') {
            let end = rest[open..].find('}').map(|at| open + at);
            let kind = end.map(|end| &rest[open + 1..end]).filter(|kind| kind.bytes().all(|b| b.is_ascii_lowercase()));
            out.push_str(&rest[..open]);
            match (kind, end) {
                (Some(kind), Some(end)) => {
                    out.push_str(&self.filling(kind));
                    rest = &rest[end + 1..];
                }
                _ => {
                    out.push('{');
                    rest = &rest[open + 1..];
                }
            }
        }
        out + rest
    }
}

const WORDS: &str = "alpha|beta|gamma|delta|epsilon|zeta|acme|globex|initech|umbra|hooli|berlin|hamburg|köln|madrid|\
    lyon|porto|turin|oslo|kiew|anna|bodo|carla|dora|emil|frida|gustav|heidi|ivan|jana|karl|lena|moritz|nora|otto|paula|\
    quentin|rosa|stefan|tilda";
const PERSONS: &str = "Anna|Bo|Zoë Brandt|Jean-Luc Picard|Мария Иванова|José da Silva|李雷|O'Brien|Anna van Dam|karl";
const FILES: &str =
    "a.csv|7.csv|bestellung_12.json|Übersicht.pdf|scan0007.pdf|rechnung-märz.xml|export.parquet|b/c.txt";
const TEXTS: &str = "zwölf|12,50|a few|n/a|sieben Stück|n'importe quoi|七|ungefähr 3|bitte klingeln|siehe Rechnung|x|\
    1.000.000,00|não sei|дорого|it's free";

/// The groups of all letters: what was ever merged stays merged.
#[derive(Default)]
struct Merged(BTreeMap<GroupId, GroupId>);

impl Merged {
    fn root(&self, id: &GroupId) -> GroupId {
        let mut at = id;
        while let Some(next) = self.0.get(at).filter(|next| *next != at) {
            at = next;
        }
        at.clone()
    }

    fn join(&mut self, group: &BTreeSet<GroupId>) {
        let Some(first) = group.first().map(|id| self.root(id)) else { return };
        for id in group {
            let root = self.root(id);
            self.0.insert(root, first.clone());
        }
    }
}

fn stream(text: &mut String, seed: u64) {
    let messages = cases("grouping_stream.txt");
    let mut numbers = Numbers(seed);
    let mut letters = Vec::new();
    for (truth, Case { fields, .. }) in messages.iter().enumerate() {
        letters.extend((0..FILLINGS).map(|_| (truth, failure(&fields[0], &numbers.filled(&fields[1])))));
    }
    for at in (1..letters.len()).rev() {
        let other = numbers.below(at + 1);
        letters.swap(at, other);
    }
    let mut skeletons: BTreeMap<GroupId, Skeleton> = BTreeMap::new();
    let mut first_seen = BTreeMap::new();
    let mut merged = Merged::default();
    let mut read = Vec::new();
    for (at, (truth, failure)) in letters.iter().enumerate() {
        let group = classify_failure(failure, None, &Policy::default()).group;
        let now = Timestamp::from_ms(i64::try_from(at).unwrap() * LETTER_MS);
        first_seen.entry(group.clone()).or_insert(now);
        skeletons.extend(skeleton(failure, None).map(|skeleton| (group.clone(), skeleton)));
        read.push((*truth, group));
        if (at + 1) % SWEEP_LETTERS == 0 || at + 1 == letters.len() {
            let found = find_groups_seen(&skeletons, &BTreeSet::new(), &first_seen);
            found.iter().for_each(|group| merged.join(group));
        }
    }
    let mut groups: BTreeMap<GroupId, BTreeMap<usize, usize>> = BTreeMap::new();
    for (truth, group) in &read {
        *groups.entry(merged.root(group)).or_default().entry(*truth).or_default() += 1;
    }
    let whole: usize =
        groups.values().filter(|of| of.len() == 1 && of.values().all(|n| *n == FILLINGS)).count() * FILLINGS;
    let mixed: usize = groups.values().filter(|of| of.len() > 1).flat_map(BTreeMap::values).sum();
    for (truth, Case { fields, .. }) in messages.iter().enumerate() {
        let parts = groups.values().filter(|of| of.contains_key(&truth)).count();
        if parts > 1 {
            writeln!(text, "{parts} groups | {}", fields[1].replace('\n', "\\n")).unwrap();
        }
    }
    for of in groups.values().filter(|of| of.len() > 1) {
        writeln!(text, "mixed | {:?}", of.keys().map(|truth| &messages[*truth].fields[1]).collect::<Vec<_>>()).unwrap();
    }
    writeln!(text, "seed {seed}: {whole} of {} letters in one group, {mixed} mixed\n", letters.len()).unwrap();
}

#[test]
fn titles_and_the_stream_are_as_in_the_golden_file() {
    let mut text = String::new();
    titles(&mut text);
    for seed in [15, 1_501, 150_101] {
        stream(&mut text, seed);
    }
    let golden = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/grouping.txt"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(golden, &text).unwrap();
    }
    let expected = std::fs::read_to_string(golden).unwrap();
    for (found, expected) in text.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(text, expected);
}

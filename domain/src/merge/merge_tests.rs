//! What is merged and what never is, one row per kind of evidence; and that a larger set never merges less.

use super::*;
use alloc::format;
use alloc::string::{String, ToString};
use proptest::prelude::*;

fn skeletons(templates: &[&str]) -> BTreeMap<GroupId, Skeleton> {
    let one = |template: &&str| {
        (GroupId::new(*template), Skeleton { family: "f".to_string(), template: (*template).to_string() })
    };
    templates.iter().map(one).collect()
}

fn groups(templates: &[&str]) -> Vec<Vec<String>> {
    let joined = find_groups(&skeletons(templates), &BTreeSet::new());
    joined.iter().map(|group| group.iter().map(|id| id.to_string()).collect()).collect()
}

#[track_caller]
fn all_merge(templates: &[&str]) {
    assert_eq!(groups(templates).first().map(Vec::len), Some(templates.len()), "{templates:?}");
}

#[track_caller]
fn none_merge(templates: &[&str]) {
    assert_eq!(groups(templates), Vec::<Vec<String>>::new(), "{templates:?}");
}

/// The same sentence with each of these words in its place.
fn each(pattern: &str, words: &str) -> Vec<String> {
    words.split_whitespace().map(|word| pattern.replace('_', word)).collect()
}

#[test]
fn positions_proven_to_hold_data_are_merged() {
    let refs = |texts: &'_ [String]| -> Vec<String> { texts.to_vec() };
    let rows = [
        each("lost the volume _ after mounting the archive", "alpha beta gamma delta epsilon zeta"),
        each("archive volume [_] lost its index", "alpha beta gamma delta epsilon zeta"),
        each("could not find the album _", "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu"),
        each("cannot archive volume /srv/_/old today", "alpha beta gamma"),
        each("volume vol-_-* lost its index", "alpha beta gamma"),
        refs(&["clock follows *, stratum *".to_string(), "clock follows LOCAL(*), stratum *".to_string()]),
        // Two places: neither would be proven without the other one's pattern.
        ["alpha", "beta", "gamma"]
            .iter()
            .flat_map(|a| each(&format!("volume /srv/{a}/x lost its index on /mnt/_/y today"), "one two three"))
            .collect(),
    ];
    for row in rows {
        all_merge(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn possibly_different_causes_are_not_merged() {
    let words = "alpha beta gamma delta epsilon zeta eta theta";
    let rows = [
        each("could not charge the customer card: _", words),
        each("could not charge the customer card because _ happened today", words),
        each("the payment provider answered with status _ for this order", "401 402 403 404 409 422 500 503"),
        each("the customer order lacks the column \"_\" in its body", words),
        each("the customer order was _ by the payment provider", words),
        each("customer _", words),
        each("cannot reach the payment service at _", "a.internal b.internal c.internal d.internal"),
        each(
            "request to the provider failed: _ while reading it",
            "EPIPE ECONNRESET ETIMEDOUT EACCES ENOENT EMFILE EPERM",
        ),
        ["the customer order is valid", "the customer order is not valid"].map(String::from).to_vec(),
        each("_ the customer order from the payment archive", "GET PUT POST DELETE PATCH HEAD"),
        // Too few to be proof.
        each("lost the volume _ after mounting the archive", "alpha beta gamma delta"),
        each("error on the request for \"http://_:*/health\" of today", "payments stock billing mail"),
        each("error on the request for \"http://_.example\" of today", "payments stock billing mail"),
        each("lines.*._ should be a valid number here", "quantity price discount tax"),
        each("/_/zip must be a string here", "billing shipping home work"),
        each("call of PriceService/_ was dropped by the shedder", "Import Quote Cancel List"),
    ];
    for row in rows {
        none_merge(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn three_fillings_that_look_like_data_in_their_place_are_merged() {
    for row in [
        each("Category with name _ already exists", "novels Cookbooks travel"),
        each("Path _ already exists and is not a file.", "results/june results/july results/final"),
        // A mask is data that the template has seen. Widths may differ.
        ["*", "Meyer", "oak_and_sons"].map(|name| format!("Customer with name {name} not found")).to_vec(),
        ["results/june", "my results/july", "results/final"]
            .map(|name| format!("Path {name} already exists and is not a file."))
            .to_vec(),
    ] {
        all_merge(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn what_may_name_a_cause_does_not_look_like_data() {
    for row in [
        each("Category with name _ already exists", "novels Cookbooks"),
        each("Relation _ does not exist", "author comments tags"),
        each("the connection failed : _", "timeout refused reset"),
        each("Pump stopped : _", "dry seized frozen"),
        each("Invalid provider specified : _", "azure swift minio"),
        each("File \"report\" : _", "Infected Truncated Locked"),
        each("Role shop/_ does not exist", "admin auditor cashier"),
        each("content type _ is not allowed here", "text/csv text/html text/xml"),
        each("_ * could not be read", "Device Patient Folder"),
        each("Project * _", "rejected refunded held"),
        // Even five words in one place, if they look like causes there.
        each("Could not load _ module", "billing stock tax mail search"),
        each("Failed to send _ mail to customer", "invoice reset welcome refund shipping"),
        each("Ventilator raised _ alarm", "pressure oxygen battery leak apnoea"),
        each("No such file : _", "/etc/ssl/ca.pem /usr/bin/ffmpeg /dev/kvm"),
    ] {
        none_merge(&row.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn hosts_are_merged_if_they_failed_together() {
    let texts = each("could not deliver to the hook at _", "a.example b.example c.example d.example e.example");
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = |step_ms: i64| {
        let times = texts.iter().zip(0..).map(|(text, at)| (GroupId::new(*text), Timestamp::from_ms(at * step_ms)));
        let groups = find_groups_seen(&skeletons(&texts), &BTreeSet::new(), &times.collect());
        groups.iter().map(BTreeSet::len).collect::<Vec<_>>()
    };
    assert_eq!(found(HOSTS_WINDOW_MS / 4), [5]);
    assert_eq!(found(HOSTS_WINDOW_MS / 4 + 1), Vec::<usize>::new());
    assert_eq!(groups(&texts).len(), 1, "a set without times counts as seen at once");
}

#[test]
fn families_are_never_merged() {
    let mut all = skeletons(&["volume /srv/a/x lost its index", "volume /srv/b/x lost its index"]);
    let other = Skeleton { family: "g".to_string(), template: "volume /srv/c/x lost its index".to_string() };
    all.insert("other".into(), other);
    assert_eq!(find_groups(&all, &BTreeSet::new()).iter().count(), 0);
}

#[test]
fn a_group_is_named_after_its_oldest_fingerprint() {
    let all =
        skeletons(&["volume /srv/a lost its index", "volume /srv/b lost its index", "volume /srv/c lost its index"]);
    let groups = find_groups(&all, &BTreeSet::new());
    let name = |first_seen: &[(&str, i64)]| {
        let seen = first_seen.iter().map(|(id, ms)| (GroupId::new(*id), Timestamp::from_ms(*ms))).collect();
        groups.aliases(&seen).into_values().next().map(|id| id.to_string())
    };
    assert_eq!(name(&[]).as_deref(), Some("volume /srv/a lost its index"));
    assert_eq!(
        name(&[("volume /srv/b lost its index", 9), ("volume /srv/c lost its index", 7)]).as_deref(),
        Some("volume /srv/c lost its index")
    );
}

#[test]
fn unmerged_fingerprints_are_excluded() {
    let texts = [
        "volume /srv/a lost its index",
        "volume /srv/b lost its index",
        "volume /srv/c lost its index",
        "volume /srv/d lost its index",
    ];
    let unmerged = BTreeSet::from([GroupId::new(texts[3])]);
    let groups = find_groups(&skeletons(&texts), &unmerged);
    assert_eq!(groups.iter().map(BTreeSet::len).collect::<Vec<_>>(), [3]);
}

/// Sentences of few words, so that many differ in one place.
fn sentence() -> impl Strategy<Value = String> {
    let word = prop::sample::select(&[
        "volume", "index", "lost", "*", "/srv/a", "/srv/b", "c-*", "(", ")", "alpha", "beta", "is", ":", "404",
    ]);
    prop::collection::vec(word, 1..7).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn a_larger_set_never_merges_less(mut all in prop::collection::vec(sentence(), 1..60), cut in 0_usize..60) {
        let larger: Vec<&str> = all.iter().map(String::as_str).collect();
        let larger = groups(&larger);
        all.truncate(cut.min(all.len()));
        let smaller: Vec<&str> = all.iter().map(String::as_str).collect();
        for group in groups(&smaller) {
            prop_assert!(larger.iter().any(|l| group.iter().all(|id| l.contains(id))), "{group:?} of {larger:?}");
        }
    }

    #[test]
    fn nothing_panics(all in prop::collection::vec("[ -~]{0,40}|(\\PC|[(){}*: ]){0,90}", 0..12)) {
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let _ = groups(&all);
    }
}

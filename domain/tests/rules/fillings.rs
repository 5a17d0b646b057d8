//! The weights by which fillings of one place look like data, learned from labelled formats and pairs of errors.
//!
//! `UPDATE=1 cargo test -p dlo-domain --test rules fillings` rewrites the table; review the differences of the golden files
//! of `reader` and `formats`. What is kept back teaches nothing.

use crate::formats::threes;
use crate::reader::{Case, PAIRS, cases, failure};
use crate::taught::{self, Example, Way};
use domain::merge::weighed_hashes;
use domain::read::skeleton;

/// The cost is small, because a format has many words that few others have.
const WAY: Way = Way { cost: 0.01, unit: 400.0 };

/// Whether a file of pairs teaches nothing: it measures what the weights are worth.
fn is_kept_back(file: &str) -> bool {
    file.contains("held") || file.starts_with("twentieth")
}

/// What templates with one or with several causes teach, each by what it has where they differ.
fn teach(examples: &mut Vec<Example>, templates: &[String], origin: &str, is_data: bool) {
    let templates: Vec<&str> = templates.iter().map(String::as_str).collect();
    if templates.iter().all(|template| *template == templates[0]) {
        return;
    }
    for hashes in weighed_hashes(&templates).into_iter().flatten() {
        examples.push(Example { hashes, origin: origin.to_owned(), side: if is_data { 1.0 } else { -1.0 } });
    }
}

fn examples() -> Vec<Example> {
    let mut examples = Vec::new();
    for three in threes("formats.txt") {
        if let Some(templates) = three.templates() {
            teach(&mut examples, &templates, &three.project, three.label == 'D');
        }
    }
    for Case { fields, .. } in PAIRS.into_iter().filter(|file| !is_kept_back(file)).flat_map(cases) {
        let [expected, error_type, a, b, origin] = &fields[..] else { panic!("{fields:?} has five fields") };
        let template = |message: &String| Some(skeleton(&failure(error_type, message), None)?.template);
        if let Some(templates) = [a, b].into_iter().map(template).collect::<Option<Vec<_>>>() {
            let origin = origin.split(' ').next().unwrap_or_default();
            teach(&mut examples, &templates, origin, expected == "=");
        }
    }
    examples
}

#[test]
fn the_table_is_what_formats_and_pairs_teach() {
    taught::check("src/merge/weights.bin", &examples(), &WAY);
}

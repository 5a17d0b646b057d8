//! The rule about the names of what the API takes and returns: requests end in `Request`, answers in `Answer`.

use super::source::{Source, has_word, lines};
use super::{Finding, Rule};

/// How a row of the table of endpoints names its types: `Endpoint::post::<NoteRequest, GroupAnswer, _>(`.
const ENDPOINT: &str = "Endpoint::";
/// What takes a request before its answer.
const WITH_REQUEST: &[&str] = &["post", "put"];

pub const RULES: &[Rule] = &[Rule {
    name: "requests-and-answers",
    instead: "End the name in `Request`, or in `Answer`. A record of `domain` that is returned as it is keeps its name.",
    find: unnamed,
}];

fn unnamed(source: &Source) -> Vec<Finding> {
    let rows = lines(&source.code).flat_map(|(line, code)| code.split(ENDPOINT).skip(1).map(move |row| (line, row)));
    let found = rows.filter_map(|(line, row)| {
        let (method, types) = row.split_once("::<")?;
        let mut types = types.split(',').map(str::trim);
        let request = if WITH_REQUEST.contains(&method) { types.next() } else { None };
        let answer = types.next()?;
        let wrong = match request {
            Some(request) if !request.ends_with("Request") => request,
            _ if !answer.ends_with("Answer") && !is_of_domain(source, answer) => answer,
            _ => return None,
        };
        Some(Finding::new(line, format!("`{wrong}`")))
    });
    found.collect()
}

fn is_of_domain(source: &Source, name: &str) -> bool {
    source.code.lines().any(|line| line.starts_with("use domain::") && has_word(line, name))
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    #[test]
    fn endpoints_take_requests_and_return_answers() {
        rows(
            RULES,
            "requests-and-answers",
            &[
                ("a/src/b.rs", "Endpoint::get::<GroupAnswer, _>(\nEndpoint::get::<GroupDetail, _>(\n", &[2]),
                ("a/src/b.rs", "Endpoint::post::<NoteRequest, GroupAnswer, _>(", &[]),
                (
                    "a/src/b.rs",
                    "Endpoint::put::<Note, GroupAnswer, _>(\nEndpoint::post::<NoteRequest, Group, _>(",
                    &[1, 2],
                ),
                ("a/src/b.rs", "use domain::facet::{Facet, Facets};\nEndpoint::get::<Facets, _>(", &[]),
                ("a/src/b.rs", "use wire::Facets;\nEndpoint::delete::<Facets, _>(", &[2]),
                ("a/src/b.rs", "Self::get::<G, _>(path)\nEndpoint::file(\"/a\")", &[]),
            ],
        );
    }
}

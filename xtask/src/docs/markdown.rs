//! The little of Markdown that the checks read: links, headings, code.

/// A line of prose, without the insides of code spans, or a line inside a fence.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    Prose(&'a str),
    /// The language after the fence's three ticks.
    Code(&'a str, &'a str),
}

/// Every line with its number from 1; the fences themselves are left out.
pub fn lines(text: &str) -> Vec<(usize, Line<'_>)> {
    let mut fence: Option<&str> = None;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), fence) {
            (Some(_), Some(_)) => fence = None,
            (Some(language), None) => fence = Some(language.trim()),
            (None, Some(language)) => found.push((at + 1, Line::Code(language, line))),
            (None, None) => found.push((at + 1, Line::Prose(line))),
        }
    }
    found
}

/// The code spans of a line of prose.
pub fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The targets of the links and images in a line of prose.
pub fn targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    let mut in_code = false;
    while let Some(at) = rest.find(['`', ']']) {
        let after = &rest[at + 1..];
        if rest[at..].starts_with('`') {
            in_code = !in_code;
        } else if let Some(target) = after.strip_prefix('(').filter(|_| !in_code)
            && let Some((target, _)) = target.split_once(')')
        {
            found.push(target.split_whitespace().next().unwrap_or_default());
        }
        rest = after;
    }
    found
}

/// The anchors of a page's headings, as GitHub and mdbook make them.
pub fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, line) in lines(text) {
        let Line::Prose(line) = line else { continue };
        let title = line.trim_start_matches('#');
        let depth = line.len() - title.len();
        if !(1..=6).contains(&depth) || !title.starts_with(' ') {
            continue;
        }
        let slug = slug(title.trim());
        let same = found.iter().filter(|other| **other == slug || other.starts_with(&format!("{slug}-"))).count();
        found.push(if same == 0 { slug } else { format!("{slug}-{same}") });
    }
    found
}

fn slug(title: &str) -> String {
    // A link in a heading counts by its text.
    let mut text = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let kept = text.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
    kept.replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_outside_code() {
        for (line, found) in [
            ("see [a](b.md) and ![c](d.png \"title\")", vec!["b.md", "d.png"]),
            ("`[a](b.md)` is code, [x](#y) is not", vec!["#y"]),
            ("an array[0] (not a link)", vec![]),
        ] {
            assert_eq!(targets(line), found, "{line}");
        }
    }

    #[test]
    fn headings_have_anchors() {
        let text = "# The `dlo open` command\n```sh\n# no heading\n```\n## A & B\n## A & B\n#hash\n";
        assert_eq!(anchors(text), ["the-dlo-open-command", "a--b", "a--b-1"]);
    }

    #[test]
    fn fences_have_languages() {
        let text = "a `b` c\n```sh\ncargo ci\n```\nd";
        assert_eq!(
            lines(text),
            [(1, Line::Prose("a `b` c")), (3, Line::Code("sh", "cargo ci")), (5, Line::Prose("d"))]
        );
        assert_eq!(spans("a `b` c `d e`").collect::<Vec<_>>(), ["b", "d e"]);
    }
}

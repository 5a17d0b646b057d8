//! A payload as a tree for reading: made from slices of the text itself, so that no number is ever rounded.

use domain::read::json::{Raw, is_valid};

/// The most children of one node that are shown; the raw text always has all.
pub const CHILDREN_MAX: usize = 200;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{}`
    Object,
    /// `[]`
    Array,
    /// A string, quotes and escapes as in the text.
    Text,
    /// A number, digit by digit.
    Number,
    /// `true`, `false`, `null`.
    Word,
}

impl Kind {
    /// The kind's word in class names.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::Text => "text",
            Self::Number => "number",
            Self::Word => "word",
        }
    }
}

/// One value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name in its object; none in arrays and at the root.
    pub name: Option<String>,
    /// Its JSON pointer.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Its text, as it stands.
    pub text: String,
}

/// The root, if the text is JSON.
pub fn root(text: &str) -> Option<Node> {
    is_valid(text).then(|| node(None, String::new(), Raw::new(text.trim())))
}

/// The children of a node, and whether there are more than are shown.
pub fn children(parent: &Node) -> (Vec<Node>, bool) {
    let raw = Raw::new(&parent.text);
    let mut nodes: Vec<Node> = match parent.kind {
        Kind::Object => raw
            .members()
            .take(CHILDREN_MAX + 1)
            .map(|(name, value)| {
                let name = name.to_string();
                let path = format!("{}/{}", parent.path, name.replace('~', "~0").replace('/', "~1"));
                node(Some(name), path, value)
            })
            .collect(),
        Kind::Array => raw
            .elements()
            .take(CHILDREN_MAX + 1)
            .enumerate()
            .map(|(at, value)| node(None, format!("{}/{at}", parent.path), value))
            .collect(),
        _ => Vec::new(),
    };
    let more = nodes.len() > CHILDREN_MAX;
    nodes.truncate(CHILDREN_MAX);
    (nodes, more)
}

fn node(name: Option<String>, path: String, raw: Raw<'_>) -> Node {
    let text = raw.text().trim_end();
    let kind = match text.as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::Text,
        Some(b'-' | b'0'..=b'9') => Kind::Number,
        _ => Kind::Word,
    };
    Node { name, path, kind, text: text.to_string() }
}

/// A node's value in a few words, for its folded form: `{ 3 }`, `[ 12 ]`, or the value itself.
pub fn folded(node: &Node) -> String {
    let (children, more) = children(node);
    let plus = if more { "+" } else { "" };
    match node.kind {
        Kind::Object => format!("{{ {}{plus} }}", children.len()),
        Kind::Array => format!("[ {}{plus} ]", children.len()),
        _ => node.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(node: &Node) -> Vec<String> {
        let name = node.name.as_deref().unwrap_or("·");
        let mut lines = vec![format!("{name} {} {}", node.path, folded(node))];
        lines.extend(children(node).0.iter().flat_map(shape));
        lines
    }

    #[test]
    fn payloads_are_shown_digit_by_digit() {
        let text = r#" {"id": 12345678901234567890, "sum": 0.10, "a/b": [true, null, {"x~y": "q\"z"}], "e": {}} "#;
        let expected = [
            "·  { 4 }",
            "id /id 12345678901234567890",
            "sum /sum 0.10",
            "a/b /a~1b [ 3 ]",
            "· /a~1b/0 true",
            "· /a~1b/1 null",
            "· /a~1b/2 { 1 }",
            "x~y /a~1b/2/x~0y \"q\\\"z\"",
            "e /e { 0 }",
        ];
        assert_eq!(shape(&root(text).unwrap()), expected);
    }

    #[test]
    fn what_is_not_json_is_not_a_tree() {
        for text in ["", "{", "{\"a\": }", "hello", "[1,2"] {
            assert_eq!(root(text), None, "{text}");
        }
        assert_eq!(root("-1.50").unwrap().text, "-1.50");
    }

    #[test]
    fn long_arrays_are_cut() {
        let text = format!("[{}]", vec!["1"; 500].join(","));
        let root = root(&text).unwrap();
        assert_eq!((children(&root).0.len(), children(&root).1), (CHILDREN_MAX, true));
        assert_eq!(folded(&root), "[ 200+ ]");
    }
}

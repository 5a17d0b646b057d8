//! A payload as a tree. Nodes are slices of the text, so that numbers keep every digit.

use domain::read::json::{Raw, is_valid};

/// The maximum number of children shown per node. The raw view shows everything.
pub const CHILDREN_MAX: usize = 200;

/// The most bytes of a body that the page shows. A download has the rest.
pub const SHOWN_BYTES_MAX: usize = 64 * 1024;

/// Returns the beginning of a body that is too long to show. `None` if it is shown as a whole.
pub fn cut(body: &str) -> Option<&str> {
    if body.len() <= SHOWN_BYTES_MAX {
        return None;
    }
    let end = (0..=SHOWN_BYTES_MAX).rev().find(|end| body.is_char_boundary(*end))?;
    body.get(..end)
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{}`
    Object,
    /// `[]`
    Array,
    /// A string with its quotes and escapes.
    Text,
    /// A number with all of its digits.
    Number,
    /// `true`, `false`, `null`.
    Word,
}

impl Kind {
    /// Returns the kind's CSS class suffix.
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

/// A value and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The member's name; `None` in arrays and at the root.
    pub name: Option<String>,
    /// The JSON pointer.
    pub path: String,
    /// The kind of value.
    pub kind: Kind,
    /// The value's text, unchanged.
    pub text: String,
}

/// Returns the root, or `None` if the text is not JSON.
pub fn root(text: &str) -> Option<Node> {
    is_valid(text).then(|| node(None, String::new(), Raw::new(text.trim())))
}

/// Returns a node's children up to [`CHILDREN_MAX`], and whether there are more.
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

/// Returns a node's folded form: `{ 3 }`, `[ 12 ]`, or the value itself.
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
    fn numbers_keep_every_digit() {
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
    fn text_that_is_not_json_has_no_tree() {
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

    #[test]
    fn a_long_body_is_cut_between_characters() {
        let long = format!("{}€", "a".repeat(SHOWN_BYTES_MAX - 1));
        assert_eq!(cut(&long).map(str::len), Some(SHOWN_BYTES_MAX - 1));
        assert_eq!(cut(&long[..SHOWN_BYTES_MAX - 1]), None);
        assert_eq!(cut(&"a".repeat(SHOWN_BYTES_MAX)), None);
    }
}

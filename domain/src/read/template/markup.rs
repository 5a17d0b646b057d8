//! HTML in messages: entities stand for signs, a link for the record that it leads to, and other tags for nothing.

use super::{Scanner, announced, head};
use alloc::borrow::Cow;
use alloc::string::String;

/// The entities that messages have, and what they stand for.
const ENTITIES: [(&str, char); 8] = [
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&amp;", '&'),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&nbsp;", ' '),
];

/// The elements of texts that people read.
#[rustfmt::skip]
const ELEMENTS: [&str; 20] = [
    "a", "b", "i", "u", "p", "br", "em", "ul", "ol", "li", "td", "tr", "div", "span", "strong", "small", "code", "pre", "font", "table",
];

/// The longest tag, and the longest text of a link, bytes.
const TAG_BYTES_MAX: usize = 200;

/// Returns a text with the signs that its entities stand for.
pub fn decoded(text: &str) -> Cow<'_, str> {
    let entity = |rest: &str| ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity)).copied();
    let Some(first) = text.match_indices('&').map(|(at, _)| at).find(|at| entity(&text[*at..]).is_some()) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(c) = rest.chars().next() {
        let (length, c) = entity(rest).map_or((c.len_utf8(), c), |(entity, sign)| (entity.len(), sign));
        out.push(c);
        rest = &rest[length..];
    }
    Cow::Owned(out)
}

/// Whether a link leads to what its text names: `<a href="/app/item/tea-pot">tea-pot</a>`. Another text is a sentence, or
/// the name of a field.
fn names_record(tag: &str, text: &str) -> bool {
    let address = tag.split(['"', '\'']).nth(1).unwrap_or_default().replace("%20", " ");
    let last = address.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    !last.is_empty() && text.contains(last)
}

/// The bit of a link's element.
const LINK: u32 = 1;

/// Returns the bit of an element.
fn bit(name: &str) -> Option<u32> {
    ELEMENTS.iter().position(|element| *element == name).map(|at| 1 << at)
}

/// Returns the bits of the elements that a text opens and then closes. A tag alone is what a message is about: `<div>
/// cannot appear here`.
pub fn elements(text: &str) -> u32 {
    let (mut opened, mut closed) = (0, 0);
    for (at, _) in text.match_indices('<') {
        let tag = &text[at + 1..];
        let is_closing = tag.starts_with('/');
        let named = tag.trim_start_matches('/');
        let name = &named[..named.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(named.len())];
        match bit(name) {
            Some(bit) if is_closing => closed |= bit & opened,
            Some(bit) => opened |= bit,
            None => {}
        }
    }
    let alone = bit("br").unwrap_or_default();
    if closed == 0 { 0 } else { closed | alone & opened }
}

impl Scanner<'_> {
    /// `<strong>`, `</a>`: a tag is skipped. The text of a link is the name of a record.
    pub(super) fn tag(&mut self) -> bool {
        let Some(inside) = self.rest().strip_prefix('<') else { return false };
        let inside = head(inside, TAG_BYTES_MAX);
        let is_closing = inside.starts_with('/');
        let named = inside.trim_start_matches('/');
        let name = &named[..named.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(named.len())];
        let Some(bit) = bit(name).filter(|bit| self.elements & bit != 0) else { return false };
        if !named[name.len()..].starts_with(['>', ' ', '/']) {
            return false;
        }
        let is_link = bit == LINK && !is_closing;
        let end = inside.find(['>', '<']);
        #[cfg(test)]
        {
            self.ahead_bytes += end.unwrap_or(inside.len());
        }
        let Some(end) = end.filter(|end| inside[*end..].starts_with('>')) else { return false };
        self.at += end + 2;
        if is_link {
            let text = head(self.rest(), TAG_BYTES_MAX);
            let length = text.find('<');
            #[cfg(test)]
            {
                self.ahead_bytes += length.unwrap_or(text.len());
            }
            let is_name = |text: &str| names_record(&inside[..end], text);
            let link = length.filter(|length| text[*length..].starts_with("</a>") && is_name(&text[..*length]));
            if let Some(length) = link {
                self.at += length;
                self.out.mask();
            }
        } else if matches!(name, "br" | "p" | "li" | "td" | "div" | "ul" | "ol" | "tr") {
            self.out.blank();
        }
        true
    }
}

/// Parts of the names of elements that say what went wrong.
#[rustfmt::skip]
const OF_ERRORS: &[&str] = &[
    "code", "message", "msg", "fault", "status", "reason", "error", "description", "text", "detail", "title", "type", "value",
    "result", "return", "cause", "exception", "info", "rejection", "warning", "rsn", "cd", "inf", "explanation", "severity", "problem",
];

/// Elements of a page that a server answers with instead of data.
const OF_PAGES: [&str; 15] = [
    "html", "head", "body", "center", "h1", "h2", "h3", "h4", "h5", "h6", "address", "th", "response", "answer",
    "output",
];

/// Whether the first tag of a text begins what somebody answered: it says what is wrong.
pub fn is_answer(text: &str) -> bool {
    text.split_once('<').is_some_and(|(before, _)| before.trim().is_empty() || announced::announces(before))
}

/// Whether an element, in lower case, is one of a page.
fn is_of_page(name: &str) -> bool {
    OF_PAGES.contains(&name) || ELEMENTS.contains(&name)
}

impl Scanner<'_> {
    /// `<Item>Garden hose</Item>`: the text of an element of XML is data, and so are its attributes.
    pub(super) fn element(&mut self) -> bool {
        if self.is_answer {
            return false;
        }
        let Some(inside) = self.rest().strip_prefix('<').filter(|inside| inside.starts_with(char::is_alphabetic))
        else {
            return false;
        };
        let inside = head(inside, TAG_BYTES_MAX);
        let tag = inside.find(['<', '>']);
        let text = tag.map_or("", |end| &inside[end + 1..]);
        let length = text.find('<');
        #[cfg(test)]
        {
            self.ahead_bytes += tag.unwrap_or(inside.len()) + length.unwrap_or(text.len());
        }
        let Some((tag, length)) = tag.filter(|end| inside[*end..].starts_with('>')).zip(length) else { return false };
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, ':' | '_' | '-' | '.');
        let name = &inside[..inside.find(|c: char| !is_name(c)).unwrap_or(tag)];
        let closing = text[length..].strip_prefix("</").and_then(|end| end.strip_prefix(name));
        let is_closed = closing.is_some_and(|end| end.starts_with('>'));
        let lower = name.to_lowercase();
        if !is_closed
            || text[..length].trim().is_empty()
            || OF_ERRORS.iter().any(|known| lower.contains(known))
            || is_of_page(&lower)
        {
            return false;
        }
        self.out.punctuation('<');
        self.out.name(name, name);
        self.out.punctuation('>');
        self.out.mask();
        self.at += 1 + inside.len() - text.len() + length;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::template::from_message;

    #[test]
    fn entities_are_the_signs_that_they_stand_for() {
        for (text, expected) in [
            ("a &quot;b&quot; &amp; &#39;c&#39; &lt; 7", "a \"b\" & 'c' < 7"),
            ("Müller & Söhne &unknown; &", "Müller & Söhne &unknown; &"),
            ("", ""),
        ] {
            assert_eq!(decoded(text), expected);
        }
    }

    #[test]
    fn tags_are_skipped_and_links_are_data() {
        for (message, normal) in [
            ("Row 3: <strong>Cost Center</strong> is mandatory", "Row *: Cost Center is mandatory"),
            ("item <a href=\"/app/item/tea\">tea</a> is disabled", "item * is disabled"),
            ("<p>no stock</p><br/>ask sales", "no stock ask sales"),
        ] {
            assert_eq!(from_message(message, "E").normal.trim(), normal, "{message}");
        }
        assert!(from_message("expected List<a> but a<b", "E").normal.contains("a<b"), "no tags of HTML");
    }
}

//! HTML in messages: entities stand for signs, a link for the record that it leads to, and other tags for nothing.

use super::{Scanner, head};
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

impl Scanner<'_> {
    /// `<strong>`, `</a>`: a tag is skipped. The text of a link is the name of a record.
    pub(super) fn tag(&mut self) -> bool {
        let Some(inside) = self.rest().strip_prefix('<') else { return false };
        let inside = head(inside, TAG_BYTES_MAX);
        let is_closing = inside.starts_with('/');
        let named = inside.trim_start_matches('/');
        let name = &named[..named.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(named.len())];
        if !ELEMENTS.contains(&name) || !named[name.len()..].starts_with(['>', ' ', '/']) {
            return false;
        }
        let end = inside.find(['>', '<']);
        #[cfg(test)]
        {
            self.ahead_bytes += end.unwrap_or(inside.len());
        }
        let Some(end) = end.filter(|end| inside[*end..].starts_with('>')) else { return false };
        self.at += end + 2;
        if name == "a" && !is_closing {
            let text = head(self.rest(), TAG_BYTES_MAX);
            let length = text.find('<');
            #[cfg(test)]
            {
                self.ahead_bytes += length.unwrap_or(text.len());
            }
            if let Some(length) = length.filter(|length| text[*length..].starts_with("</a>")) {
                self.at += length;
                self.out.mask();
            }
        } else if matches!(name, "br" | "p" | "li" | "td" | "div" | "ul" | "ol" | "tr") {
            self.out.blank();
        }
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

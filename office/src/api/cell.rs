//! Cells of CSV files that no spreadsheet runs as a formula, in any locale (OWASP, CSV injection): the text of a letter
//! may come from anyone.
//!
//! Which character separates cells depends on the reader. A German Excel splits `a;=cmd` in two; a reader that ignores
//! quotes splits at every comma and line break. So a formula is defused not only at the start of a cell, but after
//! every character at which some reader starts a cell.
//!
//! Defusing puts one apostrophe before the character that would start a formula. It can be undone: remove one apostrophe
//! from directly before each of those characters that has only quotes, apostrophes and white space between itself and
//! the start of the cell or a separator, and from the end of a cell that ends so after a separator.

/// Characters that start a formula, or that a spreadsheet drops from in front of one.
fn is_trigger(c: char) -> bool {
    matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '\t' | '\r')
}

/// Characters at which some reader starts a cell.
fn is_separator(c: char) -> bool {
    matches!(
        c,
        ',' | ';' | '|' | '，' | '；' | '｜' | '、' | '،' | '؛' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'
            ..='\u{1f}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Characters that a reader may drop between a separator and the text of a cell.
fn is_filler(c: char) -> bool {
    matches!(c, '"' | '\'' | '\0' | '\u{200b}' | '\u{2060}' | '\u{feff}') || (c.is_whitespace() && !is_separator(c))
}

/// Returns the cell with every formula defused.
pub(super) fn harmless(cell: &str) -> String {
    let mut defused = String::with_capacity(cell.len() + 1);
    let (mut at_start, mut separated) = (true, false);
    for c in cell.chars() {
        if at_start && is_trigger(c) {
            defused.push('\'');
        }
        defused.push(c);
        separated |= is_separator(c);
        at_start = is_separator(c) || (at_start && is_filler(c));
    }
    // What follows the cell in the file must not become the start of another reader's cell.
    if at_start && separated {
        defused.push('\'');
    }
    defused
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Undoes [`harmless`].
    fn original(defused: &str) -> String {
        let (mut cell, mut at_start, mut separated) = (String::new(), true, false);
        for c in defused.chars() {
            if at_start && is_trigger(c) && cell.ends_with('\'') {
                cell.pop();
            }
            cell.push(c);
            separated |= is_separator(c);
            at_start = is_separator(c) || (at_start && is_filler(c));
        }
        if at_start && separated {
            cell.pop();
        }
        cell
    }

    #[test]
    fn a_formula_is_defused_after_every_separator() {
        for (cell, defused) in [
            ("=1+1", "'=1+1"),
            ("a;=cmd|' /C calc'!A0", "a;'=cmd|' /C calc'!A0"),
            ("a\n=1", "a\n'=1"),
            ("a,\"=1\"", "a,\"'=1\""),
            (" \u{a0}+1", " \u{a0}'+1"),
            ("＝1", "'＝1"),
            ("a；＠x", "a；'＠x"),
            ("\t=1", "'\t'=1"),
            ("'=1", "''=1"),
            ("-12.50", "'-12.50"),
            ("\n=1", "\n'=1"),
            ("a\r\n@b", "a\r\n'@b"),
            ("x;", "x;'"),
            ("x;\"", "x;\"'"),
        ] {
            assert_eq!((harmless(cell).as_str(), original(defused).as_str()), (defused, cell));
        }
        for plain in
            ["", "1", "a=1", "ord_1", "'quoted", "two\nlines", "a\r\nb", "a\n\nb", "3 letters, 2 waves", "käse; wein"]
        {
            assert_eq!(harmless(plain), plain);
        }
    }

    /// Texts that are mostly made of what spreadsheets read.
    fn hostile() -> impl Strategy<Value = String> {
        let sign = prop::sample::select(
            "=+-@＝＋－＠\t\r\n,;|，；｜\"' \u{a0}\u{feff}\u{85}\u{2028}a1".chars().collect::<Vec<_>>(),
        );
        prop_oneof![prop::collection::vec(sign, 0..12).prop_map(String::from_iter), any::<String>()]
    }

    proptest! {
        #[test]
        fn no_reader_finds_a_formula_and_nothing_is_lost(rows in prop::collection::vec([hostile(), hostile(), hostile()], 1..5)) {
            for cell in rows.iter().flatten() {
                prop_assert_eq!(&original(&harmless(cell)), cell);
            }
            let mut file = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
            for row in &rows {
                file.write_record(std::iter::once("2027-01-15".to_string()).chain(row.iter().map(|cell| harmless(cell)))).unwrap();
            }
            let file = file.into_inner().unwrap();
            for delimiter in *b",;\t|" {
                for (quoting, trim) in [(true, csv::Trim::None), (false, csv::Trim::None), (true, csv::Trim::All)] {
                    let mut reader = csv::ReaderBuilder::new();
                    let reader = reader.delimiter(delimiter).quoting(quoting).trim(trim).flexible(true).has_headers(false);
                    for record in reader.from_reader(&file[..]).records() {
                        for cell in &record.unwrap() {
                            // A reader that ignores quotes may show them, and drop them later.
                            let shown = cell.trim_start_matches('"');
                            prop_assert!(!shown.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']), "{cell:?}");
                        }
                    }
                }
            }
        }
    }
}

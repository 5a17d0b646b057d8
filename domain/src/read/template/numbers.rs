//! Numbers that people write in groups: telephone numbers, account numbers, numbers of which only the end is shown.

use super::{Scanner, head, words};

/// The longest such number, bytes: the fields of a barcode, or an IBAN of 34 characters (ISO 13616) with its blanks.
const NUMBER_BYTES_MAX: usize = 96;

/// The digits of an area code in brackets, and the fewest of the number after it.
const AREA_DIGITS: core::ops::RangeInclusive<usize> = 1..=5;
const LOCAL_DIGITS_MIN: usize = 4;

/// The fewest characters that hide digits, and the digits that may be shown after them.
const HIDDEN_MIN: usize = 4;
const SHOWN_DIGITS: core::ops::RangeInclusive<usize> = 2..=6;

/// The shortest IBAN (Norway's), and the length of a group.
const IBAN_BYTES_MIN: usize = 15;
const IBAN_GROUP: usize = 4;

/// What a number with a point at its end may be an amount of, beside the units of time and memory.
const MEASURES: [&str; 12] = ["kg", "g", "mg", "t", "lb", "oz", "m", "cm", "mm", "km", "l", "px"];

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Whether a text goes on with a letter or digit.
fn goes_on(text: &str) -> bool {
    text.starts_with(char::is_alphanumeric)
}

/// `(0211) 884 12 90`, `(0)20 7946 0018`: an area code in brackets, and the number after it.
fn telephone(text: &str) -> Option<usize> {
    let area = digits(text.strip_prefix('(')?);
    let after = text[1 + area..].strip_prefix(')').filter(|_| AREA_DIGITS.contains(&area))?;
    let start = after.len() - after.strip_prefix(' ').unwrap_or(after).len();
    let (mut end, mut count) = (start, 0);
    loop {
        let group = digits(&after[end..]);
        if group == 0 {
            break;
        }
        (end, count) = (end + group, count + group);
        let joined = after[end..].strip_prefix([' ', '-', '/', '.']).is_some_and(|next| digits(next) > 0);
        end += usize::from(joined);
    }
    (count >= LOCAL_DIGITS_MIN && !goes_on(&after[end..])).then_some(2 + area + end)
}

/// `(01)09521101530001(17)251231(10)AB-123`: the fields of a barcode (GS1).
fn barcode(text: &str) -> Option<usize> {
    let (mut end, mut fields) = (0, 0);
    while let Some(inside) = text[end..].strip_prefix('(') {
        let id = digits(inside);
        let Some(value) = inside[id..].strip_prefix(')').filter(|_| (2..=4).contains(&id)) else { break };
        let length = value.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'/')).count();
        if length == 0 {
            break;
        }
        (end, fields) = (end + 2 + id + length, fields + 1);
    }
    (fields >= 2).then_some(end)
}

/// `GB82 WEST 1234 5698 7654 32`: groups of four, the last one shorter.
fn iban(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let begins = bytes.len() >= IBAN_BYTES_MIN
        && bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b' ';
    if !begins {
        return None;
    }
    let of_iban = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    let (mut end, mut count, mut numbers) = (IBAN_GROUP, IBAN_GROUP, 0);
    while bytes.get(end) == Some(&b' ') {
        let group = bytes[end + 1..].iter().take_while(|b| of_iban(b)).count();
        let holds_digit = bytes[end + 1..][..group].iter().any(u8::is_ascii_digit);
        // A shorter group ends the number; letters alone are the next word then.
        if group == 0 || group > IBAN_GROUP || group < IBAN_GROUP && !holds_digit {
            break;
        }
        (end, count, numbers) = (end + 1 + group, count + group, numbers + usize::from(holds_digit));
        if group < IBAN_GROUP {
            break;
        }
    }
    (count >= IBAN_BYTES_MIN && numbers >= 2 && !goes_on(&text[end..])).then_some(end)
}

/// `**** **** **** 4242`, `•••• 12`, `xxxx-xxxx-1881`: hidden digits, and those that are shown.
fn hidden(text: &str) -> Option<usize> {
    let sign = text.chars().next().filter(|c| matches!(c, '*' | '•' | 'x' | 'X' | '#' | '…'))?;
    let (mut end, mut count) = (0, 0);
    for c in text.chars() {
        if c == sign {
            count += 1;
        } else if !matches!(c, ' ' | '-') {
            break;
        }
        end += c.len_utf8();
    }
    let shown = digits(&text[end..]);
    (count >= HIDDEN_MIN && SHOWN_DIGITS.contains(&shown) && !goes_on(&text[end + shown..])).then_some(end + shown)
}

/// Whether signs in a token hide a part of it: `sk_test_****************1234`, `55**`, or all of it after such a part: `55** ****`.
pub fn hides(token: &str, before: &str) -> bool {
    let is_sign = |c: char| matches!(c, '*' | '•');
    // Most tokens have no byte of these signs.
    if !token.bytes().any(|b| b == b'*' || !b.is_ascii()) || !token.contains(is_sign) || token.contains(['/', '\\']) {
        return false;
    }
    let hidden = |count: usize| {
        token.split(|c: char| !is_sign(c)).any(|run| run.chars().count() >= count)
            && token.contains(char::is_alphanumeric)
    };
    let follows_hidden = || before.strip_suffix(' ').is_some_and(|before| before.ends_with(is_sign));
    if follows_hidden() && token.chars().count() > 1 && token.chars().all(is_sign) {
        return true;
    }
    hidden(HIDDEN_MIN) || hidden(2) && token.chars().all(|c| is_sign(c) || c.is_ascii_digit())
}

/// Returns the length of what follows a number that continues it after an apostrophe: `12'480.50` in Switzerland.
pub fn thousands(before: &str, after: &str) -> usize {
    let mut length = 0;
    if !before.ends_with(|c: char| c.is_ascii_digit()) {
        return length;
    }
    while let Some(next) = after[length..].strip_prefix(['\'', '’']).filter(|next| digits(next) == 3) {
        length = after.len() - next.len() + 3;
    }
    if length > 0 && after[length..].starts_with(['.', ',']) {
        let decimals = digits(&after[length + 1..]);
        length += if decimals > 0 { 1 + decimals } else { 0 };
    }
    length
}

/// Whether a point belongs to the number before it, as numpy writes one without decimals: `745. MiB`.
pub fn is_decimal_point(tail: &str, after: &str) -> bool {
    let unit = || {
        let next = after.strip_prefix(' ')?;
        Some(&next[..next.find(|c: char| !c.is_alphabetic()).unwrap_or(next.len())])
    };
    tail == "." && unit().is_some_and(|unit| words::is_unit(unit) || MEASURES.contains(&unit))
}

/// Whether a word is a unit of length or weight that programs choose by the size of the number, as `1.2 km` and `300 m`.
pub fn is_measure(word: &str) -> bool {
    matches!(word, "km" | "m" | "cm" | "mm" | "kg" | "g" | "mg")
}

/// Whether a word is the sign between two lengths: `120 x 80 cm`.
pub fn is_times(word: &str, after: &str) -> bool {
    matches!(word, "x" | "×") && after.strip_prefix(' ').is_some_and(|next| digits(next) > 0)
}

/// Returns how many bytes after this word belong to a number that it begins, after the noun of what has one: `container TGHU
/// 765432-1`, `vehicle M-X 77E`, `flight LH 8408`, `BIC NDEANOKK`.
pub fn of_transport(core: &str, before: &str, after: &str) -> Option<usize> {
    // Most words begin otherwise.
    if !core.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    const LETTERS_MAX: usize = 5;
    let capitals = core.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
    if before == "bic" {
        #[rustfmt::skip]
        const COUNTRIES: [&str; 44] = [
            "AE", "AT", "AU", "BE", "BG", "BR", "CA", "CH", "CN", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GB", "GR", "HK", "HR", "HU",
            "IE", "IN", "IT", "JP", "LI", "LT", "LU", "LV", "MC", "MT", "MX", "NL", "NO", "PL", "PT", "RO", "SE", "SG", "SI", "SK", "TR", "US",
        ];
        let is_bic = matches!(core.len(), 8 | 11)
            && core.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
            && COUNTRIES.contains(&&core[4..6]);
        return is_bic.then_some(0);
    }
    if !matches!(before, "container" | "vehicle" | "flight" | "truck" | "trailer" | "plate" | "wagon" | "train")
        || !capitals
        || core.len() > LETTERS_MAX
    {
        return None;
    }
    let number = after.strip_prefix(' ')?;
    let length =
        number.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-')).unwrap_or(number.len());
    let ends = number[length..].starts_with([' ', ',', '.', ':', ')']) || number[length..].is_empty();
    // `vehicle ABS 12 fault`, `vehicle API 503 answered`
    let is_system = matches!(core, "API" | "DB" | "HTTP" | "ID" | "NO" | "NR");
    // Parts of a vehicle have at most two digits.
    const DIGITS_OF_PARTS_MAX: usize = 2;
    let is_long = number[..length].len() > DIGITS_OF_PARTS_MAX || core.contains('-');
    (digits(number) > 0 && is_long && ends && !is_system).then_some(1 + length)
}

/// Whether a text is the number of a document: `RE/2024/0031`.
pub fn is_of_document(core: &str) -> bool {
    const DIGITS_MIN: usize = 5;
    const LETTERS_MAX: usize = 6;
    let letters = core.bytes().filter(u8::is_ascii_uppercase).count();
    // `GR/12-C`
    let is_short = || {
        let Some((kind, number)) = core.split_once('/') else { return false };
        let after = number.trim_start_matches(|c: char| c.is_ascii_digit());
        (1..=4).contains(&kind.len())
            && kind.bytes().all(|b| b.is_ascii_uppercase())
            && after.len() < number.len()
            && after
                .strip_prefix('-')
                .is_some_and(|end| (1..=3).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric()))
    };
    if is_short() {
        return true;
    }
    core.contains('/')
        && !core.starts_with('/')
        && core.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'/' | b'-'))
        && letters > 0
        && letters <= LETTERS_MAX
        && core.bytes().filter(u8::is_ascii_digit).count() >= DIGITS_MIN
}

/// Returns the length of `(2).docx` after the name of a file.
pub fn copy_number(after: &str) -> Option<usize> {
    let blank = usize::from(after.starts_with(" ("));
    let after = &after[blank..];
    let number = digits(after.strip_prefix('(')?);
    let ending = after[1 + number..].strip_prefix(").").filter(|_| (1..=3).contains(&number))?;
    let letters = ending.bytes().take_while(u8::is_ascii_alphanumeric).count();
    (2..=5).contains(&letters).then_some(blank + 1 + number + 2 + letters)
}

impl Scanner<'_> {
    /// `[12, 15, ... 40 more]`: how many values a list has beside those that are printed. `dots` is what is between them.
    pub(super) fn rest_of_list(&self, dots: &str) -> Option<usize> {
        if self.out.run.is_none() || !matches!(dots, "..." | "…" | "....") {
            return None;
        }
        let rest = self.rest();
        let number = rest.strip_prefix([' ', '(']).unwrap_or(rest);
        let number = number.strip_prefix("and ").unwrap_or(number).trim_start_matches(['(', '+']);
        let more = number[digits(number)..].strip_prefix(" more").filter(|_| digits(number) > 0)?;
        let is_bracketed = rest.trim_start().starts_with('(');
        let more = more.strip_prefix(')').filter(|_| is_bracketed).unwrap_or(more);
        Some(rest.len() - more.len())
    }

    /// A number in groups, at the beginning of a word.
    pub(super) fn grouped_number(&mut self) -> bool {
        let rest = self.rest();
        // Most words begin otherwise.
        let find: fn(&str) -> Option<usize> = match rest.as_bytes().first() {
            Some(b'(') => |text| barcode(text).or_else(|| telephone(text)),
            Some(b'*' | b'x' | b'X' | b'#') => hidden,
            Some(first) if !first.is_ascii() && rest.starts_with(['•', '…']) => hidden,
            Some(b'A'..=b'Z') if rest.as_bytes().get(2).is_some_and(u8::is_ascii_digit) => iban,
            _ => return false,
        };
        // `+44(0)20`: the digit that is dialled only within the country.
        if rest.strip_prefix("(0)").is_some_and(|number| digits(number) > 0)
            && self.out.run.is_some()
            && self.text[..self.at].trim_end_matches(|c: char| c.is_ascii_digit()).ends_with('+')
        {
            self.at += "(0)".len();
            self.out.mask();
            return true;
        }
        if self.text[..self.at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '*' | '.' | '-' | '/')) {
            return false;
        }
        // `* * * *` is looked at once.
        let sign = rest.chars().next().unwrap_or_default();
        let before = self.text[..self.at].trim_end_matches(' ');
        if !matches!(sign, '(' | 'A'..='Z') && before.ends_with(sign) {
            return false;
        }
        // `3375 **** 3515`: a number that could not be printed, in a list.
        let is_number = |token: &str| !token.is_empty() && token.bytes().all(|b| b.is_ascii_digit());
        if sign == '*'
            && rest.starts_with("**** ")
            && !rest.starts_with("**** *")
            && before.rsplit(' ').next().is_some_and(is_number)
        {
            return false;
        }
        let found = find(head(rest, NUMBER_BYTES_MAX));
        #[cfg(test)]
        {
            self.ahead_bytes += found.unwrap_or(if sign == '(' { 1 } else { IBAN_BYTES_MIN });
        }
        let Some(length) = found.filter(|length| !goes_on(&rest[*length..])) else { return false };
        self.at += length;
        self.out.mask();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_groups_end_where_words_begin() {
        assert_eq!(telephone("(0211) 884 12 90: no carrier"), Some(16));
        assert_eq!(telephone("(0)20 7946 0018 hung up"), Some(15));
        for text in ["(503) Service", "(2) 7", "(errno 111) 2222", "(0211) 884a", "()"] {
            assert_eq!(telephone(text), None, "{text}");
        }
        assert_eq!(iban("GB82 WEST 1234 5698 7654 32 is"), Some(27));
        assert_eq!(iban("CH93 0076 2011 6238 5295 7"), Some(26));
        assert_eq!(iban("NL91 ABNA 0417 1643 00 IS WRONG"), Some(22));
        for text in ["AB12 CORE UNIT FAIL", "GB82 WEST", "GB82WEST12345698", "E403 12"] {
            assert_eq!(iban(text), None, "{text}");
        }
        assert_eq!(hidden("**** **** **** 4242 was"), Some(19));
        assert_eq!(hidden("•••• 12"), Some(15));
        for text in ["**Warning** 4242", "**** 1234567", "x 12", "****"] {
            assert_eq!(hidden(text), None, "{text}");
        }
        assert_eq!(thousands("12", "'480.50 differs"), "'480.50".len());
        assert_eq!(thousands("1", "’250’000."), "’250’000".len());
        assert_eq!(thousands("12", "'4801"), 0);
    }
}

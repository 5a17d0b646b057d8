//! A status of HTTP that is the whole type or the whole message of an error: `429`, `HTTP 503`, `StatusCode: 502`.

use core::ops::RangeInclusive;

/// The words that a status may be announced with, in lower case. `HttpStatusCode` is made of three.
const WORDS: [&str; 9] = ["http", "status", "code", "error", "exception", "response", "client", "server", "failed"];

/// The longest text that is looked at, bytes.
const TEXT_BYTES_MAX: usize = 64;

/// Returns the status of HTTP that a text is made of; `None` if the text says anything else.
///
/// A number alone may be a vendor's. It counts if HTTP has registered the status, or Cloudflare or nginx uses it, and
/// SMTP and FTP have no other meaning for it.
pub fn status(text: &str) -> Option<u16> {
    let whole = text.trim();
    if whole.len() > TEXT_BYTES_MAX {
        return None;
    }
    // The version of a status line (RFC 9112): `HTTP/1.1 503 Service Unavailable`.
    let line = whole.strip_prefix("HTTP/").and_then(|rest| rest.split_once(' ')).map(|(_, line)| line);
    let text = line.unwrap_or(whole);
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let end = text[start..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |end| start + end);
    let number: u16 = text[start..end].parse().ok().filter(|number| end - start == 3 && (400..600).contains(number))?;
    let before = text[..start].to_ascii_lowercase();
    let after = text[end..].trim_start_matches([' ', '(', ':', '-', '_']).trim_end_matches(')').to_ascii_lowercase();
    let names_http = before.contains("http") || before.contains("status") || is_only_http(number);
    // A minus sign alone announces nothing.
    let is_word = before.contains(|c: char| c.is_ascii_alphabetic());
    let announced = || names_http && is_word && is_made_of_words(&before);
    let led = line.is_some() || if start == 0 { is_well_known(number) || phrase(number, &after) } else { announced() };
    (led && (phrase(number, &after) || is_made_of_words(&after))).then_some(number)
}

/// Whether a number means a status wherever it is called an error. SQL Server has an error 547.
fn is_only_http(number: u16) -> bool {
    matches!(number, 429 | 502..=504)
}

fn is_made_of_words(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        if rest.is_empty() {
            return true;
        }
        match WORDS.iter().find_map(|word| rest.strip_prefix(word)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
}

/// Whether a number alone means a status of HTTP. Without 421, 425, 426, 450 to 452, 530, 532 and 550 to 553, which SMTP
/// (RFC 5321) and FTP (RFC 959) use.
fn is_well_known(number: u16) -> bool {
    matches!(number, 400..=418 | 422..=424 | 428 | 429 | 431 | 499 | 500 | 502..=504 | 507 | 508 | 511 | 520..=524 | 529)
}

/// Whether a text begins with the reason phrase of a status (RFC 9110). Another phrase does not make a number a status:
/// `Product 429 not found`.
pub fn phrase(number: u16, after: &str) -> bool {
    const PHRASES: [(RangeInclusive<u16>, &str); 23] = [
        (400..=499, "client error"),
        (500..=599, "server error"),
        (400..=400, "bad request"),
        (401..=401, "unauthorized"),
        (402..=402, "payment required"),
        (403..=403, "forbidden"),
        (404..=404, "not found"),
        (405..=405, "method not allowed"),
        (406..=406, "not acceptable"),
        (408..=408, "request timeout"),
        (409..=409, "conflict"),
        (410..=410, "gone"),
        (412..=412, "precondition"),
        (413..=413, "payload too large"),
        (415..=415, "unsupported media"),
        (422..=422, "unprocessable"),
        (428..=428, "precondition"),
        (429..=429, "too many requests"),
        (500..=500, "internal server error"),
        (501..=501, "not implemented"),
        (502..=502, "bad gateway"),
        (503..=503, "service unavailable"),
        (504..=504, "gateway time"),
    ];
    PHRASES.iter().any(|(numbers, phrase)| numbers.contains(&number) && after.starts_with(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_the_whole_type() {
        let rows = [
            ("429", 429),
            (" 503 ", 503),
            ("HTTP 503", 503),
            ("Http429", 429),
            ("HTTP-502", 502),
            ("StatusCode: 503", 503),
            ("StatusCode(503)", 503),
            ("HttpStatusCode.429", 429),
            ("HttpStatusCode.TooMany", 0),
            ("HTTP/2 504", 504),
            ("HTTP/1.1 503 Service Unavailable", 503),
            ("404 Not Found", 404),
            ("551", 0),
            ("HTTP 551", 551),
            ("200", 0),
            ("1213", 0),
            ("-503", 0),
            ("-503 Error", 0),
            ("Error 503", 503),
            ("Error: 429", 429),
            ("Error 547", 0),
            ("Error 404", 0),
            ("404 Error", 404),
            ("HTTP Error 503: Service Unavailable", 503),
            ("Order503", 0),
            ("http.Handler503", 0),
            ("503 of 600", 0),
            ("HTTP", 0),
            ("", 0),
        ];
        for (error_type, number) in rows {
            assert_eq!(status(error_type), Some(number).filter(|number| *number > 0), "{error_type}");
        }
    }
}

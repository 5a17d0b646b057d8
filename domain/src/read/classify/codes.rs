//! Finds codes inside a message by the words around them, and looks them up in the tables.

mod sql;

use super::tables::{self, catalogue, status};
use super::{bare, by_meaning, finding, network, objects};
use crate::reading::{Category, Class, Classification};
use alloc::format;
use alloc::string::String;

/// The number of words of a message that are looked up.
const WORDS_MAX: usize = 200;

type Found = Option<(Class, Category)>;

/// Returns the first code with a known meaning, the most specific kinds first. The code of an order that the message
/// prints is none.
pub fn find(error_type: &str, message: &str, lower: &str) -> Option<Classification> {
    let without_data = if message.contains("{\"") { objects::without_data(message) } else { None };
    match without_data {
        Some(rest) => find_in(error_type, &rest, &rest.to_lowercase()),
        None => find_in(error_type, message, lower),
    }
}

fn find_in(error_type: &str, message: &str, lower: &str) -> Option<Classification> {
    let kind = error_type.to_lowercase();
    aws(message)
        .or_else(|| sql::find(&kind, message, lower))
        .or_else(|| grpc(&kind, message, lower))
        .or_else(|| smtp(&kind, message))
        .or_else(|| redis(&kind, message))
        .or_else(|| errno(lower))
        // Axios calls any 4xx ERR_BAD_REQUEST, and any 5xx ERR_BAD_RESPONSE. The status next to it says which.
        .or_else(|| if message.contains("ERR_BAD_RE") { http(&kind, lower) } else { None })
        .or_else(|| named(message))
        .or_else(|| http(&kind, lower).map(|found| by_name_beside(found, message)))
        .or_else(|| of_type(error_type, message, lower))
}

/// A printed error that a server answers with 500 may have a name that says what is wrong: `InvalidSkuError`.
fn by_name_beside(found: Classification, message: &str) -> Classification {
    let named = || super::names::find(&objects::error_type_in(message)?);
    let is_general = found.class == Class::Transient && found.reason.ends_with("HTTP 500");
    let permanent = is_general.then(named).flatten().filter(|named| named.class == Class::Permanent);
    permanent.unwrap_or(found)
}

/// A status of HTTP that is the whole type, or the whole message. What the words say is surer than a status that servers
/// use for errors of every kind.
fn of_type(error_type: &str, message: &str, lower: &str) -> Option<Classification> {
    let number = bare::status(error_type).or_else(|| bare::status(message))?;
    let is_general = matches!(number, 400 | 403 | 409 | 422 | 500);
    let worded = || super::by_words(message, lower).filter(|found| found.class != Class::Unknown);
    let formed = || super::by_grammar(message, lower).filter(|found| found.class == Class::Permanent);
    is_general.then(|| worded().or_else(formed)).flatten().or_else(|| by_status(number, lower))
}

fn matched(found: Found, pct: u8, what: impl Into<String>) -> Option<Classification> {
    let (class, category) = found?;
    let pct = if class == Class::Unknown { 50 } else { pct };
    Some(finding(class, category, pct, format!("matched: {}", what.into())))
}

/// Returns the text between two marks.
fn between<'a>(text: &'a str, before: &str, after: &[char]) -> Option<&'a str> {
    let rest = &text[text.find(before)? + before.len()..];
    let end = rest.find(after).unwrap_or(rest.len());
    Some(rest[..end].trim())
}

/// The positions where the AWS SDKs print the service's error code.
fn aws(message: &str) -> Option<Classification> {
    const MARKS: [(&str, &[char]); 6] = [
        ("An error occurred (", &[')']),
        ("api error ", &[':']),
        ("Error Code: ", &[';', ')', ',']),
        ("unhandled error (", &[')']),
        ("ErrorCode: ", &[';', ')', ',']),
        ("code: \"", &['"']),
    ];
    MARKS.iter().find_map(|(before, after)| {
        let code = between(message, before, after)?;
        match tables::by_type(code).filter(|m| m.settled) {
            Some(meaning) => Some(by_meaning(meaning, code, 95)),
            None => super::names::find(code).filter(|_| before.starts_with("An error")),
        }
    })
}

/// gRPC's status, as printed by Go, Python, Rust, Java and Node.
fn grpc(kind: &str, message: &str, lower: &str) -> Option<Classification> {
    const MARKS: [&str; 6] = ["code = ", "statuscode.", "status: ", "status = ", "grpc status ", "grpc-status: "];
    let is_grpc = ["grpc", "status", "rpc", "tonic"].iter().any(|name| kind.contains(name));
    let marked =
        MARKS.iter().filter_map(|mark| lower.find(mark).map(|at| &lower[at + mark.len()..])).find_map(status_name);
    let mut words = message.split(|c: char| c.is_whitespace() || c == ':');
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let shouted = |word: &str| word.len() > 4 && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    let number = first
        .parse::<usize>()
        .ok()
        .filter(|n| *n < 17 && shouted(second) && status_name(&second.to_lowercase()) == Some(*n));
    let leading =
        Some(first).filter(|word| is_grpc && shouted(word)).and_then(|word| status_name(&word.to_lowercase()));
    let found = marked.filter(|_| is_grpc || lower.contains("rpc")).or(number).or(leading)?;
    matched(status::grpc(found), 90, format!("gRPC status {found}"))
}

/// Returns the number of the status name at the beginning of a text.
fn status_name(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let name: String = text[..end].chars().filter(|c| *c != '_').collect();
    status::GRPC_NAMES.iter().position(|known| *known == name)
}

fn smtp(kind: &str, message: &str) -> Option<Classification> {
    if let Some(reply) = enhanced_reply(message) {
        return matched(status::smtp(reply), 90, format!("SMTP {reply}"));
    }
    if !kind.contains("smtp") && !kind.contains("mail") {
        return None;
    }
    // .NET: `Mailbox unavailable. The server response was: 5.1.1 …`
    let said = message.split_once("response was: ").map_or("", |(_, said)| said);
    if let [class @ (b'4' | b'5'), b'.', b'0'..=b'9', ..] = said.as_bytes() {
        let reply = if *class == b'4' { 450 } else { 550 };
        let code = said.split(|c: char| c != '.' && !c.is_ascii_digit()).next().unwrap_or_default();
        return matched(status::smtp(reply), 85, format!("SMTP {code}"));
    }
    // The ports of submission are no replies.
    let is_reply = |n: &u16| *n >= 400 && !matches!(n, 465 | 587);
    let reply = message
        .split(|c: char| !c.is_ascii_digit())
        .find_map(|word| word.parse::<u16>().ok().filter(|n| word.len() == 3 && is_reply(n)))?;
    matched(status::smtp(reply), 85, format!("SMTP {reply}"))
}

/// A reply with its enhanced status code, which nothing but SMTP prints (RFC 3463): `452 4.3.1`.
fn enhanced_reply(message: &str) -> Option<u16> {
    let words =
        || message.split(|c: char| c.is_whitespace() || matches!(c, ':' | '=' | '-' | '<' | '"')).take(WORDS_MAX);
    words().zip(words().skip(1)).find_map(|(reply, code)| {
        let parts = || code.split('.');
        let is_code = parts().count() == 3
            && parts().all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
        let fits = reply.len() == 3 && is_code && parts().next() == reply.get(..1);
        reply.parse().ok().filter(|reply| fits && (400..600).contains(reply))
    })
}

fn redis(kind: &str, message: &str) -> Option<Classification> {
    let word = message.split_whitespace().next()?;
    let is_redis = ["redis", "replyerror", "jedis", "lettuce", "commanderror"].iter().any(|name| kind.contains(name));
    let meaning = tables::by_redis_word(word).filter(|_| is_redis)?;
    Some(by_meaning(meaning, word, 90))
}

/// `[Errno 111]`, `(os error 104)`, `[WinError 10061]`.
fn errno(lower: &str) -> Option<Classification> {
    let number = ["[errno ", "os error ", "[winerror ", "errno "]
        .iter()
        .find_map(|mark| between(lower, mark, &[']', ')', ',', ' ', ':'])?.parse().ok())?;
    let name = status::errno(number)?;
    Some(by_meaning(tables::by_code(name)?, name, 90))
}

/// Names of codes and classes among the words: `EPIPE`, `ER_DUP_ENTRY`, `nested exception is java.lang.X`.
pub fn named(message: &str) -> Option<Classification> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    // Erlang and Elixir write codes of the system as atoms: `:econnrefused`.
    let atoms = message.split_whitespace().take(WORDS_MAX).filter_map(|word| {
        let name = word.trim_matches(['{', '}', '(', ')', ',', '.', '"']).strip_prefix(':')?;
        (name.len() > 4 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')).then(|| name.to_uppercase())
    });
    for name in atoms {
        let meaning = tables::by_code(&name).filter(|meaning| meaning.settled && name.starts_with('E'));
        if let Some(meaning) = meaning.or_else(|| catalogue::find(&name)) {
            return Some(by_meaning(meaning, &name, 85));
        }
    }
    // A name that does not settle the class leaves the decision to the wording.
    for word in message.split(|c: char| !is_part(c)).filter(|word| word.len() > 3).take(WORDS_MAX) {
        let word = word.trim_matches('.');
        let last = word.rsplit('.').next().unwrap_or(word);
        let bytes = last.as_bytes();
        let shouted =
            bytes.len() > 4 && bytes.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
        let humps = bytes.windows(2).filter(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase()).count() > 0;
        let meaning = if humps && bytes[0].is_ascii_uppercase() {
            tables::by_type(word)
        } else if shouted && (bytes.contains(&b'_') || bytes[0] == b'E') {
            tables::by_code(last)
        } else {
            None
        };
        let published = || (humps || bytes.contains(&b'_')).then(|| catalogue::find(last)).flatten();
        if let Some(meaning) = meaning.filter(|m| m.settled).or_else(published) {
            return Some(by_meaning(meaning, word, 85));
        }
    }
    None
}

/// An HTTP status: after `status`, `code` or `HTTP`, before its reason phrase, or at the start of a client's message.
pub fn http(kind: &str, lower: &str) -> Option<Classification> {
    let is_http = ["http", "request", "axios", "api", "rest", "status", "client", "response", "web", "fetch", "url"]
        .iter()
        .any(|name| kind.contains(name));
    let mut before = "";
    let mut rest = lower;
    for _ in 0..WORDS_MAX {
        let start = rest.find(|c: char| c.is_ascii_alphanumeric())?;
        let word_end = rest[start..]
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '/' && c != '.')
            .map_or(rest.len(), |end| start + end);
        let word = rest[start..word_end].trim_end_matches(['.', '/']);
        let after = rest[word_end..].trim_start_matches([' ', '(', ':', '-', ')', '"', ',']);
        if word.len() == 3 && word.bytes().all(|b| b.is_ascii_digit()) {
            let led = matches!(
                before,
                "status"
                    | "code"
                    | "statuscode"
                    | "http"
                    | "http/1.1"
                    | "http/1.0"
                    | "http/2"
                    | "http/2.0"
                    | "status_code"
                    | "errcode"
                    | "httpstatus"
                    | "httpstatuscode"
                    | "responded"
                    | "success"
            ) || before.ends_with("error");
            let answered =
                matches!(before, "answered" | "replied" | "returned" | "got" | "responded") && ends_answer(after);
            let leading = lower.len() == rest.len() && start == 0 && is_http;
            // `non 200 response from the gateway: 503`
            let of_answer = || lower.contains("response") || lower.contains("http");
            let trailing = after.is_empty() && word_end == rest.len() && rest[..start].ends_with(": ") && of_answer();
            let number = word.parse().unwrap_or(0);
            if (led || answered || leading || trailing || bare::phrase(number, after))
                && let Some(found) = by_status(number, lower)
            {
                return Some(found);
            }
        }
        before = word;
        rest = &rest[word_end..];
    }
    None
}

/// What a status of HTTP means with these words.
fn by_status(number: u16, lower: &str) -> Option<Classification> {
    // Google and GitHub also use 403 for rate limits.
    if number == 403 && THROTTLED.iter().any(|words| lower.contains(words)) {
        return matched(Some((Class::Transient, Category::Throttled)), 85, "HTTP 403 for a rate limit");
    }
    let found = matched(status::http(number), 90, format!("HTTP {number}"))?;
    Some(network::after_status(found, number, lower))
}

/// Whether a number that somebody returned is a status: nothing follows that it could count.
pub fn ends_answer(after: &str) -> bool {
    #[rustfmt::skip]
    const CIRCUMSTANCES: [&str; 10] = ["after ", "for ", "from ", "on ", "to ", "while ", "when ", "instead ", "during ", "at "];
    let after = after.trim_start();
    after.is_empty()
        || after.starts_with([',', '.', ';', ':', ')'])
        || CIRCUMSTANCES.iter().any(|words| after.starts_with(words))
}

/// How a 403 states that it is a rate limit (Google: "Handle API errors"; GitHub: "Rate limits for the REST API").
const THROTTLED: [&str; 4] = ["ratelimitexceeded", "rate limit", "secondary limit", "queries per minute"];

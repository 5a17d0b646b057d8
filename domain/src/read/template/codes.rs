//! Numbers and names with digits that are the cause rather than data: codes, statuses, versions, ports.

use super::out::Out;
use super::{labels, outcomes};

/// Names that contain digits.
#[rustfmt::skip]
const KNOWN_NAMES: &[&str] = &[
    "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128", "f32", "f64", "int8", "int16", "int32",
    "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "utf8", "utf-8", "utf-16", "utf8mb4",
    "latin1", "latin-1", "iso-8859-1", "base64", "sha1", "sha256", "sha-256", "sha512", "md5", "x509", "x.509",
    "http2", "http/1.1", "http/2", "ipv4", "ipv6", "oauth2", "s3", "ec2", "k8s", "win32", "x86_64", "amd64", "arm64",
    "log4j", "h2", "rs256", "hs256", "es256", "tls1.2", "tls1.3", "tlsv1", "tlsv1.2", "tlsv1.3", "sslv3", "route53",
    "neo4j", "log4j2", "slf4j", "psycopg2", "urllib3", "boto3", "int32?", "3-d", "3ds", "2fa", "oauth1", "argon2",
    "sqlite3", "web3", "bz2", "lz4", "mp3", "mp4", "crc32", "crc32c", "aes-256-gcm", "p256",
];

pub fn is_known_name(core: &str) -> bool {
    // `ORA-00060`, `AADSTS50034`, `E11000`: the number is the error.
    let digits_at = core.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let (prefix, number) = core.split_at(digits_at);
    let vendor = matches!(
        prefix,
        "ORA-"
            | "PLS-"
            | "TNS-"
            | "SQL"
            | "DB2-"
            | "AADSTS"
            | "CS"
            | "TS"
            | "MSB"
            | "NU"
            | "NETSDK"
            | "WFLYCTL"
            | "HHH"
            | "RPC-"
            | "BC"
            | "E"
    ) && (4..=7).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit());
    let protocol = ["tlsv", "tls", "sslv", "ssl"]
        .iter()
        .find_map(|name| core.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| name.len()))
        .is_some_and(|end| {
            (1..=3).contains(&(core.len() - end)) && core[end..].bytes().all(|b| b.is_ascii_digit() || b == b'.')
        });
    // `*int64` of Go, `System.Int32` of .NET.
    let bare = core.trim_start_matches(['*', '&']);
    let core = bare.strip_prefix("System.").unwrap_or(bare);
    vendor || protocol || core.len() <= 12 && KNOWN_NAMES.iter().any(|name| name.eq_ignore_ascii_case(core))
}

/// Whether a number is a code, judged by the words around it.
pub fn is_code(core: &str, out: &Out, tail: &str, after: &str) -> bool {
    let [last, second] = [out.before[0].as_str(), out.before[1].as_str()];
    let written = out.text.as_str();
    let plain = core.len() <= 5 && core.bytes().all(|b| b.is_ascii_digit());
    let sqlstate = core.len() == 5 && core.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    let of_state = sqlstate && (last == "sqlstate" || (written.is_empty() && tail == ":"));
    if of_state || outcomes::is_published(core, last, written, after) {
        return true;
    }
    // `Error 1062 (23000)`
    let of_number = || last.len() == 4 && last.bytes().all(|b| b.is_ascii_digit()) && second == "error";
    if sqlstate
        && written.ends_with('(')
        && after.starts_with(')')
        && (of_number() || out.of_sql && outcomes::is_failure(last))
    {
        return true;
    }
    // `[Errno -2]`: the resolver's own numbers.
    if last == "errno" && core.strip_prefix('-').is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit())) {
        return true;
    }
    if !plain {
        // A voucher may be rejected with its code, and goods are returned with one: these are longer.
        let is_short = core.len() <= outcomes::SHORT_CODE_BYTES_MAX;
        return outcomes::is_outcome_code(core) && outcomes::announces_outcome(core, last, second, written, is_short);
    }
    // A reply of SMTP with its enhanced code (RFC 3463).
    if core.len() == 3 && after.starts_with(' ') && is_enhanced(core, after[1..].split([' ', ',', ';']).next()) {
        return true;
    }
    if outcomes::is_close_code(core, last, second) {
        return true;
    }
    let number: u32 = core.parse().unwrap_or(0);
    let status = (100..600).contains(&number) && core.len() == 3;
    let is_failure = status && number >= 400;
    if out.of_replies && core.len() == 3 && matches!(written, "" | "(") {
        return true;
    }
    // `HTTP-Fehler 503`, `503: charge failed`
    if status && last.starts_with("http-") || is_failure && written.is_empty() && tail == ":" {
        return true;
    }
    // `Failed to obtain access token: 401`
    if is_known_status(number)
        && after.is_empty()
        && written.ends_with(": ")
        && !labels::is_thing(last)
        && says_failed(written)
    {
        return true;
    }
    let word = after.trim_start_matches([' ', '(', '-', ':', ']']);
    let named = announces_code(last, second, core, status, out, after);
    // `SQLSTATE[HY000] [2002]`, `SQLSTATE[42S22]: Column not found: 1054`: the driver's own number.
    let of_driver = out.of_sql && core.len() == 4 && written.trim_end().ends_with(['[', ':']);
    // `varchar(20)` is a type, `Exception (404)` a reply code of AMQP.
    let of_type = matches!(last, "varying" | "varchar" | "char" | "character" | "decimal" | "numeric" | "exception");
    // `TooManyRequests (429)`
    let of_reason = status && written.ends_with('(') && after.starts_with(')') && is_reason_name(last);
    named
        || of_driver
        || of_reason
        || (of_type && written.ends_with('(') && after.starts_with(')'))
        || (out.calls > 0 && written.ends_with('(') && (after.starts_with(", '") || after.starts_with(", \"")))
        || (status && starts_reason(word))
        || (written.trim_matches(['[', '(', '<', ' ']).is_empty() && leads(written, status, core, after))
}

/// Whether the last two words announce a code.
fn announces_code(last: &str, second: &str, core: &str, is_status: bool, out: &Out, after: &str) -> bool {
    let (written, number) = (out.text.as_str(), core.parse().unwrap_or(0));
    match last {
        "errno" | "signal" | "sqlstate" | "statuscode" | "status" | "http" | "errorcode" | "error" | "sqlcode" => true,
        "curl" | "resultcode" | "returncode" | "exitcode" => true,
        "smtp" | "sip" | "ftp" => core.len() == 3,
        "http/1.1" | "http/1.0" | "http/2" => is_status,
        "alert" => matches!(second, "tls" | "ssl" | "fatal" | "handshake"),
        "msg" => after.starts_with(','),
        "code" => {
            second == "with" || outcomes::OUTCOMES.contains(&second) || outcomes::is_lone_code(second, written, after)
        }
        // `MySQL answered 1205`
        "answered" | "said" | "returned" if outcomes::is_vendor(second) => true,
        "answered" | "replied" | "responded" | "returned" | "received" | "got" | "response" => {
            is_status && ends_answer(number, after) && (is_known_status(number) || !speaks_of_size(written))
        }
        // `responded with 503`, `antwortete mit 503`
        "with" | "mit" | "avec" | "con" | "com" => is_status && answers(second) && ends_answer(number, after),
        "failed" | "failure" | "fehlgeschlagen" => {
            is_status && number >= 400 && written.ends_with(['(', '[']) && after.starts_with([')', ']'])
        }
        _ => false,
    }
}

/// Whether a text is about how much there may be: `length should be between 1 and 80 characters, but got 131`.
fn speaks_of_size(written: &str) -> bool {
    #[rustfmt::skip]
    const SIZES: [&str; 9] =
        ["character", " between ", " at most ", " at least ", "less than", "greater than", "more than", "length", " byte"];
    let near = &written[written.floor_char_boundary(written.len().saturating_sub(outcomes::CLAUSE_BYTES))..];
    SIZES.iter().any(|said| near.contains(said))
}

/// Whether the last words say that something failed.
fn says_failed(written: &str) -> bool {
    #[rustfmt::skip]
    const FAILED: [&str; 10] =
        ["failed", "failure", "error", "could not", "couldn't", "cannot", "can't", "unable to", "rejected", "closed by"];
    let near =
        written[written.floor_char_boundary(written.len().saturating_sub(outcomes::CLAUSE_BYTES))..].to_lowercase();
    FAILED.iter().any(|said| near.contains(said)) && CALLS.iter().any(|call| near.contains(call))
}

/// Words of calls, to which a status is the answer.
#[rustfmt::skip]
const CALLS: [&str; 16] = [
    "token", "request", "response", "call", "fetch", "download", "upload", "connect", "api", "webhook", "url", "server", "http", "auth",
    "login", "query",
];

/// Whether a number is a status of a failure that servers answer with.
fn is_known_status(number: u32) -> bool {
    matches!(number, 400..=405 | 408..=410 | 412 | 413 | 415 | 422 | 423 | 425 | 429 | 500..=504 | 507 | 511 | 520..=524)
}

/// Whether a word says that somebody answered.
fn answers(word: &str) -> bool {
    #[rustfmt::skip]
    const ANSWERED: [&str; 9] = [
        "answered", "replied", "responded", "failed", "antwortete", "geantwortet", "répondu", "respondió", "respondeu",
    ];
    ANSWERED.contains(&word)
}

/// Whether nothing follows a status that it could count.
fn ends_answer(status: u32, after: &str) -> bool {
    after.trim().is_empty()
        || after.starts_with([',', '.', ';', ':'])
        || status >= 400 && (is_circumstance(after) || after.starts_with(" ("))
}

/// Whether the text after a number says when or for whom it was returned, and not of what it is a count.
fn is_circumstance(after: &str) -> bool {
    #[rustfmt::skip]
    const CIRCUMSTANCES: [&str; 10] = ["after", "for", "from", "on", "to", "while", "when", "instead", "during", "at"];
    CIRCUMSTANCES.contains(&after.trim_start().split(' ').next().unwrap_or_default())
}

/// Whether a text is the enhanced code of an SMTP reply: `4.3.1` after `452` (RFC 3463).
fn is_enhanced(reply: &str, code: Option<&str>) -> bool {
    let Some(code) = code else { return false };
    let part = |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let class = reply.get(..1).filter(|class| matches!(*class, "2" | "4" | "5"));
    code.split('.').count() == 3 && code.split('.').all(part) && class.is_some() && code.split('.').next() == class
}

/// Whether a number leads the message: a reply code, a Kafka or gRPC number, a driver's error number.
fn leads(written: &str, status: bool, core: &str, after: &str) -> bool {
    let word = after.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if written.ends_with('[') && status && after.starts_with("] ") {
        return true;
    }
    if written.ends_with('[') {
        return after.starts_with("] ") && after[2..].starts_with(|c: char| c.is_ascii_uppercase());
    }
    if written.ends_with('(') {
        return after.starts_with(", ") && after[2..].starts_with(['"', '\'']);
    }
    let shouted = word.len() >= 4 && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    // A number before a small word is a count, unless the word begins a reason phrase: `404 page not found`.
    let counted = word.starts_with(char::is_lowercase) && !starts_small_reason(after.trim_start());
    (status && after.starts_with([' ', '-']) && !counted) || (core.len() <= 2 && shouted)
}

/// Whether a text begins with a reason phrase of HTTP (RFC 9110).
fn starts_reason(text: &str) -> bool {
    #[rustfmt::skip]
    const REASONS: &[&str] = &[
        "Client Error", "Server Error", "Bad ", "Unauthorized", "Payment", "Forbidden", "Not ", "Method", "Proxy",
        "Request", "Conflict", "Gone", "Length", "Precondition", "Payload", "URI", "Unsupported", "Range",
        "Expectation", "Misdirected", "Unprocessable", "Locked", "Failed", "Too ", "Internal", "Service", "Gateway",
        "HTTP Version", "Found", "Moved", "OK", "No Content", "Accepted", "Created", "Validation ",
    ];
    REASONS.iter().any(|reason| text.starts_with(reason))
}

/// Whether a word is a reason phrase of HTTP in one word, as .NET names its statuses.
fn is_reason_name(word: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "badrequest", "unauthorized", "forbidden", "notfound", "conflict", "gone", "toomanyrequests", "unprocessableentity",
        "internalservererror", "badgateway", "serviceunavailable", "gatewaytimeout", "requesttimeout", "methodnotallowed",
    ];
    NAMES.contains(&word)
}

/// Whether a text is a reply code of HTTP, SMTP or FTP.
pub fn is_reply(text: &str) -> bool {
    text.len() == 3 && text.starts_with(['1', '2', '3', '4', '5']) && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a text is a status with its reason phrase: `502 Bad Gateway`.
pub fn is_status_line(text: &str) -> bool {
    text.split_once(' ').is_some_and(|(number, phrase)| {
        number.len() == 3 && number.bytes().all(|b| b.is_ascii_digit()) && starts_reason(phrase)
    })
}

/// The same in small letters, as Go's servers and some proxies write it.
fn starts_small_reason(text: &str) -> bool {
    #[rustfmt::skip]
    const REASONS: &[&str] = &[
        "page not found", "not found", "bad gateway", "bad request", "service unavailable", "gateway timeout",
        "internal server error", "forbidden", "unauthorized", "too many requests", "method not allowed", "conflict",
    ];
    REASONS.iter().any(|reason| text.starts_with(reason))
}

/// The first port that Linux gives to a connection's own end (net.ipv4.ip_local_port_range). A port below it is a
/// service; one above it is chosen anew for each connection.
const EPHEMERAL_PORT_MIN: u32 = 32_768;

/// Whether a text is the port of a service.
pub fn is_service_port(text: &str) -> bool {
    let fits = (2..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    fits && text.parse().is_ok_and(|port: u32| port < EPHEMERAL_PORT_MIN)
}

/// Returns the port of a service in `listen tcp :443`.
pub fn own_port<'a>(core: &'a str, before: &str) -> Option<&'a str> {
    let port = core.strip_prefix(':').filter(|port| is_service_port(port))?;
    matches!(before, "tcp" | "udp" | "on" | "listen" | "listening" | "address" | "port").then_some(port)
}

/// Whether a token with digits names the cause, judged by the word before it: a version, a result of COM or Windows, a
/// constraint's name.
pub fn is_identity(core: &str, before: &[alloc::string::String; 2]) -> bool {
    let last = before[0].as_str();
    let hex = core.strip_prefix("0x").filter(|hex| hex.len() == 8 && hex.starts_with(['8', 'C', 'c']));
    let result = || matches!(last, "hresult" | "error" | "code" | "status" | "exception" | "ntstatus");
    if hex.is_some() && result() {
        return true;
    }
    if last.len() == 3 && last.bytes().all(|b| b.is_ascii_digit()) && is_enhanced(last, Some(core)) {
        return true;
    }
    let small = core.len() <= 12;
    match last {
        "version" => small && (core.contains('.') || is_date(core)) && core.bytes().all(is_version_byte),
        "api" | "protocol" | "tls" | "ssl" => small && core.trim_start_matches('v').bytes().all(is_version_byte),
        "constraint" | "index" => is_identifier(core),
        // `:60F:`, a field of SWIFT's messages.
        "tag" => small && core.starts_with(':'),
        _ => false,
    }
}

fn is_version_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'-')
}

/// `2024-02-01`, a version of an API.
fn is_date(core: &str) -> bool {
    core.len() == 10 && core.bytes().filter(|b| *b == b'-').count() == 2
}

/// Whether a text is a name in code that may have digits: a constraint, an index.
pub fn is_identifier(text: &str) -> bool {
    text.len() <= 128
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.contains('_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'))
}

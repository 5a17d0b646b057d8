//! Words that determine their neighbours: codes, names, units, moments.

/// After these words, a quoted name is code, not data.
#[rustfmt::skip]
pub const BEFORE_A_NAME: &[&str] = &[
    "field", "fields", "column", "relation", "table", "property", "attribute", "method", "function", "member",
    "parameter", "argument", "param", "header", "reading", "setting", "type", "class", "object", "module",
    "constraint", "index", "variable", "tag", "breaker", "service", "queue", "topic", "operator", "keyword", "model",
    "entity", "permission", "scope", "action", "role", "missing", "required", "invoke", "view", "sequence", "trigger",
    "database", "schema", "exchange", "named", "operation", "plugin", "extension", "directive", "enum", "variant",
    "near", "expected", "collection", "partition", "stream", "feature", "flag", "option", "worker", "handler", "task",
    "step", "command", "program",
];

/// After these words, a quoted name is a state.
pub const BEFORE_A_STATE: &[&str] =
    &["reason", "state", "status", "code", "cause", "kind", "phase", "mode", "category"];

/// After these words and `key`, a quoted name is code.
pub const BEFORE_A_KEY: &[&str] = &["array", "missing", "required", "unexpected", "hash", "dictionary"];

/// Before these words, a quoted name is code. They begin with the blank after the quote.
#[rustfmt::skip]
pub const AFTER_A_NAME: &[&str] = &[
    " is required", " object", " must", " cannot be", " can't be", " may not be", " should", " field", " column",
    " property", " attribute", " is not defined", " is not a function", " is undefined", " is missing", " because",
    " is null", " is not null", " parameter", " argument", " table", " constraint", " violates", " for nil",
    " for class", " for an instance", " tag", " function", " method", " is not allowed", " header", " service",
    " permission", " module", " violation", ": value", " = ", " was not provided", " needs to be",
    " does not exist on type",
];

/// After these words, a quoted text is a sentence of the error itself.
#[rustfmt::skip]
pub const BEFORE_A_SENTENCE: &[&str] = &[
    "message", "details", "detail", "desc", "description", "reason", "error", "errmsg", "msg", "grpc_message",
    "cause",
];

/// File name extensions, which distinguish a file from a path through code.
#[rustfmt::skip]
pub const FILE_ENDINGS: &[&str] = &[
    "pdf", "csv", "json", "xml", "txt", "log", "png", "jpg", "jpeg", "gif", "zip", "gz", "tar", "xlsx", "xls", "doc",
    "docx", "html", "yml", "yaml", "parquet", "avro", "eml", "tmp", "dat", "bin", "mp4", "example", "com", "org",
    "net", "io",
];

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
    vendor || core.len() <= 12 && KNOWN_NAMES.iter().any(|name| name.eq_ignore_ascii_case(core))
}

/// Whether the error type's message is the name of a piece of code.
pub fn names_code(error_type: &str) -> bool {
    #[rustfmt::skip]
    const TYPES: &[&str] = &[
        "keyerror", "nameerror", "attributeerror", "nomethoderror", "referenceerror", "unboundlocalerror",
        "modulenotfounderror", "importerror", "classnotfoundexception", "noclassdeffounderror", "nosuchmethoderror",
        "nosuchfielderror", "undefinedcolumn", "undefinedtable", "nosuchfieldexception",
    ];
    let last = error_type.rsplit(['.', ':', '\\']).next().unwrap_or(error_type);
    TYPES.iter().any(|name| last.eq_ignore_ascii_case(name))
}

/// Whether a key's value is the cause rather than data.
pub fn is_code_key(key: &str) -> bool {
    #[rustfmt::skip]
    const KEYS: &[&str] = &[
        "code", "status", "statuscode", "reason", "error", "err", "errno", "errcode", "errorcode", "type",
        "errortype", "kind", "cause", "exception", "method", "op", "operation", "action", "phase", "state",
        "sqlstate", "codename", "level", "signal", "rc", "syscall", "field", "column", "error_code", "status_code",
        "error_type",
    ];
    // `resultCode`, `exit_status`: codes of an outcome, unlike codes of a country, a voucher or a place.
    const OUTCOMES: &[&str] = &[
        "result", "return", "response", "reply", "exit", "decline", "reason", "fault", "failure", "sub", "vendor",
        "http",
    ];
    let of_outcome = || {
        OUTCOMES.iter().any(|outcome| {
            let rest = key.get(outcome.len()..).filter(|_| key[..outcome.len()].eq_ignore_ascii_case(outcome));
            let end = rest.map(|rest| rest.trim_start_matches(['_', '-', '.']));
            end.is_some_and(|end| end.eq_ignore_ascii_case("code") || end.eq_ignore_ascii_case("status"))
        })
    };
    KEYS.iter().any(|name| key.eq_ignore_ascii_case(name)) || of_outcome()
}

/// Whether a number is a code, judged by the words around it.
pub fn is_code(core: &str, before: &[alloc::string::String; 2], written: &str, tail: &str, after: &str) -> bool {
    let [last, second] = [before[0].as_str(), before[1].as_str()];
    let plain = core.len() <= 5 && core.bytes().all(|b| b.is_ascii_digit());
    let sqlstate = core.len() == 5 && core.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    if sqlstate && (last == "sqlstate" || (written.is_empty() && tail == ":")) {
        return true;
    }
    if !plain {
        return false;
    }
    let number: u32 = core.parse().unwrap_or(0);
    let status = (100..600).contains(&number) && core.len() == 3;
    let word = after.trim_start_matches([' ', '(', '-', ':', ']']);
    let named = match last {
        "errno" | "signal" | "sqlstate" | "statuscode" | "status" | "http" | "errorcode" | "error" | "sqlcode" => true,
        "curl" | "resultcode" | "returncode" | "exitcode" => true,
        "smtp" | "sip" | "ftp" => core.len() == 3,
        "http/1.1" | "http/1.0" | "http/2" => status,
        "alert" => matches!(second, "tls" | "ssl" | "fatal" | "handshake"),
        "msg" => after.starts_with(','),
        "code" => matches!(
            second,
            "status"
                | "error"
                | "exit"
                | "response"
                | "return"
                | "reply"
                | "result"
                | "http"
                | "with"
                | "reason"
                | "curl"
                | "sql"
                | "vendor"
                | "native"
                | "decline"
        ),
        "answered" | "replied" | "responded" | "returned" | "received" | "got" => {
            status && (after.trim().is_empty() || after.starts_with([',', '.', ';', ':']))
        }
        _ => false,
    };
    named
        || (status && starts_reason(word))
        || (written.trim_matches(['[', '(', '<', ' ']).is_empty() && leads(written, status, core, after))
}

/// Whether a number leads the message: a reply code, a Kafka or gRPC number, a driver's error number.
fn leads(written: &str, status: bool, core: &str, after: &str) -> bool {
    let word = after.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if written.ends_with('[') {
        return after.starts_with("] ") && after[2..].starts_with(|c: char| c.is_ascii_uppercase());
    }
    if written.ends_with('(') {
        return after.starts_with(", ") && after[2..].starts_with(['"', '\'']);
    }
    let counted = word.starts_with(|c: char| c.is_ascii_lowercase()) && word.ends_with('s') && !word.ends_with("ss");
    let shouted = word.len() >= 4 && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    (status && after.starts_with([' ', '-']) && !counted) || (core.len() <= 2 && shouted)
}

/// Whether a text begins with a reason phrase of HTTP (RFC 9110).
fn starts_reason(text: &str) -> bool {
    #[rustfmt::skip]
    const REASONS: &[&str] = &[
        "Client Error", "Server Error", "Bad ", "Unauthorized", "Payment", "Forbidden", "Not ", "Method", "Proxy",
        "Request", "Conflict", "Gone", "Length", "Precondition", "Payload", "URI", "Unsupported", "Range",
        "Expectation", "Misdirected", "Unprocessable", "Locked", "Failed", "Too ", "Internal", "Service", "Gateway",
        "HTTP Version", "Found", "Moved", "OK", "No Content", "Accepted", "Created",
    ];
    REASONS.iter().any(|reason| text.starts_with(reason))
}

/// Whether a word is a unit that programs choose by the size of the number.
pub fn is_unit(word: &str) -> bool {
    matches!(
        word,
        "B" | "kB"
            | "KB"
            | "MB"
            | "GB"
            | "TB"
            | "PB"
            | "KiB"
            | "MiB"
            | "GiB"
            | "TiB"
            | "ns"
            | "us"
            | "µs"
            | "μs"
            | "ms"
            | "s"
            | "sec"
            | "secs"
            | "min"
            | "mins"
            | "h"
            | "hrs"
    ) || matches!(
        word,
        "second"
            | "seconds"
            | "minute"
            | "minutes"
            | "hour"
            | "hours"
            | "day"
            | "days"
            | "week"
            | "weeks"
            | "millisecond"
            | "milliseconds"
            | "byte"
            | "bytes"
            | "millis"
    )
}

/// Whether a month's short name is between two separators: `03/Nov/2024`.
pub fn holds_month(core: &str) -> bool {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    core.split(['/', '-', '.']).any(|part| MONTHS.contains(&part))
}

/// Whether a word marks the next token with a digit as an identifier, whatever its parts look like.
pub fn precedes_id(word: &str) -> bool {
    ["id", "sku", "token", "ref", "reference", "number"].iter().any(|end| word.ends_with(end))
}

/// Whether a word is part of a moment: a month or weekday next to a number, or a time zone after one.
pub fn joins_time(word: &str, after_mask: bool, after: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "January", "February",
        "March", "April", "June", "July", "August", "September", "October", "November", "December", "Mon", "Tue",
        "Wed", "Thu", "Fri", "Sat", "Sun", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
        "Sunday",
    ];
    const ZONES: &[&str] = &["UTC", "GMT", "CET", "CEST", "EST", "EDT", "PST", "PDT", "AM", "PM", "am", "pm", "Z"];
    // Names of days and months are capitalised and short; most words fail here.
    if word.len() > 9 || !(word.starts_with(|c: char| c.is_ascii_uppercase()) || matches!(word, "am" | "pm")) {
        return false;
    }
    let next = after.trim_start_matches([',', ' ']);
    let before_number = next.starts_with(|c: char| c.is_ascii_digit());
    let before_month = NAMES.iter().any(|name| {
        next.strip_prefix(name)
            .is_some_and(|rest| rest.trim_start_matches([',', ' ']).starts_with(|c: char| c.is_ascii_digit()))
    });
    (NAMES.contains(&word) && (after_mask || before_number || before_month)) || (ZONES.contains(&word) && after_mask)
}

/// Returns the singular of a word that follows a number; other words unchanged.
pub fn singular(word: &str) -> &str {
    match word {
        "were" => "was",
        "are" => "is",
        "have" => "has",
        "do" => "does",
        _ if word.len() > 4 && word.ends_with("ies") && word.is_ascii() => plural_ies(word),
        _ if word.len() > 3
            && word.is_ascii()
            && word.ends_with('s')
            && !word.ends_with("ss")
            && !word.ends_with("us")
            && !word.ends_with("is") =>
        {
            &word[..word.len() - 1]
        }
        _ if word.len() > 3 && word.is_ascii() && word.ends_with('y') => &word[..word.len() - 1],
        _ => word,
    }
}

/// `retries` and `retry` both become `retr`.
fn plural_ies(word: &str) -> &str {
    &word[..word.len() - 3]
}

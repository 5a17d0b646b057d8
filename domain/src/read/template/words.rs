//! Words that determine their neighbours: names, keys, users, units, moments.

use crate::text::split_last;
use alloc::borrow::Cow;
use alloc::string::String;

/// After these words, a quoted name is code, not data.
#[rustfmt::skip]
pub const BEFORE_A_NAME: &[&str] = &[
    "field", "fields", "column", "relation", "table", "property", "attribute", "method", "function", "member",
    "parameter", "argument", "param", "header", "reading", "setting", "type", "class", "object", "module",
    "constraint", "index", "variable", "tag", "breaker", "service", "queue", "topic", "operator", "keyword", "model",
    "entity", "permission", "scope", "action", "role", "missing", "required", "invoke", "view", "sequence", "trigger",
    "database", "schema", "exchange", "named", "operation", "plugin", "extension", "directive", "enum", "variant",
    "near", "expected", "collection", "partition", "stream", "feature", "flag", "option", "worker", "handler", "task",
    "step", "command", "program", "bulkhead", "charset", "encoding", "algorithm", "mechanism", "claim", "codec",
    "adapter", "dialect", "strategy", "driver", "host", "path", "local", "global", "event", "variant", "job", "provider", "template",
    "alias", "subgraph", "parameters", "columns", "properties", "attributes", "arguments", "headers", "features", "configs",
    "options", "permissions", "scopes", "claims", "transport", "engine", "backend", "middleware", "processor", "block",
    "filter", "validator", "listener", "resolver", "loader", "serializer", "converter", "formatter", "factory", "interface",
    "trait", "macro", "primitive", "capability", "grant", "transition", "workflow",
];

/// The same, as the end of a name such as `CircuitBreaker` or `OrderHandler`.
pub const ENDS_BEFORE_A_NAME: &[&str] = &["breaker", "limiter", "bulkhead", "handler", "provider", "service", "type"];

/// The same words in the message catalogues of PostgreSQL: column, table, relation, type and constraint; and the word
/// for a field in those of validators.
#[rustfmt::skip]
pub const BEFORE_A_NAME_ABROAD: &[&str] = &[
    "spalte", "tabelle", "unique-constraint", "not-null-constraint", "check-constraint",
    "fremdschlüssel-constraint", "colonne", "contrainte", "unique", "étrangère", "columna", "relación", "tabla",
    "restricción", "unicidad", "foránea", "colonna", "relazione", "tabella", "vincolo", "univoco", "esterna", "столбец",
    "столбце", "отношение", "отношения", "отношении", "таблице", "таблицы", "уникальности", "ключа", "列", "表", "关系",
    "唯一约束", "外键约束", "检查约束", "kolumn", "kolumnen", "tabell", "relationen", "feld", "champ", "campo", "поле", "veld",
    "fält", "felt", "字段", "attribut", "eigenschaft", "propriété", "propiedad", "proprietà",
];

/// The names of types in Python, JavaScript, .NET, BSON and JSON Schema, and of Rust's and Ruby's outcomes, which are the cause wherever they are quoted.
#[rustfmt::skip]
pub const TYPE_NAMES: &[&str] = &[
    "int", "str", "float", "bool", "list", "dict", "tuple", "set", "bytes", "string", "number", "object", "array",
    "boolean", "integer", "null", "undefined", "NoneType", "String", "Number", "Decimal", "Double", "Float", "Boolean",
    "Integer", "Long", "Guid", "DateTime", "Timestamp", "Array", "Object", "Document", "Null", "Map", "List", "None", "Some",
    "Ok", "Err", "nil",
];

/// Words that sentences have and names rarely do.
#[rustfmt::skip]
pub const OF_SENTENCES: &[&str] = &[
    "the", "a", "an", "is", "are", "was", "were", "be", "been", "not", "no", "to", "of", "for", "in", "on", "at",
    "with", "without", "cannot", "can't", "can", "has", "have", "had", "failed", "by", "from", "too", "must", "should",
    "could", "does", "did", "this", "that", "than", "ist", "nicht", "der", "die", "das", "est", "pas", "les", "des",
    "el", "los", "del", "es", "non", "il", "di", "не", "в", "на",
];

/// After these words, a name may have digits, because the database made it.
pub const BEFORE_A_CONSTRAINT: &[&str] = &["constraint", "index", "unique-constraint", "contrainte", "restricción"];

/// What PostgreSQL prints after the values of a key.
pub const AFTER_A_KEY: &[&str] = &[
    ") already exists",
    ") is not present",
    ") is still referenced",
    ") conflicts with",
    ") existiert bereits",
    ") existe déjà",
    ") ya existe",
    ") уже существует",
    ") 已经存在",
    ") はすでに存在します",
];

/// After these words, a quoted name is a state.
pub const BEFORE_A_STATE: &[&str] =
    &["reason", "state", "status", "code", "cause", "kind", "phase", "mode", "category", "propagation"];

/// After these words and `key`, a quoted name is code.
pub const BEFORE_A_KEY: &[&str] = &["array", "missing", "required", "unexpected", "hash", "dictionary"];

/// Before these words, a quoted name is code. They begin with the blank after the quote.
#[rustfmt::skip]
pub const AFTER_A_NAME: &[&str] = &[
    " is required", " object", " must", " cannot be", " can't be", " may not be", " should", " field", " column",
    " property", " attribute", " is not defined", " is not a function", " is undefined", " is missing", " because",
    " is null", " is not null", " parameter", " argument", " table", " constraint", " violates", " for nil",
    " for class", " for an instance", " tag", " function", " method", " is not allowed", " header", " service",
    " permission", " claim", " module", " violation", ": value", " = ", " was not provided", " needs to be",
    " does not exist on type", " is a required", " is a dependency of", " was unexpected", " has no handler",
    " was not found on", " has no attribute", " is not supported", " cannot transition", " is not registered", " step", " phase", " state", " mode", "=", " port", ":`", " value", " member", " element", " flag", " option", " setting", " section", " expected type",
    " existiert nicht", " n'existe pas", " no existe", " non esiste", " не существует", " 不存在", "は存在しません",
];

/// File name extensions, which distinguish a file from a path through code.
#[rustfmt::skip]
pub const FILE_ENDINGS: &[&str] = &[
    "pdf", "csv", "json", "xml", "txt", "log", "png", "jpg", "jpeg", "gif", "zip", "gz", "tar", "xlsx", "xls", "doc",
    "docx", "html", "yml", "yaml", "parquet", "avro", "eml", "tmp", "dat", "bin", "mp4", "example", "com", "org",
    "net", "io",
];

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

/// Whether a word is a part of a sentence rather than of a name.
pub fn joins_sentence(word: &str) -> bool {
    const MORE: [&str; 8] = ["and", "or", "as", "into", "onto", "after", "before", "because"];
    let of_names = ["of", "von", "der", "de", "la", "für", "for"].contains(&word);
    !of_names && (OF_SENTENCES.contains(&word) || MORE.contains(&word))
}

/// Whether a key's value is the cause rather than data.
pub fn is_code_key(key: &str) -> bool {
    #[rustfmt::skip]
    const KEYS: &[&str] = &[
        "code", "status", "statuscode", "reason", "error", "err", "errno", "errcode", "errorcode", "type",
        "errortype", "kind", "cause", "exception", "method", "op", "operation", "action", "phase", "state",
        "sqlstate", "codename", "level", "signal", "rc", "syscall", "field", "column", "error_code", "status_code",
        "error_type", "bouncetype", "bouncesubtype",
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
    // `OrdRejReason`, `vendorErrorCode`
    let ends = || ["Reason", "_reason", "ErrorCode", "StatusCode"].iter().any(|end| key.ends_with(end));
    KEYS.iter().any(|name| key.eq_ignore_ascii_case(name)) || of_outcome() || ends()
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

/// Whether a word is part of a date or time: a month or weekday next to a number, or a time zone after one.
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
    if after_mask {
        return NAMES.contains(&word) || ZONES.contains(&word);
    }
    let begins_number = |text: &str| text.trim_start_matches([',', ' ']).starts_with(|c: char| c.is_ascii_digit());
    let next = after.trim_start_matches([',', ' ']);
    let before_month = || NAMES.iter().any(|name| next.strip_prefix(name).is_some_and(begins_number));
    NAMES.contains(&word) && (begins_number(after) || before_month())
}

/// Returns the singular of a word that follows a number; other words unchanged. A word that is no plural may be cut
/// too, if it ends like one: the result is compared, never shown.
pub fn singular(word: &str) -> Cow<'_, str> {
    let cut = |bytes: usize| Cow::Borrowed(&word[..word.len() - bytes]);
    match word {
        "were" => return "was".into(),
        "are" => return "is".into(),
        "have" => return "has".into(),
        "do" => return "does".into(),
        _ if !word.is_ascii() || word.len() <= 3 || !word.ends_with('s') => return word.into(),
        _ => {}
    }
    if word.ends_with("ies") && word.len() > 4 {
        return (String::from(&word[..word.len() - 3]) + "y").into();
    }
    if ["sses", "shes", "ches", "xes", "zes"].iter().any(|end| word.ends_with(end)) {
        return cut(2);
    }
    let other = ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) || matches!(word, "was" | "has" | "does");
    if other { word.into() } else { cut(1) }
}

/// Returns a class without its package: `java.net.ConnectException` is shown as `ConnectException`.
pub fn without_package(word: &str) -> &str {
    let Some((package, class)) = split_last(word, b'.') else { return word };
    let is_package = package.contains('.')
        && package.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_'));
    let is_class = class.starts_with(|c: char| c.is_ascii_uppercase()) && class.bytes().any(|b| b.is_ascii_lowercase());
    if is_package && is_class { class } else { word }
}

/// Whether a text ends in the name of an error, which a bracket with its arguments follows, or is empty.
pub fn calls_error(text: &str) -> bool {
    // `(pymysql.err.OperationalError) (1205, …)`: the type in brackets, as SQLAlchemy writes it.
    let text = text.strip_suffix(") ").unwrap_or(text);
    ["Error", "Exception", "Fault", "Failure", "Disconnected", "Warning"].iter().any(|end| text.ends_with(end))
        || text.is_empty()
}

/// Whether a word announces states: then `from 'paid' to 'draft'` names two of them.
pub fn announces_states(word: &str) -> bool {
    matches!(word, "transition" | "state" | "states" | "status" | "go" | "phase" | "move" | "switch" | "transitions")
}

/// Whether the last two words begin a statement of SQL. `select` and `update` are also words of sentences.
pub fn begins_statement(second: &str, last: &str) -> bool {
    match last {
        "into" => second == "insert",
        "from" => second == "delete",
        "select" | "update" => matches!(second, "query" | "executing" | "execute" | "statement" | "sql" | ""),
        _ => false,
    }
}

/// Whether a key's value is a sentence about the error (RFC 9457, FHIR's OperationOutcome, and what web frameworks use).
pub fn is_message_key(key: &str) -> bool {
    #[rustfmt::skip]
    const KEYS: &[&str] = &[
        "message", "msg", "detail", "details", "title", "error", "errormessage", "error_message", "error_description",
        "description", "reason", "diagnostics", "errmsg", "faultstring", "desc", "err", "cause",
    ];
    KEYS.iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// Whether a key's value is the place in a document that the error is about.
pub fn is_place_key(key: &str) -> bool {
    ["path", "param", "loc", "pointer", "property", "attribute", "parameter"].contains(&key)
}

/// Whether a key's value is a status, which may be a number.
pub fn is_status_key(key: &str) -> bool {
    ["statuscode", "status_code", "status", "httpstatus", "code"].iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// Whether a key's value is the host that is called: the dependency.
pub fn is_host_key(key: &str) -> bool {
    ["host", "hostname", "server", "endpoint", "broker"].iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// Whether a value is one of two: the other one is another case.
pub fn is_truth(value: &str) -> bool {
    ["true", "false", "yes", "no", "on", "off"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether the last words announce the name of a user.
pub fn precedes_user(before: &[String; 2]) -> bool {
    let [last, second] = [before[0].as_str(), before[1].as_str()];
    matches!(last, "user" | "username" | "login")
        && matches!(second, "for" | "invalid" | "unknown" | "of" | "by" | "as" | "illegal" | "from")
}

/// Whether a word after `user` is a name. After it, these words are about users in general.
pub fn is_user(word: &str) -> bool {
    #[rustfmt::skip]
    const OTHER: &[&str] = &[
        "input", "agent", "session", "data", "request", "requests", "account", "id", "name", "names", "profile", "settings",
        "preferences", "interface", "defined", "action", "actions", "group", "role", "roles", "token", "password", "email",
        "mail", "pool", "space", "mode", "is", "was", "has", "does", "not", "in", "on", "at", "from", "to", "with", "and",
        "or", "by", "the", "this", "that", "of", "for", "cannot", "can", "type", "info", "details", "creation", "table",
    ];
    word.chars().all(|c| c.is_alphabetic() || matches!(c, '_' | '-' | '.')) && !OTHER.contains(&word)
}

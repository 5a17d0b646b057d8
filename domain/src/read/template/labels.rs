//! Words and keys that announce values, and what is no value in such a place.

/// Nouns of things that people name, or that have names of their own in the world (a country, a currency). Nouns of code
/// (service, client, driver) and nouns that announce a field (account, order) are not among them.
#[rustfmt::skip]
pub const THINGS: &[&str] = &[
    "country", "currency", "city", "customer", "supplier", "vendor", "employee", "patient",
    "product", "article", "voucher", "coupon", "promotion", "sheet", "worksheet", "sheetname", "room", "station",
    "warehouse", "venue", "vehicle", "passenger", "flight", "hotel", "shipment", "parcel", "artist", "album",
    "playlist", "organization", "organisation", "company", "tenant", "team", "workspace", "course",
];

/// Nouns of more things that people make or own. Another noun may follow them (`project milestone`), so only marks make
/// what follows a name: quotation marks, brackets, digits, hyphens, a colon.
#[rustfmt::skip]
pub const MADE: &[&str] = &[
    "project", "invoice", "folder", "account", "subscription", "wallet", "ticket", "category", "player", "movie", "book", "recipe",
    "survey", "tour", "booking", "contact", "guest", "student", "teacher", "doctor", "club", "league", "tournament",
    "restaurant", "school", "campaign", "auction", "contract", "repository", "repo", "song", "episode", "podcast",
    "department", "hospital", "clinic", "pharmacy", "museum", "animal", "wishlist", "apartment", "lesson", "quiz",
    "badge", "membership", "donor", "dish", "meal", "ingredient", "medication", "prescription", "parking",
    "vessel", "truck", "garage", "studio", "magazine", "newsletter", "bookmark", "notebook", "guild",
];

/// Whether a word is the noun of something that people name, make or own.
pub fn is_thing(word: &str) -> bool {
    THINGS.contains(&word) || MADE.contains(&word)
}

/// Whether a text with this last word, in lower case, ends by saying that the name of a thing follows: `category with name`, `project named`.
pub fn announces_name(last: &str, before: &str) -> bool {
    const NAMES: [&str; 7] = ["name", "title", "code", "slug", "number", "nickname", "sku"];
    let is_participle = matches!(last, "named" | "called" | "titled");
    // Most words announce nothing.
    if !is_participle && !NAMES.contains(&last) {
        return false;
    }
    let before = before.to_lowercase();
    let mut words = before.rsplit(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).skip(1);
    let joins = |word: &&str| matches!(*word, "with" | "by" | "having" | "has" | "the");
    let noun = if is_participle { words.next() } else { words.next().filter(joins).and_then(|_| words.next()) };
    noun.is_some_and(is_thing)
}

/// Whether a text says that a value is wrong, as its last words: what follows the colon is that value. `before` is in
/// lower case.
pub fn announces_value(before: &str) -> bool {
    #[rustfmt::skip]
    const WRONG: &[&str] = &[
        "bad", "invalid", "illegal", "malformed", "wrong", "convert", "parse", "parsing", "unparseable", "interpret",
        "incorrect",
    ];
    #[rustfmt::skip]
    const VALUES: &[&str] = &[
        "value", "integer", "number", "decimal", "boolean", "float", "double", "date", "datetime", "timestamp", "duration",
        "guid", "uuid", "character", "digit", "id", "identifier", "time", "color", "colour", "letter", "range",
    ];
    // Nouns of values as the last word; within a name they are part of another thing: `URL scheme`.
    #[rustfmt::skip]
    const LAST: &[&str] = &[
        "string", "address", "url", "uri", "iban", "bic", "postcode", "zip", "currency", "country", "language", "locale",
        "timezone", "unit", "clause", "coordinate", "coordinates", "amount", "quantity", "price", "month", "year", "weekday",
        "base64", "email", "phone", "hex", "isbn", "ean", "barcode", "mailbox", "domain",
    ];
    // What is unknown or unsupported is a name rather than a value, except after these.
    const UNKNOWN: [&str; 4] = ["unknown", "unsupported", "unrecognized", "unrecognised"];
    const OF_UNKNOWN: [&str; 8] = ["value", "unit", "color", "colour", "date", "timezone", "postcode", "id"];
    // `Invalid value for field: email` names the field.
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "field", "column", "property", "attribute", "parameter", "argument", "header", "option", "setting", "key", "variable",
        "type", "method", "class", "table", "function", "scheme",
    ];
    let words = || before.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let holds = |list: &[&str]| words().any(|word| list.contains(&word));
    let Some(last) = words().next_back().filter(|last| !NAMES.contains(last)) else { return false };
    let is_wrong = || holds(WRONG) || before.contains("not a valid ");
    (is_wrong() && (holds(VALUES) || LAST.contains(&last))) || (holds(&UNKNOWN) && OF_UNKNOWN.contains(&last))
}

/// Whether a text ends with the label of a value: `Customer: `, `actual: `.
pub fn labels_value(before: &str) -> bool {
    const LABELS: [&str; 9] =
        ["value", "actual", "input", "given", "title", "subject", "author", "recipient", "sender"];
    let mut words = before.rsplit(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.next().is_some_and(|last| LABELS.contains(&last) || THINGS.contains(&last))
}

/// Whether a text ends by saying that a list of what is allowed follows: `must be one of`.
pub fn announces_choice(before: &str) -> bool {
    let last = before.trim_end_matches(':').rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    // A plural is cut after a mask.
    let of_values = ["possible value", "allowed value", "valid value", "supported value", "accepted value"];
    of_values.iter().any(|end| before.ends_with(end))
        || matches!(
            last,
            "of" | "are" | "values" | "options" | "formats" | "allowed" | "supported" | "expected" | "choices"
        )
}

/// Whether a text ends by saying that an id follows: `found by id`. The text is in lower case.
pub fn announces_id(before: &str) -> bool {
    let mut words = before.rsplit(' ');
    let is_id = matches!(words.next(), Some("id" | "ids" | "uuid" | "guid" | "identifier"));
    is_id && matches!(words.next(), Some("by" | "with" | "for" | "of" | "having" | "has"))
}

/// Whether a word in the place of a value says why there is none.
pub fn is_reason(word: &str) -> bool {
    #[rustfmt::skip]
    const REASONS: &[&str] = &[
        "empty", "missing", "null", "nil", "none", "required", "expired", "negative", "overflow", "underflow", "duplicate",
        "unknown", "unsupported", "malformed", "truncated", "nan", "infinity", "reserved", "forbidden", "taken", "blank",
        "zero", "revoked", "deleted", "inactive", "disabled", "blocked", "exceeded", "mismatch", "conflict", "reversed",
    ];
    REASONS.iter().any(|reason| word.eq_ignore_ascii_case(reason))
}

/// Whether a key's value is the name of a thing: `objectName`, `request_id`. The name of a piece of code is none.
pub fn names_thing(key: &str) -> bool {
    const ENDS: [&str; 6] = ["name", "id", "key", "path", "file", "uri"];
    #[rustfmt::skip]
    const CODE: &[&str] = &[
        "column", "field", "table", "class", "type", "method", "property", "attribute", "parameter", "param", "module",
        "function", "host", "service", "index", "bucket", "container", "queue", "topic",
    ];
    if matches!(key, "resource" | "object" | "filename") {
        return true;
    }
    ENDS.iter().any(|end| {
        let Some(stem) = key.len().checked_sub(end.len()).filter(|at| *at > 0).and_then(|at| key.get(..at)) else {
            return false;
        };
        let last = &key[stem.len()..];
        let joined =
            last.get(1..) == end.get(1..) && last.starts_with(char::from(end.as_bytes()[0].to_ascii_uppercase()));
        let snake = stem.ends_with(['_', '-']) && last == *end;
        let stem = stem.trim_end_matches(['_', '-']);
        (joined || snake) && !CODE.iter().any(|code| stem.to_ascii_lowercase().ends_with(code))
    })
}

/// Whether a key names the caller's own end of a connection, whose address and port are data.
pub fn is_own_end(key: &str) -> bool {
    ["local", "laddr", "localAddress", "local_address", "localAddr"].contains(&key)
}

/// Whether a word announces a piece of code, whose name may end like a document's: `module pyarrow.parquet`.
pub fn announces_code(last: &str) -> bool {
    matches!(last, "module" | "package" | "class" | "type" | "namespace" | "import" | "named" | "function")
}

/// Whether a word labels the parameters of a statement.
pub fn labels_parameters(word: &str) -> bool {
    ["params", "parameters", "bindings"].iter().any(|label| word.eq_ignore_ascii_case(label))
}

/// Whether a word after this one names a user, judged by what is said of it: `user anna not found`.
pub fn is_said_user(last: &str, after: &str) -> bool {
    #[rustfmt::skip]
    const SAID: [&str; 11] = [
        " not found", " does not exist", " already exists", " is not ", " is locked", " is blocked", " is disabled", " is suspended",
        " not authorized", " not authorised", " has no access",
    ];
    matches!(last, "user" | "username" | "login") && SAID.iter().any(|said| after.starts_with(said))
}

//! Codes of how something ended: those of banks, invoices, directories and vendors, unlike the codes of coupons and places.

use super::labels;
use crate::text::split_rare;

/// The clause before a status, bytes.
pub const CLAUSE_BYTES: usize = 80;

/// What a code is of that says how something ended, unlike the code of a coupon or of a place.
#[rustfmt::skip]
pub const OUTCOMES: [&str; 22] = [
    "status", "error", "exit", "response", "return", "reply", "result", "http", "reason", "curl", "sql", "vendor",
    "native", "decline", "fault", "failure", "rejection", "refusal", "denial", "bounce", "alarm", "trouble",
];

/// The most digits of a code of letters and digits, and its most letters: `SHP-1042`.
const CODE_DIGITS_MAX: usize = 5;
const CODE_LETTERS_MAX: usize = 6;

/// The most digits of a code after `rejected with`, where a number of an order may stand: `EXC-042`.
const REASON_DIGITS_MAX: usize = 3;

/// The longest code of a bank or a network, bytes: `AC04`.
pub const SHORT_CODE_BYTES_MAX: usize = 5;

/// Whether a text may be a code that a vendor publishes: capital letters, then a number. A reference that is made for one
/// occurrence is longer, or mixes both.
pub fn is_outcome_code(text: &str) -> bool {
    let digits_at = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
    let (name, number) = text.split_at(digits_at);
    let letters = name.trim_end_matches(['-', '_', '.']);
    (1..=CODE_LETTERS_MAX).contains(&letters.len())
        && letters.bytes().all(|b| b.is_ascii_uppercase())
        && (1..=CODE_DIGITS_MAX).contains(&number.len())
        && number.bytes().all(|b| b.is_ascii_digit())
}

/// Whether the last words announce the code of an outcome: `return code R01`, `was declined with code R01`.
pub fn announces_outcome(core: &str, last: &str, second: &str, written: &str, is_short: bool) -> bool {
    #[rustfmt::skip]
    const ENDED: [&str; 14] = [
        "declined", "failed", "rejected", "refused", "denied", "bounced", "returned", "exited", "aborted", "ended",
        "terminated", "answered", "replied", "responded",
    ];
    const GIVEN: [&str; 3] = ["answered", "replied", "responded"];
    let before = || written.trim_end_matches([' ', ':', '=', '(', '[']);
    let ended =
        || before().strip_suffix(" with code").is_some_and(|before| ENDED.iter().any(|verb| before.ends_with(verb)));
    // `rejected with EXC-042`; goods are returned with a number, too.
    let with = || second != "returned" && ENDED.contains(&second) && !GIVEN.contains(&second);
    matches!(last, "errorcode" | "faultcode" | "returncode" | "resultcode")
        || last == "with" && with() && core.bytes().filter(u8::is_ascii_digit).count() <= REASON_DIGITS_MAX
        || last == "code"
            && (OUTCOMES.contains(&second) && (second != "return" || is_short)
                || second == "with" && is_short && ended())
}

/// `Unable to create record (code 21211)`: a number alone in brackets, unless it is the number of something.
pub fn is_lone_code(second: &str, written: &str, after: &str) -> bool {
    #[rustfmt::skip]
    const NUMBERED: [&str; 20] = [
        "item", "store", "branch", "location", "shop", "bank", "language", "unit", "region", "area", "site", "zone", "tax", "user", "order",
        "row",
        "member", "recipient", "sender", "owner",
    ];
    let is_numbered = labels::is_thing(second) || NUMBERED.contains(&second);
    #[rustfmt::skip]
    const FAILED: [&str; 12] = [
        "failed", "failure", "could not", "couldn't", "cannot", "can't", "unable", "error", "rejected", "refused", "declined", "bad request",
    ];
    let bracketed = ["(code ", "(code: ", "[code ", "[code: "].iter().find_map(|label| written.strip_suffix(label));
    let near =
        |before: &str| before[before.floor_char_boundary(before.len().saturating_sub(CLAUSE_BYTES))..].to_lowercase();
    let is_of_failure = |before: &str| FAILED.iter().any(|said| near(before).contains(said));
    after.starts_with([')', ']', ',']) && !is_numbered && bracketed.is_some_and(is_of_failure)
}

/// Whether a token is a code of a list that everybody has: rules of invoices, returns of banks, refusals of a directory.
pub fn is_published(core: &str, last: &str, written: &str, after: &str) -> bool {
    // Most tokens begin otherwise.
    let is_capital = core.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
    is_capital && is_rule(core, last)
        || is_capital && is_bank_code(core) && announces_bank_code(core, last, written, after)
        || last == "data" && is_of_ldap(core, written)
}

/// Whether a text is a rule of electronic invoices: `BR-CO-15`, `PEPPOL-EN16931-R010`. A plain number, `BR-02`, has to be called one.
fn is_rule(core: &str, last: &str) -> bool {
    const RULES: [&str; 5] = ["BR-", "PEPPOL-", "UBL-", "CII-", "XR-"];
    const DIGITS_MAX: usize = 3;
    let Some(rest) = RULES.iter().find_map(|start| core.strip_prefix(start)) else { return false };
    let number = rest.len() - rest.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let is_called = || matches!(last, "rule" | "rules" | "violates" | "violated" | "breaks" | "assertion");
    (1..=DIGITS_MAX).contains(&number)
        && rest.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-')
        && (rest.len() > number || is_called())
}

/// Whether a text has the form of a bank's reason for a return (ISO 20022's external codes, NACHA's return codes).
fn is_bank_code(core: &str) -> bool {
    #[rustfmt::skip]
    const REASONS: [&str; 19] = [
        "AC", "AG", "AM", "BE", "CN", "DS", "DT", "ED", "FF", "MD", "MS", "RC", "RF", "RR", "SL", "TD", "TM", "R", "C",
    ];
    let number = core.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let name = &core[..core.len() - number.len()];
    // `BE68` begins an IBAN.
    let is_low = || number.parse().is_ok_and(|number: u8| number <= ISO_CODE_MAX);
    number.len() == 2
        && number.bytes().all(|b| b.is_ascii_digit())
        && REASONS.contains(&name)
        && (name.len() == 1 || is_low())
}

/// The greatest number of an ISO 20022 code after its letters, with room for new ones.
const ISO_CODE_MAX: u8 = 30;

/// The length of a code of NACHA, `R01`, bytes. Those of ISO 20022 are longer.
const SHORT_BANK_CODE_BYTES: usize = 3;

/// Whether the last words say that a payment was returned: `direct debit was returned: `, `came back with `.
fn announces_bank_code(core: &str, last: &str, written: &str, after: &str) -> bool {
    #[rustfmt::skip]
    const PAYMENTS: [&str; 14] = [
        "debit", "payment", "transfer", "payout", "sepa", "ach", "pain.", "mandate", "refund", "collection", "credit", "bank", "rjct",
        "iban",
    ];
    // `transfer to the bin failed: R12 is full`
    let ends = after.is_empty()
        || after.starts_with([')', ',', '.', ';', ':', ']'])
        || after.starts_with(" (")
        || after.starts_with(" -");
    // `Direct debit AC04 for mandate 7`
    let announces = core.len() > SHORT_BANK_CODE_BYTES
        || matches!(last, "reason" | "code" | "because" | "return" | "returned" | "noc" | "with" | "as")
        || ends && [": ", "(", "[", "- "].iter().any(|sign| written.ends_with(sign));
    let near = || written[written.floor_char_boundary(written.len().saturating_sub(CLAUSE_BYTES))..].to_lowercase();
    // A letter and two digits may be a seat or a shelf.
    let is_short = core.len() <= SHORT_BANK_CODE_BYTES;
    let is_return =
        |near: &str| ["return", "reject", "ach", "failed", "came back"].iter().any(|word| near.contains(word));
    announces && {
        let near = near();
        PAYMENTS.iter().any(|word| near.contains(word)) && (!is_short || is_return(&near))
    }
}

/// Returns Active Directory's own reason in the text of an error: its data, or the code before it where there are none.
/// `80090308: LdapErr: DSID-0C090446, comment: AcceptSecurityContext error, data 52e`, `0000052D: SvcErr: DSID-031A, data 0`.
pub fn reason_of_directory(text: &str) -> Option<&str> {
    const CODE_BYTES: usize = 8;
    let is_hex =
        |text: &str| !text.is_empty() && text.len() <= CODE_BYTES && text.bytes().all(|b| b.is_ascii_hexdigit());
    let (before, after) = split_rare(text, "Err: DSID-")?;
    let code = before.split(':').next().filter(|code| is_hex(code));
    let data = after.split_once(" data ").and_then(|(_, data)| data.split(|c: char| !c.is_ascii_alphanumeric()).next());
    data.filter(|data| is_hex(data) && *data != "0").or(code)
}

/// Active Directory's own reason: `LdapErr: DSID-0C090449, comment: AcceptSecurityContext error, data 52e`.
fn is_of_ldap(core: &str, written: &str) -> bool {
    core.len() <= 4 && core.bytes().all(|b| b.is_ascii_hexdigit()) && written.contains("LdapErr")
}

/// `(#100) Invalid parameter`: the number that Meta's Graph API writes first. Its codes have at most three digits.
pub fn is_number_of_api(core: &str, after: &str) -> bool {
    core.len() <= 3 && core.bytes().all(|b| b.is_ascii_digit()) && after.starts_with(") ")
}

/// Whether a word, in lower case, is the name of a program whose errors have numbers.
pub fn is_vendor(word: &str) -> bool {
    matches!(
        word,
        "mysql" | "mariadb" | "oracle" | "mongodb" | "mongo" | "redis" | "kafka" | "db2" | "sqlite" | "postgres"
    )
}

/// Whether a number is the close code of a WebSocket (RFC 6455, section 7.4): `closed with 1006`.
pub fn is_close_code(core: &str, last: &str, second: &str) -> bool {
    core.len() == 4 && core.starts_with(['1', '3', '4']) && last == "with" && second == "closed"
}

/// Whether a word says that something failed, and names nothing that a number could be of.
pub fn is_failure(last: &str) -> bool {
    matches!(last, "failed" | "failure" | "error" | "aborted" | "cancelled" | "canceled" | "refused" | "rejected")
}

//! Codes of how something ended: those of banks, invoices, directories and vendors, unlike the codes of coupons and places.

use super::labels;

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
pub fn announces_outcome(last: &str, second: &str, written: &str, is_short: bool) -> bool {
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
        || last == "with" && with()
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
    written.ends_with("(code ") && after.starts_with(')') && !is_numbered
}

/// Whether a text is a rule of electronic invoices: `BR-CO-15`, `PEPPOL-EN16931-R010`.
pub fn is_rule(core: &str) -> bool {
    const RULES: [&str; 5] = ["BR-", "PEPPOL-", "UBL-", "CII-", "XR-"];
    RULES.iter().any(|start| core.starts_with(start))
        && core.ends_with(|c: char| c.is_ascii_digit())
        && core.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-')
}

/// Whether a text has the form of a bank's reason for a return (ISO 20022's external codes, NACHA's return codes).
pub fn is_bank_code(core: &str) -> bool {
    #[rustfmt::skip]
    const REASONS: [&str; 19] = [
        "AC", "AG", "AM", "BE", "CN", "DS", "DT", "ED", "FF", "MD", "MS", "RC", "RF", "RR", "SL", "TD", "TM", "R", "C",
    ];
    let number = core.trim_start_matches(|c: char| c.is_ascii_uppercase());
    REASONS.contains(&&core[..core.len() - number.len()])
        && number.len() == 2
        && number.bytes().all(|b| b.is_ascii_digit())
}

/// Whether the last words say that a payment was returned: `direct debit was returned: `, `came back with `.
pub fn announces_bank_code(last: &str, written: &str) -> bool {
    #[rustfmt::skip]
    const PAYMENTS: [&str; 14] = [
        "debit", "payment", "transfer", "payout", "sepa", "ach", "pain.", "mandate", "refund", "collection", "credit", "bank", "rjct",
        "iban",
    ];
    let announces = matches!(last, "reason" | "code" | "with" | "because") || written.ends_with(": ");
    let near = || written[written.floor_char_boundary(written.len().saturating_sub(CLAUSE_BYTES))..].to_lowercase();
    announces && PAYMENTS.iter().any(|word| near().contains(word))
}

/// Active Directory's own reason: `LdapErr: DSID-0C090449, comment: AcceptSecurityContext error, data 52e`.
pub fn is_of_ldap(core: &str, written: &str) -> bool {
    core.len() <= 4 && core.bytes().all(|b| b.is_ascii_hexdigit()) && written.contains("LdapErr")
}

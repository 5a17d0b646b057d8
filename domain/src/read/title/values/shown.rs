//! Which values a title may show: those with the form of a part of a program, where no word announces a person, a
//! secret or money.

use crate::limits::TITLE_VALUE_BYTES_MAX;
use crate::read::template;
use crate::reading::Diagnosis;
use alloc::string::ToString;

/// The most digits of a number, and of a name: an index, a size or a port. A customer's number often has more.
const DIGITS_MAX: usize = 5;
/// The most digits that a word of a name ends with, as in `shard-12`.
const WORD_DIGITS_MAX: usize = 3;
/// The parts of a version. Four numbers may be an address.
const VERSION_PARTS: usize = 3;
/// The longest number in a version, digits: longer ones are years.
const VERSION_DIGITS_MAX: usize = 3;
/// The words before a value that may say what it is.
const WORDS_BEFORE: usize = 3;
/// The words after it: `4711 is not a known customer`.
const WORDS_AFTER: usize = 5;
/// What comes before the name of a person in a path.
const HOMES: [&str; 2] = ["home/", "users/"];
/// Of so many letters of a name, one may be a capital that begins a word. Random ids have more of them.
const LETTERS_PER_CAPITAL: usize = 6;
/// The shortest text of a customer's id that is looked for within a value, bytes.
const ID_BYTES_MIN: usize = 3;

/// Parts of words that announce a person or a secret; the second half in other languages.
#[rustfmt::skip]
const PRIVATE: &[&str] = &[
    "access", "account", "address", "apikey", "auth", "bearer", "birth", "card", "client", "cookie", "credential",
    "customer", "employee", "guest", "iban", "login", "mail", "member", "name", "owner", "party", "passport",
    "passphrase", "passw", "patient", "person", "phone", "postal", "private", "pwd", "recipient", "secret", "session",
    "sign", "subscri", "tenant", "token", "user",
    "adresse", "clé", "compte", "contraseña", "cuenta", "dirección", "gebruiker", "geheim", "karte",
    "kennwort", "klant", "konto", "kund", "mandant", "mitarbeiter", "mitglied", "nombre", "nutzer", "passwort",
    "schlüssel", "senha", "usuario", "usuário", "utente", "utilisateur", "użytkown", "zugang", "клиент", "пароль",
    "пользовател", "客户", "密码", "用户", "顧客", "ユーザー", "パスワード", "고객", "사용자", "비밀번호",
];
/// Such words that are too short to be looked for within others.
#[rustfmt::skip]
const PRIVATE_WORDS: &[&str] = &[
    "bic", "dob", "frau", "herr", "key", "mme", "mr", "mrs", "nom", "otp", "pan", "pin", "plz", "ssn", "tax", "zip",
];
/// Parts of words that announce money; the second half in other languages.
#[rustfmt::skip]
const MONEY: &[&str] = &[
    "amount", "balance", "charge", "credit", "fee", "price", "refund", "salary", "total",
    "bedrag", "betrag", "gebühr", "guthaben", "importe", "importo", "kwota", "montant", "precio", "preis", "prezzo", "prix",
    "saldo", "solde", "summe", "valor", "сумм", "金额", "金額", "금액",
];

/// Whether a title may show this value between these words.
pub fn may_show((before, after): (&str, &str), value: &str) -> bool {
    let value = unquoted(value);
    value.len() <= TITLE_VALUE_BYTES_MAX
        && (is_number(value) || is_version(value) || is_name(value))
        && !template::is_given_name(value)
        && !is_private(before, after)
}

/// Whether the value, or the name that it is a part of, is what a letter says about its customer or its money.
pub fn is_of(diagnosis: &Diagnosis, before: &str, value: &str) -> bool {
    let value = unquoted(value);
    let name = [&before[name_at(before)..], value].concat();
    let holds = |whole: &str, part: &str| part.len() >= ID_BYTES_MIN && whole.contains(part);
    let is_about = |id: &str| id == value || holds(id, value) || holds(&name, id) || holds(id, &name);
    let impact = &diagnosis.impact;
    let ids = [&impact.customer, &diagnosis.tenant];
    let amount = impact.money.map(|money| money.amount.to_string());
    ids.into_iter().flatten().any(|id| is_about(id)) || amount.is_some_and(|amount| amount == value)
}

/// Returns a value without the quotation marks around it.
fn unquoted(value: &str) -> &str {
    let within = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
    ['\'', '"', '`'].into_iter().find_map(within).unwrap_or(value)
}

/// Returns where the name begins whose first part ends this text, as in `sku_*`; its end if there is none.
fn name_at(before: &str) -> usize {
    if !before.ends_with(['_', '-']) {
        return before.len();
    }
    let name = before.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'));
    name.len()
}

fn is_private(before: &str, after: &str) -> bool {
    let is_mark = |c: char| !c.is_alphanumeric();
    let words = || {
        let before = before.rsplit(is_mark).filter(|word| !word.is_empty()).take(WORDS_BEFORE);
        let after = after.split(is_mark).filter(|word| !word.is_empty()).take(WORDS_AFTER);
        before.chain(after).map(str::to_lowercase)
    };
    let is_home = || {
        let before = before.to_lowercase();
        HOMES.iter().any(|home| before.ends_with(home))
    };
    let announces = |parts: &[&str], word: &str| parts.iter().any(|part| word.contains(part));
    // A part of a name is no amount: `no price for sku_*`.
    let is_amount = name_at(before) == before.len() && words().any(|word| announces(MONEY, &word));
    is_amount
        || is_home()
        || template::is_titled(before)
        || before.ends_with(['$', '€', '£', '¥'])
        || words().any(|word| {
            PRIVATE_WORDS.contains(&word.as_str()) || announces(PRIVATE, &word) || template::is_person(&word)
        })
}

fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    is_digits(digits, DIGITS_MAX)
}

fn is_digits(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// Three numbers, such as `1.4.2` or `v2.0.11`. A number with marks between its thousands is an amount.
fn is_version(value: &str) -> bool {
    let numbers = value.strip_prefix('v').unwrap_or(value);
    let parts = || numbers.split('.');
    let is_amount = parts().skip(1).all(|part| part.len() == VERSION_DIGITS_MAX);
    let is_part = |part: &str| is_digits(part, VERSION_DIGITS_MAX) && (part == "0" || !part.starts_with('0'));
    parts().count() == VERSION_PARTS && parts().all(is_part) && !is_amount
}

/// Words and short numbers joined by marks, such as `eu-west-1` or `priceImport`.
fn is_name(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() > 1
        && value.starts_with(|c: char| c.is_ascii_alphabetic())
        && digits <= DIGITS_MAX
        && value.split(['_', '-']).all(|word| is_word(word) || is_digits(word, DIGITS_MAX))
}

/// Letters, and a few digits at the end.
fn is_word(word: &str) -> bool {
    let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let bytes = letters.as_bytes();
    let capitals = bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    !letters.is_empty()
        && letters.bytes().all(|b| b.is_ascii_alphabetic())
        && word.len() - letters.len() <= WORD_DIGITS_MAX
        && capitals * LETTERS_PER_CAPITAL <= letters.len()
}

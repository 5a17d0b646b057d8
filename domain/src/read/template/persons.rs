//! Names of persons and firms, known by the word before them: `Kunde Anna Berg`, `for J. R. Smith`, `client Nordlicht Ltd.`
//!
//! A noun of persons that is written as its language writes it in a sentence announces a name: two capitalised words that
//! are no words of errors. Where such a noun may begin a heading (`Customer Self Service`), after a noun of persons and of
//! programs (`client`) and after a preposition, the name itself must look like one: a given name, initials, or the form
//! of a firm.

use super::given_names::{is_also_given_name, is_given_name};
use super::{Scanner, labels, shapes, things, words};
use crate::read::vocabulary;

/// The most words of a name after its first.
pub const MORE_WORDS_MAX: usize = 5;
/// The longest word of a name, bytes.
const WORD_BYTES_MAX: usize = 40;

/// English nouns of persons and firms, in lower case: capitalised words after one of them are a name.
#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "customer", "patient", "employee", "passenger", "user", "member", "contact", "supplier", "vendor", "tenant",
    "recipient", "sender", "owner", "guest", "student", "teacher", "candidate", "applicant", "claimant", "beneficiary",
    "policyholder", "cardholder", "subscriber", "payee", "payer", "courier",
];

/// The same in other languages that write nouns in lower case.
#[rustfmt::skip]
const ABROAD: &[&str] = &[
    "cliente", "usuario", "usuaria", "destinatario", "destinataria", "empleado", "empleada", "paciente", "proveedor",
    "utilisateur", "utilisatrice", "destinataire", "employé", "employée", "patiente", "fournisseur", "abonné", "abonnée",
    "utente", "dipendente", "paziente", "fornitore", "usuário", "usuária", "destinatário", "funcionário", "fornecedor",
    "klant", "gebruiker", "ontvanger", "medewerker", "leverancier", "klient", "użytkownik", "odbiorca", "kund", "användare",
    "mottagare", "bruger", "modtager",
];

/// German nouns of persons and firms, in lower case. German writes them with a capital.
#[rustfmt::skip]
const GERMAN: &[&str] = &[
    "kunde", "kundin", "kunden", "mandant", "mandantin", "mandanten", "empfänger", "empfängerin", "absender", "absenderin",
    "benutzer", "benutzerin", "nutzer", "nutzerin", "mitarbeiter", "mitarbeiterin", "lieferant", "lieferantin", "lieferanten",
    "patient", "patientin", "patienten", "besteller", "bestellerin", "käufer", "käuferin", "verkäufer", "verkäuferin",
    "inhaber", "inhaberin", "kontoinhaber", "karteninhaber", "mieter", "mieterin", "schüler", "schülerin", "bewerber",
    "bewerberin", "fahrer", "fahrerin", "ansprechpartner", "ansprechpartnerin", "teilnehmer", "teilnehmerin", "versicherter",
    "versicherte", "firma", "gläubiger", "schuldner", "zahler",
];

/// Nouns of persons that are nouns of programs too, or verbs: one capitalised word after them may be anything.
const OF_MORE: &[&str] =
    &["user", "member", "contact", "supplier", "vendor", "tenant", "sender", "owner", "subscriber"];

/// Nouns of persons and of programs, and labels of names.
const HEADINGS: &[&str] = &["client", "name", "partner", "klantnaam", "nombre", "nom", "nome", "naam"];

/// Prepositions after which a name must look like one: what is named may be a program, a table or a field.
#[rustfmt::skip]
const PREPOSITIONS: &[&str] = &[
    "for", "to", "from", "by", "of", "with", "für", "an", "von", "bei", "mit", "durch", "pour", "avec", "para", "por", "con", "per",
    "voor", "door", "dla", "för", "till",
];

/// Small words inside names: `van`, `de la`, and what joins the names of a firm.
#[rustfmt::skip]
pub const PARTICLES: &[&str] =
    &["van", "von", "vom", "zu", "zur", "de", "der", "den", "ter", "di", "da", "do", "dos", "del", "della", "la", "le", "al", "bin", "y", "&"];

/// The forms of firms.
#[rustfmt::skip]
pub const FIRMS: &[&str] = &[
    "AB", "AG", "AS", "ApS", "BV", "Co", "Corp", "GbR", "GmbH", "Inc", "KG", "Kft", "LLC", "LLP", "Lda", "Limited", "Ltd", "Ltda", "NV", "OHG",
    "Oy", "PLC", "S.A", "S.L", "S.p.A", "SA", "SARL", "SAS", "SE", "SL", "SRL", "SpA", "UG", "e.K", "e.V", "mbH", "plc",
];

/// Nouns that a person's noun may stand before, and that the vocabulary of errors lacks.
#[rustfmt::skip]
const NOUNS: &[&str] = &[
    "order", "data", "server", "max", "min", "portal", "center", "centre", "store", "shop", "support", "management", "manager", "registry",
    "repository", "controller", "context", "pool", "desk", "journey", "experience", "care", "success", "experience", "input", "name",
    "adresse", "anschrift", "artikel", "auftrag", "bank", "bestand", "datei", "daten", "dienst", "fehler", "feld", "firma", "gruppe",
    "id", "karte", "kennwort", "konto", "lager", "liste", "nummer", "passwort", "portal", "produkt", "schlüssel", "spalte", "status",
    "tabelle", "typ", "vertrag", "zugang", "zugriff", "zeile", "eintrag", "antrag", "beleg", "termin", "stelle", "ort", "land", "preis", "betrag",
    "ist", "hat", "kann", "war", "sind", "muss", "darf", "soll", "wird", "bereits", "nicht", "kein", "keine", "mit", "ohne", "und",
    "compte", "adresse", "carte", "commande", "facture", "cuenta", "tarjeta", "dirección", "pedido", "factura", "conto", "carta", "ordine",
    "indirizzo", "conta", "cartão", "rekening", "bestelling", "adres",
];

/// The endings of nouns that are no names.
#[rustfmt::skip]
const ENDS_OF_NOUNS: &[&str] = &[
    "ung", "ungen", "heit", "keit", "schaft", "ität", "tion", "sion", "tions", "daten", "konto", "nummer", "adresse", "liste", "karte",
    "schein", "dienst", "gruppe", "datei", "system", "stelle", "termin", "ción", "zione", "ção", "ness", "ment", "ware",
];
/// The shortest noun with such an ending, bytes.
const NOUN_BYTES_MIN: usize = 7;

/// Titles of courtesy and of scholars.
#[rustfmt::skip]
const TITLES: &[&str] = &[
    "Mr", "Mrs", "Ms", "Miss", "Mx", "Sir", "Dr", "Prof", "Frau", "Herr", "Herrn", "Fräulein", "Monsieur", "Madame", "Mme",
    "Mlle", "Señor", "Señora", "Sr", "Sra", "Srta", "Signor", "Signora", "Sig", "Senhor", "Senhora", "Mevrouw", "Meneer",
    "Pan", "Pani",
];

/// Whether a text ends in a title of courtesy, after which a capitalised word is a person's name.
pub fn is_titled(text: &str) -> bool {
    let Some(before) = text.strip_suffix(' ') else { return false };
    let before = before.strip_suffix('.').unwrap_or(before);
    before.rsplit(|c: char| !c.is_alphabetic()).next().is_some_and(|last| TITLES.contains(&last))
}

/// Whether a word, in lower case, is a noun of persons or firms.
pub fn is_person(word: &str) -> bool {
    ENGLISH.contains(&word) || ABROAD.contains(&word) || GERMAN.contains(&word)
}

/// How sure the word before it makes a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Announced {
    /// One capitalised word is a name.
    Word,
    /// Two capitalised words are a name.
    Words,
    /// A name must look like one, or have the words of one: `Müller & Söhne`, `Anna van Dam`.
    Heading,
    /// A name must look like one.
    Nothing,
    /// A title of courtesy: every capitalised word is a name.
    Title,
}

/// Whether a capitalised word is an ordinary one of errors, or the name of a piece of code.
pub fn is_ordinary(word: &str) -> bool {
    let lower = word.to_lowercase();
    let is_known = |word: &str| {
        vocabulary::holds(word)
            || NOUNS.contains(&word)
            || words::BEFORE_A_NAME.contains(&word)
            || is_person(word)
            || labels::THINGS.contains(&word)
    };
    let begins_surname = ["Mc", "Mac", "De", "Di", "Du", "La", "Le", "Van"].iter().any(|begin| word.starts_with(begin));
    is_known(&lower)
        || is_known(&words::singular(&lower))
        || things::is_of_sentences(&lower)
        || things::is_part(&lower)
        || things::is_currency(word)
        || (shapes::is_code_name(word) && !begins_surname && !word.contains('-'))
        || (lower.len() >= NOUN_BYTES_MIN && ENDS_OF_NOUNS.iter().any(|end| lower.ends_with(end)))
}

/// Whether a word is one or more initials without the last stop: `J`, `J.R`.
fn is_initials(word: &str) -> bool {
    word.split('.').all(|part| part.chars().count() == 1 && part.chars().all(char::is_uppercase))
}

fn is_capitals(word: &str) -> bool {
    word.chars().count() > 1 && word.chars().all(|c| !c.is_lowercase())
}

/// Returns the next word of a text after its blank; an apostrophe between letters belongs to it.
fn next_word(text: &str) -> Option<&str> {
    let word = text.strip_prefix(' ')?;
    let mut before = ' ';
    let mut end = word.len();
    for (at, c) in word.char_indices() {
        let in_name = matches!(c, '\'' | '’')
            && before.is_alphabetic()
            && word[at + c.len_utf8()..].starts_with(char::is_alphabetic);
        if at > WORD_BYTES_MAX || c.is_whitespace() || (shapes::is_delimiter(c) && !in_name) {
            end = at;
            break;
        }
        before = c;
    }
    Some(&word[..end]).filter(|word| !word.is_empty() && word.len() <= WORD_BYTES_MAX)
}

/// A name as far as it was read.
struct Name {
    /// Its words without small ones.
    count: usize,
    /// The bytes after its first word.
    end: usize,
    /// Whether it looks like a name wherever it stands.
    is_sure: bool,
    /// Whether it begins with an initial or a title.
    has_initials: bool,
    has_particle: bool,
    is_capitals: bool,
    /// Whether an ordinary word with a capital follows it.
    goes_on: bool,
}

impl Name {
    fn begin(first: &str, has_initials: bool) -> Self {
        Self {
            has_initials,
            count: 1,
            end: 0,
            is_sure: is_given_name(first),
            has_particle: false,
            is_capitals: is_capitals(first),
            goes_on: false,
        }
    }

    /// Reads the words after the first one.
    fn read(&mut self, after: &str, may_be_ordinary: bool) {
        let (mut at, mut has_initials) = (0, self.has_initials);
        let is_given = self.is_sure;
        for _ in 0..MORE_WORDS_MAX {
            let Some(whole) = next_word(&after[at..]) else { break };
            let word = whole.trim_end_matches([':', '.', '!', '?']);
            let initials = is_initials(word) || TITLES.contains(&word);
            if PARTICLES.contains(&word) {
                at += 1 + whole.len();
                self.has_particle = true;
                continue;
            }
            let is_firm = FIRMS.contains(&word);
            let surname = is_given && self.count == 1 && may_be_ordinary && !NOUNS.contains(&&*word.to_lowercase());
            if !word.starts_with(char::is_uppercase) && !is_firm {
                break;
            }
            if !is_firm && !initials && is_ordinary(word) && !surname {
                self.goes_on = true;
                break;
            }
            let stop = usize::from((initials || is_firm) && whole[word.len()..].starts_with('.'));
            at += 1 + word.len() + stop;
            self.end = at;
            self.count += 1;
            has_initials |= initials;
            self.is_sure |= is_firm;
            self.is_capitals &= is_capitals(word);
            if word.len() + stop < whole.len() || is_firm {
                break;
            }
        }
        // `Meier, Anna`
        let given = may_be_ordinary.then(|| next_word(after[self.end..].strip_prefix(',')?)).flatten();
        if let Some(given) = given.filter(|given| self.count == 1 && is_given_name(given)) {
            self.end += ", ".len() + given.len();
            self.count += 1;
            self.is_sure = true;
        }
        self.has_particle &= self.count > 1;
        self.is_sure |= has_initials && self.count > 1;
    }
}

impl Scanner<'_> {
    /// Returns how many bytes after this word belong to the name of a person or firm that it begins, after a word that
    /// announces one. `tail` are the marks that end the word.
    pub(super) fn persons_name(&self, core: &str, tail: &str) -> Option<usize> {
        if !core.starts_with(char::is_uppercase) || core.len() > WORD_BYTES_MAX {
            // `customer zoë`
            let is_foreign =
                tail.is_empty() && things::has_foreign(core) && ENGLISH.contains(&self.out.before[0].as_str());
            return (is_foreign && self.announced() == Some(Announced::Word)).then_some(0);
        }
        const LABELS: [&str; 6] = ["Nr", "No", "Num", "Number", "Id", "ID"];
        let announced = self.announced()?;
        if LABELS.contains(&core) {
            return None;
        }
        let is_title = announced != Announced::Nothing && TITLES.contains(&core);
        let initials = tail == "." && (is_initials(core) || is_title);
        let is_given = is_given_name(core) || is_also_given_name(core);
        if !(initials || is_given || announced == Announced::Title) && is_ordinary(core) {
            return None;
        }
        let mut name = Name::begin(core, initials);
        if tail.is_empty() || initials {
            name.read(self.rest(), announced != Announced::Nothing);
        }
        let is_weak = !(name.is_capitals || name.goes_on && name.count == 1);
        let is_name = match announced {
            Announced::Heading if name.has_particle => name.count > 1 && !name.is_capitals,
            _ if name.is_sure => announced != Announced::Nothing || !(name.goes_on && name.count == 1),
            Announced::Word => {
                let is_said = name.count > 1 && !self.out.before[1].is_empty() || self.says_more(name.end);
                is_weak && !initials && (is_given || is_said)
            }
            Announced::Title => !initials || name.count > 1,
            Announced::Words => is_weak && name.count > 1,
            Announced::Heading | Announced::Nothing => name.count > 1 && !name.goes_on && is_also_given_name(core),
        };
        is_name.then_some(name.end)
    }

    /// `agent @carol_w`: the handle of a person.
    pub(super) fn is_handle(&self, chunk: &str) -> bool {
        let Some(handle) = chunk.strip_prefix('@') else { return false };
        let last = self.out.before[0].as_str();
        (is_person(last) || matches!(last, "agent" | "by" | "author" | "assignee" | "reviewer"))
            && handle.starts_with(|c: char| c.is_ascii_lowercase())
            && handle.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-' | b'.'))
    }

    /// Whether the message goes on after a word as it does after a name. `Kunde Mahnsperre`, `Kunde Müller Mahnsperre` and
    /// `Patient Height missing` are no names.
    fn says_more(&self, end: usize) -> bool {
        const OF_FIELDS: [&str; 8] =
            ["missing", "required", "invalid", "empty", "fehlt", "fehlend", "ungültig", "manquant"];
        let after = self.rest()[end..].trim_start_matches([' ', ':', ',', '.']);
        next_word(&self.rest()[end..]).is_some_and(|word| !OF_FIELDS.contains(&word)) && !after.is_empty()
    }

    /// Whether the text so far ends with a word that announces a name, and how.
    fn announced(&self) -> Option<Announced> {
        let [last, second] = [self.out.before[0].as_str(), self.out.before[1].as_str()];
        if last.is_empty() {
            return None;
        }
        if is_titled(&self.out.text) {
            return Some(Announced::Title);
        }
        let text = self.out.text.strip_suffix(' ')?;
        let (text, is_label) = text.strip_suffix(':').map_or((text, false), |text| (text, true));
        let from = text.len().checked_sub(last.len())?;
        let word = text.get(from..).filter(|word| word.eq_ignore_ascii_case(last))?;
        let is_capital = word.starts_with(char::is_uppercase);
        // `Please contact Microsoft Support`
        let is_verb = last == "contact" && matches!(second, "please" | "" | "or" | "to" | "must" | "and");
        if is_verb {
            return None;
        }
        let of_german = GERMAN.contains(&last);
        let of_persons = is_person(last);
        if of_german || (of_persons && !is_capital) {
            let is_one = !is_label && !OF_MORE.contains(&last);
            return Some(if is_one { Announced::Word } else { Announced::Words });
        }
        // `Customer Bo Li has not paid`: the noun has its capital from the beginning of the message.
        let begins = of_persons && second.is_empty() && self.out.text.len() == last.len() + 1;
        if begins && !is_label && !OF_MORE.contains(&last) {
            return Some(Announced::Words);
        }
        if of_persons || HEADINGS.contains(&last) {
            return Some(Announced::Heading);
        }
        // `requested by: Bo Li`
        if is_label && last == "by" && second.ends_with("ed") {
            return Some(Announced::Words);
        }
        // `is being edited by Bo Li`
        #[rustfmt::skip]
        const DONE: [&str; 10] = [
            "edited", "requested", "created", "approved", "assigned", "reviewed", "uploaded", "written", "signed", "opened",
        ];
        if !is_label && last == "by" && DONE.contains(&second) {
            return Some(Announced::Words);
        }
        (!is_label && PREPOSITIONS.contains(&last)).then_some(Announced::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_words_are_no_names() {
        for word in ["Konto", "Rechnung", "Nicht", "Service", "Accounts", "EUR", "HttpClient", "Kundendaten"] {
            assert!(is_ordinary(word), "{word}");
        }
        for word in ["Berg", "Smith", "McDonald", "Weber", "Kowalska", "Müller"] {
            assert!(!is_ordinary(word), "{word}");
        }
    }
}

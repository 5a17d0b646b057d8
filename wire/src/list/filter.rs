//! The filter language: `queue:pay class:transient at-risk:>1000 age:>1h -consumer:x "some text"`.
//!
//! An unrecognized term is never dropped silently: it stays in the filter, is shown as unrecognized, and matches every
//! row.

use super::fold::folded;
use super::words;
use crate::GroupRow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use domain::money::{Currency, Decimal, Money};
use domain::time::{Span, Timestamp};

/// The keys, each with an example for the help.
pub const KEYS: [(&str, &str); 13] = [
    ("queue", "queue:payments"),
    ("consumer", "consumer:orders"),
    ("class", "class:transient"),
    ("category", "category:timeout"),
    ("step", "step:growing"),
    ("owner", "owner:ana"),
    ("is", "is:discarded"),
    ("id", "id:3f9c"),
    ("letters", "letters:>100"),
    ("at-risk", "at-risk:>1000EUR"),
    ("customers", "customers:>10"),
    ("age", "age:>1h"),
    ("expires", "expires:<24h"),
];

/// A filter. A row passes if it satisfies every term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The terms in the order in which they were typed.
    pub terms: Vec<Term>,
}

/// One term of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The text as typed.
    pub text: String,
    /// Whether the term excludes the rows that it matches.
    pub not: bool,
    /// The test, or `None` if the term is not recognized.
    pub test: Option<Test>,
}

/// The test of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// The title, culprit, queue or consumer contains the text, or the ID starts with it.
    Anywhere(String),
    /// The field contains the text.
    Field(Field, String),
    /// The figure compares to the value.
    Figure(Figure, Compare, Decimal),
    /// The money at risk compares to the value: the sum in this currency; without one, the converted total, or the sum in
    /// any one currency if there are no rates.
    AtRisk(Compare, Decimal, Option<Currency>),
}

/// A text field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The main queue.
    Queue,
    /// The consuming service.
    Consumer,
    /// The class: transient, permanent or unknown.
    Class,
    /// The category of the failure.
    Category,
    /// The next step.
    Step,
    /// The owner.
    Owner,
    /// The state: open, closed, resolved, discarded, paused and so on.
    Is,
    /// The group's ID, matched by prefix.
    Id,
}

/// A numeric field. Time spans are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Open letters.
    Letters,
    /// Affected customers.
    Customers,
    /// The age of the oldest open letter.
    Age,
    /// The time until the first open letter expires.
    Loss,
}

/// A comparison of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `>` or `>=`: at least.
    AtLeast,
    /// `<` or `<=`: at most.
    AtMost,
    /// No operator: equal.
    Equal,
}

impl Filter {
    /// Parses a filter. Every text is valid.
    pub fn parse(text: &str) -> Self {
        Self { terms: split(text).iter().map(|word| term(word)).collect() }
    }

    /// Returns whether every row passes.
    pub fn is_empty(&self) -> bool {
        self.terms.iter().all(|term| term.test.is_none())
    }

    /// Returns whether a row passes.
    pub fn matches(&self, row: &GroupRow, now: Timestamp) -> bool {
        self.terms.iter().all(|term| term.test.as_ref().is_none_or(|test| test.holds(row, now) != term.not))
    }

    /// Returns the filter's text without the term at an index.
    pub fn without(&self, at: usize) -> String {
        let kept = self.terms.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, term)| term.text.as_str());
        kept.collect::<Vec<_>>().join(" ")
    }
}

/// Splits at white space outside quotes. A missing closing quote closes at the end.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => {
                quoted = !quoted;
                word.push(c);
            }
            c if c.is_whitespace() && !quoted => {
                if !word.is_empty() {
                    words.push(core::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn term(text: &str) -> Term {
    let (not, asked) = match text.strip_prefix('-') {
        Some(asked) if !asked.is_empty() => (true, asked),
        _ => (false, text),
    };
    Term { text: text.to_string(), not, test: test(asked) }
}

fn test(text: &str) -> Option<Test> {
    let anywhere = |text: &str| {
        let text = unquoted(text);
        (!text.is_empty()).then_some(Test::Anywhere(text))
    };
    // Quoted text is plain text. So is a word whose part before the colon cannot be a key (`db.rs:130`).
    let Some((key, value)) = text.split_once(':').filter(|(key, _)| is_key_like(key)) else {
        return anywhere(text);
    };
    let value = unquoted(value);
    let field = |field| (!value.is_empty()).then(|| Test::Field(field, value.clone()));
    match key.to_ascii_lowercase().as_str() {
        "queue" => field(Field::Queue),
        "consumer" => field(Field::Consumer),
        "class" => field(Field::Class),
        "category" => field(Field::Category),
        "step" | "next" => field(Field::Step),
        "owner" => field(Field::Owner),
        "is" => field(Field::Is),
        "id" => field(Field::Id),
        "letters" => figure(Figure::Letters, &value),
        "at-risk" | "risk" => at_risk(&value),
        "customers" => figure(Figure::Customers, &value),
        "age" => figure(Figure::Age, &value),
        "expires" | "loss" => figure(Figure::Loss, &value),
        _ => None,
    }
}

fn is_key_like(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
}

fn unquoted(text: &str) -> String {
    folded(text.replace('"', "").trim())
}

fn compared(value: &str) -> (Compare, &str) {
    match value.as_bytes() {
        [b'>', b'=', ..] => (Compare::AtLeast, &value[2..]),
        [b'<', b'=', ..] => (Compare::AtMost, &value[2..]),
        [b'>', ..] => (Compare::AtLeast, &value[1..]),
        [b'<', ..] => (Compare::AtMost, &value[1..]),
        _ => (Compare::Equal, value),
    }
}

fn figure(figure: Figure, value: &str) -> Option<Test> {
    let (compare, value) = compared(value);
    let value = match figure {
        Figure::Age | Figure::Loss => span_ms(value)?,
        _ => number(value)?,
    };
    Some(Test::Figure(figure, compare, value))
}

fn number(text: &str) -> Option<Decimal> {
    // Not `parse`, which also takes `1e3` and rounds: that is 1 kB of the dashboard's first load.
    Decimal::from_str_exact(text.replace([',', '_'], "").trim()).ok()
}

/// Parses `>1000`, `>1000EUR` or `<=5 usd`.
fn at_risk(value: &str) -> Option<Test> {
    let (compare, value) = compared(value);
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let currency = &value[digits.len()..];
    let currency = if currency.is_empty() { None } else { Some(Currency::parse(currency)?) };
    Some(Test::AtRisk(compare, number(digits)?, currency))
}

impl Compare {
    fn holds(self, figure: Decimal, value: Decimal) -> bool {
        match self {
            Self::AtLeast => figure >= value,
            Self::AtMost => figure <= value,
            Self::Equal => figure == value,
        }
    }
}

/// Parses `30s`, `90min`, `90m`, `1h` or `2d` into milliseconds.
fn span_ms(text: &str) -> Option<Decimal> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let (figure, unit) = text.split_at(digits);
    let unit_ms: i64 = match unit.trim() {
        "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Decimal::from_str_exact(figure).ok()?.checked_mul(unit_ms.into())
}

impl Test {
    fn holds(&self, row: &GroupRow, now: Timestamp) -> bool {
        match self {
            Self::Anywhere(text) => {
                let texts = [Some(&row.title), row.culprit.as_ref(), Some(&row.queue), row.consumer.as_ref()];
                texts.into_iter().flatten().any(|field| has(field, text)) || row.id.as_str().starts_with(text)
            }
            Self::Field(field, text) => field_has(*field, row, text),
            Self::Figure(figure, compare, value) => {
                row_figure(*figure, row, now).is_some_and(|figure| compare.holds(figure, *value))
            }
            Self::AtRisk(compare, value, currency) => {
                let total = row.about.as_slice().iter().filter(|_| currency.is_none());
                let is_of = |sum: &&Money| currency.is_none_or(|currency| sum.currency == currency);
                let sums = row.open.money.sums().iter().filter(is_of);
                let mut compared: Vec<Decimal> = total.map(|sum| sum.amount).collect();
                if compared.is_empty() {
                    compared.extend(sums.map(|sum| sum.amount));
                }
                compared.into_iter().any(|amount| compare.holds(amount, *value))
            }
        }
    }
}

fn has(field: &str, text: &str) -> bool {
    folded(field).contains(text)
}

/// People write `schema_violation`, `schema-violation` and `schema violation` for the same category.
fn has_words(field: &str, text: &str) -> bool {
    has(field, &text.replace(['_', '-'], " "))
}

fn field_has(field: Field, row: &GroupRow, text: &str) -> bool {
    match field {
        Field::Queue => has(&row.queue, text),
        Field::Consumer => row.consumer.as_ref().is_some_and(|consumer| has(consumer, text)),
        Field::Class => has(words::class(row.class()), text) || has(words::classified(&row.classification), text),
        Field::Category => has_words(words::category(row.classification.category), text),
        Field::Step => has_words(&row.next.label(), text),
        Field::Owner => row.owner.as_ref().is_some_and(|owner| has(owner, text)),
        Field::Is if text == "open" => row.is_open(),
        Field::Is if text == "closed" => !row.is_open(),
        Field::Is => row.state.as_str().replace('_', "-").starts_with(text),
        Field::Id => row.id.as_str().starts_with(text),
    }
}

fn row_figure(figure: Figure, row: &GroupRow, now: Timestamp) -> Option<Decimal> {
    let ms = |span: Span| Decimal::from(span.as_ms());
    match figure {
        Figure::Letters => Some(row.open.letters.into()),
        Figure::Customers => Some(row.customers.number().into()),
        Figure::Age => row.oldest_sent_at.map(|at| ms(now.since(at))),
        Figure::Loss => row.loss_at.map(|at| ms(at.since(now))),
    }
}

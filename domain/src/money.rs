//! Money: an exact decimal and an ISO 4217 currency. Never a float.

mod shown;

pub use self::shown::{Amount, amount};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
pub use rust_decimal::Decimal;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// An ISO 4217 alphabetic code, three upper-case letters, for example `EUR`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(try_from = "String", into = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    /// Parses a code in either case. Returns `None` unless it is three ASCII letters.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 3] = text.trim().as_bytes().try_into().ok()?;
        bytes.iter().all(u8::is_ascii_alphabetic).then(|| Self(bytes.map(|b| b.to_ascii_uppercase())))
    }

    /// The three letters.
    pub fn as_str(&self) -> &str {
        // Three ASCII letters are text. `XXX` is ISO 4217's code for no currency.
        core::str::from_utf8(&self.0).unwrap_or("XXX")
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.as_str().into()
    }
}

impl TryFrom<String> for Currency {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("a currency must have three letters, for example EUR (ISO 4217)")
    }
}

/// An amount in one currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Money {
    /// The amount in the currency's major unit, for example `12.50`; a string in JSON, so that no parser rounds it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    #[serde(deserialize_with = "exact")]
    pub amount: Decimal,
    /// The currency.
    pub currency: Currency,
}

/// Parses the only accepted form of an amount. `Decimal`'s own deserializer also accepts floats.
fn exact<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
    let text = String::deserialize(deserializer)?;
    Decimal::from_str_exact(&text)
        .map_err(|_| D::Error::custom("an amount must be a decimal in a string, for example \"12.50\""))
}

/// Sums of money, at most one per currency, ordered by code, never zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Purse(Vec<Money>);

impl Purse {
    /// Returns an empty purse.
    pub const fn empty() -> Self {
        Self(Vec::new())
    }

    /// Returns the sums, ordered by currency.
    pub fn sums(&self) -> &[Money] {
        &self.0
    }

    /// Whether it contains no money.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds an amount. A sum beyond 28 digits saturates instead of overflowing.
    pub fn add(&mut self, money: Money) {
        match self.0.binary_search_by(|m| m.currency.cmp(&money.currency)) {
            Ok(at) => {
                self.0[at].amount = self.0[at].amount.saturating_add(money.amount);
                if self.0[at].amount.is_zero() {
                    self.0.remove(at);
                }
            }
            Err(at) if !money.amount.is_zero() => self.0.insert(at, money),
            Err(_) => {}
        }
    }

    /// Subtracts an amount. The result may be negative, because a difference of purses is a purse too.
    pub fn subtract(&mut self, money: Money) {
        self.add(Money { amount: -money.amount, ..money });
    }

    /// Adds every sum of another purse.
    pub fn add_all(&mut self, other: &Self) {
        for money in &other.0 {
            self.add(*money);
        }
    }
}

impl From<Option<Money>> for Purse {
    fn from(money: Option<Money>) -> Self {
        let mut purse = Self::empty();
        if let Some(money) = money {
            purse.add(money);
        }
        purse
    }
}

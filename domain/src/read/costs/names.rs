//! Finds amounts, customers and deadlines by common names in the upper levels of a body.

use super::amount::{amount_object, decimal};
use super::{is_customer, moment};
use crate::money::Currency;
use crate::read::json::{Index, Raw};
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Amount,
    /// In the minor unit, for example cents.
    AmountMinor,
    Currency,
    Customer,
    Deadline,
}

/// The names, the best of each kind first, in lower case without `_` and `-`.
const NAMES: &[(Slot, &[&str])] = &[
    (
        Slot::Amount,
        &[
            "totalamount",
            "grandtotal",
            "ordertotal",
            "amounttotal",
            "amount",
            "total",
            "amountdue",
            "paymentamount",
            "price",
            "totalprice",
        ],
    ),
    (
        Slot::AmountMinor,
        &[
            "totalamountcents",
            "totalcents",
            "amountcents",
            "amountminor",
            "amountinminor",
            "amountincents",
            "totalminor",
            "pricecents",
            "minorunits",
        ],
    ),
    (Slot::Currency, &["currency", "currencycode", "currencyiso", "isocurrency", "amountcurrency"]),
    (
        Slot::Customer,
        &[
            "customerid",
            "customer",
            "customernumber",
            "userid",
            "user",
            "accountid",
            "account",
            "clientid",
            "buyerid",
            "buyer",
            "memberid",
        ],
    ),
    (
        Slot::Deadline,
        &[
            "deadline",
            "deadlineat",
            "expiresat",
            "expireat",
            "expires",
            "expiry",
            "expiration",
            "validuntil",
            "dueat",
            "due",
            "duedate",
            "notafter",
        ],
    ),
];
const CUSTOMER_IDS: &[&str] = &["id", "customerid", "userid", "uuid", "number", "email"];

/// How many levels and how many members are searched.
const DEPTH_MAX: usize = 3;
const MEMBERS_MAX: usize = 512;
/// Longer keys are not common names.
const NAME_BYTES_MAX: usize = 32;
/// The rank that one level of depth adds: more than any rank within a list.
const LEVEL_RANK: usize = 100;

/// An amount that was found.
pub struct Amount<'a> {
    rank: usize,
    /// The number.
    pub raw: Raw<'a>,
    /// Whether it is in the minor unit.
    pub minor: bool,
    /// The index of its object, its key in that object, and the key inside the value if the value is an object.
    pub at: usize,
    pub key: &'a str,
    pub inner: Option<&'static str>,
}

/// A customer that was found.
pub struct Customer<'a> {
    rank: usize,
    /// The id.
    pub id: String,
    /// The index of its object, its key in that object, and the key inside the value if the value is an object.
    pub at: usize,
    pub key: &'a str,
    pub inner: Option<&'a str>,
}

/// The best candidate of each kind.
#[derive(Default)]
pub struct Found<'a> {
    pub amount: Option<Amount<'a>>,
    pub currency: Option<Currency>,
    pub customer: Option<Customer<'a>>,
    /// Its rank, the index of its object, its key in that object, the deadline.
    pub deadline: Option<(usize, usize, &'a str, Timestamp)>,
    /// Whether the body is an EventBridge event.
    event: bool,
    /// The objects that were searched.
    objects: Vec<Object<'a>>,
}

struct Object<'a> {
    parent: usize,
    key: &'a str,
    raw: Option<Raw<'a>>,
    depth: usize,
}

/// Searches the upper levels breadth first, so that `amount` beats `lines.0.amount`.
pub fn find<'a>(members: &Index<'a>) -> Found<'a> {
    let mut found = Found { event: members.get("detail-type").is_some(), ..Found::default() };
    found.objects.push(Object { parent: 0, key: "", raw: None, depth: 0 });
    let mut left = MEMBERS_MAX;
    let mut at = 0;
    while let Some(object) = found.objects.get(at) {
        let depth = object.depth;
        match object.raw {
            None => members.members().iter().for_each(|(key, raw)| found.look(at, depth, key, *raw, &mut left)),
            Some(raw) => raw.members().take(left).for_each(|(key, raw)| found.look(at, depth, key, raw, &mut left)),
        }
        at += 1;
    }
    found
}

impl<'a> Found<'a> {
    fn look(&mut self, at: usize, depth: usize, key: &'a str, value: Raw<'a>, left: &mut usize) {
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        // The account of an EventBridge event is the AWS account, not a customer.
        let named = slot_of(key).filter(|(slot, _)| !(self.event && at == 0 && *slot == Slot::Customer));
        if let Some((slot, rank)) = named {
            self.note(slot, rank + depth * LEVEL_RANK, (at, key, value));
        }
        if value.is_object() && depth + 1 < DEPTH_MAX {
            self.objects.push(Object { parent: at, key, raw: Some(value), depth: depth + 1 });
        }
    }

    fn note(&mut self, slot: Slot, rank: usize, (at, key, value): (usize, &'a str, Raw<'a>)) {
        match slot {
            Slot::Amount | Slot::AmountMinor => {
                if self.amount.as_ref().is_some_and(|amount| amount.rank <= rank) {
                    return;
                }
                let minor = slot == Slot::AmountMinor;
                if value.is_object() {
                    let Some((inner, raw, currency)) = amount_object(value) else { return };
                    self.amount = Some(Amount { rank, raw, minor, at, key, inner: Some(inner) });
                    self.currency = currency.or(self.currency);
                } else if decimal(value).is_some() {
                    self.amount = Some(Amount { rank, raw: value, minor, at, key, inner: None });
                }
            }
            Slot::Currency if self.currency.is_none() => {
                self.currency = value.as_text().and_then(|text| Currency::parse(&text));
            }
            Slot::Currency => {}
            Slot::Customer if self.customer.as_ref().is_none_or(|customer| rank < customer.rank) => {
                if let Some((inner, id)) = customer_id(value) {
                    self.customer = Some(Customer { rank, id, at, key, inner });
                }
            }
            Slot::Deadline if self.deadline.is_none_or(|(best, ..)| rank < best) => {
                if let Some(moment) = moment(value) {
                    self.deadline = Some((rank, at, key, moment));
                }
            }
            Slot::Customer | Slot::Deadline => {}
        }
    }

    /// Returns the JSON pointer to a value, given its object's index in the list.
    pub fn path(&self, at: usize, key: &str, inner: Option<&str>) -> String {
        let mut parts = Vec::with_capacity(DEPTH_MAX + 1);
        parts.extend(inner);
        parts.push(key);
        let mut at = at;
        while let Some(object) = self.objects.get(at).filter(|object| object.depth > 0) {
            parts.push(object.key);
            at = object.parent;
        }
        let mut path = String::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
        for part in parts.iter().rev() {
            path.push('/');
            // RFC 6901. Keys hardly ever have these characters.
            if part.bytes().any(|b| matches!(b, b'~' | b'/')) {
                path.push_str(&part.replace('~', "~0").replace('/', "~1"));
            } else {
                path.push_str(part);
            }
        }
        path
    }
}

/// Returns the position of a name in [`KNOWN`], a quick filter that rejects most keys of a body.
const fn filter_bit(name: &[u8]) -> (usize, u64) {
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return (0, 0) };
    let at = (name.len() * 31 + *first as usize * 7 + *last as usize * 3) & 255;
    (at / 64, 1 << (at & 63))
}

/// All names as a set with false positives.
const KNOWN: [u64; 4] = {
    let mut known = [0; 4];
    let mut list = 0;
    while list < NAMES.len() {
        let mut name = 0;
        while name < NAMES[list].1.len() {
            let (at, bit) = filter_bit(NAMES[list].1[name].as_bytes());
            known[at] |= bit;
            name += 1;
        }
        list += 1;
    }
    known
};

/// Returns the meaning of a key and its rank.
fn slot_of(key: &str) -> Option<(Slot, usize)> {
    let mut buffer = [0; NAME_BYTES_MAX];
    let name = plain(key, &mut buffer)?;
    let (at, bit) = filter_bit(name);
    (KNOWN[at] & bit != 0).then_some(())?;
    NAMES.iter().find_map(|(slot, names)| Some((*slot, names.iter().position(|known| known.as_bytes() == name)?)))
}

/// Returns a key in lower case without separators; `None` if it is too long to be a common name.
fn plain<'b>(key: &str, buffer: &'b mut [u8; NAME_BYTES_MAX]) -> Option<&'b [u8]> {
    (key.len() <= NAME_BYTES_MAX).then_some(())?;
    let mut length = 0;
    for byte in key.bytes().filter(|byte| !matches!(byte, b'_' | b'-')) {
        buffer[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    buffer.get(..length)
}

/// Returns a customer's id, and the id's key if the value is an object.
fn customer_id(raw: Raw<'_>) -> Option<(Option<&str>, String)> {
    if !raw.is_object() {
        return raw.as_scalar().filter(|id| is_customer(id)).map(|id| (None, id));
    }
    let is_id = |key: &str| {
        let mut buffer = [0; NAME_BYTES_MAX];
        plain(key, &mut buffer).is_some_and(|name| CUSTOMER_IDS.iter().any(|id| id.as_bytes() == name))
    };
    let (key, value) = raw.members().find(|(key, _)| is_id(key))?;
    value.as_scalar().filter(|id| is_customer(id)).map(|id| (Some(key), id))
}

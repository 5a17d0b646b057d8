//! Common names of amounts, customers and deadlines, looked for in the upper levels of a body.

use super::amount::{amount_object, decimal};
use super::{is_customer, moment};
use crate::money::Currency;
use crate::read::json::{Index, Raw};
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Amount,
    /// In the minor unit.
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

/// How deep names are looked for, and among how many members.
const DEPTH_MAX: usize = 3;
const MEMBERS_MAX: usize = 512;
/// Longer keys are no common names.
const NAME_BYTES_MAX: usize = 32;
/// A level costs more than any rank within a list.
const LEVEL_RANK: usize = 100;

/// An amount that was found.
pub struct Amount<'a> {
    rank: usize,
    /// The number.
    pub raw: Raw<'a>,
    /// Whether it is in the minor unit.
    pub minor: bool,
    /// The object it stands in, its key there, and the key inside where it is an object itself.
    pub at: usize,
    pub key: &'a str,
    pub inner: Option<&'static str>,
}

/// A customer that was found.
pub struct Customer<'a> {
    rank: usize,
    /// The id.
    pub id: String,
    /// The object it stands in, its key there, and the key inside where it is an object itself.
    pub at: usize,
    pub key: &'a str,
    pub inner: Option<&'a str>,
}

/// What was found: the best name of each kind.
#[derive(Default)]
pub struct Found<'a> {
    pub amount: Option<Amount<'a>>,
    pub currency: Option<Currency>,
    pub customer: Option<Customer<'a>>,
    /// Its rank, the object it stands in, its key there.
    pub deadline: Option<(usize, usize, &'a str, Timestamp)>,
    /// Whether it is an event of EventBridge.
    event: bool,
    /// The objects that were looked into: the one each stands in, its key there, its depth.
    objects: Vec<Object<'a>>,
}

struct Object<'a> {
    parent: usize,
    key: &'a str,
    raw: Option<Raw<'a>>,
    depth: usize,
}

/// Looks through the upper levels breadth first, so that `amount` beats `lines.0.amount`.
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
        // The account of an event is AWS's, not a customer's.
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

    /// The pointer to what was found in an object, by the object's place in the list.
    pub fn path(&self, at: usize, key: &str, inner: Option<&str>) -> String {
        let mut parts: Vec<&str> = inner.into_iter().chain([key]).collect();
        let mut at = at;
        while let Some(object) = self.objects.get(at).filter(|object| object.depth > 0) {
            parts.push(object.key);
            at = object.parent;
        }
        let mut path = String::new();
        for part in parts.iter().rev() {
            path.push('/');
            // RFC 6901.
            path.push_str(&part.replace('~', "~0").replace('/', "~1"));
        }
        path
    }
}

/// Where a name would be in [`KNOWN`]: most keys of a body are no common names, and are turned away by one look.
const fn place(name: &[u8]) -> (usize, u64) {
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return (0, 0) };
    let at = (name.len() * 31 + *first as usize * 7 + *last as usize * 3) & 255;
    (at / 64, 1 << (at & 63))
}

/// All names, as a set that may hold more.
const KNOWN: [u64; 4] = {
    let mut known = [0; 4];
    let mut list = 0;
    while list < NAMES.len() {
        let mut name = 0;
        while name < NAMES[list].1.len() {
            let (at, bit) = place(NAMES[list].1[name].as_bytes());
            known[at] |= bit;
            name += 1;
        }
        list += 1;
    }
    known
};

/// What a key stands for, and how good a name it is.
fn slot_of(key: &str) -> Option<(Slot, usize)> {
    let mut buffer = [0; NAME_BYTES_MAX];
    let name = plain(key, &mut buffer)?;
    let (at, bit) = place(name);
    (KNOWN[at] & bit != 0).then_some(())?;
    NAMES.iter().find_map(|(slot, names)| Some((*slot, names.iter().position(|known| known.as_bytes() == name)?)))
}

/// A key without case and separators; none when it is too long to be a common name.
fn plain<'b>(key: &str, buffer: &'b mut [u8; NAME_BYTES_MAX]) -> Option<&'b [u8]> {
    (key.len() <= NAME_BYTES_MAX).then_some(())?;
    let mut length = 0;
    for byte in key.bytes().filter(|byte| !matches!(byte, b'_' | b'-')) {
        buffer[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    buffer.get(..length)
}

/// The id of a customer: itself, or in an object of its own, with its key there.
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

//! Generates orders: the same seed, number and time result in the same order.

use super::catalogue::{GIFT_CARD, LATE_PRODUCT, PRODUCTS, Product};
use super::chance::Chance;
use super::deadline;
use super::order::{Customer, GiftCard, Item, MessageType, Order};
use super::pricing;
use super::tenant::{DELETED_TENANT, TENANTS};
use super::version::Version;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::id::QueueArn;
use domain::message::{Attribute, AttributeValue, Attributes, Content};
use domain::money::{Currency, Decimal, Money};
use domain::time::{Span, Timestamp};
use queue::Outgoing;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The kind of an order: which failure it causes, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A valid order.
    Good,
    /// Only gift cards: fails on v1. Three of four are engraved and fail on v2 too, once they have waited.
    GiftCard,
    /// Truncated JSON.
    Malformed,
    /// Contains the product that is missing from the catalogue.
    UnknownProduct,
    /// Was due up to a day ago.
    Expired,
    /// From the tenant that closed its account.
    DeletedTenant,
}

/// Which kinds of orders are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// About 15 of 100 orders fail.
    Usual,
    /// Only this kind.
    Only(Kind),
}

const NAMES: &[&str] = &[
    "Ada Vermeer",
    "Bruno Okafor",
    "Chiara Lindqvist",
    "Dmitri Halloran",
    "Esra Nakamura",
    "Farid Castellan",
    "Greta Mbeki",
    "Hugo Sandoval",
    "Ines Kowalczyk",
    "Jonas Adeyemi",
    "Keiko Brandt",
    "Liam Petrov",
    "Mina Duarte",
    "Noor Jansen",
    "Oskar Tanaka",
    "Priya Novak",
];

const ENGRAVINGS: &[&str] = &["Happy birthday, Zoë", "Congratulations!", "Für Oma", "With love", "10 年, ありがとう"];

/// The number of customers; those with low numbers order most.
const CUSTOMERS: u64 = 180;

impl Mix {
    pub(super) fn kind(self, chance: &mut Chance) -> Kind {
        match (self, chance.below(100)) {
            (Self::Only(kind), _) => kind,
            (Self::Usual, 0..=5) => Kind::GiftCard,
            (Self::Usual, 6..=8) => Kind::UnknownProduct,
            (Self::Usual, 9..=10) => Kind::Malformed,
            (Self::Usual, 11..=12) => Kind::Expired,
            (Self::Usual, 13..=14) => Kind::DeletedTenant,
            (Self::Usual, _) => Kind::Good,
        }
    }
}

/// Generates order number `number`, ready to send to `queue`.
pub fn generate(queue: &QueueArn, seed: u64, number: u64, mix: Mix, now: Timestamp) -> Outgoing {
    let mut chance = Chance::for_order(seed, number);
    let kind = mix.kind(&mut chance);
    let order = order(&mut chance, number, kind, now);
    let mut body = serde_json::to_string(&order).unwrap_or_default();
    if kind == Kind::Malformed {
        body = truncated(body);
    }
    let content = Content {
        attributes: attributes(&mut chance, &order, &body),
        body,
        message_group_id: queue.is_fifo().then(|| order.customer.id.clone()),
        trace_header: Some(format!(
            "Root=1-{:08x}-{:016x}{:08x}",
            now.as_ms() / 1000,
            chance.next(),
            number & 0xffff_ffff
        )),
    };
    Outgoing { content, deduplication_id: queue.is_fifo().then_some(order.order_id), delay: Span::ZERO }
}

fn order(chance: &mut Chance, number: u64, kind: Kind, now: Timestamp) -> Order {
    let gift_card = (kind == Kind::GiftCard).then(|| GiftCard {
        code: format!("GC-{:04}-{:04}", chance.below(10_000), chance.below(10_000)),
        engraving: chance.pct(75).then(|| (*chance.pick(ENGRAVINGS)).into()),
    });
    let products = products(chance, kind);
    let due = match kind {
        Kind::Expired => now.minus(Span::from_mins(30 + chance.below(24 * 60) as i64)),
        // Mostly days away, sometimes only an hour, so that the office's "expires in" differs between letters.
        _ if chance.pct(10) => now.plus(Span::from_mins(60 + chance.below(180) as i64)),
        _ => now.plus(Span::from_mins(24 * 60 + chance.below(6 * 24 * 60) as i64)),
    };
    let mut order = Order {
        message_type: message_type(chance, kind),
        order_id: format!("ord_{number:06}"),
        tenant: if kind == Kind::DeletedTenant { DELETED_TENANT } else { chance.pick(TENANTS) }.to_string(),
        customer: customer(chance),
        total: Money { amount: Decimal::ZERO, currency: currency(chance) },
        items: products.iter().map(|product| item(chance, product)).collect(),
        placed_at: deadline::print(now),
        deliver_by: Some(deadline::print(due)),
        gift_card,
    };
    order.total.amount = pricing::goods(&order) + pricing::shipping(Version::V3, &order, &products, now);
    order
}

fn message_type(chance: &mut Chance, kind: Kind) -> MessageType {
    match (kind, chance.below(100)) {
        (Kind::GiftCard | Kind::UnknownProduct | Kind::Expired, _) | (_, 0..=69) => MessageType::OrderPlaced,
        (_, 70..=84) => MessageType::InvoiceIssue,
        (_, _) => MessageType::OrderRefund,
    }
}

fn products(chance: &mut Chance, kind: Kind) -> Vec<&'static Product> {
    match kind {
        Kind::GiftCard => vec![&GIFT_CARD],
        Kind::UnknownProduct => vec![chance.pick(PRODUCTS), &LATE_PRODUCT],
        _ => (0..=chance.below(3)).map(|_| chance.pick(PRODUCTS)).collect(),
    }
}

fn item(chance: &mut Chance, product: &Product) -> Item {
    // A gift card can have any value.
    let times = if product.sku == GIFT_CARD.sku { 1 + chance.below(8) } else { 1 };
    Item {
        sku: product.sku.into(),
        name: product.name.into(),
        quantity: 1 + u32::from(chance.pct(25)),
        unit_price: product.price() * Decimal::from(times),
    }
}

fn customer(chance: &mut Chance) -> Customer {
    // The smaller of two draws, so that few customers order a lot and many order little.
    let number = chance.below(CUSTOMERS).min(chance.below(CUSTOMERS));
    let name = NAMES[usize::try_from(number).unwrap_or(0) % NAMES.len()];
    let mailbox = name.to_lowercase().replace(' ', ".");
    Customer { id: format!("cus_{number:04}"), name: name.into(), email: format!("{mailbox}.{number}@example.com") }
}

fn currency(chance: &mut Chance) -> Currency {
    let code = match chance.below(100) {
        0..=64 => "EUR",
        65..=84 => "USD",
        85..=94 => "GBP",
        _ => "CHF",
    };
    // infallible: parsing needs three capital letters, and each code has them
    Currency::parse(code).expect("the codes above have three letters")
}

fn attributes(chance: &mut Chance, order: &Order, body: &str) -> Attributes {
    let of_type = |data_type: &str, value| Attribute { data_type: data_type.into(), value };
    let minor = (order.total.amount * Decimal::ONE_HUNDRED).normalize().to_string();
    let checksum = STANDARD.encode(&Sha256::digest(body.as_bytes())[..8]);
    [
        ("message_type", Attribute::text(order.message_type.as_str())),
        ("tenant", Attribute::text(order.tenant.as_str())),
        ("priority", Attribute::number(chance.below(3).to_string())),
        ("amount", of_type("Number.cents", AttributeValue::Text(minor))),
        ("checksum", of_type("Binary", AttributeValue::Binary(checksum))),
    ]
    .map(|(name, attribute)| (name.to_string(), attribute))
    .into()
}

/// Truncates a body inside the customer's e-mail address, as a producer would that was killed while writing.
fn truncated(mut body: String) -> String {
    if let Some(at) = body.find("@example") {
        body.truncate(at);
    }
    body
}

//! The demo service's messages, shared by its producer and its consumer.

use domain::money::{Decimal, Money};
use serde::{Deserialize, Serialize};

/// One message: an order, a refund or an invoice to issue. All have the same fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Order {
    #[serde(rename = "type")]
    pub message_type: MessageType,
    pub order_id: String,
    pub tenant: String,
    pub customer: Customer,
    pub total: Money,
    pub items: Vec<Item>,
    pub placed_at: String,
    /// RFC 3339 in UTC, whole seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gift_card: Option<GiftCard>,
}

impl Order {
    /// What two deliveries of the same message have in common, also after a fix has changed its payload. The numbers of
    /// orders begin again with a new state file, so the time belongs to it.
    pub(super) fn idempotency_key(&self) -> String {
        format!("{}-{}-{}", self.message_type.as_str(), self.order_id, self.placed_at)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum MessageType {
    #[serde(rename = "order.placed")]
    OrderPlaced,
    #[serde(rename = "order.refund")]
    OrderRefund,
    #[serde(rename = "invoice.issue")]
    InvoiceIssue,
}

impl MessageType {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::OrderPlaced => "order.placed",
            Self::OrderRefund => "order.refund",
            Self::InvoiceIssue => "invoice.issue",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Customer {
    pub id: String,
    pub name: String,
    pub email: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Item {
    pub sku: String,
    pub name: String,
    pub quantity: u32,
    pub unit_price: Decimal,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct GiftCard {
    pub code: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engraving: Option<String>,
}

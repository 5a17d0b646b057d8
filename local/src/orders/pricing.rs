//! The price of an order. Contains the demo's bug.

use super::catalogue::Product;
use super::deadline;
use super::order::Order;
use super::version::Version;
use domain::money::Decimal;
use domain::time::{Span, Timestamp};

/// Returns the shipping cost, which depends on the heaviest item.
///
/// Version 1 assumes that there is at least one parcel, which is wrong for gift cards: they are sent by e-mail.
///
/// Version 2 asks whether there is anything to engrave, and takes the answer from the order's checkout, which ends after
/// [`CHECKOUT`]. So every new order works, and the fix looks right. An engraved card that waited in a dead-letter queue
/// fails as before.
pub(super) fn shipping(version: Version, order: &Order, products: &[&Product], now: Timestamp) -> Decimal {
    let parcels = parcels_by_weight(products);
    let nothing_to_send = match version {
        Version::V1 => false,
        Version::V2 => order.gift_card.as_ref().is_some_and(|card| card.engraving.is_none() || in_checkout(order, now)),
        Version::V3 => parcels.is_empty(),
    };
    if nothing_to_send {
        return Decimal::ZERO;
    }
    let heaviest_grams = parcels[0];
    Decimal::new(i64::from(490 + heaviest_grams.div_ceil(1000) * 150), 2)
}

/// How long the checkout of an order lasts. Long enough for all attempts of a new order, and not longer than the gate of
/// the demo waits for quiet: no letter that may be replayed is younger.
const CHECKOUT: Span = Span::from_secs(10);

fn in_checkout(order: &Order, now: Timestamp) -> bool {
    // Both texts are RFC 3339 in UTC with whole seconds, so they sort by time.
    order.placed_at > deadline::print(now.minus(CHECKOUT))
}

/// Returns the weights of all items that need packing, heaviest first.
fn parcels_by_weight(products: &[&Product]) -> Vec<u32> {
    let mut weights: Vec<u32> =
        products.iter().map(|product| product.weight_grams).filter(|grams| *grams > 0).collect();
    weights.sort_unstable_by(|a, b| b.cmp(a));
    weights
}

/// Returns the sum of all items.
pub(super) fn goods(order: &Order) -> Decimal {
    order.items.iter().map(|item| item.unit_price * Decimal::from(item.quantity)).sum()
}

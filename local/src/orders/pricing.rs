//! The price of an order. Contains the demo's bug.

use super::catalogue::Product;
use super::order::Order;
use super::version::Version;
use domain::money::Decimal;

/// Returns the shipping cost, which depends on the heaviest item.
///
/// Version 1 assumes that there is at least one parcel, which is wrong for gift cards: they are sent by e-mail. Version 2
/// fixes this only for cards without an engraving.
pub(super) fn shipping(version: Version, order: &Order, products: &[&Product]) -> Decimal {
    let parcels = parcels_by_weight(products);
    let nothing_to_send = match version {
        Version::V1 => false,
        Version::V2 => order.gift_card.as_ref().is_some_and(|card| card.engraving.is_none()),
        Version::V3 => parcels.is_empty(),
    };
    if nothing_to_send {
        return Decimal::ZERO;
    }
    let heaviest_grams = parcels[0];
    Decimal::new(i64::from(490 + heaviest_grams.div_ceil(1000) * 150), 2)
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

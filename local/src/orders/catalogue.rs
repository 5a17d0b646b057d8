//! The shop's products.

use super::order::Order;
use domain::money::Decimal;

/// A product of the shop.
#[derive(Debug)]
pub(super) struct Product {
    pub sku: &'static str,
    pub name: &'static str,
    /// In hundredths of the order's currency.
    pub price_minor: i64,
    /// Zero for products sent by e-mail.
    pub weight_grams: u32,
}

impl Product {
    pub(super) fn price(&self) -> Decimal {
        Decimal::new(self.price_minor, 2)
    }
}

const fn product(sku: &'static str, name: &'static str, price_minor: i64, weight_grams: u32) -> Product {
    Product { sku, name, price_minor, weight_grams }
}

/// The products in the initial catalogue.
pub(super) const PRODUCTS: &[Product] = &[
    product("sku_1001", "Fountain pen", 4_900, 60),
    product("sku_1002", "Ink, midnight blue", 1_250, 210),
    product("sku_1003", "Letter paper, 100 sheets", 1_890, 640),
    product("sku_1004", "Envelopes, 50 pieces", 990, 380),
    product("sku_1005", "Letter opener, brass", 3_400, 120),
    product("sku_1006", "Brass letter box", 12_900, 3_200),
    product("sku_1007", "Stamp album", 2_450, 900),
    product("sku_1008", "Sealing wax, red", 1_120, 150),
    product("sku_1009", "Writing desk, oak", 89_000, 28_000),
    product("sku_1010", "Pigeon, carved", 6_650, 450),
];

/// The gift card, with any value.
pub(super) const GIFT_CARD: Product = product("sku_2000", "Gift card", 5_000, 0);

/// On sale in the shop, but missing from the initial catalogue.
pub(super) const LATE_PRODUCT: Product = product("sku_2187", "Night mail lantern", 7_450, 1_100);

/// A product is not in the catalogue.
#[derive(Debug, thiserror::Error)]
#[error("the product {sku} is not in the catalogue")]
pub(super) struct ProductNotFound {
    sku: String,
}

/// Looks up a product. `late_product`: whether the missing product was added to the catalogue.
pub(super) fn find(sku: &str, late_product: bool) -> Result<&'static Product, ProductNotFound> {
    let late: &[Product] = if late_product { &[LATE_PRODUCT] } else { &[] };
    let mut all = PRODUCTS.iter().chain([&GIFT_CARD]).chain(late);
    all.find(|product| product.sku == sku).ok_or_else(|| ProductNotFound { sku: sku.into() })
}

/// Looks up all products of an order, in the order of its items.
pub(super) fn find_all(order: &Order, late_product: bool) -> Result<Vec<&'static Product>, ProductNotFound> {
    order.items.iter().map(|item| find(&item.sku, late_product)).collect()
}

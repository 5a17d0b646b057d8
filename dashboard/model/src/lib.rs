//! The dashboard's logic: plain Rust without a browser, tested natively.
//!
//! [`route`] is the URL as a value. [`wire::list`] and [`pending`] make the list of groups; [`ledger`] and
//! [`pause`] describe a replay; [`gate`] checks an approval; [`words`], [`money`] and [`when`] turn values into text.

pub use wire::list::{filter, sort, view};
pub use wire::sorted;

pub mod chart;
pub mod code;
pub mod delta;
pub mod deployed;
pub mod discard;
pub mod drafting;
pub mod facets;
pub mod found;
pub mod gate;
pub mod json;
pub mod ledger;
pub mod letter_order;
pub mod letters;
pub mod money;
pub mod offer;
pub mod office_clock;
pub mod options;
pub mod pause;
pub mod pending;
pub mod policy;
pub mod rate;
pub mod replays;
pub mod reported;
pub mod route;
#[cfg(test)]
mod sample;
pub mod spark;
pub mod stay;
pub mod timeline;
pub mod trace;
pub mod transform;
pub mod tried;
pub mod when;
pub mod window;
pub mod words;

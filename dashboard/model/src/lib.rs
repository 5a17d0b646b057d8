//! The dashboard's logic: plain Rust without a browser, tested natively.
//!
//! [`route`] is the URL as a value. [`filter`], [`sort`], [`view`] and [`pending`] make the list of groups; [`ledger`] and
//! [`pause`] describe a replay; [`gate`] checks an approval; [`words`], [`money`] and [`when`] turn values into text.

pub mod code;
pub mod facets;
pub mod filter;
pub mod gate;
pub mod json;
pub mod ledger;
pub mod letters;
pub mod money;
pub mod options;
pub mod pause;
pub mod pending;
pub mod reported;
pub mod route;
#[cfg(test)]
mod sample;
pub mod sort;
pub mod sorted;
pub mod spark;
pub mod stay;
pub mod timeline;
pub mod trace;
pub mod transform;
pub mod view;
pub mod when;
pub mod window;
pub mod words;

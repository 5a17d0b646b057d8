//! What the pages compute: plain Rust, no browser, tested natively.

pub mod code;
pub mod filter;
pub mod gate;
pub mod json;
pub mod ledger;
pub mod letters;
pub mod money;
pub mod options;
pub mod pause;
pub mod pending;
pub mod route;
#[cfg(test)]
mod sample;
pub mod sort;
pub mod sorted;
pub mod spark;
pub mod timeline;
pub mod trace;
pub mod transform;
pub mod view;
pub mod when;
pub mod window;
pub mod words;

//! What the pages compute: plain Rust, no browser, tested natively.

pub mod filter;
pub mod json;
pub mod money;
pub mod pending;
#[cfg(test)]
mod sample;
pub mod sort;
pub mod spark;
pub mod view;
pub mod when;
pub mod window;
pub mod words;

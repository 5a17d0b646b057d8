//! The pure rules of Dead Letter Office.
//!
//! Nothing in here does I/O, reads a clock, draws a random number or looks at the environment: time and chance
//! are arguments, the answer is a value. The same crate runs in the Lambda functions, in `dlo` and in the browser.
//!
//! The way of a letter: [`message::DeadMessage`] is read into a [`reading::Reading`], kept as a
//! [`letter::Letter`] in a [`group::Group`], selected into a [`replay::Plan`], and sent back by a
//! [`replay::Replay`] whose [`replay::Ledger`] closes at every moment.
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

pub mod alert;
pub mod audit;
pub mod deployment;
pub mod filter;
pub mod fix;
pub mod gate;
pub mod group;
pub mod id;
pub mod impact;
pub mod letter;
pub mod limits;
pub mod marker;
pub mod merge;
pub mod message;
pub mod metric;
pub mod money;
pub mod policy;
pub mod read;
pub mod reading;
pub mod replay;
pub mod role;
pub mod tagged;
pub mod time;
pub mod transform;

//! Tests of the office over the embedded store and queues, under a test's clock. Each file tests one feature.

mod api;
mod by_rule;
mod consumer;
mod crashes;
mod deadline;
mod events;
mod evidence;
mod facets;
mod filtered;
mod forged;
mod forgotten;
mod gone;
mod list;
mod merged;
mod pace;
mod power;
mod quarantine;
mod receipts;
mod refused;
mod replayability;
mod reports;
mod requests;
mod sign_in;
mod story;
mod transform;
mod unwrapped;

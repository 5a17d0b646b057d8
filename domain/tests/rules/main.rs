//! The rules of the domain as tables, properties and golden files.

mod causes;
mod claims;
mod classification;
mod code_attributes;
mod corpus;
mod doctor;
mod drafts;
mod envelopes;
mod error_objects;

mod forgery;
mod formats;
mod framed;
mod gate_conditions;
mod generated_inputs;
mod grouping;
mod hostile;
mod impact;
mod linear;
mod notices;
mod plan_waves;
mod policy_example;
mod reader;
mod reasons;
mod replay_fixture;
mod replay_resumed;
mod replay_steps;
mod replay_windows;
mod sign_in;
mod stored_names;
mod team_envelopes;
mod titles;
mod unwrapping;
mod watch;
mod weights;

//! The rules of the domain as tables, properties and golden files.

mod causes;
mod claims;
mod classification;
mod corpus;
mod doctor;
mod envelopes;
mod forgery;
mod gate_conditions;
mod generated_inputs;
mod hostile;
mod impact;
mod linear;
mod notices;
mod plan_waves;
mod policy_example;
mod reader;
mod replay_fixture;
mod replay_resumed;
mod replay_steps;
mod replay_windows;
mod sign_in;
mod stored_names;
mod team_envelopes;
mod unwrapping;
mod watch;
mod weights;

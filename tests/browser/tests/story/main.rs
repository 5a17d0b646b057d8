//! The office in a real browser: a real `dlo demo`, real Chromium, and people who find elements by role and name.
//!
//! Each file is a feature, each module a rule of it, and each test an example of the rule.

mod by_absence;
mod by_device;
mod by_discard;
mod by_filter;
mod by_keyboard;
mod by_link;
mod by_policy;
mod by_program;
mod by_scale;
mod by_selection;
mod by_text;
mod fixture;
mod sign_in;

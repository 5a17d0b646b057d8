//! The office in a real browser: a real `dlo demo`, real Chromium, people who find things by role and name.
//!
//! Each file tells of one feature, each module in it states a rule, each test is an example of that rule.

mod by_filter;
mod by_keyboard;
mod by_mouse;
mod by_program;
mod door;
mod fixture;

//! Simulated people in a real browser: they find elements by role and name, and take screenshots.

pub mod driver;
pub mod look;
pub mod person;

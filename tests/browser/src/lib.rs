//! People in a real browser: they find things by role and name, and take pictures of what they see.

pub mod driver;
pub mod look;
pub mod person;

//! The handlers of Dead Letter Office over its ports. The Lambda functions' mains and `dlo` only wire them.

pub mod port;

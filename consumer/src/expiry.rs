//! Messages that are too old to be handled.

use crate::case::Case;
use crate::config::ConsumerConfig;
use crate::failure::Failure;
use crate::strategy::Strategy;
use domain::time::Span;

/// Returns the failure of a message whose time to live or deadline has passed; `None` if it may be handled.
pub(crate) fn expired(
    config: &ConsumerConfig,
    case: &Case,
    message_type: Option<&str>,
    strategy: &Strategy,
    retention: Span,
) -> Option<Failure> {
    let now = (config.now)();
    if let Some((age, ttl)) = case.age(retention, now).zip(strategy.ttl).filter(|(age, ttl)| age > ttl) {
        let text = format!("the message is {} ms old; its time to live is {} ms", age.as_ms(), ttl.as_ms());
        return Some(Failure::permanent("consumer::Expired", text));
    }
    // Reading the body takes longer than the rest of this crate, so it is read only if the policy names a deadline.
    config.policy.message_type_rule(message_type)?.deadline.as_ref()?;
    let deadline = case.impact(config).deadline.filter(|deadline| *deadline < now)?;
    let late = now.since(deadline);
    Some(Failure::permanent("consumer::Expired", format!("the message's deadline passed {} ms ago", late.as_ms())))
}

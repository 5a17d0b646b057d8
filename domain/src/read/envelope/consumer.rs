//! The consumer crate's stamp, in a message attribute.

use super::facts::Facts;
use super::layer::Layer;
use super::{Inner, Opening};
use crate::marker::FAILURE_ATTRIBUTE;
use crate::read::stamp::Stamp;
use alloc::string::ToString;

pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let stamp = Stamp::parse(&layer.headers.get(FAILURE_ATTRIBUTE)?)?;
    let facts = Facts {
        failure: stamp.failure(),
        message_type: stamp.message_type.clone(),
        original_message_id: stamp.original_message_id.as_ref().map(ToString::to_string),
        main_queue: stamp.main_queue.clone(),
        consumer: stamp.consumer.clone(),
        consumer_version: stamp.consumer_version.clone(),
        attempts: stamp.attempts,
        sent_at: stamp.first_sent_at,
        first_tried_at: stamp.first_received_at,
        failed_at: stamp.failed_at,
        ..Facts::default()
    };
    let stamp = layer.headers.is_attribute(FAILURE_ATTRIBUTE).then_some(stamp);
    Some(Opening { facts, inner: Inner::Nothing, stamp })
}

/// The remark about an unreadable stamp.
pub const GARBLED: &str = "The attribute dlo.failure is not a readable stamp.";

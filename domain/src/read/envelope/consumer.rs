//! The consumer crate's stamp, in a message attribute.

use super::facts::Facts;
use super::layer::Layer;
use super::{Inner, Opening};
use crate::marker::FAILURE_ATTRIBUTE;
use crate::read::stamp::Stamp;
use crate::reading::{Class, Failure};
use alloc::string::ToString;

pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let stamp = Stamp::parse(&layer.headers.get(FAILURE_ATTRIBUTE)?)?;
    let facts = Facts {
        failure: Failure {
            error_type: stamp.error_type,
            message: stamp.message,
            stack: stamp.stack,
            stated_class: stamp.class.filter(|class| *class != Class::Unknown),
        },
        message_type: stamp.message_type,
        original_message_id: stamp.original_message_id.as_ref().map(ToString::to_string),
        main_queue: stamp.main_queue,
        consumer: stamp.consumer,
        consumer_version: stamp.consumer_version,
        attempts: stamp.attempts,
        sent_at: stamp.first_sent_at,
        first_tried_at: stamp.first_received_at,
        failed_at: stamp.failed_at,
        ..Facts::default()
    };
    let is_stamped = layer.headers.is_attribute(FAILURE_ATTRIBUTE);
    Some(Opening { facts, inner: Inner::Nothing, is_stamped })
}

/// The remark about an unreadable stamp.
pub const GARBLED: &str = "The attribute dlo.failure is not a readable stamp.";

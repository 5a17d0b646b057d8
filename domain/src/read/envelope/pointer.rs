//! The SQS extended client's pointer to a payload in S3 (awslabs/amazon-sqs-java-extended-client-lib and its payload
//! offloading library; the older class name is that of version 1).

use super::Opening;
use super::facts::Facts;
use super::layer::Layer;
use crate::read::json::{Index, Raw};
use crate::reading::Replayability;
use alloc::format;
use alloc::string::String;

/// The class name before the pointer, in the current and the first version of the library.
const CLASSES: [&str; 2] =
    ["software.amazon.payloadoffloading.PayloadS3Pointer", "com.amazon.sqs.javamessaging.MessageS3Pointer"];

/// The location of a payload in S3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadLocation {
    /// The bucket.
    pub bucket: String,
    /// The key.
    pub key: String,
}

impl PayloadLocation {
    /// Returns the location if the body is the extended client's pointer.
    pub fn from_body(body: &str) -> Option<Self> {
        let mut elements = Raw::new(body).elements();
        let class = elements.next()?.as_text()?;
        CLASSES.contains(&&*class).then_some(())?;
        let pointer = Index::new(elements.next()?);
        Some(Self { bucket: pointer.text("s3BucketName")?.into(), key: pointer.text("s3Key")?.into() })
    }
}

pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let PayloadLocation { bucket, key } = PayloadLocation::from_body(layer.text)?;
    Some(Opening::facts(Facts { not_replayable: Some(pointing_to(&bucket, &key)), ..Facts::default() }))
}

/// The replayability of a message with its payload in S3.
pub fn pointing_to(bucket: &str, key: &str) -> Replayability {
    let reason: String = format!(
        "The payload is in S3 (s3://{bucket}/{key}) and may have expired there. This message is only a pointer to it."
    );
    Replayability::Pointer { reason }
}

//! The extended client's pointer: the payload lies in S3 (awslabs/amazon-sqs-java-extended-client-lib and its
//! payload offloading library; the older class name is that of version 1).

use super::Opening;
use super::facts::Facts;
use super::layer::Layer;
use crate::read::json::{Index, Raw};
use crate::reading::Replayability;
use alloc::format;
use alloc::string::String;

/// The class that the library writes before the pointer, now and in its first version.
const CLASSES: [&str; 2] =
    ["software.amazon.payloadoffloading.PayloadS3Pointer", "com.amazon.sqs.javamessaging.MessageS3Pointer"];

/// Where a payload lies in S3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadPlace {
    /// The bucket.
    pub bucket: String,
    /// The key.
    pub key: String,
}

impl PayloadPlace {
    /// Where the payload of a message lies whose body is the extended client's pointer.
    pub fn of(body: &str) -> Option<Self> {
        let mut elements = Raw::of(body).elements();
        let class = elements.next()?.as_text()?;
        CLASSES.contains(&&*class).then_some(())?;
        let pointer = Index::of(elements.next()?);
        Some(Self { bucket: pointer.text("s3BucketName")?.into(), key: pointer.text("s3Key")?.into() })
    }
}

pub fn open<'a>(layer: &Layer<'a>) -> Option<Opening<'a>> {
    let PayloadPlace { bucket, key } = PayloadPlace::of(layer.text)?;
    Some(Opening::facts(Facts { not_replayable: Some(pointing_to(&bucket, &key)), ..Facts::default() }))
}

/// What is said of a message whose payload lies in S3.
pub fn pointing_to(bucket: &str, key: &str) -> Replayability {
    let reason: String = format!(
        "The payload lies in S3 (s3://{bucket}/{key}) and may have expired there; this message only points to it."
    );
    Replayability::Pointer { reason }
}

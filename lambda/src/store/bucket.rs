//! The S3 bucket for blobs that are too large to be cheap in DynamoDB. Each object's key is the hash of its bytes.

use super::fault::Fault;
use aws_config::SdkConfig;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::Builder;
use aws_sdk_s3::primitives::ByteStream;
use domain::id::to_hex;
use futures_util::{StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Objects that are read concurrently. A page of large letters must not open a connection per letter.
const READS_AT_ONCE: usize = 16;

/// The bucket for large blobs.
pub(super) struct Bucket {
    client: Client,
    name: String,
    from_bytes: usize,
}

impl Bucket {
    /// Creates the adapter. The bucket takes blobs of `from_bytes` or more.
    pub(super) fn new(config: &SdkConfig, name: String, from_bytes: usize) -> Self {
        // Local endpoints have no host name per bucket.
        let path_style = config.endpoint_url().is_some();
        let config = Builder::from(config).force_path_style(path_style).build();
        Self { client: Client::from_conf(config), name, from_bytes }
    }

    /// Returns whether a blob of this size belongs in the bucket.
    pub(super) fn takes(&self, bytes: usize) -> bool {
        bytes >= self.from_bytes
    }

    /// Writes an object. Writing the same bytes again overwrites it with the same content.
    pub(super) async fn put(&self, hash: &str, bytes: Vec<u8>) -> Result<(), Fault> {
        let request = self.client.put_object().bucket(&self.name).key(key(hash)).body(ByteStream::from(bytes));
        request.send().await.map_err(|error| Fault::bucket("put an object", error))?;
        Ok(())
    }

    /// Reads the objects with these hashes.
    pub(super) async fn get_all(&self, hashes: Vec<String>) -> Result<HashMap<String, Vec<u8>>, Fault> {
        let reads = stream::iter(hashes).map(|hash| async move { Ok((hash.clone(), self.get(hash).await?)) });
        reads.buffer_unordered(READS_AT_ONCE).try_collect().await
    }

    async fn get(&self, hash: String) -> Result<Vec<u8>, Fault> {
        let response = self.client.get_object().bucket(&self.name).key(key(&hash)).send().await;
        let response = response.map_err(|error| Fault::bucket("get an object", error))?;
        let bytes = response.body.collect().await.map_err(|error| Fault::bucket("get an object", error))?.to_vec();
        if hash_of(&bytes) == hash { Ok(bytes) } else { Err(Fault::Damaged(hash)) }
    }

    /// Deletes an object. Deleting a missing object succeeds.
    pub(super) async fn delete(&self, hash: &str) -> Result<(), Fault> {
        let request = self.client.delete_object().bucket(&self.name).key(key(hash));
        request.send().await.map_err(|error| Fault::bucket("delete an object", error))?;
        Ok(())
    }

    /// Creates the bucket, for local endpoints.
    pub(super) async fn create(&self) -> Result<(), Fault> {
        let request = self.client.create_bucket().bucket(&self.name);
        request.send().await.map_err(|error| Fault::bucket("create the bucket", error))?;
        Ok(())
    }
}

/// Returns the hash that names an object with these bytes.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// Returns the key of an object. The functions' policies allow access below this prefix only.
fn key(hash: &str) -> String {
    format!("content/{hash}")
}

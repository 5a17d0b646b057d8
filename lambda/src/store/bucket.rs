//! The bucket beside the table: what is too large to be cheap in DynamoDB, under the hash of its bytes.

use super::fault::Fault;
use aws_config::SdkConfig;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::Builder;
use aws_sdk_s3::primitives::ByteStream;
use domain::id::to_hex;
use futures_util::{StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Objects that are read at once: a page of large letters must not open a connection for each.
const READS_AT_ONCE: usize = 16;

/// The bucket, if the store has one.
pub(super) struct Bucket {
    client: Client,
    name: String,
    from_bytes: usize,
}

impl Bucket {
    /// For what has so many bytes or more.
    pub(super) fn new(config: &SdkConfig, name: String, from_bytes: usize) -> Self {
        // Endpoints on one machine have no host name for each bucket.
        let one_host = config.endpoint_url().is_some();
        let config = Builder::from(config).force_path_style(one_host).build();
        Self { client: Client::from_conf(config), name, from_bytes }
    }

    /// Whether so many bytes go here.
    pub(super) fn takes(&self, bytes: usize) -> bool {
        bytes >= self.from_bytes
    }

    /// Writes bytes. Whoever writes the same bytes again writes the same object.
    pub(super) async fn put(&self, hash: &str, bytes: Vec<u8>) -> Result<(), Fault> {
        let asked = self.client.put_object().bucket(&self.name).key(key(hash)).body(ByteStream::from(bytes));
        asked.send().await.map_err(|error| Fault::bucket("put an object", error))?;
        Ok(())
    }

    /// The bytes of some hashes.
    pub(super) async fn get_all(&self, hashes: Vec<String>) -> Result<HashMap<String, Vec<u8>>, Fault> {
        let reads = stream::iter(hashes).map(|hash| async move { Ok((hash.clone(), self.get(hash).await?)) });
        reads.buffer_unordered(READS_AT_ONCE).try_collect().await
    }

    async fn get(&self, hash: String) -> Result<Vec<u8>, Fault> {
        let answer = self.client.get_object().bucket(&self.name).key(key(&hash)).send().await;
        let answer = answer.map_err(|error| Fault::bucket("get an object", error))?;
        let bytes = answer.body.collect().await.map_err(|error| Fault::bucket("get an object", error))?.to_vec();
        if name(&bytes) == hash { Ok(bytes) } else { Err(Fault::Damaged(hash)) }
    }

    /// Removes an object; one that is not there is as good.
    pub(super) async fn delete(&self, hash: &str) -> Result<(), Fault> {
        let asked = self.client.delete_object().bucket(&self.name).key(key(hash));
        asked.send().await.map_err(|error| Fault::bucket("delete an object", error))?;
        Ok(())
    }

    /// Makes the bucket, for endpoints on one machine.
    pub(super) async fn create(&self) -> Result<(), Fault> {
        let asked = self.client.create_bucket().bucket(&self.name);
        asked.send().await.map_err(|error| Fault::bucket("make the bucket", error))?;
        Ok(())
    }
}

/// What some bytes are called.
pub(super) fn name(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// The functions may read, write and delete below this folder, and nothing else.
fn key(hash: &str) -> String {
    format!("content/{hash}")
}

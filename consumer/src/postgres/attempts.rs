//! The log of attempts in PostgreSQL.

use super::PostgresStore;
use crate::attempts::{AGE_MAX, ATTEMPTS_KEPT, Attempt, AttemptLog, LogError};
use async_trait::async_trait;
use domain::id::MessageId;

const LOAD: &str = "SELECT attempt FROM consumer_attempt WHERE message_id = $1 ORDER BY n DESC LIMIT $2";
const APPEND: &str = "INSERT INTO consumer_attempt (message_id, at_ms, attempt) VALUES ($1, $2, $3)";
const TRIM: &str = "
    DELETE FROM consumer_attempt WHERE message_id = $1 AND n <= (
        SELECT n FROM consumer_attempt WHERE message_id = $1 ORDER BY n DESC LIMIT 1 OFFSET $2)
";
const FORGET: &str = "DELETE FROM consumer_attempt WHERE message_id = $1";
/// Old attempts go with new ones.
const FORGET_OLD: &str = "
    DELETE FROM consumer_attempt WHERE n IN (
        SELECT n FROM consumer_attempt WHERE at_ms < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
";
/// Old attempts that a new one deletes at most, so that none is slow.
const OLD_MAX: i64 = 10;

fn kept() -> i64 {
    i64::try_from(ATTEMPTS_KEPT).unwrap_or(i64::MAX)
}

#[async_trait]
impl AttemptLog for PostgresStore {
    async fn load(&self, message: &MessageId) -> Result<Vec<Attempt>, LogError> {
        let id = message.as_str();
        let rows = self.on_connection(|client| async move { client.query(LOAD, &[&id, &kept()]).await });
        let rows = rows.await.map_err(LogError::new)?;
        let attempt = |row: &tokio_postgres::Row| {
            let json: &str = row.try_get(0).map_err(LogError::new)?;
            serde_json::from_str(json).map_err(LogError::new)
        };
        rows.iter().rev().map(attempt).collect()
    }

    async fn append(&self, message: &MessageId, attempt: Attempt) -> Result<(), LogError> {
        let json = serde_json::to_string(&attempt).map_err(LogError::new)?;
        let (id, at) = (message.as_str(), attempt.at.as_ms());
        let old = attempt.at.minus(AGE_MAX).as_ms();
        let written = self.on_connection(|client| {
            let json = &json;
            async move {
                client.execute(APPEND, &[&id, &at, json]).await?;
                client.execute(TRIM, &[&id, &kept()]).await?;
                client.execute(FORGET_OLD, &[&old, &OLD_MAX]).await
            }
        });
        written.await.map(|_| ()).map_err(LogError::new)
    }

    async fn forget(&self, message: &MessageId) -> Result<(), LogError> {
        let id = message.as_str();
        let deleted = self.on_connection(|client| async move { client.execute(FORGET, &[&id]).await });
        deleted.await.map(|_| ()).map_err(LogError::new)
    }
}

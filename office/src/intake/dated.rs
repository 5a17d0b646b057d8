//! When messages died that do not say it: see [`domain::read::date`].

use super::ReadMessage;
use crate::error::OfficeError;
use crate::office::Office;
use domain::clock::ClockRecord;
use domain::read::{date, may_be_undated};
use domain::time::Timestamp;

/// Dates the messages that lay in their queue before the office read it. The store is asked at most once a minute, and only
/// while such messages may come.
pub(super) async fn date_all(office: &Office, sources: &mut [ReadMessage], now: Timestamp) -> Result<(), OfficeError> {
    let is_open = |source: &ReadMessage| may_be_undated(&source.reading, &source.message, now);
    if !sources.iter().any(is_open) {
        return Ok(());
    }
    let record = office.sweeps.last(&*office.store, now).await?;
    for ReadMessage { message, reading } in sources {
        let reads_since = ClockRecord::reads_since(record.as_deref(), &message.dlq, now);
        date(reading, message, reads_since, now);
    }
    Ok(())
}

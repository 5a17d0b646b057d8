//! The embedded metrics: one SQLite file in place of CloudWatch, with a row per series and minute.
//!
//! A row holds the count, sum, minimum, maximum and last value of its minute. Single values are not stored, so only
//! CloudWatch offers percentiles.

use async_trait::async_trait;
use domain::metric::{CATALOGUE, Datum, Metric};
use domain::time::Timestamp;
use office::port::{Metrics, SinkError};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The most points per series: 15 days of minutes, as in CloudWatch. A limit on rows, because a wrong clock must not
/// delete data.
const POINTS_MAX: i64 = 15 * 24 * 60;
/// The most data points of one call, as the port defines.
const DATA_MAX: usize = 1_000;
const MINUTE_MS: i64 = 60_000;
const VERSION: i64 = 1;

const TABLES: &str = "
CREATE TABLE series (
    key INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    dimensions TEXT NOT NULL,
    points INTEGER NOT NULL,
    UNIQUE (name, dimensions)
) STRICT;
CREATE TABLE point (
    series INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    count INTEGER NOT NULL,
    sum REAL NOT NULL,
    min REAL NOT NULL,
    max REAL NOT NULL,
    last REAL NOT NULL,
    PRIMARY KEY (series, minute)
) STRICT, WITHOUT ROWID;
";

/// One minute of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The start of the minute.
    pub at: Timestamp,
    /// The number of values.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The last value: for a gauge, its state at the end of the minute.
    pub last: f64,
}

/// A metric with one set of dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The values of the dimensions, in the order of the catalogue.
    pub dimensions: Vec<String>,
    /// The minutes that have values, ascending.
    pub points: Vec<Point>,
}

/// Why metrics could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// The file cannot be opened.
    #[error("cannot open the metrics file {}. It holds only the history of the metrics: move it away to start a new one", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// The file was written by another version of this program, or by another program.
    #[error("the metrics file {} has version {found}, but this program needs version {VERSION}. Move the file away to start a new one", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The catalogue does not contain the metric.
    #[error("{name:?} is not in the catalogue of metrics")]
    Unknown {
        /// The requested name.
        name: String,
    },
    /// A datum's number of dimensions differs from the catalogue.
    #[error("{metric} has {expected} dimensions, not {found}")]
    Dimensions {
        /// The metric.
        metric: &'static str,
        /// The number in the catalogue.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// A datum has no values, or values that are not finite numbers.
    #[error("the values of {metric} are empty or not finite")]
    Values {
        /// The metric.
        metric: &'static str,
    },
    /// Too many data points in one call.
    #[error("{count} data points in one call are more than {DATA_MAX}")]
    TooMany {
        /// The number of data points.
        count: usize,
    },
    /// SQLite failed.
    #[error("SQLite failed")]
    Sqlite(#[from] rusqlite::Error),
    /// The runtime is shutting down.
    #[error("the office is shutting down")]
    ShutDown,
}

/// The metrics port on a separate file, so that metrics and letters never wait for each other.
pub struct SeriesMetrics {
    db: Arc<Mutex<Connection>>,
    /// Whether calls run on the caller's thread: in memory there is no file to wait for.
    inline: bool,
}

impl SeriesMetrics {
    /// Opens the file, or creates it.
    pub fn open(path: &Path) -> Result<Self, SeriesError> {
        let fail = |source| SeriesError::File { path: path.to_owned(), source };
        // If this fails, SQLite says why below.
        let _ = crate::private::create(path);
        let mut db = Connection::open(path).map_err(fail)?;
        match prepare(&mut db).map_err(fail)? {
            VERSION => Ok(Self { db: Arc::new(Mutex::new(db)), inline: false }),
            found => Err(SeriesError::Version { path: path.to_owned(), found }),
        }
    }

    /// Creates metrics in memory, for simulations. Calls run on the caller's thread, so their order is deterministic.
    pub fn open_in_memory() -> Result<Self, SeriesError> {
        let mut db = Connection::open_in_memory()?;
        prepare(&mut db)?;
        Ok(Self { db: Arc::new(Mutex::new(db)), inline: true })
    }

    /// Returns the series of a metric between two moments: one for each set of dimensions that ever had a value.
    pub async fn series(&self, metric: &str, from: Timestamp, until: Timestamp) -> Result<Vec<Series>, SeriesError> {
        let name = known(metric)?.name;
        let minutes = minute(from)..=minute(until);
        self.with(move |db| read(db, name, *minutes.start(), *minutes.end())).await
    }

    async fn with<T, F>(&self, work: F) -> Result<T, SeriesError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, SeriesError> + Send + 'static,
    {
        let db = self.db.clone();
        let job = move || work(&mut db.lock().unwrap_or_else(PoisonError::into_inner));
        if self.inline {
            return job();
        }
        tokio::task::spawn_blocking(job).await.unwrap_or(Err(SeriesError::ShutDown))
    }
}

#[async_trait]
impl Metrics for SeriesMetrics {
    async fn put(&self, data: &[Datum]) -> Result<(), SinkError> {
        let refused = |source: SeriesError| SinkError { what: "metrics", source: Box::new(source) };
        if data.len() > DATA_MAX {
            return Err(refused(SeriesError::TooMany { count: data.len() }));
        }
        data.iter().try_for_each(check).map_err(refused)?;
        let data = data.to_vec();
        self.with(move |db| store(db, &data)).await.map_err(refused)
    }
}

/// Creates the tables of a new file. Returns the file's version.
fn prepare(db: &mut Connection) -> rusqlite::Result<i64> {
    db.busy_timeout(Duration::from_secs(5))?;
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let empty = tx.query_row("SELECT 1 FROM sqlite_schema LIMIT 1", [], |_| Ok(())).optional()?.is_none();
    if !(version == 0 && empty) {
        drop(tx);
        return Ok(version);
    }
    tx.execute_batch(TABLES)?;
    tx.pragma_update(None, "user_version", VERSION)?;
    tx.commit()?;
    db.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    Ok(VERSION)
}

fn known(name: &str) -> Result<&'static Metric, SeriesError> {
    let found = CATALOGUE.iter().find(|metric| metric.name == name);
    found.copied().ok_or_else(|| SeriesError::Unknown { name: name.into() })
}

fn check(datum: &Datum) -> Result<(), SeriesError> {
    let metric = known(&datum.name)?;
    let (expected, found) = (metric.dimensions.len(), datum.dimensions.len());
    if expected != found {
        return Err(SeriesError::Dimensions { metric: metric.name, expected, found });
    }
    let valid = !datum.values.is_empty() && datum.values.iter().all(|(value, times)| value.is_finite() && *times > 0);
    if valid { Ok(()) } else { Err(SeriesError::Values { metric: metric.name }) }
}

fn minute(at: Timestamp) -> i64 {
    at.as_ms().div_euclid(MINUTE_MS)
}

/// Joins dimensions. The separator never occurs in a value, because values come from closed sets.
fn joined(dimensions: &[String]) -> String {
    dimensions.join("\u{1F}")
}

fn store(db: &mut Connection, data: &[Datum]) -> Result<(), SeriesError> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for datum in data {
        store_one(&tx, datum)?;
    }
    Ok(tx.commit()?)
}

fn store_one(db: &Connection, datum: &Datum) -> Result<(), SeriesError> {
    let text = "INSERT INTO series (name, dimensions, points) VALUES (?1, ?2, 0)
        ON CONFLICT (name, dimensions) DO UPDATE SET points = points RETURNING key, points";
    let (key, points): (i64, i64) = db
        .prepare_cached(text)?
        .query_row(params![datum.name, joined(&datum.dimensions)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let minute = minute(datum.at);
    let values = || datum.values.iter().map(|(value, _)| *value);
    let count: i64 = datum.values.iter().map(|(_, times)| i64::from(*times)).sum();
    let sum: f64 = datum.values.iter().map(|(value, times)| value * f64::from(*times)).sum();
    let (min, max) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let last = values().next_back().unwrap_or_default();
    let exists =
        db.prepare_cached("SELECT 1 FROM point WHERE series = ?1 AND minute = ?2")?.exists(params![key, minute])?;
    let text = "INSERT INTO point VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (series, minute) DO UPDATE SET count = count + excluded.count, sum = sum + excluded.sum,
        min = min(min, excluded.min), max = max(max, excluded.max), last = excluded.last";
    db.prepare_cached(text)?.execute(params![key, minute, count, sum, min, max, last])?;
    if !exists {
        grow(db, key, points)?;
    }
    Ok(())
}

/// Counts a new minute; deletes the oldest one if the series is full.
fn grow(db: &Connection, key: i64, points: i64) -> Result<(), SeriesError> {
    if points < POINTS_MAX {
        db.prepare_cached("UPDATE series SET points = points + 1 WHERE key = ?1")?.execute([key])?;
    } else {
        let text = "DELETE FROM point WHERE series = ?1
            AND minute = (SELECT minute FROM point WHERE series = ?1 ORDER BY minute LIMIT 1)";
        db.prepare_cached(text)?.execute([key])?;
    }
    Ok(())
}

fn read(db: &Connection, name: &str, first: i64, last: i64) -> Result<Vec<Series>, SeriesError> {
    let mut statement = db.prepare_cached("SELECT key, dimensions FROM series WHERE name = ?1 ORDER BY dimensions")?;
    let keys = statement.query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let keys: Vec<(i64, String)> = keys.collect::<Result<_, _>>()?;
    let mut points = db.prepare_cached(
        "SELECT minute, count, sum, min, max, last FROM point
        WHERE series = ?1 AND minute BETWEEN ?2 AND ?3 ORDER BY minute",
    )?;
    let mut series = Vec::with_capacity(keys.len());
    for (key, dimensions) in keys {
        let found = points.query_map(params![key, first, last], |row| {
            Ok(Point {
                at: Timestamp::from_ms(row.get::<_, i64>(0)? * MINUTE_MS),
                count: row.get::<_, i64>(1)?.cast_unsigned(),
                sum: row.get(2)?,
                min: row.get(3)?,
                max: row.get(4)?,
                last: row.get(5)?,
            })
        })?;
        let values =
            if dimensions.is_empty() { Vec::new() } else { dimensions.split('\u{1F}').map(String::from).collect() };
        series.push(Series { dimensions: values, points: found.collect::<Result<_, _>>()? });
    }
    Ok(series)
}

#[cfg(test)]
#[path = "series_tests.rs"]
mod tests;

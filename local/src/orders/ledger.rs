//! The payment service's ledger: every payment once, however often its charge is sent and whenever the process is killed.
//!
//! The key of a charge and its payment are one transaction of one SQLite file (`consumer::sqlite::insert_once`). A kill
//! leaves both or neither; a charge that comes again finds its key.

use consumer::once::Lease;
use consumer::sqlite::{create_table, insert_once};
use domain::money::Money;
use domain::time::{Span, Timestamp};
use rusqlite::{Connection, TransactionBehavior, params};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// How long a key is kept. A letter may wait in an office for months before a replay sends it back.
pub(super) const KEPT: Span = Span::from_days(400);
/// Charges in one transaction, and so with one sync of the disk.
const TOGETHER_MAX: usize = 64;
/// Charges that wait for it at most; more wait for room.
const WAITING_MAX: usize = 256;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS payment (
        number INTEGER PRIMARY KEY, key TEXT NOT NULL, amount TEXT NOT NULL, currency TEXT NOT NULL, paid_at INTEGER NOT NULL
    ) STRICT;
";

/// The ledger could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file could not be created.
    #[error("cannot create the demo's ledger {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// SQLite cannot use the file.
    #[error("cannot use the demo's ledger {}. Delete the file to start with an empty ledger", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The error.
        source: rusqlite::Error,
    },
}

/// A payment that was not made, or of which that is not known. Sending the charge again does no harm.
#[derive(Debug, thiserror::Error)]
#[error("the ledger did not record the payment")]
pub(super) struct NotRecorded;

/// A charge to record, and where its answer goes.
struct Charge {
    key: String,
    money: Money,
    done: oneshot::Sender<Recorded>,
}

/// Whether a payment was made now; false if the same charge was paid before.
type Recorded = Result<bool, NotRecorded>;

/// The ledger. Clones share the file.
#[derive(Clone)]
pub(super) struct Ledger {
    charges: mpsc::Sender<Charge>,
}

impl Ledger {
    /// Opens or creates the file, and starts the thread that writes it. The thread ends with the last clone.
    pub(super) fn open(path: &Path, now: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Result<Self, LedgerError> {
        crate::private::create(path).map_err(|source| LedgerError::File { path: path.into(), source })?;
        let mut db = prepared(path).map_err(|source| LedgerError::Unusable { path: path.into(), source })?;
        let (charges, mut waiting) = mpsc::channel(WAITING_MAX);
        std::thread::spawn(move || {
            let mut batch = Vec::with_capacity(TOGETHER_MAX);
            while waiting.blocking_recv_many(&mut batch, TOGETHER_MAX) > 0 {
                let recorded = record(&mut db, &batch, now());
                if let Err(error) = &recorded {
                    tracing::error!(%error, charges = batch.len(), "the demo's ledger recorded nothing; its callers try again");
                }
                let mut recorded = recorded.unwrap_or_default().into_iter();
                for charge in batch.drain(..) {
                    // A caller that has gone sends the charge again.
                    let _ = charge.done.send(recorded.next().ok_or(NotRecorded));
                }
            }
        });
        Ok(Self { charges })
    }

    /// Pays once per key. Returns whether the payment was made now.
    pub(super) async fn pay(&self, key: String, money: Money) -> Recorded {
        let (done, recorded) = oneshot::channel();
        self.charges.send(Charge { key, money, done }).await.map_err(|_| NotRecorded)?;
        recorded.await.map_err(|_| NotRecorded)?
    }
}

fn prepared(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    // A payment is answered for once it is on the disk: the caller then forgets the order.
    db.pragma_update(None, "synchronous", "FULL")?;
    create_table(&db)?;
    db.execute_batch(SCHEMA)?;
    Ok(db)
}

/// Records charges with one sync. Returns for each whether it was paid now.
fn record(db: &mut Connection, charges: &[Charge], now: Timestamp) -> rusqlite::Result<Vec<bool>> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut paid = Vec::with_capacity(charges.len());
    for Charge { key, money, .. } in charges {
        // Keys of this file are never leased, so what is not granted was paid.
        let is_new = insert_once(&transaction, key, now, now.plus(KEPT))? == Lease::Granted;
        if is_new {
            let row = params![key, money.amount.to_string(), money.currency.as_str(), now.as_ms()];
            let text = "INSERT INTO payment (key, amount, currency, paid_at) VALUES (?1, ?2, ?3, ?4)";
            transaction.prepare_cached(text)?.execute(row)?;
        }
        paid.push(is_new);
    }
    transaction.commit()?;
    Ok(paid)
}

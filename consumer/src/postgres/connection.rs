//! The store's connection, which is made anew when it is lost.

use domain::time::Span;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tokio::sync::Mutex;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

/// How often a call is sent: again once if the connection was lost, for example because the server restarted. All of
/// this crate's statements may be repeated.
const ATTEMPTS_MAX: u32 = 2;
/// How long the server may take to answer, connecting included. Its answers take milliseconds.
const CALL_MAX: Span = Span::from_secs(5);

/// The server's own words for a connection that is of no use: it ends, or leads to a server that only reads, which it does
/// when another one has taken over.
const ENDED: &[SqlState] = &[
    SqlState::ADMIN_SHUTDOWN,
    SqlState::CRASH_SHUTDOWN,
    SqlState::CANNOT_CONNECT_NOW,
    SqlState::READ_ONLY_SQL_TRANSACTION,
];

type Connecting = Pin<Box<dyn Future<Output = Result<Client, Error>> + Send>>;

/// Idempotency keys and attempts in PostgreSQL. Clones share one connection, on which their calls are pipelined; a lost
/// connection is made anew by the next call.
///
/// ```no_run
/// use consumer::once::Once;
/// use consumer::postgres::{PostgresStore, create_tables};
/// use consumer::Span;
/// use std::sync::Arc;
/// use tokio_postgres::{Config, NoTls};
///
/// async fn once(config: Config) -> Result<Once, Box<dyn std::error::Error>> {
///     // `NoTls` is for a socket on this host; elsewhere pass a connector, such as that of `tokio-postgres-rustls`.
///     let store = PostgresStore::new(config, NoTls);
///     store.create_tables().await?;
///     Ok(Once::new(Arc::new(store), Span::from_secs(30)))
/// }
/// ```
#[derive(Clone)]
pub struct PostgresStore {
    connect: Arc<dyn Fn() -> Connecting + Send + Sync>,
    connection: Arc<Mutex<Option<Arc<Connected>>>>,
}

/// A connection, and whether it is of use.
struct Connected {
    client: Arc<Client>,
    /// It failed, or a call on it was given up: it may be dead without a word, as after a failover.
    is_doubtful: AtomicBool,
}

impl Connected {
    fn is_of_use(&self) -> bool {
        !self.client.is_closed() && !self.is_doubtful.load(Relaxed)
    }
}

/// A call on a connection. Unless it is answered, the connection is doubtful.
struct Calling {
    connected: Arc<Connected>,
    is_answered: bool,
}

impl Drop for Calling {
    fn drop(&mut self) {
        self.connected.is_doubtful.fetch_or(!self.is_answered, Relaxed);
    }
}

/// The database did not do what it was asked to.
///
/// ```
/// use consumer::postgres::DatabaseError;
///
/// assert_eq!(DatabaseError::Silent.to_string(), "PostgreSQL did not answer within 5000 ms");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The database, or the connection to it, failed.
    #[error(transparent)]
    Failed(#[from] Error),
    /// No answer arrived in time.
    #[error("PostgreSQL did not answer within {} ms", CALL_MAX.as_ms())]
    Silent,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The configuration may contain a password.
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Returns a store that connects with this configuration at its first call.
    ///
    /// ```
    /// # use consumer::postgres::PostgresStore;
    /// let config = "host=/run/postgresql user=orders".parse().unwrap();
    /// let store = PostgresStore::new(config, tokio_postgres::NoTls);
    /// # let _ = store;
    /// ```
    pub fn new<T>(config: Config, tls: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connect = move || -> Connecting {
            let (config, tls) = (config.clone(), tls.clone());
            Box::pin(async move {
                let (client, connection) = config.connect(tls).await?;
                tokio::spawn(async move {
                    if let Err(error) = connection.await {
                        tracing::warn!(%error, "the connection to PostgreSQL was lost");
                    }
                });
                Ok(client)
            })
        };
        Self { connect: Arc::new(connect), connection: Arc::default() }
    }

    /// Creates the tables, as [`create_tables`](super::create_tables) does.
    ///
    /// ```no_run
    /// # async fn example(store: consumer::postgres::PostgresStore) -> Result<(), consumer::postgres::DatabaseError> {
    /// store.create_tables().await?;
    /// # Ok(()) }
    /// ```
    pub async fn create_tables(&self) -> Result<(), DatabaseError> {
        self.on_connection(|client| async move { super::create_tables(&client).await }).await
    }

    /// Makes a call; makes it again on a new connection if it was lost.
    pub(super) async fn on_connection<T, F>(&self, call: impl Fn(Arc<Client>) -> F) -> Result<T, DatabaseError>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut attempt = 1;
        loop {
            let called = async {
                let mut calling = Calling { connected: self.connected().await?, is_answered: false };
                let answer = call(calling.connected.client.clone()).await;
                calling.is_answered = answer.as_ref().err().is_none_or(|error| !is_lost(error));
                answer
            };
            let error = match tokio::time::timeout(crate::clock::to_duration(CALL_MAX), called).await {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(error)) if !is_lost(&error) => return Err(error.into()),
                Ok(Err(error)) => DatabaseError::Failed(error),
                Err(_) => DatabaseError::Silent,
            };
            if attempt == ATTEMPTS_MAX || matches!(error, DatabaseError::Silent) {
                return Err(error);
            }
            attempt += 1;
        }
    }

    /// Returns the connection. Concurrent calls wait for one that connects.
    async fn connected(&self) -> Result<Arc<Connected>, Error> {
        let mut connection = self.connection.lock().await;
        match &*connection {
            Some(connected) if connected.is_of_use() => Ok(connected.clone()),
            _ => {
                let client = Arc::new((self.connect)().await?);
                let connected = Arc::new(Connected { client, is_doubtful: AtomicBool::new(false) });
                *connection = Some(connected.clone());
                Ok(connected)
            }
        }
    }
}

/// Whether the connection failed, rather than the statement.
fn is_lost(error: &Error) -> bool {
    error.as_db_error().is_none_or(|error| ENDED.contains(error.code()))
}

//! The conformance suites on the embedded queue and store, and of idempotency keys on SQLite and PostgreSQL.

mod once;
mod once_postgres;
mod queue;
mod store;

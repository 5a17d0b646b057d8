//! Idempotency keys and the log of attempts in a real PostgreSQL: the conformance suite, and what only transactions and
//! connections do.

use consumer::attempts::{Attempt, AttemptLog};
use consumer::once::{Lease, Leasing, OnceStore};
use consumer::postgres::{PostgresStore, create_tables, forget_expired, insert_once};
use consumer::{Failure, Span, Timestamp};
use dlo_tests::postgres::{Postgres, connect};
use std::sync::LazyLock;
use tokio_postgres::{Client, Config, NoTls};

static SERVER: LazyLock<Option<Postgres>> = LazyLock::new(Postgres::start);

/// Returns the configuration of a schema of its own, with the tables. `None` where PostgreSQL is not installed.
async fn config() -> Option<Config> {
    let config = SERVER.as_ref()?.fresh().await;
    PostgresStore::new(config.clone(), NoTls).create_tables().await.expect("new tables");
    Some(config)
}

async fn fresh() -> Option<PostgresStore> {
    Some(PostgresStore::new(config().await?, NoTls))
}

dlo_tests::once_conformance!(fresh, or "PostgreSQL is not installed (Debian's package postgresql)");

/// Makes a test of a case that gets the configuration of a schema of its own.
macro_rules! on_a_server {
    ($($case:ident),+ $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            match config().await {
                Some(config) => cases::$case(config).await,
                None => dlo_tests::skipped::report(
                    "conformance::once_postgres", stringify!($case), "PostgreSQL is not installed (Debian's package postgresql)"),
            }
        }
    )+};
}

on_a_server!(
    work_and_key_are_durable_together_or_not_at_all,
    of_two_transactions_at_once_one_does_the_work,
    a_transaction_that_is_given_up_leaves_the_key_to_the_one_that_waits,
    keys_expire_and_are_deleted,
    a_key_of_a_store_is_taken_in_a_transaction_too,
    a_lost_connection_is_made_anew,
    a_call_whose_connection_ends_is_made_again,
    a_call_that_was_given_up_is_followed_by_one_on_a_new_connection,
    a_server_that_only_reads_is_left_for_the_one_that_writes,
    consumers_that_start_together_make_the_tables_once,
    attempts_are_kept_in_order_and_forgotten,
);

fn at(s: i64) -> Timestamp {
    Timestamp::from_ms(1_763_600_000_000).plus(Span::from_secs(s))
}

const DAY_S: i64 = 86_400;

async fn with_payments(config: &Config) -> Client {
    let client = connect(config).await.expect("a connection");
    client.batch_execute("CREATE TABLE IF NOT EXISTS payment (n int)").await.expect("a table");
    client
}

async fn payments(client: &Client) -> i64 {
    client.query_one("SELECT count(*) FROM payment", &[]).await.expect("a count").get(0)
}

/// Pays in a transaction, if that is this one's to do. Returns whose it was.
async fn pay(client: &mut Client, now: Timestamp) -> Lease {
    let transaction = client.transaction().await.expect("a transaction");
    let lease = insert_once(&transaction, "pay", now, now.plus(Span::from_days(1))).await.expect("an answer");
    if lease == Lease::Granted {
        transaction.execute("INSERT INTO payment VALUES (1)", &[]).await.expect("a row");
        transaction.commit().await.expect("a commit");
    }
    lease
}

/// What a transaction that did the work leaves for the next one.
fn done() -> Lease {
    Lease::Done { result: "null".into() }
}

/// Waits until a connection of the case waits for another one; returns its process.
async fn blocked(watcher: &Client, config: &Config, is_over: impl Fn() -> bool) -> i32 {
    let blocked = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = $1";
    loop {
        if let Some(row) = watcher.query_opt(blocked, &[&config.get_application_name()]).await.expect("an answer") {
            return row.get(0);
        }
        assert!(!is_over(), "it did not wait");
    }
}

mod cases {
    use super::*;

    /// A process that dies before the commit has done nothing; one that dies after it, before the acknowledgement, has
    /// done all.
    pub(super) async fn work_and_key_are_durable_together_or_not_at_all(config: Config) {
        let mut dying = with_payments(&config).await;
        let transaction = dying.transaction().await.unwrap();
        assert_eq!(insert_once(&transaction, "pay", at(0), at(DAY_S)).await.unwrap(), Lease::Granted);
        transaction.execute("INSERT INTO payment VALUES (1)", &[]).await.unwrap();
        // The connection of a process that is killed ends so: without a rollback.
        std::mem::forget(transaction);
        drop(dying);
        let mut next = connect(&config).await.unwrap();
        assert_eq!(pay(&mut next, at(1)).await, Lease::Granted);
        drop(next);
        let mut third = connect(&config).await.unwrap();
        assert_eq!(pay(&mut third, at(2)).await, done());
        assert_eq!(payments(&third).await, 1);
    }

    pub(super) async fn of_two_transactions_at_once_one_does_the_work(config: Config) {
        with_payments(&config).await;
        let all = (0..8).map(|_| {
            let config = config.clone();
            tokio::spawn(async move { pay(&mut connect(&config).await.unwrap(), at(0)).await })
        });
        let mut paid = 0;
        for one in all.collect::<Vec<_>>() {
            let lease = one.await.unwrap();
            assert!(lease == Lease::Granted || lease == done(), "{lease:?}");
            paid += u32::from(lease == Lease::Granted);
        }
        assert_eq!((paid, payments(&connect(&config).await.unwrap()).await), (1, 1));
    }

    pub(super) async fn a_transaction_that_is_given_up_leaves_the_key_to_the_one_that_waits(config: Config) {
        let mut first = with_payments(&config).await;
        let transaction = first.transaction().await.unwrap();
        assert_eq!(insert_once(&transaction, "pay", at(0), at(DAY_S)).await.unwrap(), Lease::Granted);
        let waiting = config.clone();
        let waiting = tokio::spawn(async move { pay(&mut connect(&waiting).await.unwrap(), at(0)).await });
        let watcher = connect(&config).await.unwrap();
        blocked(&watcher, &config, || waiting.is_finished()).await;
        transaction.rollback().await.unwrap();
        assert_eq!(waiting.await.unwrap(), Lease::Granted);
        assert_eq!(payments(&watcher).await, 1);
    }

    pub(super) async fn keys_expire_and_are_deleted(config: Config) {
        let mut client = with_payments(&config).await;
        assert_eq!(pay(&mut client, at(0)).await, Lease::Granted);
        assert_eq!(pay(&mut client, at(DAY_S - 1)).await, done());
        assert_eq!(pay(&mut client, at(DAY_S)).await, Lease::Granted);
        assert_eq!(forget_expired(&client, at(2 * DAY_S - 1), 10).await.unwrap(), 0);
        assert_eq!(forget_expired(&client, at(2 * DAY_S), 10).await.unwrap(), 1);
        // A store deletes them by itself, ten with each lease.
        let store = PostgresStore::new(config, NoTls);
        let lease = async |key: &str, s: i64| {
            let leasing = Leasing { key, token: "t", now: at(s), until: at(s + 30), expires_at: at(s + 60) };
            assert_eq!(store.lease(&leasing).await.unwrap(), Lease::Granted);
        };
        for n in 0..15 {
            lease(&n.to_string(), 0).await;
        }
        let mut left = Vec::new();
        for s in 60..63 {
            lease(&format!("later-{s}"), s).await;
            left.push(client.query_one("SELECT count(*) FROM consumer_once", &[]).await.unwrap().get::<_, i64>(0));
        }
        assert_eq!(left, [6, 2, 3]);
    }

    pub(super) async fn a_key_of_a_store_is_taken_in_a_transaction_too(config: Config) {
        let store = PostgresStore::new(config.clone(), NoTls);
        let leasing = Leasing { key: "pay", token: "t", now: at(0), until: at(30), expires_at: at(DAY_S) };
        assert_eq!(store.lease(&leasing).await.unwrap(), Lease::Granted);
        let mut client = with_payments(&config).await;
        assert_eq!(pay(&mut client, at(29)).await, Lease::InProgress { until: at(30) }, "it may still fail");
        assert_eq!(payments(&client).await, 0);
        assert_eq!(pay(&mut client, at(30)).await, Lease::Granted, "the lease has ended without a result");
        assert!(!store.complete("pay", "t", "1", at(DAY_S)).await.unwrap());
        let leasing = Leasing { now: at(31), until: at(61), ..leasing };
        assert_eq!(store.lease(&leasing).await.unwrap(), done());
        let leasing = Leasing { key: "other", ..leasing };
        assert_eq!(store.lease(&leasing).await.unwrap(), Lease::Granted);
        assert!(store.complete("other", "t", "7", at(DAY_S)).await.unwrap());
        let transaction = client.transaction().await.unwrap();
        let known = insert_once(&transaction, "other", at(32), at(DAY_S)).await.unwrap();
        assert_eq!(known, Lease::Done { result: "7".into() });
    }

    pub(super) async fn a_lost_connection_is_made_anew(config: Config) {
        let mut losing = config.clone();
        // The connection that made the tables may not have ended yet, so this one needs a name of its own.
        losing.application_name("losing");
        let store = PostgresStore::new(losing, NoTls);
        let leasing = Leasing { key: "a", token: "t", now: at(0), until: at(30), expires_at: at(DAY_S) };
        assert_eq!(store.lease(&leasing).await.unwrap(), Lease::Granted);
        let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'losing'";
        let ending = connect(&config).await.unwrap();
        assert_eq!(ending.execute(end, &[]).await.unwrap(), 1);
        // The same lease again, as after an answer that was lost: it is found as its own.
        assert_eq!(store.lease(&leasing).await.unwrap(), Lease::Granted);
        assert!(store.complete("a", "t", "1", at(DAY_S)).await.unwrap());
    }

    pub(super) async fn a_call_whose_connection_ends_is_made_again(config: Config) {
        let mut holder = with_payments(&config).await;
        let transaction = holder.transaction().await.unwrap();
        assert_eq!(insert_once(&transaction, "a", at(0), at(DAY_S)).await.unwrap(), Lease::Granted);
        let store = PostgresStore::new(config.clone(), NoTls);
        let leasing = Leasing { key: "a", token: "t", now: at(0), until: at(30), expires_at: at(DAY_S) };
        let lease = tokio::spawn(async move { store.lease(&leasing).await });
        let watcher = connect(&config).await.unwrap();
        let pid = blocked(&watcher, &config, || lease.is_finished()).await;
        watcher.execute("SELECT pg_terminate_backend($1, 10000)", &[&pid]).await.unwrap();
        transaction.rollback().await.unwrap();
        assert_eq!(lease.await.unwrap().unwrap(), Lease::Granted);
    }

    /// A connection that is dead in silence looks like this, and callers with less patience than the store give up first.
    pub(super) async fn a_call_that_was_given_up_is_followed_by_one_on_a_new_connection(config: Config) {
        let mut holder = connect(&config).await.unwrap();
        let transaction = holder.transaction().await.unwrap();
        transaction.batch_execute("LOCK TABLE consumer_attempt").await.unwrap();
        let store = PostgresStore::new(config.clone(), NoTls);
        let load = || {
            let store = store.clone();
            tokio::spawn(async move { store.load(&"m-1".into()).await })
        };
        let watcher = connect(&config).await.unwrap();
        let first = load();
        let held_up = blocked(&watcher, &config, || first.is_finished()).await;
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        let second = load();
        let others = "SELECT count(*) FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND application_name = $1 AND pid <> $2";
        let is_new = async || {
            let row = watcher.query_one(others, &[&config.get_application_name(), &held_up]).await.unwrap();
            row.get::<_, i64>(0) > 0
        };
        while !is_new().await {
            assert!(!second.is_finished(), "it waits behind the first");
        }
        transaction.rollback().await.unwrap();
        assert_eq!(second.await.unwrap().unwrap(), []);
    }

    /// As after a switch-over: the connection stays, and its server only reads from now on.
    pub(super) async fn a_server_that_only_reads_is_left_for_the_one_that_writes(config: Config) {
        let admin = connect(&config).await.unwrap();
        let role = format!("{}_reader", config.get_application_name().unwrap());
        let create =
            format!("CREATE ROLE {role} SUPERUSER LOGIN; ALTER ROLE {role} SET default_transaction_read_only = on");
        admin.batch_execute(&create).await.unwrap();
        let mut reading = config.clone();
        reading.user(&role);
        let store = PostgresStore::new(reading, NoTls);
        let leasing = Leasing { key: "a", token: "t", now: at(0), until: at(30), expires_at: at(DAY_S) };
        assert!(store.lease(&leasing).await.is_err());
        admin.batch_execute(&format!("ALTER ROLE {role} RESET default_transaction_read_only")).await.unwrap();
        assert_eq!(store.lease(&leasing).await.unwrap(), Lease::Granted);
    }

    pub(super) async fn consumers_that_start_together_make_the_tables_once(config: Config) {
        let client = connect(&config).await.unwrap();
        client.batch_execute("DROP TABLE consumer_once, consumer_attempt").await.unwrap();
        let all = (0..8).map(|_| {
            let config = config.clone();
            tokio::spawn(async move { create_tables(&connect(&config).await.unwrap()).await })
        });
        for one in all.collect::<Vec<_>>() {
            one.await.unwrap().unwrap();
        }
    }

    pub(super) async fn attempts_are_kept_in_order_and_forgotten(config: Config) {
        let open = || PostgresStore::new(config.clone(), NoTls);
        let (one, other) = (open(), open());
        let attempt = |n: i64| Attempt::new(&Failure::unknown("E", n.to_string()), at(n), "i-1");
        for n in 0..20 {
            one.append(&"m-1".into(), attempt(n)).await.unwrap();
            one.append(&"m-2".into(), attempt(n)).await.unwrap();
        }
        let seen = other.load(&"m-1".into()).await.unwrap();
        let errors: Vec<&str> = seen.iter().map(|attempt| attempt.error.as_str()).collect();
        assert_eq!((errors.len(), errors[0], errors[15]), (16, "E: 4", "E: 19"));
        other.forget(&"m-1".into()).await.unwrap();
        assert_eq!(one.load(&"m-1".into()).await.unwrap(), []);
        assert_eq!(one.load(&"m-2".into()).await.unwrap().len(), 16);
        // Attempts on messages that SQS has deleted by now go ten at a time.
        one.append(&"m-3".into(), attempt(16 * DAY_S)).await.unwrap();
        assert_eq!(one.load(&"m-2".into()).await.unwrap().len(), 6);
    }
}

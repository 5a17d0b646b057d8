//! A deletion that ends after any of its steps.

use super::*;
use crate::machine::{FolderError, lock_whole_folder, open_folder};
use crate::queue::{EmbeddedQueue, QueueSettings};
use crate::store::SqliteStore;
use domain::deployment::Deployment;
use domain::id::QueueArn;
use domain::time::Timestamp;
use office::port::{Store, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// In another order than offices create them, so that each is the first one to go.
const ORDERS: [&[&str]; 2] =
    [&["office.db", "queues.db", "metrics.db", "orders.json"], &["orders.json", "queues.db", "office.db"]];

/// Returns the folder of an office that has stored something.
async fn used() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (store, queue) = open(folder.path()).unwrap();
    let deployment =
        Deployment { service: "orders".into(), version: "1".into(), commit: None, at: Timestamp::from_ms(1) };
    store.commit(vec![Write::Deployment { deployment, believed_until: Timestamp::from_ms(1) }]).await.unwrap();
    queue
        .create_queue(&QueueArn::from("arn:aws:sqs:local:000000000000:orders"), QueueSettings::default())
        .await
        .unwrap();
    for name in ["orders.json", "payments.db-journal", "lock", "somebody's.txt"] {
        fs::write(folder.path().join(name), "{}").unwrap();
    }
    drop((store, queue));
    // Their threads close the files.
    let ends = Instant::now() + Duration::from_secs(20);
    while ["office.db-wal", "queues.db-wal"].iter().any(|log| folder.path().join(log).exists()) {
        assert!(Instant::now() < ends, "the databases do not close");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    folder
}

/// Opens both databases as an office does.
fn open(folder: &Path) -> Result<(SqliteStore, EmbeddedQueue), String> {
    let store =
        SqliteStore::open(&folder.join("office.db")).map_err(|error| office::error::chain(&error).to_string())?;
    let queue = EmbeddedQueue::open(&folder.join("queues.db"), Arc::new(Timestamp::default))
        .map_err(|error| office::error::chain(&error).to_string())?;
    Ok((store, queue))
}

async fn is_used(store: &SqliteStore) -> bool {
    store.deployment("orders").await.unwrap().is_some()
}

fn perform(steps: Vec<Step>, count: usize) {
    steps.into_iter().take(count).for_each(|step| step.perform().unwrap());
}

/// Begins to delete, and ends once a file is gone.
fn delete_until_gone(folder: &Path, names: &[&str], last: &str) {
    for step in steps(folder, names).unwrap() {
        step.perform().unwrap();
        if !folder.join(last).exists() {
            return;
        }
    }
}

#[tokio::test]
async fn a_deletion_that_is_killed_after_any_step_leaves_a_folder_that_opens() {
    for names in ORDERS {
        let all = steps(used().await.path(), names).unwrap().len();
        assert!(all > 8, "{all}");
        let mut whole = 0;
        for count in 0..=all {
            let folder = used().await;
            perform(steps(folder.path(), names).unwrap(), count);
            let _lock = open_folder(folder.path(), &[]).unwrap();
            let (store, _queue) = open(folder.path()).unwrap_or_else(|error| panic!("{names:?} {count}: {error}"));
            // The list's name is the one step that decides.
            let is_used = is_used(&store).await;
            assert_eq!(is_used, count < 2, "{names:?} {count}");
            whole += usize::from(is_used);
            assert!(!is_pending(folder.path()) && folder.path().join("somebody's.txt").exists(), "{names:?} {count}");
            assert_eq!(folder.path().join("orders.json").exists(), is_used, "{names:?} {count}");
        }
        assert_eq!(whole, 2);
    }
}

#[tokio::test]
async fn a_deletion_goes_on_after_another_kill() {
    let names = ORDERS[0];
    let folder = used().await;
    delete_until_gone(folder.path(), names, "office.db");
    let listed: Vec<Outdated> = serde_json::from_slice(&fs::read(folder.path().join(LIST)).unwrap()).unwrap();
    perform(deletions(folder.path(), &listed), 3);
    let _lock = open_folder(folder.path(), &[]).unwrap();
    assert!(open(folder.path()).is_ok() && !is_pending(folder.path()));
}

#[tokio::test]
async fn what_was_put_in_the_place_of_a_deleted_office_stays() {
    let (folder, backup) = (used().await, used().await);
    delete_until_gone(folder.path(), ORDERS[0], "office.db");
    assert!(open(folder.path()).is_err(), "an office without its store");
    for name in ["office.db", "office.mark", "queues.db", "queues.mark"] {
        fs::copy(backup.path().join(name), folder.path().join(name)).unwrap();
    }
    let _lock = open_folder(folder.path(), &[]).unwrap();
    assert!(is_used(&open(folder.path()).unwrap().0).await);
}

#[tokio::test]
async fn a_half_deleted_office_is_not_backed_up() {
    let folder = used().await;
    delete_until_gone(folder.path(), ORDERS[1], "queues.db");
    let refused = lock_whole_folder(folder.path()).map(drop).unwrap_err();
    assert!(matches!(refused, FolderError::Deleting(_)), "{refused}");
    assert!(is_pending(folder.path()) && folder.path().join("office.db").exists());
}

#[tokio::test]
async fn a_list_names_no_file_outside_the_office() {
    let folder = used().await;
    let victim = folder.path().join("somebody's.txt");
    let listed = ["somebody's.txt", "../x", "damaged-1"].map(|name| Outdated {
        name: name.into(),
        identity: file_identity(&victim),
        changed_ns: Outdated::find(folder.path(), "somebody's.txt".into()).unwrap().unwrap().changed_ns,
    });
    fs::write(folder.path().join(LIST), serde_json::to_vec(&listed).unwrap()).unwrap();
    let _lock = open_folder(folder.path(), &[]).unwrap();
    assert!(victim.exists() && is_used(&open(folder.path()).unwrap().0).await);
}

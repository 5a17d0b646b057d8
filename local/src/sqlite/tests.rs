//! What an office does with a damaged, missing or copied file, and after a power cut.

use super::{FileError, Opening, log_of, mark_path};
use crate::queue::{EmbeddedQueue, QueueSettings};
use crate::store::{OpenError, SqliteStore};
use domain::deployment::Deployment;
use domain::id::QueueArn;
use domain::message::Content;
use domain::time::{Span, Timestamp};
use office::port::{Store, Write};
use power::{Disk, Survives};
use queue::{Outgoing, Queue};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const ON_DISK: Opening = Opening { synced: true, accept_damage: false, vfs: Some(power::VFS) };
const COMMITS: usize = 12;
/// More than a page, so that each commit has several frames.
const BYTES: usize = 6_000;

/// A linear congruential generator.
struct Seed(u64);

impl Seed {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }
}

async fn commit(store: &SqliteStore, n: usize) {
    let version = format!("{n}-{}", "v".repeat(BYTES));
    let at = Timestamp::from_ms(1);
    let deployment = Deployment { service: format!("service {n}"), version, commit: None, at };
    let write = Write::Deployment { deployment, believed_until: at };
    store.commit(vec![write]).await.expect("a commit");
}

/// Returns how many of the first `most` commits can be read, and checks that no earlier one is missing.
async fn readable(store: &SqliteStore, most: usize) -> usize {
    let mut found = Vec::new();
    for n in 0..most {
        found.push(store.deployment(&format!("service {n}")).await.expect("a read").is_some());
    }
    let count = found.iter().filter(|found| **found).count();
    assert!(found[..count].iter().all(|found| *found), "no commit is missing before a later one: {found:?}");
    count
}

/// An office's folder after the process was killed: all its commits are in the log.
struct Killed {
    folder: TempDir,
    path: PathBuf,
}

impl Killed {
    async fn after(commits: usize, opening: &Opening, survives: Survives) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("office.db");
        let disk = Disk::new(folder.path());
        let store = SqliteStore::open_as(&path, opening).expect("a store");
        for n in 0..commits {
            commit(&store, n).await;
        }
        disk.power_off();
        drop(store);
        disk.power_on(survives, &mut |_| 0).expect("power");
        Self { folder, path }
    }

    fn open(&self) -> Result<SqliteStore, OpenError> {
        SqliteStore::open(&self.path)
    }

    /// Opens the store, which must be refused without a change. Returns the reason.
    fn refused(&self) -> FileError {
        let before = self.contents();
        for _ in 0..2 {
            match self.open().map(drop) {
                Err(OpenError::Damaged(error)) => assert_eq!(self.contents(), before, "{error}: a file was changed"),
                other => panic!("expected a refusal: {other:?}"),
            }
        }
        let Err(OpenError::Damaged(error)) = self.open().map(drop) else { panic!("expected a refusal") };
        error
    }

    fn contents(&self) -> [Option<Vec<u8>>; 3] {
        [self.path.clone(), log_of(&self.path), mark_path(&self.path)].map(|path| fs::read(path).ok())
    }

    async fn accepted(&self) -> usize {
        let opening = Opening { accept_damage: true, ..Opening::default() };
        let store = SqliteStore::open_as(&self.path, &opening).expect("what can be read");
        readable(&store, COMMITS).await
    }
}

#[tokio::test]
async fn killed_office_opens_with_every_commit() {
    let killed = Killed::after(COMMITS, &ON_DISK, Survives::All).await;
    assert_eq!(readable(&killed.open().unwrap(), COMMITS).await, COMMITS);
}

#[tokio::test]
async fn damaged_log_is_refused_wherever_the_damage_is() {
    let killed = Killed::after(COMMITS, &ON_DISK, Survives::All).await;
    let log = fs::read(log_of(&killed.path)).unwrap();
    for part in 0..16 {
        let mut damaged = log.clone();
        let from = (log.len() - 40) * part / 15;
        damaged[from..from + 40].iter_mut().for_each(|byte| *byte ^= 0x5A);
        fs::write(log_of(&killed.path), damaged).unwrap();
        let error = killed.refused();
        let FileError::Lost { stored, found, .. } = error else { panic!("{error}") };
        assert!(stored == COMMITS as u64 && found < stored, "{error}");
    }
    fs::write(log_of(&killed.path), log).unwrap();
    assert_eq!(readable(&killed.open().unwrap(), COMMITS).await, COMMITS, "nothing was damaged by the refusals");
}

#[tokio::test]
async fn missing_or_shortened_log_is_refused() {
    let killed = Killed::after(COMMITS, &ON_DISK, Survives::All).await;
    let log = fs::read(log_of(&killed.path)).unwrap();
    for length in (0..10).map(|tenth| log.len() * tenth / 10).chain([log.len() - 1]) {
        fs::write(log_of(&killed.path), &log[..length]).unwrap();
        let error = killed.refused();
        assert!(matches!(error, FileError::Lost { .. }), "{length} bytes: {error}");
    }
    fs::remove_file(log_of(&killed.path)).unwrap();
    let Err(OpenError::Damaged(error)) = killed.open().map(drop) else { panic!("an office without its log") };
    let text = error.to_string();
    assert!(text.contains("12 were stored, but only 0 can be read"), "{text}");
    assert!(text.contains("Restore a backup"), "{text}");
}

#[tokio::test]
async fn missing_or_empty_file_is_refused() {
    for is_empty in [false, true] {
        let killed = Killed::after(COMMITS, &ON_DISK, Survives::All).await;
        fs::remove_file(&killed.path).unwrap();
        if is_empty {
            fs::write(&killed.path, "").unwrap();
        }
        let error = killed.refused();
        assert!(matches!(error, FileError::Missing { .. }), "{error}");
    }
}

#[tokio::test]
async fn damaged_pages_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.db");
    let store = SqliteStore::open(&path).unwrap();
    for n in 0..COMMITS {
        commit(&store, n).await;
    }
    drop(store);
    let mut pages = fs::read(&path).unwrap();
    let middle = pages.len() / 2;
    pages[middle..].fill(0xA5);
    fs::write(&path, pages).unwrap();
    let Err(OpenError::Damaged(error)) = SqliteStore::open(&path).map(drop) else { panic!("damaged pages") };
    assert!(matches!(error, FileError::Corrupt { .. }), "{error}");
    let opening = Opening { accept_damage: true, ..Opening::default() };
    assert!(SqliteStore::open_as(&path, &opening).is_err(), "damaged pages cannot be accepted");
}

fn copy_folder(from: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.path().join(path.file_name().unwrap())).unwrap();
    }
    to
}

#[tokio::test]
async fn copy_of_a_running_office_is_refused_and_of_a_closed_one_opens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.db");
    let store = SqliteStore::open(&path).unwrap();
    for n in 0..COMMITS {
        commit(&store, n).await;
    }
    let copy = copy_folder(folder.path());
    let copied = Killed { path: copy.path().join("office.db"), folder: copy };
    let error = copied.refused();
    assert!(matches!(error, FileError::Copied { .. }) && error.to_string().contains("`dlo backup`"), "{error}");
    assert_eq!(copied.accepted().await, COMMITS);
    assert_eq!(readable(&copied.open().unwrap(), COMMITS).await, COMMITS, "accepted once, it is an office like others");

    drop(store);
    let copy = copy_folder(folder.path());
    let store = SqliteStore::open(&copy.path().join("office.db")).unwrap();
    assert_eq!(readable(&store, COMMITS).await, COMMITS);
}

#[tokio::test]
async fn file_without_its_mark_is_refused() {
    let killed = Killed::after(COMMITS, &ON_DISK, Survives::All).await;
    for content in [None, Some("half a mar")] {
        match content {
            None => fs::remove_file(mark_path(&killed.path)).unwrap(),
            Some(text) => fs::write(mark_path(&killed.path), text).unwrap(),
        }
        let error = killed.refused();
        assert!(matches!(error, FileError::Unmarked { .. }), "{error}");
    }
    assert_eq!(killed.accepted().await, COMMITS);
}

#[tokio::test]
async fn accepted_damage_keeps_copies_and_opens_the_rest() {
    let killed = Killed::after(COMMITS, &ON_DISK, Survives::All).await;
    let mut log = fs::read(log_of(&killed.path)).unwrap();
    let middle = log.len() / 2;
    log[middle..middle + 40].iter_mut().for_each(|byte| *byte ^= 0xff);
    fs::write(log_of(&killed.path), &log).unwrap();
    let mark = fs::read(mark_path(&killed.path)).unwrap();
    let found = killed.accepted().await;
    assert!(found > 0 && found < COMMITS, "{found} of {COMMITS}");
    let aside = killed.folder.path().join("damaged-1");
    assert_eq!(fs::read(aside.join("office.db-wal")).unwrap(), log);
    assert_eq!(fs::read(aside.join("office.mark")).unwrap(), mark);
    assert_eq!(readable(&killed.open().unwrap(), COMMITS).await, found, "the damage was reported once");
}

#[tokio::test]
async fn file_of_an_older_version_gets_a_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.db");
    drop(SqliteStore::open(&path).unwrap());
    rusqlite::Connection::open(&path).unwrap().execute_batch("DROP TABLE commits").unwrap();
    fs::remove_file(mark_path(&path)).unwrap();
    commit(&SqliteStore::open(&path).unwrap(), 0).await;
    assert!(mark_path(&path).exists());
    assert_eq!(readable(&SqliteStore::open(&path).unwrap(), 1).await, 1);
}

#[tokio::test]
async fn commits_lost_for_want_of_a_sync_are_refused() {
    let unsynced = Opening { synced: false, ..ON_DISK };
    let killed = Killed::after(COMMITS, &unsynced, Survives::Synced).await;
    let error = killed.refused();
    assert!(matches!(error, FileError::Lost { .. }), "{error}");
}

#[tokio::test]
async fn power_cuts_lose_no_acknowledged_commit_of_the_store() {
    let survivals = [Survives::All, Survives::Synced, Survives::Prefix, Survives::Any];
    for seed in 0..24 {
        let mut chance = Seed(seed);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("office.db");
        let disk = Disk::new(folder.path());
        let mut stored = 0;
        for cut in 0..4 {
            let store = SqliteStore::open_as(&path, &ON_DISK).unwrap_or_else(|error| panic!("{seed}: {error}"));
            assert_eq!(readable(&store, stored).await, stored, "seed {seed}, cut {cut}");
            for _ in 0..chance.below(6) {
                commit(&store, stored).await;
                stored += 1;
                if chance.below(3) == 0 {
                    store.checkpoint().await.unwrap();
                }
            }
            disk.power_off();
            drop(store);
            disk.power_on(survivals[chance.below(4)], &mut |below| chance.below(below)).unwrap();
        }
    }
}

fn outgoing(body: String) -> Outgoing {
    Outgoing { content: Content { body, ..Content::default() }, ..Outgoing::default() }
}

#[tokio::test]
async fn power_cuts_lose_no_acknowledged_call_of_the_queue() {
    let orders = QueueArn::from("arn:aws:sqs:local:000000000000:orders");
    for seed in 0..24 {
        let mut chance = Seed(seed);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queues.db");
        let disk = Disk::new(folder.path());
        let (mut sent, mut waiting) = (0, BTreeSet::new());
        for cut in 0..4 {
            let at = Timestamp::from_ms(cut * 60_000);
            let queue = EmbeddedQueue::open_as(&path, Arc::new(move || at), &ON_DISK).unwrap();
            queue.create_queue(&orders, QueueSettings::default()).await.unwrap();
            let found = queue.peek(&orders, 100).await.unwrap();
            let found: BTreeSet<String> = found.into_iter().map(|message| message.content.body).collect();
            assert_eq!(found, waiting, "seed {seed}, cut {cut}");
            for _ in 0..chance.below(8) {
                if chance.below(3) > 0 {
                    sent += 1;
                    let answers = queue.send_batch(&orders, &[outgoing(format!("order {sent}"))]).await.unwrap();
                    assert!(answers[0].is_ok());
                    waiting.insert(format!("order {sent}"));
                } else if let Some(taken) = queue.receive(&orders, 1, Span::ZERO, None).await.unwrap().pop() {
                    queue.delete_batch(&orders, &[taken.receipt_handle]).await.unwrap();
                    waiting.remove(&taken.content.body);
                }
            }
            disk.power_off();
            drop(queue);
            let survives = [Survives::Synced, Survives::Prefix, Survives::Any][chance.below(3)];
            disk.power_on(survives, &mut |below| chance.below(below)).unwrap();
        }
    }
}

#[tokio::test]
async fn damaged_log_of_the_queue_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.db");
    let disk = Disk::new(folder.path());
    let orders = QueueArn::from("arn:aws:sqs:local:000000000000:orders");
    let queue = EmbeddedQueue::open_as(&path, Arc::new(Timestamp::default), &ON_DISK).unwrap();
    queue.create_queue(&orders, QueueSettings::default()).await.unwrap();
    queue.send_batch(&orders, &[outgoing("an order".into())]).await.unwrap();
    disk.power_off();
    drop(queue);
    disk.power_on(Survives::All, &mut |_| 0).unwrap();
    let log = fs::read(log_of(&path)).unwrap();
    fs::write(log_of(&path), &log[..log.len() - 1]).unwrap();
    let Err(crate::queue::OpenError::Damaged(error)) =
        EmbeddedQueue::open(&path, Arc::new(Timestamp::default)).map(drop)
    else {
        panic!("a queue without its last call");
    };
    assert!(matches!(error, FileError::Lost { .. }), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn only_their_owner_can_read_the_files_of_an_office() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("office");
    let _lock = crate::machine::open_folder(&folder, &[]).unwrap();
    let store = SqliteStore::open(&folder.join("office.db")).unwrap();
    let _queue = EmbeddedQueue::open(&folder.join("queues.db"), Arc::new(Timestamp::default)).unwrap();
    commit(&store, 0).await;
    let _metrics = crate::sinks::SeriesMetrics::open(&folder.join("metrics.db")).unwrap();
    crate::control::Control::new("http://127.0.0.1:1".into()).unwrap().write(&folder).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    for name in ["office.db", "office.db-wal", "office.db-shm", "office.mark", "queues.db-wal", "lock", "running.json"]
    {
        assert!(paths.contains(&folder.join(name)), "{name}: {paths:?}");
    }
    for path in paths {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

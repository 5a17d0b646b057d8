//! Backups of a running office and of a closed one.

use super::*;
use crate::queue::QueueSettings;
use ::queue::{Outgoing, Queue};
use domain::id::QueueArn;
use domain::message::Content;
use domain::time::Timestamp;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

fn orders() -> QueueArn {
    QueueArn::from("arn:aws:sqs:local:000000000000:orders")
}

fn open(folder: &Path) -> Files {
    let store = Arc::new(SqliteStore::open(&folder.join(STORE)).unwrap());
    let clock = Arc::new(Timestamp::default);
    let queue = Arc::new(EmbeddedQueue::open(&folder.join(QUEUES), clock).unwrap());
    Files::new(folder.into(), store, queue)
}

async fn send(files: &Files, n: u32) {
    let content = Content { body: n.to_string(), ..Content::default() };
    let sent = files.queue.send_batch(&orders(), &[Outgoing { content, ..Outgoing::default() }]).await.unwrap();
    assert!(sent[0].is_ok());
    use office::port::{Store, Write};
    let at = Timestamp::from_ms(1);
    let (service, version) = (format!("service {n}"), n.to_string());
    let write = domain::deployment::Deployment { service, version, commit: None, at };
    files.store.commit(vec![Write::Deployment { deployment: write, believed_until: at }]).await.unwrap();
}

/// Returns how many messages and how many deployments an office has.
async fn counts(files: &Files) -> (usize, u32) {
    (files.queue.peek(&orders(), 10_000).await.unwrap().len(), deployments(&files.store).await)
}

/// Returns how many deployments a store has. None may be missing before another one.
async fn deployments(store: &SqliteStore) -> u32 {
    use office::port::Store;
    let (mut count, mut last, mut n) = (0, 0, 0);
    while n < last + 100 {
        if store.deployment(&format!("service {n}")).await.unwrap().is_some() {
            (count, last) = (count + 1, n + 1);
        }
        n += 1;
    }
    assert_eq!(count, last, "one is missing before another");
    count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_of_a_running_office_is_from_one_moment() {
    let (folder, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = open(folder.path());
    files.queue.create_queue(&orders(), QueueSettings::default()).await.unwrap();
    fs::write(folder.path().join(ORDERS), "{}").unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn({
        let (files, done) = (files.clone(), done.clone());
        async move {
            let mut n = 0;
            while !done.load(Ordering::SeqCst) || n == 0 {
                send(&files, n).await;
                n += 1;
            }
        }
    });
    let mut last = 0;
    for n in 0..5 {
        let to = parent.path().join(format!("backup {n}"));
        let backup = files.backup(&to).await.unwrap();
        assert!(backup.bytes > 0 && backup.folder == to);
        let copy = open(&to);
        let (messages, deployments) = counts(&copy).await;
        let (messages, deployments) = (messages as u32, deployments);
        // A message is sent before its deployment is stored, so the copy has at most one message more.
        assert!(messages == deployments || messages == deployments + 1, "{messages} and {deployments}");
        assert!(messages >= last, "an older state than the backup before");
        last = messages;
        assert_eq!(fs::read_to_string(to.join(ORDERS)).unwrap(), "{}");
        assert!(matches!(files.backup(&to).await, Err(BackupError::NotEmpty(_))));
    }
    done.store(true, Ordering::SeqCst);
    writing.await.unwrap();
}

#[tokio::test]
async fn backup_of_a_closed_office_opens() {
    let (folder, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let to = parent.path().join("backup");
    assert!(matches!(run(folder.path(), &to).await, Err(BackupError::NoOffice(_))));
    fs::create_dir(&to).unwrap();
    fs::set_permissions(&to, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let files = open(folder.path());
    files.queue.create_queue(&orders(), QueueSettings::default()).await.unwrap();
    send(&files, 0).await;
    drop(files);
    let inside = run(folder.path(), &folder.path().join("backup")).await;
    assert!(matches!(inside, Err(BackupError::Inside(_))), "{inside:?}");
    run(folder.path(), &to).await.unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&to).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(counts(&open(&to)).await, (1, 1));
    let link = parent.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    for inside in [link.join("backup"), link.join("new/backup"), link.join(".")] {
        let error = run(folder.path(), &inside).await;
        assert!(matches!(error, Err(BackupError::Inside(_))), "{error:?}");
    }
    let error = run(&link, &folder.path().join("backup")).await;
    assert!(matches!(error, Err(BackupError::Inside(_))), "{error:?}");
    assert_eq!(counts(&open(folder.path())).await, (1, 1), "the office is unchanged");
}

#[tokio::test]
async fn damaged_office_is_not_backed_up_as_if_it_were_whole() {
    let (folder, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = open(folder.path());
    files.queue.create_queue(&orders(), QueueSettings::default()).await.unwrap();
    for n in 0..50 {
        send(&files, n).await;
    }
    drop(files);
    let path = folder.path().join(STORE);
    let mut pages = fs::read(&path).unwrap();
    let middle = pages.len() / 2;
    pages[middle..].fill(0xA5);
    fs::write(&path, pages).unwrap();
    let to = parent.path().join("backup");
    let error = run(folder.path(), &to).await.unwrap_err();
    assert!(matches!(error, BackupError::Damaged(_)), "{error}");
    assert!(!to.exists(), "a failed backup leaves nothing");
}

#[tokio::test]
async fn office_with_a_changed_body_is_not_backed_up_as_if_it_were_whole() {
    let (folder, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = open(folder.path());
    let db = rusqlite::Connection::open(folder.path().join(STORE)).unwrap();
    db.execute_batch(&crate::store::store_tests::letter_with_content("{\"body\":\"10 EUR\"}")).unwrap();
    let backup = files.backup(&parent.path().join("whole")).await;
    assert!(backup.is_ok(), "{backup:?}");
    db.execute("UPDATE content SET record = '{\"body\":\"90 EUR\"}'", []).unwrap();
    let to = parent.path().join("changed");
    let error = files.backup(&to).await.unwrap_err();
    assert!(error.to_string().contains("has changed since it was written"), "{error}");
    assert!(!to.exists(), "a failed backup leaves nothing");
}

#[tokio::test]
async fn office_with_a_changed_count_is_neither_backed_up_nor_opened() {
    use domain::group::CountsDelta;
    use office::port::{Store, Write};
    let (folder, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = open(folder.path());
    let count =
        || Write::Counts { group: "g".into(), delta: Box::new(CountsDelta { deaths: 3, ..CountsDelta::default() }) };
    files.store.commit(vec![count()]).await.unwrap();
    let backup = files.backup(&parent.path().join("whole")).await;
    assert!(backup.is_ok(), "{backup:?}");
    let db = rusqlite::Connection::open(folder.path().join(STORE)).unwrap();
    let changed = "UPDATE group_count SET record = replace(record, '\"deaths\":3', '\"deaths\":8')";
    assert_eq!(db.execute(changed, []).unwrap(), 1);
    drop(db);
    let to = parent.path().join("changed");
    let error = files.backup(&to).await.unwrap_err();
    assert!(error.to_string().contains("a stored counter has changed since it was written (group g)"), "{error}");
    assert!(files.store.commit(vec![count()]).await.is_err(), "nothing is added to a wrong number");
    drop(files);
    let error = SqliteStore::open(&folder.path().join(STORE)).map(drop).unwrap_err();
    assert!(error.to_string().contains("(group g)"), "{error}");
    let opening = crate::sqlite::Opening { accept_damage: true, ..Default::default() };
    let store = SqliteStore::open_as(&folder.path().join(STORE), &opening).unwrap();
    store.commit(vec![count()]).await.unwrap();
}

#[tokio::test]
async fn store_without_its_own_queues_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("office");
    fs::create_dir(&folder).unwrap();
    let copy = |from: &Path, to: &Path, names: &[&str]| {
        fs::create_dir_all(to).unwrap();
        for name in names {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    };
    let (store, queues) = (["office.db", "office.mark"], ["queues.db", "queues.mark"]);
    // An office that ran for two minutes, with a backup of the first.
    let files = open(&folder);
    files.queue.create_queue(&orders(), QueueSettings::default()).await.unwrap();
    send(&files, 0).await;
    files.checkpoint().await;
    let old = parent.path().join("backup");
    files.backup(&old).await.unwrap();
    files.checkpoint().await;
    files.checkpoint().await;
    drop(files);
    drop(open(&folder));
    for (n, (of_store, of_queues)) in [(&old, &folder), (&folder, &old)].into_iter().enumerate() {
        let mixed = parent.path().join(format!("mixed {n}"));
        copy(of_store, &mixed, &store);
        copy(of_queues, &mixed, &queues);
        let error = SqliteStore::open(&mixed.join(STORE)).map(drop).unwrap_err();
        assert!(error.to_string().contains("are from different moments"), "{error}");
        let to = parent.path().join("backup of it");
        assert!(matches!(run(&mixed, &to).await, Err(BackupError::Damaged(FileError::Mixed { .. }))));
        let opening = crate::sqlite::Opening { accept_damage: true, ..Default::default() };
        assert!(SqliteStore::open_as(&mixed.join(STORE), &opening).is_ok());
    }
    // Both from one moment open, as does an office that was killed between the two writes of a minute.
    let together = parent.path().join("together");
    copy(&old, &together, &[store, queues].concat());
    let files = open(&together);
    let number = files.queue.alone(|file| Moment::read(&file.db)).await.unwrap().unwrap().number;
    files.store.checkpoint_at(Moment { number: number.wrapping_add(1), before: number }).await.unwrap();
    drop(files);
    drop(open(&together));
}

#[tokio::test]
async fn office_without_one_of_its_databases_is_refused() {
    for name in [STORE, QUEUES] {
        let folder = tempfile::tempdir().unwrap();
        let files = open(folder.path());
        files.queue.create_queue(&orders(), QueueSettings::default()).await.unwrap();
        send(&files, 0).await;
        drop(files);
        for suffix in [".db", ".db-wal", ".db-shm", ".mark"] {
            let _ = fs::remove_file(folder.path().join(name.replace(".db", suffix)));
        }
        let refused = match name {
            STORE => SqliteStore::open(&folder.path().join(name)).map(drop).map_err(|error| error.to_string()),
            _ => EmbeddedQueue::open(&folder.path().join(name), Arc::new(Timestamp::default))
                .map(drop)
                .map_err(|error| error.to_string()),
        };
        let error = refused.expect_err(name);
        assert!(error.contains("is missing or empty"), "{error}");
        assert!(!folder.path().join(name).exists(), "nothing was changed");
    }
}

/// An office without its folder's mode and times: the bytes of its files, as `cp` reads them one after the other.
#[derive(Clone)]
struct Bytes(Vec<(&'static str, Vec<u8>)>);

const ALL: [&str; 6] = ["office.db", "office.db-wal", "office.mark", "queues.db", "queues.db-wal", "queues.mark"];

impl Bytes {
    fn read(folder: &Path) -> Self {
        Self(ALL.map(|name| (name, fs::read(folder.join(name)).unwrap_or_default())).into())
    }

    fn file(&self, name: &str) -> &[u8] {
        self.0.iter().find(|(known, _)| *known == name).map_or(&[], |(_, bytes)| bytes)
    }

    /// Writes the files over those of the office, as `cp` does: it stays the same file.
    fn write_over(&self, folder: &Path) {
        for (name, bytes) in &self.0 {
            fs::write(folder.join(name), bytes).unwrap();
        }
        for name in ["office.db-shm", "queues.db-shm"] {
            let _ = fs::remove_file(folder.join(name));
        }
    }
}

/// Opens what may be mixed. Returns why it was refused, or what it holds.
async fn opened(folder: &Path) -> Result<(usize, u32), String> {
    let store = SqliteStore::open(&folder.join(STORE)).map_err(|error| error.to_string())?;
    let queue = EmbeddedQueue::open(&folder.join(QUEUES), Arc::new(Timestamp::default));
    let queue = Arc::new(queue.map_err(|error| error.to_string())?);
    Ok(counts(&Files::new(folder.into(), Arc::new(store), queue)).await)
}

/// An office at two moments, between which a checkpoint copied its logs into its files. The second has letters since then.
async fn two_moments(folder: &Path) -> (Bytes, Bytes) {
    let files = open(folder);
    files.queue.create_queue(&orders(), QueueSettings::default()).await.unwrap();
    for n in 0..20 {
        send(&files, n).await;
    }
    files.checkpoint().await;
    send(&files, 20).await;
    let first = Bytes::read(folder);
    for n in 21..60 {
        send(&files, n).await;
    }
    files.checkpoint().await;
    for n in 60..70 {
        send(&files, n).await;
    }
    (first, Bytes::read(folder))
}

/// `cp` reads each file at some moment. Whatever it read when: what it wrote back is refused, or it is an office in which
/// no letter is missing before a later one.
#[tokio::test]
async fn files_copied_from_a_running_office_over_its_own_are_refused_or_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = two_moments(folder.path()).await;
    let (mut refused, mut opened_count) = (0, 0);
    for choice in 0..1_u32 << ALL.len() {
        let pick = |(at, name): (usize, &'static str)| {
            let from = if choice & (1 << at) == 0 { &first } else { &second };
            (name, from.file(name).to_vec())
        };
        Bytes(ALL.into_iter().enumerate().map(pick).collect()).write_over(folder.path());
        match opened(folder.path()).await {
            // A message is sent before its deployment is stored.
            Ok((messages, deployments)) => {
                opened_count += 1;
                assert!(
                    [21, 60, 70].contains(&messages) && messages == deployments as usize,
                    "{choice:06b}: {messages} messages, {deployments}"
                );
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 32 && opened_count >= 2, "{refused} refused, {opened_count} opened");
}

/// A checkpoint that runs while `cp` reads leaves a file with pages from before it and pages from after it.
#[tokio::test]
async fn files_copied_during_a_checkpoint_over_their_own_are_refused_or_whole() {
    const PAGE: usize = 4_096;
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = two_moments(folder.path()).await;
    let (old, new) = (first.file("office.db"), second.file("office.db"));
    let pages = new.len().div_ceil(PAGE);
    let mut refused = 0;
    for from in 0..=pages {
        for newer_first in [false, true] {
            let (start, end) = if newer_first { (new, old) } else { (old, new) };
            let at = (from * PAGE).min(start.len()).min(end.len());
            let mixed = [&start[..at], &end[at..]].concat();
            for log in [&[][..], second.file("office.db-wal")] {
                let mut files = Bytes(first.0.clone());
                files.0[0].1.clone_from(&mixed);
                files.0[1].1 = log.to_vec();
                // The mark was copied first, before the letters came.
                files.write_over(folder.path());
                match SqliteStore::open(&folder.path().join(STORE)) {
                    Ok(store) => assert!([20, 60, 70].contains(&deployments(&store).await), "{from} {newer_first}"),
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(refused > 0);
}

/// Pages of the file from before a checkpoint, and a log from after it: each page and each number in the log looks right.
#[tokio::test]
async fn files_from_before_a_checkpoint_with_logs_from_after_it_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = open(folder.path());
    files.queue.create_queue(&orders(), QueueSettings::default()).await.unwrap();
    for n in 0..20 {
        send(&files, n).await;
    }
    files.checkpoint().await;
    let before = Bytes::read(folder.path());
    send(&files, 20).await;
    files.checkpoint().await;
    send(&files, 21).await;
    let after = Bytes::read(folder.path());
    drop(files);
    for old in [&[STORE][..], &[QUEUES], &[STORE, QUEUES]] {
        let from = |name: &'static str| if old.contains(&name) { &before } else { &after };
        let mixed = ALL.into_iter().map(|name| (name, from(name).file(name).to_vec()));
        Bytes(mixed.collect()).write_over(folder.path());
        let error = opened(folder.path()).await.expect_err("a letter would be missing");
        assert!(error.contains("different moments"), "{old:?}: {error}");
    }
    after.write_over(folder.path());
    assert_eq!(opened(folder.path()).await, Ok((22, 22)), "together they are whole");
}

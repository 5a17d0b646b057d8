//! The faults, each done to the running office from outside.

pub use crate::arguments::Fault;
use crate::office::{Office, tail};
use crate::oracle::{Store, Violation};
use crate::round::Trial;
use crate::{evidence, wal};
use anyhow::Result;
use rustix::process::{Resource, Signal};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a second office on a folder may take to refuse.
const REFUSE_MAX: Duration = Duration::from_secs(20);
/// The jump of the clock, seconds, either way.
pub const JUMP_S: i64 = 2 * 60 * 60;

impl Fault {
    /// Whether the office may end of it: a process that gets no memory cannot go on.
    fn may_end(self) -> bool {
        matches!(self, Fault::LittleMemory)
    }

    /// Whether later rounds of the same office would feel it: it has records of times that are still to come.
    pub fn leaves_traces(self) -> bool {
        matches!(self, Fault::ClockJump)
    }

    /// Does it, and starts the office again where it ended.
    pub async fn apply(self, trial: &mut Trial) -> Result<Vec<Violation>> {
        let mut found = match self {
            Fault::Kill => {
                trial.kill();
                Vec::new()
            }
            Fault::Freeze => freeze(trial).await?,
            Fault::FullDisk => full_disk(trial).await?,
            Fault::FileLimit => file_limit(trial).await?,
            Fault::CutLog => {
                trial.kill();
                for name in ["office.db-wal", "queues.db-wal"] {
                    wal::tear(&trial.folder.join(name), &mut trial.chance)?;
                }
                Vec::new()
            }
            Fault::DamagedLog => damaged_log(trial).await?,
            Fault::ClockJump => clock_jump(trial).await?,
            Fault::SecondProcess => second_process(trial).await?,
            Fault::FewHandles => few_handles(trial).await?,
            Fault::LittleMemory => little_memory(trial).await?,
        };
        let ended = trial.office.as_mut().and_then(Office::ended);
        if let Some(status) = ended {
            trial.ended_count += 1;
            if !self.may_end() {
                found.push(format!("the office ended by itself ({status}): {}", tail(&trial.log)));
            }
            trial.kill();
        }
        trial.ensure_started().await?;
        Ok(found)
    }
}

/// Waits for a random time of this many milliseconds.
async fn pause(trial: &mut Trial, least: u64, most: u64) {
    let span = usize::try_from(most - least).unwrap_or(0);
    tokio::time::sleep(Duration::from_millis(least + trial.chance.below(span) as u64)).await;
}

async fn freeze(trial: &mut Trial) -> Result<Vec<Violation>> {
    trial.running()?.signal(Signal::STOP)?;
    pause(trial, 500, 9_000).await;
    trial.running()?.signal(Signal::CONT)?;
    Ok(Vec::new())
}

async fn full_disk(trial: &mut Trial) -> Result<Vec<Violation>> {
    let filler = trial.folder.with_file_name("filler");
    let mut file = File::create(&filler)?;
    let block = [0_u8; 4096];
    while file.write_all(&block).is_ok() {}
    drop(file);
    pause(trial, 1_500, 6_000).await;
    std::fs::remove_file(&filler)?;
    Ok(Vec::new())
}

async fn file_limit(trial: &mut Trial) -> Result<Vec<Violation>> {
    let bytes = |name: &str| std::fs::metadata(trial.folder.join(name)).map_or(0, |about| about.len());
    let largest = ["office.db-wal", "queues.db-wal"].map(bytes).into_iter().max().unwrap_or(0);
    let limit = largest + trial.chance.below(32 * 1024) as u64;
    limited(trial, Resource::Fsize, limit).await
}

async fn few_handles(trial: &mut Trial) -> Result<Vec<Violation>> {
    let folder = format!("/proc/{}/fd", trial.running()?.pid().as_raw_nonzero());
    let open = std::fs::read_dir(folder)?.count() as u64;
    let limit = open + trial.chance.below(3) as u64;
    limited(trial, Resource::Nofile, limit).await
}

async fn little_memory(trial: &mut Trial) -> Result<Vec<Violation>> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", trial.running()?.pid().as_raw_nonzero()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap_or_default();
    let kb: u64 = line.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
    // Below what it has reserved: what it has stays, and every further request of memory is refused.
    let limit = kb * 512 + trial.chance.below(usize::try_from(kb * 512)?) as u64;
    limited(trial, Resource::As, limit).await
}

/// Limits a resource for seconds, while calls keep the office busy.
async fn limited(trial: &mut Trial, resource: Resource, limit: u64) -> Result<Vec<Violation>> {
    let office = trial.running()?;
    office.limit(resource, Some(limit))?;
    let client = office.client.clone();
    let calls: Vec<_> = (0..4)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    // It may be refused or lost; that it is no lie is what the oracle checks.
                    let _ = client.get("/groups").await;
                }
            })
        })
        .collect();
    pause(trial, 1_500, 5_000).await;
    // It fails where the office ended.
    let _ = trial.running()?.limit(resource, None);
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(Vec::new())
}

/// The office on a damaged log must refuse, or have all its letters. Its files are restored afterwards.
async fn damaged_log(trial: &mut Trial) -> Result<Vec<Violation>> {
    trial.kill();
    let scratch = tempfile::tempdir()?;
    let (copy, reference) = (scratch.path().join("copy"), scratch.path().join("reference"));
    evidence::copy(&trial.folder, &copy)?;
    evidence::copy(&trial.folder, &reference)?;
    let expected = Store::read(&reference)?.letter_count();
    if !wal::damage(&trial.folder.join("office.db-wal"), &mut trial.chance)? {
        return Ok(Vec::new());
    }
    let log = scratch.path().join("stderr.log");
    let mut found = Vec::new();
    // An office that refuses says so, and nothing is lost.
    if let Ok(office) = Office::start(&trial.program, &trial.folder, &log, None).await {
        let shown = letters_shown(&office).await?;
        if shown < expected {
            found.push(format!("with a damaged log, the office opened with {shown} of {expected} letters"));
        }
    }
    evidence::restore(&copy, &trial.folder)?;
    Ok(found)
}

async fn letters_shown(office: &Office) -> Result<usize> {
    let groups = office.client.get("/groups").await?["groups"].as_array().cloned().unwrap_or_default();
    let mut shown = 0;
    for group in groups {
        let path = format!("/groups/{}/letters?", group["id"].as_str().unwrap_or_default());
        shown += office.client.all(&path, "letters").await?.len();
    }
    Ok(shown)
}

async fn clock_jump(trial: &mut Trial) -> Result<Vec<Violation>> {
    trial.close().await?;
    let file = trial.folder.with_file_name("clock");
    std::fs::write(&file, "+0\n")?;
    trial.start(Some(&file)).await?;
    pause(trial, 500, 3_000).await;
    let jump = if trial.chance.below(2) == 0 { JUMP_S } else { -JUMP_S };
    // Renamed, so that no reader sees half a number.
    let new = trial.folder.with_file_name("clock.new");
    std::fs::write(&new, format!("{jump:+}\n"))?;
    std::fs::rename(&new, &file)?;
    pause(trial, 2_000, 6_000).await;
    Ok(Vec::new())
}

async fn second_process(trial: &mut Trial) -> Result<Vec<Violation>> {
    let scratch = tempfile::tempdir()?;
    let log = scratch.path().join("stderr.log");
    let mut second = trial.program.demo(&trial.folder, File::create(&log)?).spawn()?;
    let started = Instant::now();
    let status = loop {
        match second.try_wait()? {
            Some(status) => break Some(status),
            None if started.elapsed() > REFUSE_MAX => break None,
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let mut found = Vec::new();
    match status {
        Some(status) if status.success() => {
            found.push("a second office on the folder ended as if all were well".into())
        }
        Some(_) => found.extend(unexplained(&log)),
        None => {
            second.kill()?;
            second.wait()?;
            found.push("a second office runs on the same folder".to_owned());
        }
    }
    if let Err(error) = trial.running()?.client.get("/groups").await {
        found.push(format!("the first office does not answer beside a second one: {error:#}"));
    }
    Ok(found)
}

/// The second office must say why it does not start.
fn unexplained(log: &Path) -> Option<Violation> {
    let said = tail(log);
    (!said.contains("another office")).then(|| format!("a second office refused the folder without saying why: {said}"))
}

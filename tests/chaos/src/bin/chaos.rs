//! `cargo xtask chaos [--minutes N] [--seed S] [--offices N] [--fault <name>]`: rounds of faults in several offices at
//! once, until the minutes are over.

use anyhow::{Result, bail};
use chaos::fault::Fault;
use chaos::office::Program;
use chaos::report::{Report, Runs};
use chaos::round::Trial;
use chaos::{arguments, evidence};
use harness::samples::Chance;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::signal::unix::{SignalKind, signal};

/// Where Debian puts libfaketime, below the folder of libraries.
const FAKETIME: &str = "faketime/libfaketimeMT.so.1";
/// The size of an office's file system, which the fault `full-disk` fills.
const DISK_MB: u32 = 96;

#[tokio::main]
async fn main() -> ExitCode {
    run_all().await.unwrap_or_else(|error| {
        eprintln!("chaos: {error:#}");
        ExitCode::FAILURE
    })
}

async fn run_all() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let options = arguments::read(&args).map_err(anyhow::Error::msg)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = options.seed.unwrap_or(now.as_secs());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let dlo = std::env::var_os("DLO_BIN").map_or_else(|| root.join("target/demo/dlo"), PathBuf::from);
    if !dlo.is_file() {
        bail!("no program at {}: set DLO_BIN, or start this with `cargo xtask chaos`", dlo.display());
    }
    println!("repeat the choices of this run with --seed {seed}");
    let scratch = tempfile::tempdir()?;
    let disks = Disks::mount(scratch.path(), options.offices);
    let program = Program { dlo, faketime: faketime() };
    let mut report = Report::default();
    let mut faults = options.faults.clone();
    if program.faketime.is_none() {
        skip(&mut report, &mut faults, Fault::ClockJump, "libfaketime is missing (Debian: apt-get install faketime)");
    }
    if disks.mounted.is_empty() {
        skip(&mut report, &mut faults, Fault::FullDisk, "mounting a small file system needs root");
    }
    if faults.is_empty() {
        print!("{}", report.text());
        return Ok(ExitCode::SUCCESS);
    }
    let until = Instant::now() + Duration::from_secs(options.minutes * 60);
    let kept = root.join("target/chaos").join(seed.to_string());
    let shared = Arc::new(Mutex::new(report));
    let offices = (0..options.offices).map(|number| {
        let setup = Setup {
            program: program.clone(),
            base: scratch.path().join(number.to_string()),
            seed: seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            number,
            faults: faults.clone(),
            rounds: options.rounds,
            until,
            kept: kept.clone(),
        };
        tokio::spawn(run(setup, shared.clone()))
    });
    let offices: Vec<_> = offices.collect();
    let mut errors = Vec::new();
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        all = async { for office in offices { errors.extend(office.await?.err()); } anyhow::Ok(()) } => all?,
        _ = tokio::signal::ctrl_c() => bail!("interrupted"),
        _ = terminated.recv() => bail!("ended by a signal"),
    }
    let report = shared.lock().unwrap_or_else(PoisonError::into_inner);
    print!("{}", report.text());
    errors.iter().for_each(|error| println!("an office ended before its time: {error:#}"));
    Ok(if report.is_violated() || !errors.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn skip(report: &mut Report, faults: &mut Vec<Fault>, fault: Fault, reason: &'static str) {
    if faults.contains(&fault) {
        faults.retain(|other| *other != fault);
        report.skipped.push((fault, reason));
    }
}

/// Returns libfaketime, from `DLO_FAKETIME` or from where Debian puts it.
fn faketime() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("DLO_FAKETIME") {
        return Some(PathBuf::from(path)).filter(|path| path.is_file());
    }
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path().join(FAKETIME));
    folders.into_iter().find(|path| path.is_file())
}

/// The settings of one office.
struct Setup {
    program: Program,
    base: PathBuf,
    seed: u64,
    number: u64,
    faults: Vec<Fault>,
    rounds: u64,
    until: Instant,
    kept: PathBuf,
}

/// Runs rounds in one office until the time is over. After a violation it goes on in a new folder.
async fn run(setup: Setup, report: Arc<Mutex<Report>>) -> Result<()> {
    let mut chance = Chance(setup.seed);
    let (mut trial, mut deck): (Option<Trial>, Vec<Fault>) = (None, Vec::new());
    let mut number = 0;
    while Instant::now() < setup.until && number < setup.rounds {
        number += 1;
        // Each fault once, in random order, then again.
        if deck.is_empty() {
            deck = setup.faults.clone();
        }
        let fault = deck.swap_remove(chance.below(deck.len()));
        let mut current = match trial.take() {
            Some(trial) => trial,
            None => {
                let base = setup.base.join(number.to_string());
                Trial::begin(setup.program.clone(), &base, chance.number()).await?
            }
        };
        let (started, ended_before, before) = (Instant::now(), current.ended_count, current.work);
        let found = current.round(fault).await.unwrap_or_else(|error| vec![format!("{error:#}")]);
        let took = started.elapsed().as_secs();
        println!("office {} round {number}: {} in {took} s: {} wrong", setup.number, fault.name(), found.len());
        let mut all = report.lock().unwrap_or_else(PoisonError::into_inner);
        let runs: &mut Runs = all.runs.entry(fault).or_default();
        runs.rounds += 1;
        runs.ended += current.ended_count - ended_before;
        runs.letters += current.work.letters - before.letters;
        runs.sends += current.work.sends - before.sends;
        runs.violated += u64::from(!found.is_empty());
        drop(all);
        if found.is_empty() && !fault.leaves_traces() {
            trial = Some(current);
            continue;
        }
        if found.is_empty() {
            current.remove()?;
            continue;
        }
        current.kill();
        let to = setup.kept.join(format!("office-{}-round-{number}-{}", setup.number, fault.name()));
        evidence::keep(&current.folder, &current.log, &to, &found)?;
        found.iter().take(10).for_each(|what| println!("    {what}"));
        println!("    kept in {}", to.display());
        // Its small file system is the next one's, too.
        current.remove()?;
    }
    Ok(())
}

/// A small file system for each office, where this user may mount one.
struct Disks {
    mounted: Vec<PathBuf>,
}

impl Disks {
    fn mount(scratch: &Path, offices: u64) -> Self {
        let mut mounted = Vec::new();
        for number in 0..offices {
            let folder = scratch.join(number.to_string());
            let size = format!("size={DISK_MB}m");
            let made = std::fs::create_dir_all(&folder).is_ok();
            let mut mount = Command::new("mount");
            mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&folder).stderr(std::process::Stdio::null());
            if made && mount.status().is_ok_and(|status| status.success()) {
                mounted.push(folder);
            }
        }
        if mounted.len() as u64 == offices { Self { mounted } } else { Self::unmounted(mounted) }
    }

    /// Some offices have none: the fault could not run in all of them.
    fn unmounted(mounted: Vec<PathBuf>) -> Self {
        drop(Self { mounted });
        Self { mounted: Vec::new() }
    }
}

impl Drop for Disks {
    fn drop(&mut self) {
        for folder in &self.mounted {
            let _ = Command::new("umount").arg("-l").arg(folder).status();
        }
    }
}

//! The power fails at a random call, again and again: no acknowledged letter is lost, ledgers balance, and `sent_twice`
//! counts what was sent twice. The dead-letter queue is elsewhere, as SQS is, so what was deleted from it stays deleted.

use domain::group::GroupState;
use domain::id::ReplayId;
use domain::letter::LetterStateKind;
use domain::replay::{PlanOptions, ReplayState};
use domain::time::Span;
use harness::faults::RandomFaults;
use harness::samples::Chance;
use harness::world::{VISIBILITY, World};
use local::sqlite::Opening;
use local::store::{OpenError, SqliteStore};
use office::sweep;
use power::{Disk, Survives};
use queue::Received;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

const LETTERS: u64 = 40;
const SEEDS: u64 = 16;
/// The most power cuts of a story, so that it ends.
const CUTS_MAX: usize = 8;

fn fails(_: &Received) -> Option<&'static str> {
    Some("orders::pricing::Overflow")
}

fn works(_: &Received) -> Option<&'static str> {
    None
}

/// An office on a disk whose power fails.
struct Machine {
    world: World,
    disk: Disk,
    path: PathBuf,
    opening: Opening,
    chance: Chance,
    cuts: usize,
    _folder: TempDir,
}

impl Machine {
    async fn new(seed: u64, opening: Opening) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (disk, path) = (Disk::new(folder.path()), folder.path().join("office.db"));
        let opening = Opening { vfs: Some(power::VFS), ..opening };
        let store = SqliteStore::open_as(&path, &opening).expect("a store");
        let world = World::on(Arc::new(store)).await;
        Self { world, disk, path, opening, chance: Chance(seed), cuts: 0, _folder: folder }
    }

    /// Makes calls fail at random from now on. Each failed call ends the process.
    fn arm(&mut self, faults_per_mille: usize) {
        let chance = Chance(self.chance.number());
        self.cuts = 0;
        let random = RandomFaults { chance, faults_per_mille, deaths_pct: 100, refusals_per_mille: 0 };
        self.world.faults.fail_at_random(random);
    }

    /// If the process has died, cuts the power, and starts the office again on what the disk has kept.
    async fn restart_if_dead(&mut self) -> Result<(), OpenError> {
        if !self.world.faults.is_dead() {
            return Ok(());
        }
        self.disk.power_off();
        // Closes the old store, which can no longer write anything.
        self.world.restart_on(Arc::new(SqliteStore::open_in_memory().expect("a store")));
        let survives = [Survives::Synced, Survives::Prefix, Survives::Any][self.chance.below(3)];
        let chance = &mut self.chance;
        self.disk.power_on(survives, &mut |below| chance.below(below)).expect("power");
        self.world.restart_on(Arc::new(SqliteStore::open_as(&self.path, &self.opening)?));
        self.cuts += 1;
        if self.cuts >= CUTS_MAX {
            self.world.faults.set_rates(0, 0);
        }
        Ok(())
    }

    /// Takes letters into custody until the dead-letter queue is empty.
    async fn take_all(&mut self) -> Result<(), OpenError> {
        self.arm(60);
        loop {
            let report = self.world.intake().await;
            let is_done = report.failed.is_empty() && !self.world.faults.is_dead();
            self.restart_if_dead().await?;
            if is_done {
                self.world.faults.set_rates(0, 0);
                return Ok(());
            }
            // Messages that a dead process held become visible again.
            self.world.advance(Span::from_secs(31).plus(VISIBILITY));
        }
    }

    /// Runs a replay to its end, or to a pause with no letter in flight.
    async fn replay(&mut self, id: &ReplayId) -> Result<(), OpenError> {
        self.arm(12);
        for second in 0..3_600 {
            self.world.steps().await;
            self.restart_if_dead().await?;
            self.world.consume(&works, "v2").await;
            self.world.intake().await;
            if second % 20 == 19 {
                // A sweep may meet the next cut; the one after it makes up for it.
                let _ = sweep::run(&self.world.office).await;
            }
            self.restart_if_dead().await?;
            self.world.ledger_matches_entries(id).await;
            if self.world.replay(id).await.is_finished() {
                self.world.faults.set_rates(0, 0);
                return Ok(());
            }
            self.world.advance(Span::from_secs(1));
        }
        panic!("the replay did not finish within an hour: {:?}", self.world.replay(id).await.state());
    }
}

/// Runs intake and a replay under power cuts. Returns the number of cuts.
async fn story(seed: u64, opening: Opening) -> Result<usize, OpenError> {
    let mut machine = Machine::new(seed, opening).await;
    machine.world.place(0, LETTERS).await;
    machine.world.consume(&fails, "v1").await;
    machine.take_all().await?;
    let group = machine.world.only_group().await;
    let counts = machine.world.counters_are_exact(&group).await;
    assert_eq!(counts.open().letters, LETTERS as i64, "seed {seed}: letters in custody");
    assert_eq!(counts.deaths, LETTERS, "seed {seed}");
    let mut cuts = machine.cuts;

    let plan = machine.world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    machine.world.approve(&group, &plan).await;
    machine.replay(&plan.id).await?;
    cuts += machine.cuts;
    let world = &machine.world;
    let replay = world.replay(&plan.id).await;
    assert!(matches!(replay.state(), ReplayState::Finished { .. }), "seed {seed}: {:?}", replay.state());
    let total = world.ledger(&plan.id).await.total();
    assert_eq!((total.selected(), total.delivered), (LETTERS, LETTERS), "seed {seed}: {total:?}");
    let state = world.store.group(&group).await.expect("the store").expect("a group").state;
    assert!(matches!(state, GroupState::Resolved { .. }), "seed {seed}: {state:?}");
    assert_eq!(world.counters_are_exact(&group).await.tally(LetterStateKind::Delivered).letters, LETTERS as i64);

    let mut times: BTreeMap<String, u64> = BTreeMap::new();
    for body in world.processed.lock().expect("a list").iter() {
        *times.entry(body.clone()).or_default() += 1;
    }
    assert_eq!(times.len() as u64, LETTERS, "seed {seed}: every letter was processed");
    let twice: u64 = times.values().map(|n| n - 1).sum();
    // A letter that two cuts in a row hit is sent three times. The ledger counts letters, its entries count sends.
    let again: u64 = world.entries(&plan.id).await.iter().map(|entry| u64::from(entry.sends.saturating_sub(1))).sum();
    assert!(twice <= again, "seed {seed}: {twice} doubles, {again} counted");
    let letters = times.values().filter(|n| **n > 1).count() as u64;
    assert!(letters <= total.sent_twice, "seed {seed}: {letters} letters twice, {} counted", total.sent_twice);
    Ok(cuts)
}

#[tokio::test]
async fn power_cuts_lose_nothing_that_was_acknowledged() {
    let mut cuts = 0;
    for seed in 0..SEEDS {
        cuts += story(seed, Opening::default()).await.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert!(cuts as u64 > 2 * SEEDS, "{cuts} cuts in {SEEDS} stories");
}

/// The test of the test above: without syncs the same cuts lose commits. The office refuses to go on without them.
#[tokio::test]
async fn power_cuts_of_an_unsynced_store_are_refused() {
    let mut refused = 0;
    for seed in 0..SEEDS {
        let unsynced = Opening { synced: false, ..Opening::default() };
        if let Err(error) = story(seed, unsynced).await {
            assert!(error.to_string().contains("has lost commits"), "seed {seed}: {error}");
            refused += 1;
        }
    }
    assert!(refused > 0, "no story lost a commit");
}

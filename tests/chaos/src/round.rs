//! One round: orders fail and become letters, a fix is deployed, a replay sends them back, and faults hit both halves.

use crate::evidence;
use crate::fault::{Fault, JUMP_S};
use crate::observer::{self, Number, Placed};
use crate::office::{Client, Office, Person, Program};
use crate::oracle::{self, Store, Violation};
use anyhow::{Context, Result, bail};
use harness::samples::Chance;
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The deadline for all letters of a round to be delivered. Each kill may leave a lease of half a minute, and the gate
/// waits for 10 quiet seconds.
const ROUND_MAX: Duration = Duration::from_secs(240);
const TICK: Duration = Duration::from_millis(250);
const BURSTS: usize = 3;
/// What the office says of a plan that no letter can be part of.
const NO_LETTER: &str = "letter of this group can be replayed now";

/// An office on a folder of its own, and what is known of it.
pub struct Trial {
    /// How offices are started.
    pub program: Program,
    /// The folder of its files.
    pub folder: PathBuf,
    /// What it and its forerunners wrote to stderr.
    pub log: PathBuf,
    /// The source of all random choices.
    pub chance: Chance,
    /// The running office.
    pub office: Option<Office>,
    /// The orders that the queue acknowledged.
    pub placed: Placed,
    /// How often a fault ended the office.
    pub ended_count: u64,
    /// What it did until the end of the last round.
    pub work: Work,
}

/// What an office did: a run that did nothing would find nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Letters in its store.
    pub letters: u64,
    /// Messages that replays put on the main queue.
    pub sends: u64,
}

impl Trial {
    /// Creates an office in a new folder, with the observer in its queues.
    pub async fn begin(program: Program, base: &Path, seed: u64) -> Result<Self> {
        let (folder, log) = (base.join("data"), base.join("stderr.log"));
        std::fs::create_dir_all(&folder)?;
        let (chance, placed) = (Chance(seed), Placed::default());
        let mut trial =
            Self { program, folder, log, chance, office: None, placed, ended_count: 0, work: Work::default() };
        trial.start(None).await?;
        trial.close().await?;
        observer::install(&trial.folder)?;
        trial.start(None).await?;
        Ok(trial)
    }

    /// Kills the office and removes its files.
    pub fn remove(mut self) -> Result<()> {
        self.kill();
        Ok(std::fs::remove_dir_all(self.folder.parent().context("a folder of this trial")?)?)
    }

    /// Returns the running office.
    pub fn running(&self) -> Result<&Office> {
        self.office.as_ref().context("the office runs")
    }

    /// Starts the office.
    pub async fn start(&mut self, clock: Option<&Path>) -> Result<()> {
        self.office = Some(Office::start(&self.program, &self.folder, &self.log, clock).await?);
        Ok(())
    }

    /// Starts the office unless it runs.
    pub async fn ensure_started(&mut self) -> Result<()> {
        if self.office.is_none() { self.start(None).await } else { Ok(()) }
    }

    /// Closes the office with SIGTERM.
    pub async fn close(&mut self) -> Result<()> {
        match self.office.take() {
            Some(office) => office.close().await,
            None => Ok(()),
        }
    }

    /// Kills the office.
    pub fn kill(&mut self) {
        if let Some(office) = self.office.take() {
            office.kill();
        }
    }

    /// Runs one round under a fault. Returns what the oracle found wrong.
    pub async fn round(&mut self, fault: Fault) -> Result<Vec<Violation>> {
        let before = self.work;
        self.running()?.client.panel("/deploy", Some(json!({ "version": "v1" }))).await?;
        let mut found = Vec::new();
        let client = self.running()?.client.clone();
        // Before the fault, so that every round has a letter to send.
        self.placed.failing.extend(place_all(client.clone(), 1, "gift_card").await);
        let placing = tokio::spawn(place_all(client, 8 + self.chance.below(12), "gift_card"));
        self.wait(900).await;
        found.extend(fault.apply(self).await?);
        let placed = placing.await?;
        self.placed.failing.extend(placed);
        self.settle().await?;

        self.running()?.client.panel("/deploy", Some(json!({ "version": "v3" }))).await?;
        let placing = tokio::spawn(place_all(self.running()?.client.clone(), 3, "good"));
        self.placed.good.extend(placing.await?);
        if !self.drive(Until::SomeSent).await? {
            self.wait(800).await;
            found.extend(fault.apply(self).await?);
        }
        self.drive(Until::Resolved).await?;
        found.extend(self.judged().await?);
        if self.work.sends == before.sends {
            found.push("the round tried nothing: no letter was sent in it".to_owned());
        }
        Ok(found)
    }

    async fn wait(&mut self, most_ms: usize) {
        tokio::time::sleep(Duration::from_millis(self.chance.below(most_ms) as u64)).await;
    }

    /// Closes the office, asks the oracle about its files, and starts it again for the oracle's questions to the API.
    async fn judged(&mut self) -> Result<Vec<Violation>> {
        let mut found = Vec::new();
        if let Err(error) = self.close().await {
            found.push(format!("{error:#}"));
        }
        let scratch = tempfile::tempdir()?;
        let copy = scratch.path().join("data");
        evidence::copy(&self.folder, &copy)?;
        found.extend(oracle::check(&copy, &self.placed)?);
        let letters = Store::read(&copy)?.letter_count();
        self.work = Work { letters: letters as u64, sends: observer::read(&copy)?.sends() };
        self.start(None).await?;
        found.extend(oracle::ask(&self.running()?.client, letters).await?);
        Ok(found)
    }

    /// Waits until no message waits anywhere, so that every dead order is a letter.
    async fn settle(&mut self) -> Result<()> {
        let (started, mut calm) = (Instant::now(), 0);
        while calm < 3 {
            let state = self.running()?.client.panel("/state", None).await.unwrap_or_default();
            calm = if is_idle(&state) { calm + 1 } else { 0 };
            if started.elapsed() > ROUND_MAX {
                bail!("the queues did not drain within {} s: {state}", ROUND_MAX.as_secs());
            }
            tokio::time::sleep(TICK).await;
        }
        Ok(())
    }

    /// Does what people do next, until the end is reached. Returns whether every letter is delivered.
    async fn drive(&mut self, until: Until) -> Result<bool> {
        let started = Instant::now();
        let mut last = Value::Null;
        let mut calm = 0;
        loop {
            let client = self.running()?.client.clone();
            // Any call may fail under a fault, and is made again.
            if let Ok(step) = advance(&client).await {
                calm = if step.is_done && is_idle(&client.panel("/state", None).await.unwrap_or_default()) {
                    calm + 1
                } else {
                    0
                };
                if calm >= 3 {
                    return Ok(true);
                }
                if until == Until::SomeSent && step.sent > 0 && !step.is_done {
                    return Ok(false);
                }
                last = step.groups;
            }
            if started.elapsed() > ROUND_MAX {
                bail!("the letters were not delivered within {} s: {last}", ROUND_MAX.as_secs());
            }
            tokio::time::sleep(TICK).await;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Once a running replay has sent letters.
    SomeSent,
    /// Once no letter waits.
    Resolved,
}

/// What `advance` saw.
struct Seen {
    /// No letter waits or is in a replay.
    is_done: bool,
    /// Letters that running replays have sent.
    sent: u64,
    /// The groups with letters, for a message.
    groups: Value,
}

/// Looks at every group and does the next thing that a person would do.
async fn advance(client: &Client) -> Result<Seen> {
    let mut seen = Seen { is_done: true, sent: 0, groups: json!([]) };
    let mut is_done = true;
    for group in client.get("/groups").await?["groups"].as_array().into_iter().flatten() {
        let id = group["id"].as_str().context("a group's id")?;
        let detail = client.get(&format!("/groups/{id}")).await?;
        let letters = |state: &str| detail["counts"]["by_state"][state]["letters"].as_i64().unwrap_or(0);
        let (waiting, in_replay) = (letters("waiting"), letters("in_replay"));
        let state = detail["row"]["state"].as_str().unwrap_or_default();
        if waiting + in_replay == 0 {
            continue;
        }
        if let Some(groups) = seen.groups.as_array_mut() {
            groups.push(json!({ "group": id, "state": state, "waiting": waiting, "in_replay": in_replay, "gate": detail["gate"] }));
        }
        if state == "replaying" {
            let total = &detail["replay"]["total"];
            seen.sent +=
                ["in_flight", "delivered", "returned"].iter().filter_map(|name| total[name].as_u64()).sum::<u64>();
        }
        // What is refused now is tried again with the next look.
        let done = act(client, id, state, &detail).await;
        let none_can_be_sent = done.is_err_and(|error| format!("{error:#}").contains(NO_LETTER));
        is_done &= none_can_be_sent && in_replay == 0 && are_expired(client, id).await?;
    }
    Ok(Seen { is_done, ..seen })
}

/// Whether all waiting letters of a group are past their deadlines for a clock that may have jumped forward. No plan takes
/// them, so nothing is left to do.
async fn are_expired(client: &Client, id: &str) -> Result<bool> {
    let latest = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64 + JUMP_S;
    let letters = client.all(&format!("/groups/{id}/letters?state=waiting"), "letters").await?;
    let deadline = |letter: &Value| letter["impact"]["deadline"].as_i64();
    Ok(letters.iter().all(|letter| deadline(letter).is_some_and(|at| at / 1_000 < latest)))
}

async fn act(client: &Client, id: &str, state: &str, detail: &Value) -> Result<()> {
    let fix = json!({ "kind": "deploy", "reference": "v3" });
    match state {
        "replaying" | "verifying" => return Ok(()),
        "paused" => {
            client.post(Person::Operator, &format!("/groups/{id}/fix"), fix).await?;
            let replay = detail["row"]["replay"].as_str().context("the paused replay")?;
            let consent = json!({ "reason": "go on", "waivers": waivers(detail) });
            client.post(Person::Approver, &format!("/replays/{replay}/resume"), consent).await?;
            return Ok(());
        }
        _ => {}
    }
    if detail["deployment"]["version"] != "v3" {
        client.panel("/deploy", Some(json!({ "version": "v3" }))).await?;
    }
    if state != "fix_declared" {
        client.post(Person::Operator, &format!("/groups/{id}/fix"), fix).await?;
    }
    let plan = match detail["plan"]["hash"].as_str() {
        Some(hash) => hash.to_owned(),
        None => {
            let options = json!({ "options": { "pace_per_s": 8 } });
            let plan = client.post(Person::Operator, &format!("/groups/{id}/plan"), options).await?;
            plan["hash"].as_str().context("a plan has a hash")?.to_owned()
        }
    };
    let approval = json!({ "plan_hash": plan, "reason": "checked", "waivers": waivers(detail) });
    client.post(Person::Approver, &format!("/groups/{id}/approve"), approval).await.map(drop)
}

/// What the gate itself says to waive: that it is quiet cannot be known while the last failure has a time to come, and
/// what the consumer declares is lost with the notices that a fault destroys.
fn waivers(detail: &Value) -> Value {
    let conditions = detail["gate"]["conditions"].as_array().into_iter().flatten();
    let unmet = conditions.filter(|condition| condition["status"] == "unmet");
    let waiver = |condition: &Value| {
        let evidence = condition["evidence"].as_str().unwrap_or_default();
        match condition["kind"].as_str()? {
            "quiet" if evidence.contains("clock went back") => {
                Some(json!({ "condition": "quiet", "reason": "the clock went back" }))
            }
            "safe_to_repeat" => Some(json!({ "condition": "safe_to_repeat", "reason": "orders pays once" })),
            _ => None,
        }
    };
    unmet.filter_map(waiver).collect()
}

/// Whether no queue has a message.
fn is_idle(state: &Value) -> bool {
    let count = |queue: &str| {
        let depth = &state[queue];
        Some(depth["visible_count"].as_u64()? + depth["in_flight_count"].as_u64()?)
    };
    count("main") == Some(0) && count("dlq") == Some(0)
}

/// Places bursts one after the other. Returns the orders that were acknowledged.
async fn place_all(client: Client, count: usize, kind: &'static str) -> Vec<RangeInclusive<Number>> {
    let mut acknowledged = Vec::new();
    for _ in 0..BURSTS {
        let request = json!({ "count": count, "kind": kind });
        if let Ok(state) = client.panel("/place", Some(request)).await
            && let Some(last) = state["placed_count"].as_u64()
        {
            acknowledged.push(last + 1 - count as u64..=last);
        }
        tokio::time::sleep(TICK).await;
    }
    acknowledged
}

//! The partitions, and the processes that commit to them.

use super::{
    Chance, GROUPS_A_STEP, PARTITION_UNITS, PROCESSES, Piece, SECONDS, STEPS, Shape, Space, UNCOUNTED, group_id,
    in_commits, place,
};
use crate::store::key;
use std::collections::{BTreeMap, BTreeSet, HashSet};

#[derive(Default)]
struct Process {
    commits: Vec<BTreeMap<usize, u64>>,
    attempt: u32,
    wakes: u64,
    shards: BTreeMap<usize, u8>,
    noted: (u64, BTreeSet<usize>),
}

/// What a run counted, for each second.
#[derive(Default)]
pub(super) struct Outcome {
    pub kept: u64,
    pub throttled: u64,
    pub collided: u64,
    pub given_up: u64,
    /// The most units that a partition served, and where.
    pub fullest: (u64, &'static str),
    /// The partition key with the most units.
    pub hottest: (u64, String),
}

struct World<'a> {
    shapes: &'a [Vec<Shape>],
    bytes: usize,
    batch: usize,
    partitions: usize,
    rooms: BTreeMap<Space, Vec<f64>>,
    used: BTreeMap<Space, Vec<f64>>,
    heat: BTreeMap<(Space, u64), (f64, String)>,
    chance: Chance,
    step: u64,
    outcome: Outcome,
}

impl World<'_> {
    fn is_counted(&self) -> bool {
        self.step >= UNCOUNTED * STEPS
    }

    fn step(&mut self, processes: &mut [Process]) {
        for room in self.rooms.values_mut().flatten() {
            *room = (*room + PARTITION_UNITS / STEPS as f64).min(PARTITION_UNITS);
        }
        let mut touched = HashSet::new();
        let first = self.chance.below(processes.len());
        for at in 0..processes.len() {
            let at = (first + at) % processes.len();
            if processes[at].wakes <= self.step {
                self.act(&mut processes[at], &mut touched);
            }
        }
        self.step += 1;
    }

    fn act(&mut self, process: &mut Process, touched: &mut HashSet<u64>) {
        if process.commits.is_empty() {
            let groups = self.shapes.len();
            let letters: Vec<_> = (0..self.batch).map(|_| self.chance.below(groups)).collect();
            process.commits = in_commits(&letters, self.bytes, &mut self.chance);
        }
        let Some(commit) = process.commits.pop() else { return };
        let pieces = self.pieces(process, &commit);
        let taken = pieces.iter().any(|(_, piece)| piece.record.is_some_and(|record| touched.contains(&record)));
        let full: Vec<bool> = pieces.iter().map(|(at, piece)| !self.fits(*at, piece)).collect();
        let is_kept = !taken && !full.contains(&true);
        touched.extend(pieces.iter().filter_map(|(_, piece)| piece.record));
        for (at, piece) in pieces.iter().zip(&full).filter(|(_, full)| !**full).map(|(piece, _)| piece) {
            self.charge(*at, piece, if is_kept { piece.units } else { piece.units / 2.0 });
        }
        let letters: u64 = commit.values().sum();
        let counted = u64::from(self.is_counted());
        if is_kept {
            process.wakes = self.step + 1 + (commit.len() as u64).div_ceil(GROUPS_A_STEP);
            self.outcome.kept += letters * counted;
            process.attempt = 0;
            return;
        }
        if taken {
            self.outcome.collided += counted
        } else {
            self.outcome.throttled += counted
        }
        for ((_, piece), full) in pieces.iter().zip(full) {
            let collides = taken && piece.record.is_some();
            let group = commit.keys().find(|group| piece.leaves && self.is_of(piece, **group));
            if let Some(group) = group.filter(|_| collides || full) {
                process.shards.insert(*group, self.chance.below(usize::from(key::SHARDS)) as u8);
            }
        }
        let ceiling = (10_usize << process.attempt.min(16)).min(1_000);
        process.wakes = self.step + 1 + (self.chance.below(ceiling + 1) as u64 * STEPS) / 1_000;
        process.attempt += 1;
        if process.attempt == 16 {
            self.outcome.given_up += letters * counted;
            process.attempt = 0;
        } else {
            process.commits.push(commit);
        }
    }

    fn is_of(&self, piece: &Piece, group: usize) -> bool {
        self.shapes[group].iter().flat_map(|shape| &shape.group).any(|other| other.record == piece.record)
    }

    /// The items of a commit, each with its place.
    fn pieces(&mut self, process: &mut Process, commit: &BTreeMap<usize, u64>) -> Vec<(u64, Piece)> {
        let mut pieces = Vec::new();
        let minute = self.step / STEPS / 60;
        if process.noted.0 != minute {
            process.noted = (minute, BTreeSet::new());
        }
        let shapes = self.shapes;
        for (group, letters) in commit {
            let shape = &shapes[*group][usize::from(process.shards.get(group).copied().unwrap_or(0))];
            for piece in (0..*letters).flat_map(|_| &shape.letter).chain(&shape.group) {
                let own = self.chance.next();
                let at = piece.shared.get(own as usize % piece.shared.len().max(1)).copied().unwrap_or(own);
                pieces.push((at, piece.clone()));
            }
            if process.noted.1.insert(*group) {
                let label = key::change(29_393_333, &group_id(*group)).pk;
                let at = place(&label);
                let (space, shared, label) = (Space::Table, vec![at], "X#hour".into());
                pieces.push((at, Piece { space, shared, label, record: None, units: 1.0, leaves: false }));
            }
        }
        pieces
    }

    fn partition(&self, at: u64) -> usize {
        ((u128::from(at) * self.partitions as u128) >> 64) as usize
    }

    /// Whether a partition has any room: DynamoDB lets the last item overdraw it.
    fn fits(&self, at: u64, piece: &Piece) -> bool {
        self.rooms[&piece.space][self.partition(at)] > 0.0
    }

    fn charge(&mut self, at: u64, piece: &Piece, units: f64) {
        let partition = self.partition(at);
        if let Some(rooms) = self.rooms.get_mut(&piece.space) {
            rooms[partition] -= units;
        }
        if self.is_counted() {
            self.used.entry(piece.space).or_default()[partition] += units;
            if !piece.shared.is_empty() {
                let heat = self.heat.entry((piece.space, at)).or_insert_with(|| (0.0, piece.label.clone()));
                heat.0 += units;
            }
        }
    }
}

pub(super) fn run(shapes: &[Vec<Shape>], bytes: usize, batch: usize, partitions: usize, seed: u64) -> Outcome {
    let spaces = [Space::Table, Space::Index];
    let each = |units: f64| spaces.map(|space| (space, vec![units; partitions])).into();
    let chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (rooms, used) = (each(PARTITION_UNITS), each(0.0));
    let (heat, outcome) = (BTreeMap::new(), Outcome::default());
    let mut world = World { shapes, bytes, batch, partitions, rooms, used, heat, chance, step: 0, outcome };
    let mut processes: Vec<Process> = (0..PROCESSES).map(|_| Process::default()).collect();
    for _ in 0..SECONDS * STEPS {
        world.step(&mut processes);
    }
    let seconds = SECONDS - UNCOUNTED;
    let World { mut outcome, used, heat, .. } = world;
    for (space, units) in used {
        let most = units.into_iter().fold(0.0, f64::max) as u64 / seconds;
        let name = if space == Space::Table { "table" } else { "index" };
        outcome.fullest = outcome.fullest.max((most, name));
    }
    let hottest = heat.into_values().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
    outcome.hottest = (hottest.0 as u64 / seconds, hottest.1);
    for count in [&mut outcome.kept, &mut outcome.throttled, &mut outcome.collided, &mut outcome.given_up] {
        *count /= seconds;
    }
    outcome
}

//! What is checked when the record of a replay changes: its approval, its program, and whether it may go on.

use super::*;
use domain::replay::{Phase, Plan};

impl Seen {
    /// The program of a replay is that of the approved plan, or of the fix under which a person let it go on.
    pub(super) fn program(&mut self, replay: &Replay, writes: &[Write]) {
        let before = match self.replays.get(replay.id()) {
            Some(before) => before.transform(),
            None => replay.plan().fix.transform.as_ref(),
        };
        let of_fix = writes.iter().find_map(|write| match write {
            Write::Variant { variant, .. } if variant.id == *replay.group() => variant.state.fix().cloned(),
            _ => None,
        });
        let resumed = matches!(replay.state(), ReplayState::Running { .. });
        if replay.transform() != before
            && !(resumed && of_fix.is_some_and(|fix| fix.transform.as_ref() == replay.transform()))
        {
            self.accuse(format!("{} has another program than was approved", replay.id()));
        }
    }

    pub(super) fn replay(&mut self, replay: &Replay, is_new: bool, now: Timestamp) {
        let id = replay.id().clone();
        self.note(now, format!("replay {id} v{} {:?}", replay.version(), replay.state()));
        if is_new {
            self.approval(replay, now);
        } else if let Some(before) = self.replays.get(&id).cloned() {
            self.goes_on(&before, replay);
        }
        match replay.state() {
            ReplayState::Running { .. } => drop(self.halted.remove(&id)),
            _ => drop(self.halted.entry(id.clone()).or_insert((self.commits, 0))),
        }
        self.written_at.insert(id.clone(), self.commits);
        self.replays.insert(id, replay.clone());
    }

    /// A plan takes only letters that fit its filter.
    pub(super) fn plan(&mut self, plan: &Plan) {
        let chosen = self.entries.keys().filter(|key| key.0 == plan.id).filter_map(|key| self.letters.get(&key.1));
        let stray = chosen.filter(|letter| !plan.filter.fits(letter)).map(|letter| letter.id.clone()).next();
        if let Some(letter) = stray {
            self.accuse(format!("letter {letter} does not fit the filter of plan {}", plan.id));
        }
    }

    /// An approval is by another person than the declarer, names the plan, and came when it was quiet.
    fn approval(&mut self, replay: &Replay, now: Timestamp) {
        let (approval, plan) = (&replay.approval(), &replay.plan());
        if approval.by == plan.fix.declared_by {
            self.accuse(format!("{} approved their own fix in {}", approval.by, replay.id()));
        }
        if approval.plan_hash != plan.hash() {
            self.accuse(format!("the approval of {} names another plan", replay.id()));
        }
        if let Some(named) = &plan.fix.transform {
            let run = self.dry_runs.get(&(plan.group.clone(), named.version));
            let is_over = |run: &&DryRun| run.filter.is_none() || run.filter == plan.filter;
            if !run.filter(is_over).is_some_and(|run| run.next.is_none() && run.counts.changed > 0) {
                self.accuse(format!("{} was approved, and its program not tried over its letters", replay.id()));
            }
        }
        let waived = approval.waivers.iter().any(|waiver| waiver.condition == ConditionKind::Quiet);
        let waived = waived || plan.fix.transform.is_some();
        let quiet = self.died_at.get(&plan.group).is_none_or(|at| now.plus(SKEW).plus(SKEW) >= at.plus(QUIET));
        if !quiet && !waived {
            self.accuse(format!("{} was approved while letters were dying", replay.id()));
        }
    }

    /// It sends on, or goes to the next wave, only while not too many of a wave have come back: of all waves since a
    /// person has looked at it. Whoever moved it had read the ledger after the write before this one.
    fn goes_on(&mut self, before: &Replay, after: &Replay) {
        let ReplayState::Running { wave, .. } = before.state() else { return };
        let ReplayState::Running { phase: Phase::Sending | Phase::BetweenWaves { .. }, .. } = after.state() else {
            return;
        };
        // The end of a run of sends is no decision.
        if before.lease().is_some() && after.lease().is_none() {
            return;
        }
        let (id, plan) = (after.id(), &after.plan());
        let known = self.written_at.get(id).copied().unwrap_or_default();
        let mut waves: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for (key, entry) in self.entries.iter().filter(|(key, _)| key.0 == *id) {
            let is_sent =
                matches!(entry.outcome.kind(), OutcomeKind::InFlight | OutcomeKind::Delivered | OutcomeKind::Returned);
            let (sent, returned) = waves.entry(entry.wave).or_default();
            *sent += u64::from(is_sent);
            *returned += u64::from(self.returned_at.get(key).is_some_and(|at| *at <= known));
        }
        let looked_at = before.resumed();
        let first = looked_at.map_or(0, |resumed| resumed.wave);
        for (judged, (sent, returned)) in waves.range(first..=*wave) {
            let since = looked_at.filter(|resumed| resumed.wave == *judged);
            let sent = sent.saturating_sub(since.map_or(0, |since| since.sent));
            let returned = returned.saturating_sub(since.map_or(0, |since| since.returned));
            let size = plan.waves.get(*judged as usize).copied().unwrap_or_default();
            let sample = plan.sample_letters_min.min(size).max(1);
            if sent >= sample && returned * 100 > u64::from(plan.stop_share_pct) * sent {
                let words = format!("{id} goes on, though {returned} of {sent} of its wave {judged} came back");
                return self.accuse(words);
            }
        }
    }
}

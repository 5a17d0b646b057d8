//! The checks of each change of a replay: its approval, its program, and whether it may continue.

use super::*;
use domain::replay::{Phase, Plan};

impl Observed {
    /// A block is written whole; only the entries that change count as written.
    pub(super) fn block(&mut self, block: &domain::replay::Block, now: Timestamp) {
        for entry in &block.entries {
            if self.entries.get(&(entry.replay.clone(), entry.letter.clone())) != Some(entry) {
                self.entry(entry, now);
            }
        }
    }

    /// The program of a replay is that of the approved plan, or of the fix under which a person resumed it.
    pub(super) fn program(&mut self, replay: &Replay, writes: &[Write]) {
        let before = match self.replays.get(replay.id()) {
            Some(before) => before.transform(),
            None => replay.plan().fix.transform.as_ref(),
        };
        let fix = writes.iter().find_map(|write| match write {
            Write::Variant { variant, .. } if variant.id == *replay.group() => variant.state.fix().cloned(),
            _ => None,
        });
        let resumed = matches!(replay.state(), ReplayState::Running { .. });
        if replay.transform() != before
            && !(resumed && fix.is_some_and(|fix| fix.transform.as_ref() == replay.transform()))
        {
            self.report(format!("{} has another program than the approved one", replay.id()));
        }
    }

    pub(super) fn replay(&mut self, replay: &Replay, is_new: bool, now: Timestamp) {
        let id = replay.id().clone();
        self.note(now, format!("replay {id} v{} {:?}", replay.version(), replay.state()));
        if is_new {
            self.approval(replay, now);
        } else if let Some(before) = self.replays.get(&id).cloned() {
            self.continuation(&before, replay);
        }
        match replay.state() {
            ReplayState::Running { .. } => drop(self.halted.remove(&id)),
            _ => drop(self.halted.entry(id.clone()).or_insert((self.commits, 0))),
        }
        self.written_at.insert(id.clone(), self.commits);
        self.replays.insert(id, replay.clone());
    }

    /// A plan contains only letters that match its filter, and as many different ones as it says.
    pub(super) fn plan(&mut self, plan: &Plan) {
        let count = self.entries.keys().filter(|key| key.0 == plan.id).count();
        if count as i64 != plan.letters.letters {
            self.report(format!("plan {} says {} letters, and has {count}", plan.id, plan.letters.letters));
        }
        let chosen = self.entries.keys().filter(|key| key.0 == plan.id).filter_map(|key| self.letters.get(&key.1));
        let stray = chosen.filter(|letter| !plan.filter.fits(letter)).map(|letter| letter.id.clone()).next();
        if let Some(letter) = stray {
            self.report(format!("letter {letter} does not match the filter of plan {}", plan.id));
        }
    }

    /// An approval is by another person than the declarer of the fix, names the plan, comes in quiet times, and says why
    /// orders may be handled twice.
    fn approval(&mut self, replay: &Replay, now: Timestamp) {
        let (approval, plan) = (&replay.approval(), &replay.plan());
        if approval.by == plan.fix.declared_by {
            self.report(format!("{} approved their own fix in {}", approval.by, replay.id()));
        }
        if approval.plan_hash != plan.hash() {
            self.report(format!("the approval of {} names another plan", replay.id()));
        }
        if let Some(named) = &plan.fix.transform {
            let run = self.dry_runs.get(&(plan.group.clone(), named.version));
            let is_over = |run: &&DryRun| run.filter.is_none() || run.filter == plan.filter;
            if !run.filter(is_over).is_some_and(|run| run.next.is_none() && run.counts.changed > 0) {
                self.report(format!("{} was approved without a complete dry run of its program", replay.id()));
            }
        }
        let is_waived = |kind| approval.waivers.iter().any(|waiver| waiver.condition == kind);
        if !plan.letters.money.is_empty() && !is_waived(ConditionKind::SafeToRepeat) {
            self.report(format!("{} sends money, and nobody has said that a repeat does no harm", replay.id()));
        }
        let waived = is_waived(ConditionKind::Quiet) || plan.fix.transform.is_some();
        let quiet = self.died_at.get(&plan.group).is_none_or(|at| now.plus(SKEW).plus(SKEW) >= at.plus(QUIET));
        if !quiet && !waived && !self.clock_jumped {
            self.report(format!("{} was approved while letters were still failing", replay.id()));
        }
    }

    /// A replay continues to send, or enters the next wave, only if not too many letters of a wave have returned, counted
    /// over all waves since a person resumed it. The executor read the ledger after the previous write of the replay.
    fn continuation(&mut self, before: &Replay, after: &Replay) {
        let ReplayState::Running { wave, .. } = before.state() else { return };
        let ReplayState::Running { phase: Phase::Sending | Phase::BetweenWaves { .. }, .. } = after.state() else {
            return;
        };
        // Releasing the lease at the end of a run decides nothing, and neither does a new chain of steps.
        if (before.lease().is_some() && after.lease().is_none()) || *after == before.in_new_chain() {
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
        let resumed = before.resumed();
        let first = resumed.map_or(0, |resumed| resumed.wave);
        for (judged, (sent, returned)) in waves.range(first..=*wave) {
            let since = resumed.filter(|resumed| resumed.wave == *judged);
            let sent = sent.saturating_sub(since.map_or(0, |since| since.sent));
            let returned = returned.saturating_sub(since.map_or(0, |since| since.returned));
            let size = plan.waves.get(*judged as usize).copied().unwrap_or_default();
            let pause_share_pct = plan.pause_share_pct_of(*judged == 0);
            let sample = if pause_share_pct == 0 { 1 } else { plan.sample_letters_min.min(size).max(1) };
            if sent >= sample && returned * 100 > u64::from(pause_share_pct) * sent {
                let words = format!("{id} continues although {returned} of {sent} letters of wave {judged} returned");
                return self.report(words);
            }
        }
    }
}

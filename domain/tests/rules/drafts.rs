//! Plans that are made in steps: however their letters come, the blocks, waves and digest are the same.

use crate::replay_fixture::plan;
use domain::group::Tally;
use domain::id::{LetterId, ReplayId};
use domain::letter::LetterStateKind;
use domain::limits::{PLAN_LETTERS_MAX, WAVES_MAX};
use domain::policy::ReplayPolicy;
use domain::replay::{Block, Draft, Plan, PlanError, PlanOptions, Selected, letters_digest};
use domain::time::Span;

/// Returns a draft without letters.
fn draft(options: PlanOptions) -> Draft {
    let Plan { id, group, main_queue, made_by, made_at, fix, filter, .. } = plan();
    Draft {
        id,
        version: 1,
        fingerprints: [group.clone()].into(),
        group,
        main_queue,
        made_by,
        made_at,
        fix,
        filter,
        options,
        policy: ReplayPolicy::default(),
        window_ms: Span::from_secs(120),
        list: Some(LetterStateKind::Waiting),
        after: None,
        read: 0,
        written: 0,
        checked: 0,
        selected: Selected::default(),
        canary: None,
        digest: String::new(),
        run: 0,
        ending: None,
    }
}

fn letter(n: u64) -> LetterId {
    LetterId::new(format!("{n:032}"))
}

/// What a store keeps of a draft's blocks.
#[derive(Default)]
struct Blocks(Vec<Block>);

impl Blocks {
    /// Adds letters to a draft in one commit. Checks that every block is new, or the next version of the last one.
    fn append(&mut self, draft: &mut Draft, letters: u64) -> Result<(), PlanError> {
        let tail = self.0.last().filter(|_| draft.has_tail()).cloned();
        let ids = (draft.written..draft.written + letters).map(letter).collect();
        for block in draft.append(tail, ids)? {
            match self.0.get_mut(block.number as usize) {
                Some(stored) => {
                    assert_eq!(
                        (block.version, &block.entries[..stored.entries.len()]),
                        (stored.version + 1, &stored.entries[..])
                    );
                    *stored = block;
                }
                None => {
                    assert_eq!((block.version, block.number), (1, self.0.len() as u64));
                    self.0.push(block);
                }
            }
        }
        assert_eq!(draft.blocks(), self.0.len() as u64);
        Ok(())
    }

    fn frozen(&self, draft: &Draft) -> Result<Plan, PlanError> {
        draft.frozen(self.0.last().filter(|_| draft.has_tail()))
    }
}

#[test]
fn parts_of_any_size_make_the_same_plan() {
    // Each row: the letters of each commit, and the waves.
    let rows: [(&[u64], &[u64]); 7] = [
        (&[1], &[1]),
        (&[20], &[1, 5, 14]),
        (&[20, 20], &[1, 5, 25, 9]),
        (&[7, 6, 6, 1, 0, 20], &[1, 5, 25, 9]),
        (&[40], &[2, 10, 28]),
        (&[200, 1], &[10, 50, 141]),
        (&[1_800, 1_800, 3_562], &[10, 50, 250, 1_250, 5_000, 602]),
    ];
    for (parts, waves) in rows {
        let (mut draft, mut blocks) = (draft(PlanOptions::default()), Blocks::default());
        for part in parts {
            blocks.append(&mut draft, *part).unwrap();
        }
        let count: u64 = parts.iter().sum();
        let plan = blocks.frozen(&draft).unwrap();
        assert_eq!((plan.waves.as_slice(), plan.rounds), (waves, waves.len() as u64), "{parts:?}");
        let entries: Vec<_> = blocks.0.iter().flat_map(|block| &block.entries).collect();
        let letters: Vec<LetterId> = entries.iter().map(|entry| entry.letter.clone()).collect();
        assert_eq!(letters, (0..count).map(letter).collect::<Vec<_>>(), "{parts:?}");
        assert!(entries.iter().zip(0..).all(|(entry, seq)| entry.seq == seq), "{parts:?}");
        let of_wave = |wave: u32| entries.iter().filter(|entry| entry.wave == wave).count() as u64;
        assert_eq!((0..waves.len() as u32).map(of_wave).collect::<Vec<_>>(), waves, "{parts:?}");
        assert!(entries.is_sorted_by_key(|entry| entry.wave), "{parts:?}");
        assert_eq!(plan.letters_digest, letters_digest(letters.iter()), "{parts:?}");
    }
}

#[test]
fn a_digest_names_every_letter_and_its_place() {
    let digest = |ids: &[u64]| letters_digest(ids.iter().map(|n| letter(*n)).collect::<Vec<_>>().iter());
    let all: Vec<u64> = (0..45).collect();
    for changed in 0..45 {
        let mut other = all.clone();
        other[changed] = 99;
        assert_ne!(digest(&all), digest(&other), "letter {changed}");
    }
    let mut swapped = all.clone();
    swapped.swap(19, 20);
    assert_ne!(digest(&all), digest(&swapped));
    assert_ne!(digest(&all), digest(&all[..44]));
    assert_ne!(digest(&all[..20]), digest(&all[..40]));
}

#[test]
fn a_draft_that_cannot_become_a_plan_says_why() {
    let (mut empty, none) = (draft(PlanOptions::default()), Blocks::default());
    assert_eq!(none.frozen(&empty), Err(PlanError::NoLetters));
    empty.written = PLAN_LETTERS_MAX;
    let letters = PLAN_LETTERS_MAX + 1;
    assert_eq!(empty.append(None, vec![letter(0)]), Err(PlanError::TooManyLetters { letters }));

    let slow = PlanOptions { canary_letters: Some(1), growth_factor: Some(1), ..PlanOptions::default() };
    let (mut draft, mut blocks) = (draft(slow), Blocks::default());
    blocks.append(&mut draft, WAVES_MAX as u64).unwrap();
    assert_eq!(blocks.frozen(&draft).unwrap().waves, vec![1; WAVES_MAX]);
    assert_eq!(blocks.append(&mut draft, 1), Err(PlanError::TooManyWaves));
}

#[test]
fn a_stored_draft_is_read_as_it_was_written() {
    let mut stored = draft(PlanOptions { window_s: Some(300), ..PlanOptions::default() });
    Blocks::default().append(&mut stored, 25).unwrap();
    stored.selected.letters = Tally { letters: 25, ..Tally::default() };
    stored.selected.message_types = [None, Some("order.placed".into())].into();
    stored.selected.leave_out("outside the filter", 3);
    stored.after = Some((stored.made_at, letter(24)));
    let text = serde_json::to_string(&stored).unwrap();
    assert_eq!(serde_json::from_str::<Draft>(&text).unwrap(), stored);
    assert_eq!(stored.id, ReplayId::from("r"));
}

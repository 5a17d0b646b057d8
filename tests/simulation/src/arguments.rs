//! The arguments of the program `simulate`. `cargo xtask simulate` reads them with the same code, before it compiles
//! anything.

use std::ops::Range;

/// Seeds that run where none are named.
const SEEDS: u64 = 10_000;
const USAGE: &str =
    "usage: simulate [--from N] [--seeds COUNT] | --seed N | --model | --world N | --scope N | --keep N";

/// What the program does.
#[derive(Debug, PartialEq, Eq)]
pub enum Task {
    /// Runs these seeds.
    Seeds(Range<u64>),
    /// Checks every state of the models.
    Model,
    /// Checks every state of one world of today's replay.
    World(usize),
    /// Checks every state of one scope of a replay in blocks.
    Scope(usize),
    /// Checks every state of one scope of keeping.
    Keep(usize),
}

/// Reads the arguments. The error says which there are.
pub fn read(args: &[String]) -> Result<Task, String> {
    let mut seeds = 0..SEEDS;
    let mut rest = args;
    while let [flag, after @ ..] = rest {
        if flag == "--model" {
            return Ok(Task::Model);
        }
        let [number, after @ ..] = after else { return Err(USAGE.to_owned()) };
        let number: u64 = number.parse().map_err(|_| USAGE.to_owned())?;
        match flag.as_str() {
            "--seeds" => seeds.end = seeds.start.saturating_add(number),
            "--from" => seeds = number..number.saturating_add(seeds.end - seeds.start),
            "--seed" => seeds = number..number.saturating_add(1),
            "--world" => return Ok(Task::World(number as usize)),
            "--scope" => return Ok(Task::Scope(number as usize)),
            "--keep" => return Ok(Task::Keep(number as usize)),
            _ => return Err(USAGE.to_owned()),
        }
        rest = after;
    }
    Ok(Task::Seeds(seeds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_name_a_task() {
        for (line, task) in [
            ("", Some(Task::Seeds(0..SEEDS))),
            ("--seed 42", Some(Task::Seeds(42..43))),
            ("--from 5 --seeds 10", Some(Task::Seeds(5..15))),
            ("--seeds 10 --from 5", Some(Task::Seeds(5..15))),
            ("--model", Some(Task::Model)),
            ("--world 5", Some(Task::World(5))),
            ("--scope 5", Some(Task::Scope(5))),
            ("--keep 5", Some(Task::Keep(5))),
            ("--seed", None),
            ("--seed x", None),
            ("42", None),
        ] {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(read(&args).ok(), task, "{line}");
        }
    }
}

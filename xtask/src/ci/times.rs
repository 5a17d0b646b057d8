//! The time of each step and what of it the processors worked, kept in `target/ci/times.json`, so that growth shows.

use super::report::{Ended, Ending};
use crate::failure::{Outcome, at};
use crate::paths::Paths;
use crate::say;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, SystemTime};

/// Runs that the file keeps.
const RUNS_MAX: usize = 100;

/// Appends this run to the file. Returns a table of its times beside those of the last run that had each step.
pub fn kept(paths: &Paths, ended: &[Ended], total: Duration, is_whole: bool) -> Outcome<String> {
    let file = paths.ci().join("times.json");
    let old = std::fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok());
    let mut runs: Vec<Value> = old.unwrap_or_default();
    let table = table(ended, total, is_whole, &runs);
    runs.push(run(ended, total, is_whole));
    let surplus = runs.len().saturating_sub(RUNS_MAX);
    let text: Vec<String> = runs[surplus..].iter().map(Value::to_string).collect();
    at("create", &paths.ci(), std::fs::create_dir_all(paths.ci()))?;
    at("write", &file, std::fs::write(&file, format!("[\n{}\n]\n", text.join(",\n"))))?;
    Ok(table)
}

fn run(ended: &[Ended], total: Duration, is_whole: bool) -> Value {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let ran = ended.iter().filter(|ended| !matches!(ended.ending, Ending::NotRun(_)));
    let steps: serde_json::Map<String, Value> = ran
        .map(|ended| {
            let passed = ended.ending == Ending::Passed;
            let processor = ended.processor.map(milliseconds);
            let step = json!({"ms": milliseconds(ended.took), "processor_ms": processor, "passed": passed});
            (ended.step.name.to_owned(), step)
        })
        .collect();
    let total = if is_whole { json!(milliseconds(total)) } else { Value::Null };
    json!({"at_unix_s": now.as_secs(), "total_ms": total, "steps": steps})
}

/// The processor time so far of all programs that this one started and that have ended.
pub fn processor() -> Option<Duration> {
    // The 16th and 17th field, in hundredths of a second (proc(5)). The second may hold spaces, and ends with `)`.
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let hundredths = fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(hundredths * 10))
}

/// The first line of a step's result.
pub fn written_processor(time: Option<Duration>) -> String {
    time.map_or("\n".to_owned(), |time| format!("{}\n", milliseconds(time)))
}

/// Takes the first line off a step's result.
pub fn read_processor(written: &str) -> (Option<Duration>, Option<&str>) {
    match written.split_once('\n') {
        Some((first, rest)) => (first.parse().ok().map(Duration::from_millis), Some(rest)),
        None => (None, None),
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn table(ended: &[Ended], total: Duration, is_whole: bool, runs: &[Value]) -> String {
    let last = |pick: &dyn Fn(&Value) -> Option<u64>| {
        let ms = runs.iter().rev().find_map(pick);
        ms.map_or("-".to_owned(), |ms| say::seconds(Duration::from_millis(ms)))
    };
    let mut text = format!("{:<12} {:>14} {:>14} {:>14}\n", "step", "this run", "last run", "processor");
    let mut sum = Duration::ZERO;
    for ended in ended {
        let name = ended.step.name;
        let before = last(&|run| run["steps"][name]["ms"].as_u64());
        let now = match ended.ending {
            Ending::NotRun(_) => "not run".to_owned(),
            _ => say::seconds(ended.took),
        };
        let processor = ended.processor.map_or("-".to_owned(), say::seconds);
        sum += ended.processor.unwrap_or_default();
        let _ = writeln!(text, "{name:<12} {now:>14} {before:>14} {processor:>14}");
    }
    if is_whole {
        let before = last(&|run| run["total_ms"].as_u64());
        let (now, sum) = (say::seconds(total), say::seconds(sum));
        let _ = writeln!(text, "{:<12} {now:>14} {before:>14} {sum:>14}", "altogether");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::steps::STEPS;
    use crate::ci::tally::Tally;

    #[test]
    fn times_stand_beside_those_of_the_last_run() {
        let ended = |seconds| Ended {
            step: &STEPS[0],
            tally: Tally::default(),
            ending: Ending::Passed,
            took: Duration::from_secs(seconds),
            processor: Some(Duration::from_secs(2 * seconds)),
        };
        let first = run(&[ended(2)], Duration::from_secs(70), true);
        let table = table(&[ended(3)], Duration::from_secs(60), true, &[first]);
        let lines: Vec<String> =
            table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            lines,
            ["step this run last run processor", "format 3.0 s 2.0 s 6.0 s", "altogether 1 min 00 s 1 min 10 s 6.0 s"]
        );
    }

    #[test]
    fn processor_times_go_through_a_steps_result() {
        let whole = format!("{}3 passed\n\n", written_processor(Some(Duration::from_millis(1_500))));
        assert_eq!(read_processor(&whole), (Some(Duration::from_millis(1_500)), Some("3 passed\n\n")));
        let none = format!("{}3 passed\n\n", written_processor(None));
        assert_eq!(read_processor(&none), (None, Some("3 passed\n\n")));
        assert_eq!(read_processor(""), (None, None));
    }
}

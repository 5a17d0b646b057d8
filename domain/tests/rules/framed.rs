//! Errors of one type that one frame of the application threw: which of them share a cause.
//!
//! The messages are such as libraries print, each with its origin; the frame is made up. The first table was written
//! before the code that answers it, and the second was kept back from it. All other pairs of the reader's exam are counted
//! with the same frame: their golden lines are scores only. `UPDATE=1 cargo test -p dlo-domain --test rules framed`
//! rewrites the golden file; review the difference.

use crate::reader::{Case, PAIRS, cases, failure, golden};
use domain::policy::Policy;
use domain::read::classify_failure;
use std::fmt::Write as _;

const FRAMED: [&str; 2] = ["framed_pairs.txt", "held_framed_pairs.txt"];

/// A stack with one frame of the application. All languages give the same answer.
const STACK: &str = "    at shop.orders.Shipping.ship(Shipping.java:7)";

/// How many pairs are right of those with one cause, and of those with two.
#[derive(Default)]
struct Score([(u32, u32); 2]);

impl Score {
    fn add(&mut self, is_one: bool, is_right: bool) {
        let (right, all) = &mut self.0[usize::from(!is_one)];
        *right += u32::from(is_right);
        *all += 1;
    }

    fn line(&self, file: &str) -> String {
        let [(one, ones), (two, twos)] = self.0;
        format!("{file}: one cause {one} of {ones}, two causes {two} of {twos}\n")
    }
}

fn answers(file: &str, text: &mut String) -> Score {
    let mut score = Score::default();
    for Case { fields, .. } in cases(file) {
        let [expected, error_type, a, b, _origin] = &fields[..] else { panic!("{fields:?} has five fields") };
        let group = |message: &str| {
            let message = message.split(" ¦¦ ").next().unwrap();
            classify_failure(&failure(error_type, &format!("{message} ¦¦ {STACK}")), None, &Policy::default()).group
        };
        let is_right = (group(a) == group(b)) == (expected == "=");
        score.add(expected == "=", is_right);
        let mark = if is_right { "right" } else { "WRONG" };
        writeln!(text, "{mark} {expected} {error_type}: {} | {}", a.replace('\n', "\\n"), b.replace('\n', "\\n"))
            .unwrap();
    }
    score
}

#[test]
fn every_pair_at_one_frame_is_answered_as_in_the_golden_file() {
    let (mut text, mut scores) = (String::new(), String::from("# scores\n"));
    for file in FRAMED {
        writeln!(text, "# {file}").unwrap();
        let score = answers(file, &mut text);
        scores.push_str(&score.line(file));
        text.push('\n');
    }
    for file in PAIRS {
        scores.push_str(&answers(file, &mut String::new()).line(file));
    }
    golden("framed.txt", &(text + &scores));
}

#[test]
fn what_a_cause_says_distinguishes_errors_and_its_data_does_not() {
    let group = |cause: &str| {
        let stack =
            format!("shop.OrderFailed: order 7 failed\n{STACK}\nCaused by: org.postgresql.util.PSQLException: {cause}");
        classify_failure(&failure("shop.OrderFailed", &format!("order 7 failed ¦¦ {stack}")), None, &Policy::default())
            .group
    };
    let deadlock = group("ERROR: deadlock detected");
    assert_ne!(deadlock, group("ERROR: null value in column \"total\" violates not-null constraint"));
    assert_eq!(deadlock, group("FATAL: deadlock detected"));
    let taken = |mail: &str| group(&format!("ERROR: duplicate key value: Key (mail)=({mail}) already exists."));
    assert_eq!(taken("anna@mail.example"), taken("bo denied@post.example"));
}

//! What the witness says: one line on standard output, which Lambda puts into the function's log.

use std::io::Write;

/// Writes a line. Nothing happens if nobody can read it.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "dlo-witness: {}", in_one_line(text));
}

/// Texts can come from what answers for the queue. None of them starts a line of its own in the function's log, or
/// changes what a terminal shows.
fn in_one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_in_its_line() {
        assert_eq!(in_one_line("503: a\r\nREPORT b\u{1b}[2Jc, é"), "503: a  REPORT b [2Jc, é");
    }
}

//! docs/replay.md says what the code says.

/// The rows of a Markdown table that starts with this header, without comment marks.
fn rows(text: &str, header: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.trim_start_matches("//!").trim());
    lines.skip_while(|line| *line != header).take_while(|line| line.starts_with('|')).map(String::from).collect()
}

#[test]
fn the_table_of_steps_is_the_codes() {
    let header = "| state | ledger and time | step |";
    let code = rows(include_str!("../../src/replay/step.rs"), header);
    let page = rows(include_str!("../../../docs/replay.md"), header);
    assert!(code.len() > 15);
    assert_eq!(code, page);
}

//! The rules about functions: their length, with the scanner that measures them, and names that say nothing.

use super::source::{Source, has_word, lines};
use super::{Finding, Rule};

const LINES_MAX: usize = 70;
/// In the dashboard a function is mostly one `view!`.
const VIEW_LINES_MAX: usize = 120;

pub const RULES: &[Rule] = &[
    Rule {
        name: "function-length",
        instead: "Split it: at most 70 lines, 120 in the dashboard.",
        find: function_length,
    },
    Rule {
        name: "function-name",
        instead: "Say what it does or returns: `new`, `from_rows`, `for_page`, `rate_for`; in an example of the documentation, `example`.",
        find: function_name,
    },
];

fn function_length(source: &Source) -> Vec<Finding> {
    let max = if source.under("dashboard") { VIEW_LINES_MAX } else { LINES_MAX };
    functions(&source.code)
        .into_iter()
        .filter(|function| function.lines() > max)
        .map(|function| {
            Finding::new(function.first, format!("`{}` has {} lines, at most {max}", function.name, function.lines()))
        })
        .collect()
}

/// `of` says nothing about what a function does. Examples in comments of the documentation are code, too.
fn function_name(source: &Source) -> Vec<Finding> {
    let comments = lines(&source.text)
        .map(|(line, text)| (line, text.trim_start()))
        .filter(|(_, text)| source.is_rust() && (text.starts_with("///") || text.starts_with("//!")));
    let found = lines(&source.code).chain(comments).filter(|(_, code)| has_word(code, "fn of"));
    found.map(|(line, _)| Finding::new(line, "`fn of`")).collect()
}

struct Function<'a> {
    name: &'a str,
    first: usize,
    last: usize,
}

impl Function<'_> {
    fn lines(&self) -> usize {
        self.last - self.first + 1
    }
}

/// Every function with a body, in masked code.
fn functions(code: &str) -> Vec<Function<'_>> {
    code.match_indices("fn ").filter_map(|(start, _)| function_at(code, start)).collect()
}

fn function_at(code: &str, start: usize) -> Option<Function<'_>> {
    let joined = code[..start].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
    let rest = &code[start + 3..];
    let name = &rest[..rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?];
    if joined || name.is_empty() {
        return None;
    }
    let (open, close) = body(rest)?;
    let line_of = |at: usize| code[..at].matches('\n').count() + 1;
    let offset = start + 3;
    debug_assert!(open < close);
    Some(Function { name, first: line_of(start), last: line_of(offset + close) })
}

/// Where the body's braces are; a declaration without a body ends with `;` first.
fn body(signature: &str) -> Option<(usize, usize)> {
    let mut inside = 0_i32;
    let mut depth = 0_i32;
    let mut open = None;
    for (at, c) in signature.char_indices() {
        match c {
            '(' | '[' => inside += 1,
            ')' | ']' => inside -= 1,
            ';' if open.is_none() && inside == 0 => return None,
            '{' => {
                open = open.or(Some(at));
                depth += 1;
            }
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some((open?, at));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    fn long(lines: usize) -> String {
        format!("//! x\nfn short() {{}}\nfn long<const N: usize>(x: [u8; 4])\n{{{}}}\n", "\n".repeat(lines - 2))
    }

    #[test]
    fn long_functions_are_found_by_their_first_line() {
        rows(
            RULES,
            "function-length",
            &[
                ("a/src/b.rs", &long(71), &[3]),
                ("a/src/b.rs", &long(70), &[]),
                ("dashboard/src/page.rs", &long(121), &[3]),
                ("dashboard/src/page.rs", &long(120), &[]),
            ],
        );
    }

    #[test]
    fn names_say_what_a_function_does() {
        rows(
            RULES,
            "function-name",
            &[
                ("a/src/b.rs", "impl A {\n    pub fn of(b: u8) -> Self {\n", &[2]),
                ("a/src/b.rs", "trait A {\n    async fn of<B>(&self);\n", &[2]),
                ("a/src/b.rs", "/// ```\n/// # fn of(a: u8) {\n", &[2]),
                ("a/src/b.rs", "fn of_them() {}\nfn a() { proptest::option::of(b) }\n// fn of\n\"fn of(\"\n", &[]),
                ("a/b.md", "/// fn of()\n", &[]),
            ],
        );
    }

    #[test]
    fn types_and_declarations_are_no_functions() {
        let code = "type F = fn (u8) -> u8; trait T { fn f(&self) -> [u8; 2]; fn g() { {} } } const fn h() {}";
        let names: Vec<&str> = functions(code).iter().map(|function| function.name).collect();
        assert_eq!(names, ["g", "h"]);
    }
}

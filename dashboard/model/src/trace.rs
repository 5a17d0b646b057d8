//! Splits a stack trace into blocks, so that the page shows the team's own frames and folds those of libraries.
//! Every line keeps its text.

use domain::read::frames;

/// A block of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A line outside any frame: the error's own line, or a cause.
    Words(String),
    /// A frame of the team's own code with all of its lines.
    Own(Vec<String>),
    /// Consecutive frames of libraries.
    Library {
        /// The lines.
        lines: Vec<String>,
        /// The number of frames.
        frames: usize,
    },
}

/// Splits a trace into blocks.
pub fn blocks(stack: &str) -> Vec<Block> {
    let lines: Vec<&str> = stack.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let mut blocks: Vec<Block> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let (taken, own) = frame_at(&lines[at..]);
        let text = || lines[at..at + taken.max(1)].iter().map(|line| (*line).to_string()).collect::<Vec<_>>();
        match (own, blocks.last_mut()) {
            (Some(true), _) => blocks.push(Block::Own(text())),
            (Some(false), Some(Block::Library { lines, frames })) => {
                lines.extend(text());
                *frames += 1;
            }
            (Some(false), _) => blocks.push(Block::Library { lines: text(), frames: 1 }),
            (None, last) if is_cut(lines[at]) => match last {
                Some(Block::Library { lines: folded, .. }) => folded.push(lines[at].to_string()),
                _ => blocks.push(Block::Library { lines: text(), frames: 0 }),
            },
            (None, _) => blocks.push(Block::Words(lines[at].to_string())),
        }
        at += taken.max(1);
    }
    blocks
}

/// Returns the number of lines of the frame that starts at the first line (0 without a frame), and whether the frame is
/// the team's own.
fn frame_at(lines: &[&str]) -> (usize, Option<bool>) {
    let Some(first) = lines.first() else { return (0, None) };
    let alone = frames::parse(first).frames;
    // Python prints source below a frame: a line or a few, and carets under the part that failed.
    if let (Some(frame), true) = (alone.first(), first.trim_start().starts_with("File \"")) {
        let is_source = |line: &&&str| depth(line) > depth(first) && !line.trim_start().starts_with("File \"");
        return (1 + lines[1..].iter().take_while(is_source).count(), Some(frame.in_app));
    }
    // Go and Rust print the location on a second line.
    let second = lines.get(1).filter(|second| depth(second) > depth(first) && !is_cause(second));
    let second = second.filter(|second| frames::parse(second).frames.is_empty());
    if let Some(second) = second {
        let text = format!("{first}\n{second}");
        let both = frames::parse(&text).frames;
        if let [frame] = both.as_slice() {
            return (2, Some(frame.in_app));
        }
    }
    match alone.first() {
        Some(frame) => (1, Some(frame.in_app)),
        None => (0, None),
    }
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_cause(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("Caused by") || text.starts_with("--->") || text.starts_with("[cause]")
}

/// Matches elisions such as `... 23 more`.
fn is_cut(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("... ") && (text.ends_with(" more") || text.contains("omitted"))
}

/// Returns whether any block is the team's own. Without one, the page folds nothing.
pub fn has_own(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| matches!(block, Block::Own(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notation: `w` words, `o3` an own frame of three lines, `l2/3` two library frames on three lines.
    fn shape(stack: &str) -> String {
        let one = |block: &Block| match block {
            Block::Words(_) => "w".to_string(),
            Block::Own(lines) => format!("o{}", lines.len()),
            Block::Library { lines, frames } => format!("l{frames}/{}", lines.len()),
        };
        blocks(stack).iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn own_frames_are_shown_and_libraries_folded() {
        let rows = [
            ("", ""),
            ("just words", "w"),
            (
                "a.E: x\n\tat a.shop.Cart.total(Cart.java:7)\n\tat java.util.List.get(List.java:1)\n\tat java.lang.Thread.run(Thread.java:840)\n\t... 23 more\nCaused by: b.F: y\n\tat a.shop.Db.get(Db.java:1)",
                "w o1 l2/3 w o1",
            ),
            (
                "Traceback (most recent call last):\n  File \"/srv/app/cart.py\", line 7, in total\n    return price(x)\n  File \"/usr/lib/python3.12/site-packages/x/y.py\", line 7, in z\n    pass\nKeyError: 'a'",
                "w o2 l1/2 w",
            ),
            (
                "Traceback (most recent call last):\n  File \"/srv/app/cart.py\", line 7, in total\n    return price(\n           ^^^^^^\n        x)\n        ^^\n  File \"/srv/app/price.py\", line 9, in price\nKeyError: 'a'",
                "w o5 o1 w",
            ),
            (
                "goroutine 1 [running]:\ngithub.com/a/shop.(*Cart).Total(0xc000)\n\t/srv/shop/cart.go:7 +0x1d\nruntime.main()\n\t/usr/local/go/src/runtime/proc.go:271 +0x29d",
                "w o2 l1/2",
            ),
            (
                "   0: rust_begin_unwind\n             at /rustc/abc/library/std/src/panicking.rs:1:1\n   1: shop::cart::total\n             at ./src/cart.rs:7:1",
                "l1/2 o2",
            ),
        ];
        for (stack, expected) in rows {
            assert_eq!(shape(stack), expected, "{stack}");
        }
    }

    #[test]
    fn no_line_is_lost() {
        let stack = "E: x\n  at f (/srv/a.js:1:2)\n  at g (/srv/node_modules/x/y.js:1:2)\nCaused by: y\n odd";
        let all: Vec<String> = blocks(stack)
            .into_iter()
            .flat_map(|block| match block {
                Block::Words(line) => vec![line],
                Block::Own(lines) | Block::Library { lines, .. } => lines,
            })
            .collect();
        assert_eq!(all, stack.lines().collect::<Vec<_>>());
    }
}

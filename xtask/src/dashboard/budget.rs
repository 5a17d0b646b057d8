//! The dashboard's bytes: what a browser fetches before the first row shows, what each part takes that is fetched later,
//! and how much each may be.

use super::compress::with_extension;
use super::parts::Parts;
use super::publish;
use crate::failure::{Failure, Outcome, at};
use crate::say;
use std::collections::BTreeSet;
use std::path::Path;

/// What one part shipped when it was last measured. Lower the figures when it shrinks.
struct Budget {
    part: &'static str,
    gzip_bytes: u64,
    brotli_bytes: u64,
}

/// The design's target for the first load is 240 kB gzip and 200 kB Brotli: less than half of what it was before the program
/// was split (572 and 438 kB). A file that two parts need counts for both.
const BUDGETS: [Budget; 4] = [
    Budget { part: FIRST, gzip_bytes: 229_900, brotli_bytes: 197_000 },
    Budget { part: "work", gzip_bytes: 407_700, brotli_bytes: 329_100 },
    Budget { part: "policy", gzip_bytes: 48_700, brotli_bytes: 44_600 },
    Budget { part: "sign_in", gzip_bytes: 15_300, brotli_bytes: 14_100 },
];
/// Every file that no part is alone in needing.
const FIRST: &str = "first load";
/// Another build of the same compiler, or of the standard library for wasm32, moves the bytes by half a percent.
const NOISE_PERCENT: u64 = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    pub raw_bytes: u64,
    pub gzip_bytes: u64,
    pub brotli_bytes: u64,
    pub files_count: u64,
}

/// The sizes of the first load and of each part, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured(Vec<(String, Sizes)>);

/// Measures a finished build.
pub fn measure(dist: &Path) -> Outcome<Measured> {
    let index = dist.join("index.html");
    let parts = Parts::of_page(&at("read", &index, std::fs::read_to_string(&index))?)?;
    let later = parts.files();
    let mut first = BTreeSet::new();
    for name in publish::files(dist)? {
        let compressed = name.extension().is_some_and(|ext| ext == "br" || ext == "gz");
        let name = name.to_string_lossy().into_owned();
        if !compressed && !name.starts_with('.') && !later.contains(&name) {
            first.insert(name);
        }
    }
    let mut measured = vec![(FIRST.to_owned(), sum(dist, first.iter()))];
    measured.extend(parts.0.iter().map(|(part, files)| (part.clone(), sum(dist, files.iter()))));
    Ok(Measured(measured))
}

fn sum<'a>(dist: &Path, files: impl Iterator<Item = &'a String>) -> Sizes {
    let mut sizes = Sizes::default();
    for name in files {
        let path = dist.join(name);
        let raw = size(&path).unwrap_or_default();
        sizes.raw_bytes += raw;
        sizes.gzip_bytes += size(&with_extension(&path, "gz")).unwrap_or(raw);
        sizes.brotli_bytes += size(&with_extension(&path, "br")).unwrap_or(raw);
        sizes.files_count += 1;
    }
    sizes
}

fn size(path: &Path) -> Option<u64> {
    path.metadata().ok().map(|metadata| metadata.len())
}

/// How sizes stand to their budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Within,
    /// Over the measured figure by no more than noise: a warning.
    Near(String),
    Over(String),
}

impl Measured {
    /// Shows the sizes; over the budget is a warning here.
    pub fn print(&self) {
        for (part, sizes) in &self.0 {
            say::note(&format!(
                "{part}: {} files, {} raw, {} gzip, {} brotli",
                sizes.files_count,
                say::kilobytes(sizes.raw_bytes),
                say::kilobytes(sizes.gzip_bytes),
                say::kilobytes(sizes.brotli_bytes)
            ));
        }
        for (part, sizes) in &self.0 {
            if let Report::Near(text) | Report::Over(text) = sizes.report(part) {
                say::warning(&text);
            }
        }
    }

    /// Fails where sizes are over their budget by more than noise, and where a part is missing or new.
    pub fn within(&self) -> Outcome<()> {
        let mut over: Vec<String> = Vec::new();
        for (part, sizes) in &self.0 {
            if let Report::Over(text) = sizes.report(part) {
                over.push(text);
            }
        }
        for budget in BUDGETS.iter().filter(|budget| self.0.iter().all(|(part, _)| part != budget.part)) {
            over.push(format!("The dashboard has no part {:?} any more, and a budget for it.", budget.part));
        }
        if over.is_empty() {
            return Ok(());
        }
        Err(Failure::new(over.join("\n")).remedy(
            "Find out what grew with: cargo xtask dashboard. Then make it smaller, or change the figures in \
             xtask/src/dashboard/budget.rs and say why.",
        ))
    }
}

impl Sizes {
    fn report(self, part: &str) -> Report {
        let Some(budget) = BUDGETS.iter().find(|budget| budget.part == part) else {
            return Report::Over(format!("The dashboard's part {part:?} has no budget."));
        };
        let beside = |name: &str, now: u64, measured: u64| {
            let (now, measured, most) =
                (say::kilobytes(now), say::kilobytes(measured), say::kilobytes(with_noise(measured)));
            format!("{now} {name} (measured {measured}, at most {most})")
        };
        let figures = format!(
            "{}, {}",
            beside("gzip", self.gzip_bytes, budget.gzip_bytes),
            beside("brotli", self.brotli_bytes, budget.brotli_bytes)
        );
        if self.gzip_bytes > with_noise(budget.gzip_bytes) || self.brotli_bytes > with_noise(budget.brotli_bytes) {
            return Report::Over(format!("The dashboard's {part} is over its budget: {figures}."));
        }
        if self.gzip_bytes > budget.gzip_bytes || self.brotli_bytes > budget.brotli_bytes {
            return Report::Near(format!(
                "The dashboard's {part} has grown, within {NOISE_PERCENT}% of noise: {figures}."
            ));
        }
        Report::Within
    }
}

const fn with_noise(bytes: u64) -> u64 {
    bytes + bytes * NOISE_PERCENT / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(gzip_bytes: u64, brotli_bytes: u64) -> Sizes {
        Sizes { gzip_bytes, brotli_bytes, ..Sizes::default() }
    }

    fn all_with(part: &str, of_it: Sizes) -> Measured {
        let of = |budget: &Budget| if budget.part == part { of_it } else { Sizes::default() };
        Measured(BUDGETS.iter().map(|budget| (budget.part.to_owned(), of(budget))).collect())
    }

    #[test]
    fn growth_warns_within_the_noise_and_fails_beyond() {
        for Budget { part, gzip_bytes: gzip, brotli_bytes: brotli } in BUDGETS {
            assert_eq!(sizes(gzip, brotli).report(part), Report::Within);
            for near in [sizes(gzip + 1, 1), sizes(1, brotli + 1), sizes(with_noise(gzip), 1)] {
                assert!(matches!(near.report(part), Report::Near(_)), "{part}: {near:?}");
                assert!(all_with(part, near).within().is_ok(), "{part}: {near:?}");
            }
            for over in [sizes(with_noise(gzip) + 1, 1), sizes(1, with_noise(brotli) + 1)] {
                assert!(all_with(part, over).within().is_err(), "{part}: {over:?}");
            }
        }
    }

    #[test]
    fn a_part_without_a_budget_and_a_budget_without_its_part_are_failures() {
        let mut measured = all_with(FIRST, Sizes::default());
        measured.0.push(("new".to_owned(), Sizes::default()));
        assert!(measured.within().is_err());
        measured.0.truncate(BUDGETS.len() - 1);
        assert!(measured.within().is_err());
    }

    #[test]
    fn files_of_parts_do_not_count_for_the_first_load() {
        let root = std::env::temp_dir().join(format!("xtask-budget-{}", std::process::id()));
        std::fs::create_dir_all(&root).expect("a folder");
        let page = "<head><meta name=\"part:work\" content=\"/both.wasm /work.wasm\">\
            <meta name=\"part:sign_in\" content=\"/both.wasm\">";
        for (name, text) in [
            ("index.html", page),
            ("app.wasm", "12345678"),
            ("app.wasm.gz", "1234"),
            ("app.wasm.br", "123"),
            ("work.wasm", "12"),
            ("both.wasm", "1"),
        ] {
            std::fs::write(root.join(name), text).expect("written");
        }
        let measured = measure(&root).expect("measured");
        let page = page.len() as u64;
        let expected = [
            (FIRST, Sizes { raw_bytes: 8 + page, gzip_bytes: 4 + page, brotli_bytes: 3 + page, files_count: 2 }),
            ("sign_in", Sizes { raw_bytes: 1, gzip_bytes: 1, brotli_bytes: 1, files_count: 1 }),
            ("work", Sizes { raw_bytes: 3, gzip_bytes: 3, brotli_bytes: 3, files_count: 2 }),
        ];
        assert_eq!(measured.0, expected.map(|(part, sizes)| (part.to_owned(), sizes)));
        std::fs::remove_dir_all(&root).expect("removed");
    }
}

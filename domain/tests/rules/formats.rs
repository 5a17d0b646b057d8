//! Formats of errors in public code, with the values of their placeholders: letters that differ in data have one
//! fingerprint, and letters that differ in the name of a cause have two. The scores are in a golden file.

use crate::reader::{assess, failure, folder, merged};
use domain::read::skeleton;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What is filled in at a placeholder.
struct Filled {
    label: char,
    values: Vec<String>,
}

/// Three letters that differ in one place.
pub struct Three {
    /// The repository of the format.
    pub project: String,
    /// `D` if the place holds data, `C` if it names the cause.
    pub label: char,
    pub error_type: String,
    pub messages: [String; 3],
}

impl Three {
    /// The templates of the letters, or `None` if one has none.
    pub fn templates(&self) -> Option<Vec<String>> {
        let one = |message: &String| Some(skeleton(&failure(&self.error_type, message), None)?.template);
        self.messages.iter().map(one).collect()
    }
}

/// The format of an error: the texts around its placeholders, and the placeholders.
struct Format {
    project: String,
    error_type: String,
    texts: Vec<String>,
    filled: Vec<Filled>,
}

impl Format {
    fn read(line: &str) -> Self {
        let [project, error_type, format] = line.splitn(3, " ¦ ").collect::<Vec<_>>().try_into().unwrap();
        let (mut texts, mut filled, mut rest) = (Vec::new(), Vec::new(), format);
        while let Some((text, after)) = rest.split_once('⟦') {
            let (inside, after) = after.split_once('⟧').unwrap();
            let (label, values) = inside.split_once(':').unwrap();
            let values = values.split('|').map(str::to_owned).collect();
            texts.push(text.to_owned());
            filled.push(Filled { label: label.chars().next().unwrap(), values });
            rest = after;
        }
        texts.push(rest.to_owned());
        Self { project: project.to_owned(), error_type: error_type.to_owned(), texts, filled }
    }

    /// The message with the value of each placeholder that `chosen` names.
    fn message(&self, chosen: impl Fn(usize) -> usize) -> String {
        let value = |at: usize| self.filled.get(at).map_or("", |filled| &filled.values[chosen(at)]);
        self.texts.iter().enumerate().map(|(at, text)| format!("{text}{}", value(at))).collect()
    }

    /// Whether the values of a placeholder are three different ones.
    fn varies(&self, at: usize) -> bool {
        self.filled[at].values.iter().collect::<BTreeSet<_>>().len() == 3
    }
}

fn formats(file: &str) -> Vec<Format> {
    let text = std::fs::read_to_string(folder().join("reader").join(file)).unwrap();
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(Format::read).collect()
}

/// Counts the formats of which letters with other data have one fingerprint, and of which letters with another name of the
/// cause have two.
fn scores(formats: &[Format]) -> String {
    let (mut one, mut ones, mut two, mut twos) = (0, 0, 0, 0);
    for format in formats {
        let group = |chosen: &dyn Fn(usize) -> usize| assess(&format.error_type, &format.message(chosen)).group;
        let data: Vec<usize> =
            (0..format.filled.len()).filter(|at| format.filled[*at].label == 'D' && format.varies(*at)).collect();
        // Which two of the three values differs by format, so that no form has an advantage.
        let first = format.texts[0].len() % 3;
        let second = (first + 1 + format.texts.len() % 2) % 3;
        if !data.is_empty() {
            let with = |value: usize| group(&|at| if data.contains(&at) { value } else { 0 });
            ones += 1;
            one += usize::from(with(first) == with(second));
        }
        for at in (0..format.filled.len()).filter(|at| format.filled[*at].label == 'C' && format.varies(*at)) {
            let with = |value: usize| group(&|other| if other == at { value } else { 0 });
            twos += 1;
            two += usize::from(with(first) != with(second));
        }
    }
    format!("one cause {one} of {ones}, two causes {two} of {twos}")
}

/// Three letters for each place of the formats that is labelled firmly.
pub fn threes(file: &str) -> Vec<Three> {
    let of_format = |format: Format| -> Vec<Three> {
        let is_firm = |at: &usize| format.varies(*at) && format.filled[*at].label != '?';
        let three = |at: usize| Three {
            project: format.project.clone(),
            label: format.filled[at].label,
            error_type: format.error_type.clone(),
            messages: [0, 1, 2].map(|value| format.message(|other| if other == at { value } else { 0 })),
        };
        (0..format.filled.len()).filter(is_firm).map(three).collect()
    };
    formats(file).into_iter().flat_map(of_format).collect()
}

/// Counts the places whose three letters have one fingerprint, are one group after merging, or are one at least in part.
fn merged_scores(file: &str) -> String {
    let mut text = String::new();
    for (label, what) in [('D', "one cause"), ('C', "two causes")] {
        let (mut all, mut at_once, mut whole, mut partly) = (0, 0, 0, 0);
        for three in threes(file).into_iter().filter(|three| three.label == label) {
            let groups =
                |three: &Three| three.messages.each_ref().map(|message| assess(&three.error_type, message).group);
            let fingerprints: BTreeSet<_> = groups(&three).into_iter().collect();
            let merged = merged(&three.error_type, &three.messages);
            all += 1;
            at_once += u32::from(fingerprints.len() == 1);
            whole += u32::from(merged == 1 && fingerprints.len() > 1);
            partly += u32::from(merged > 1 && merged < fingerprints.len());
        }
        write!(text, "; {what}: {all} places, {at_once} at once, {whole} merged, {partly} in part").unwrap();
    }
    text
}

#[test]
fn formats_have_the_scores_of_the_golden_file() {
    let mut text = String::new();
    for file in ["formats.txt", "held_formats.txt", "held_more_formats.txt"] {
        writeln!(text, "{file}: {}", scores(&formats(file))).unwrap();
        writeln!(text, "{file}, three letters{}", merged_scores(file)).unwrap();
    }
    crate::reader::golden("formats.txt", &text);
}

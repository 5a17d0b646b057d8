//! Every `sam` command of a document works on a stack of its own: `samconfig.toml` names the office's stack, so a command
//! for another template that says nothing else would replace the office.

use super::markdown::{Line, lines, spans};
use super::{Fault, File};
use std::collections::{BTreeMap, BTreeSet};

/// The template that the environment `default` of `samconfig.toml` builds and deploys.
const OFFICE: &str = "infra/template.yaml";
const DEFAULT: &str = "default";

/// What `samconfig.toml` says: environment, command and key, and the value.
type Settings<'a> = BTreeMap<(&'a str, &'a str, &'a str), &'a str>;

/// Says what is wrong with the commands of all pages, and with the environments that they use.
pub fn faults(pages: &[File], samconfig: &str) -> Vec<Fault> {
    let settings = settings(samconfig);
    let mut found = colliding(&settings);
    for page in pages {
        let mut commands = Commands { settings: &settings, built: None };
        for (line, text) in lines(&page.text) {
            let faults: Vec<String> = match text {
                Line::Code("sh", text) => commands.fault(text).into_iter().collect(),
                Line::Code(..) => Vec::new(),
                Line::Prose(text) => {
                    // A block ends where prose begins.
                    commands.built = None;
                    spans(text).filter_map(|text| commands.fault(text)).collect()
                }
            };
            found.extend(faults.into_iter().map(|what| format!("{}:{line}: {what}", page.path.display())));
        }
    }
    found
}

/// The commands of one block, in their order.
struct Commands<'a> {
    settings: &'a Settings<'a>,
    /// The environment of the block's last `sam build`.
    built: Option<String>,
}

impl Commands<'_> {
    fn fault(&mut self, text: &str) -> Option<String> {
        let code = text.split(" #").next().unwrap_or_default();
        let words: Vec<&str> = code.split([' ', '=']).filter(|word| !word.is_empty()).collect();
        // `ARCHITECTURE=x86_64 sam build`
        let start = words.iter().position(|word| *word == "sam").filter(|start| *start == 0 || text.contains('='))?;
        let words = &words[start..];
        let verb = *words.get(1).filter(|verb| ["build", "deploy"].contains(verb))?;
        let value = |names: &[&str]| {
            let at = words.iter().position(|word| names.contains(word))?;
            words.get(at + 1).copied()
        };
        let environment = value(&["--config-env"]).unwrap_or(DEFAULT);
        if !self.settings.keys().any(|(known, ..)| *known == environment) {
            return Some(format!("`{code}`: samconfig.toml has no environment `{environment}`"));
        }
        let built = self.built.clone();
        if verb == "build" {
            self.built = Some(environment.to_owned());
        }
        let is_named = environment != DEFAULT
            || value(if verb == "build" { &["--build-dir", "-b"] } else { &["--stack-name"] }).is_some();
        let template = value(&["--template", "--template-file", "-t"]);
        if template.is_some_and(|template| template != OFFICE) && !is_named {
            return Some(format!(
                "`{code}` works on the office's stack with another template: give it an environment of samconfig.toml"
            ));
        }
        let other = built.filter(|built| verb == "deploy" && built != environment)?;
        Some(format!("`{code}` deploys `{environment}`, and the command before it has built `{other}`"))
    }
}

/// Environments that share a stack or a build folder.
fn colliding(settings: &Settings<'_>) -> Vec<Fault> {
    let environments: BTreeSet<&str> = settings.keys().map(|(environment, ..)| *environment).collect();
    let value = |environment, command, key| settings.get(&(environment, command, key)).copied();
    let (mut stacks, mut found) = (BTreeMap::new(), Vec::new());
    for environment in environments {
        let fault = |what: String| format!("samconfig.toml: the environment `{environment}` {what}");
        match value(environment, "global", "stack_name") {
            None => found.push(fault("names no stack".into())),
            Some(stack) => {
                if let Some(other) = stacks.insert(stack, environment) {
                    found.push(fault(format!("deploys the stack of `{other}`")));
                }
            }
        }
        let folder = value(environment, "build", "build_dir");
        let deployed = value(environment, "deploy", "template_file");
        if environment != DEFAULT && (folder.is_none() || deployed.map(str::to_owned) != folder.map(built_template)) {
            found.push(fault("must deploy what it builds, from a folder of its own".into()));
        }
    }
    found
}

fn built_template(folder: &str) -> String {
    format!("{folder}/template.yaml")
}

/// Reads `[environment.command.parameters]` and the lines `key = "value"` below it.
fn settings(samconfig: &str) -> Settings<'_> {
    let (mut section, mut found) = (None, BTreeMap::new());
    for line in samconfig.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.strip_suffix(".parameters]").and_then(|name| name.split_once('.'));
        } else if let (Some((environment, command)), Some((key, value))) = (section, line.split_once(" = ")) {
            found.insert((environment, command, key), value.trim_matches('"'));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = include_str!("../../../samconfig.toml");

    fn faults_in(page: &str) -> Vec<String> {
        faults(&[File { path: "a.md".into(), text: page.to_owned() }], CONFIG)
    }

    #[test]
    fn another_template_never_goes_to_the_offices_stack() {
        for (commands, fault) in [
            ("sam build\nsam deploy --guided", ""),
            ("ARCHITECTURE=x86_64 sam build", ""),
            ("sam build --template infra/template.yaml", ""),
            ("sam build --config-env witness\nsam deploy --config-env witness --guided", ""),
            ("sam build -t infra/demo.yaml -b out\nsam deploy -t out/template.yaml --stack-name demo", ""),
            ("sam build --template infra/witness.yaml\nsam deploy --guided", "a.md:2: `sam build --template infra"),
            ("sam deploy --template-file=infra/demo.yaml", "a.md:2: `sam deploy --template-file=infra"),
            ("sam build --config-env witness\nsam deploy --guided", "a.md:3: `sam deploy --guided` deploys `default`"),
            ("sam deploy --config-env gone", "a.md:2: `sam deploy --config-env gone`: samconfig.toml has no"),
        ] {
            let found = faults_in(&format!("```sh\n{commands}\n```\n"));
            let expected = usize::from(!fault.is_empty());
            assert!(found.len() == expected && found.iter().all(|f| f.starts_with(fault)), "{commands}: {found:?}");
        }
        assert_eq!(faults_in("Run `sam deploy -t infra/witness.yaml`.\n").len(), 1, "in prose, too");
        assert_eq!(
            faults_in("```sh\nsam build --config-env witness\n```\nThen `sam deploy`.\n"),
            [""; 0],
            "another block"
        );
    }

    #[test]
    fn environments_share_neither_a_stack_nor_a_folder() {
        let same = CONFIG.replace("\"dlo-witness\"", "\"dead-letter-office\"");
        assert_eq!(faults(&[], &same).len(), 1, "{:?}", faults(&[], &same));
        let folder = CONFIG.replace("build_dir = \".aws-sam/witness\"\n", "");
        assert_eq!(faults(&[], &folder).len(), 1, "{:?}", faults(&[], &folder));
        assert_eq!(faults(&[], ""), [""; 0]);
    }
}

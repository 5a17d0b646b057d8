//! `dlo witness add`: the changes that put the layer `witness` in front of a Lambda function.
//!
//! It prints a shell script for the AWS CLI, to be read first and then run: `dlo witness add orders | sh`. The script
//! keeps the layers and variables that the function has, and can be run again.

use clap::Subcommand;

/// The commands for the layer.
#[derive(Subcommand)]
pub enum WitnessCommand {
    /// Print a script that adds the layer to a Lambda function; run it with `dlo witness add <function> | sh`
    ///
    /// The script needs the AWS CLI, and these permissions: cloudformation:DescribeStacks, iam:AttachRolePolicy,
    /// lambda:GetFunctionConfiguration, lambda:UpdateFunctionConfiguration.
    Add {
        /// Name or ARN of the function
        #[arg(value_parser = plain)]
        function: String,
        /// Stack that infra/witness.yaml was deployed as
        #[arg(long, default_value = "dlo-witness", value_parser = plain)]
        stack: String,
    },
}

/// Returns what a command prints.
pub fn cli(command: &WitnessCommand) -> String {
    match command {
        WitnessCommand::Add { function, stack } => script(function, stack),
    }
}

/// Accepts names and ARNs. They become part of a script: no other character does.
fn plain(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '/' | '$');
    if !text.is_empty() && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("only letters, digits and -_:./$ are allowed".to_owned())
}

fn script(function: &str, stack: &str) -> String {
    const SCRIPT: &str = include_str!("witness/add.sh");
    SCRIPT.replace("FUNCTION_NAME", function).replace("STACK_NAME", stack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    /// An `aws` that answers from a file and writes down the changes that it is asked for.
    const AWS: &str = r#"#!/bin/sh
case "$1 $2 $*" in
    *describe-stacks*LayerX86*) echo arn:layer-x86:3 ;;
    *describe-stacks*LayerArm*) echo arn:layer-arm:3 ;;
    *describe-stacks*Policy*) echo arn:policy ;;
    *describe-stacks*Reports*) echo https://sqs/1/reports ;;
    *get-function-configuration*Architectures*) echo "$ARCHITECTURE" ;;
    *get-function-configuration*Role*) echo arn:aws:iam::1:role/service/orders-role ;;
    *get-function-configuration*Layers*) echo "$LAYERS" ;;
    *get-function-configuration*PackageType*) echo "$PACKAGE Runtime" | cut -d' ' -f1 ;;
    *get-function-configuration*merge*) echo '{"Variables":{"OLD":"1","NEW":"2"}}' ;;
    *get-function-configuration*EXEC_WRAPPER*) echo "$WRAPPER" ;;
    "lambda wait"*) ;;
    *) echo "$@" >> "$CALLS" ;;
esac
"#;

    /// Runs the script. Returns whether it succeeded, what it called and what it said.
    fn run(variables: &[(&str, &str)]) -> (bool, String, String) {
        let folder = tempfile::tempdir().expect("a folder");
        let aws = folder.path().join("aws");
        std::fs::write(&aws, AWS).expect("it can be written");
        std::fs::set_permissions(&aws, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        let calls = folder.path().join("calls");
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default());
        let defaults = [("ARCHITECTURE", "x86_64"), ("LAYERS", "None"), ("PACKAGE", "Zip"), ("WRAPPER", "None")];
        let mut sh = Command::new("sh");
        sh.args(["-c", &script("orders", "dlo-witness")]).env("PATH", path).env("CALLS", &calls);
        let output = sh.envs(defaults).envs(variables.iter().copied()).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), std::fs::read_to_string(&calls).unwrap_or_default(), said)
    }

    #[test]
    fn the_script_makes_three_changes_and_keeps_what_is_there() {
        let variables = r#"--environment {"Variables":{"OLD":"1","NEW":"2"}}"#;
        for (given, layers) in [
            (&[][..], "--layers arn:layer-x86:3"),
            (&[("ARCHITECTURE", "arm64")][..], "--layers arn:layer-arm:3"),
            (&[("LAYERS", "arn:other:1")][..], "--layers arn:other:1 arn:layer-x86:3"),
            // An older version of the layer is replaced.
            (
                &[("LAYERS", "arn:aws:lambda:x:1:layer:dlo-witness-x86:2 arn:other:1")][..],
                "--layers arn:other:1 arn:layer-x86:3",
            ),
        ] {
            let (succeeded, calls, said) = run(given);
            assert!(succeeded, "{said}");
            let wanted = format!(
                "iam attach-role-policy --role-name orders-role --policy-arn arn:policy\n\
                 lambda update-function-configuration --function-name orders {layers} {variables}\n"
            );
            assert_eq!(calls, wanted, "{given:?}");
        }
    }

    #[test]
    fn nothing_changes_where_the_layer_cannot_work() {
        for (given, reason) in [
            (("PACKAGE", "Image"), "container image"),
            (("WRAPPER", "/opt/other"), "already has a wrapper: /opt/other"),
        ] {
            let (succeeded, calls, said) = run(&[given]);
            assert!(!succeeded && said.contains(reason), "{said}");
            assert_eq!(calls, "");
        }
    }

    #[test]
    fn only_names_become_part_of_the_script() {
        assert!(plain("arn:aws:lambda:eu-west-1:111122223333:function:orders").is_ok());
        for wrong in ["", "a b", "a;b", "`a`", "a'b", "a\nb", "a&b"] {
            assert!(plain(wrong).is_err(), "{wrong}");
        }
    }
}

//! The program `dlo`: the office on one machine.

// They panic if they cannot write: see `office::log`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "aws")]
mod aws;

use clap::{Parser, Subcommand};
use local::classify::Mode;
use local::control::Control;
use local::demo::{self, DemoConfig};
use local::panel::{self, PanelCommand};
use local::policy::{self, PolicyCommand};
use local::remote;
use local::witness::{self, WitnessCommand};
use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Dead Letter Office on one machine: groups dead letters by cause, and replays them after a fix
#[derive(Parser)]
#[command(name = "dlo", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run an office with a demo service that really fails; needs no AWS account
    Demo {
        /// Folder for the office's files
        #[arg(long, value_name = "FOLDER", default_value = ".dlo")]
        data: PathBuf,
        /// Port on 127.0.0.1; 0 takes any free port
        #[arg(long, default_value_t = 8118)]
        port: u16,
        /// Delete the files of earlier runs first
        #[arg(long)]
        fresh: bool,
        /// Open damaged files and keep what is readable, after copying them to a folder `damaged-1`, `damaged-2`, …
        #[arg(long)]
        accept_damage: bool,
        /// Orders that the demo places per second; 0 for none
        #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=100))]
        orders_per_s: u32,
    },
    /// Open an office on a real dead-letter queue, without deploying anything
    ///
    /// Without --custody the office is read-only: it receives each letter once and puts it back. The letter's receive
    /// count grows by one, and other consumers cannot see it for up to two minutes. Region and credentials come from
    /// the usual places: environment, AWS profile, instance role.
    #[cfg(feature = "aws")]
    Open {
        /// URL of the dead-letter queue, as AWS prints it
        #[arg(long, value_name = "URL")]
        queue: String,
        /// Only look at the letters (default)
        #[arg(long, conflicts_with = "custody")]
        peek: bool,
        /// Take custody: delete each letter from the queue once it is stored in the folder, and allow replays
        #[arg(long)]
        custody: bool,
        /// ARN of the main queue for letters that do not name theirs
        #[arg(long, value_name = "ARN")]
        main: Option<String>,
        /// URL of a queue to which consumers send receipts (`ConsumerConfig::receipts`) and reports of failures
        /// (docs/examples/report). A letter with a receipt counts as delivered at once; one with a report shows why it
        /// failed. The office deletes the messages that it reads from this queue
        #[arg(long, value_name = "URL", requires = "custody")]
        receipts: Option<String>,
        /// Folder for the office's files; with --custody it holds the only copy of the letters
        #[arg(long, value_name = "FOLDER", default_value = ".dlo-open")]
        data: PathBuf,
        /// Port on 127.0.0.1; 0 takes any free port
        #[arg(long, default_value_t = 8118)]
        port: u16,
        /// Policy file (see infra/policy.example.json); the defaults apply without one
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
        /// Open damaged files and keep what is readable, after copying them to a folder `damaged-1`, `damaged-2`, …
        #[arg(long)]
        accept_damage: bool,
        /// Your name in the audit log, for every role [default: the name of your user account]
        #[arg(long = "as", value_name = "NAME")]
        user: Option<String>,
    },
    /// Examine a real queue: settings that lose messages, delay them or hide failures, and how to fix each
    ///
    /// Reads only. Needs sqs:GetQueueAttributes, sqs:GetQueueUrl, sqs:ListDeadLetterSourceQueues,
    /// lambda:ListEventSourceMappings, lambda:GetFunctionConfiguration and cloudwatch:DescribeAlarmsForMetric. What it
    /// may not read is reported as not checked. The exit status is 1 if something is wrong.
    #[cfg(feature = "aws")]
    Doctor {
        /// URL of a main queue, or of a dead-letter queue to examine every queue that names it
        #[arg(value_name = "URL")]
        queue: String,
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a dead-letter queue, and print a script that attaches it to an office on AWS
    ///
    /// Read the script, then run it: `dlo attach <URL> | sh`. It sets the tags that give the office its rights, and
    /// deploys infra/attach.yaml as a separate stack. If the queue would lose letters, no script is printed: the problems
    /// are listed on stderr, and the exit status is 1. Needs the permissions of `dlo doctor`.
    #[cfg(feature = "aws")]
    Attach {
        /// URL of the dead-letter queue, as AWS prints it
        #[arg(value_name = "URL")]
        queue: String,
        /// Stack that infra/template.yaml was deployed as, in the queue's account and region
        #[arg(long, value_name = "STACK", default_value = "dead-letter-office")]
        office: String,
    },
    /// Send every open letter of an office back to its dead-letter queue, so that the office can be removed
    ///
    /// First make sure that nothing picks the letters up again: deploy the office with IntakeEnabled=false, and remove the
    /// stacks that `dlo attach` made. The environment variable DLO_TOKEN must hold the token of an approver or admin. The
    /// letters are sent with your AWS credentials, which need sqs:SendMessage on the queues and lambda:ListEventSourceMappings.
    /// The exit status is 1 if a letter stays in the office. Run it again if it was interrupted.
    #[cfg(feature = "aws")]
    Evacuate {
        /// URL of the office's dashboard
        #[arg(long, value_name = "URL")]
        office: String,
    },
    /// Open an office on a real dead-letter queue (not in this build: see `dlo open`)
    #[cfg(not(feature = "aws"))]
    Open(NotBuilt),
    /// Examine a real queue (not in this build: see `dlo doctor`)
    #[cfg(not(feature = "aws"))]
    Doctor(NotBuilt),
    /// Attach a dead-letter queue to an office on AWS (not in this build: see `dlo attach`)
    #[cfg(not(feature = "aws"))]
    Attach(NotBuilt),
    /// Send an office's letters back to their queues (not in this build: see `dlo evacuate`)
    #[cfg(not(feature = "aws"))]
    Evacuate(NotBuilt),
    /// Back up the office's folder, even while the office runs
    ///
    /// The backup is a folder that you can open with `--data`. Its files are from the same moment, and are verified.
    Backup {
        /// New folder for the backup
        #[arg(value_name = "TO")]
        to: PathBuf,
        /// Folder of the office
        #[arg(long, value_name = "FOLDER", default_value = ".dlo")]
        data: PathBuf,
    },
    /// Control the demo service: deploy versions, take payments down, place orders
    Orders {
        /// Folder of the running office
        #[arg(long, global = true, value_name = "FOLDER", default_value = ".dlo")]
        data: PathBuf,
        #[command(subcommand)]
        command: PanelCommand,
    },
    /// Print new sign-in links for the running office
    Links {
        /// Folder of the running office
        #[arg(long, value_name = "FOLDER", default_value = ".dlo")]
        data: PathBuf,
    },
    /// Say of failures whether a retry helps, and why: JSON lines in, JSON lines out
    ///
    /// Reads error records or dead letters, and answers each with its class, category, reason and fingerprint. Nothing
    /// is sent anywhere.
    #[command(after_long_help = local::classify::HELP)]
    Classify {
        /// File with one JSON object per line; stdin without it, or for `-`
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Merge fingerprints that share a cause; prints nothing before the end of the input
        ///
        /// `fingerprint` is then the fingerprint of the group, and `own_fingerprint` that of the letter. Keeps about
        /// 0.5 kB per line in memory.
        #[arg(long)]
        merge: bool,
    },
    /// Show, check or replace the policy of a running office
    ///
    /// Reads your token from the environment variable DLO_TOKEN.
    Policy {
        /// URL of the office's dashboard. An https address needs a build with --features aws
        #[arg(long, global = true, value_name = "URL", default_value = "http://127.0.0.1:8118")]
        office: String,
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Add the layer `witness` to Lambda functions, so that they report why messages failed
    Witness {
        #[command(subcommand)]
        command: WitnessCommand,
    },
    /// Print the OpenAPI document of the API
    Openapi,
}

/// The arguments of a command that needs the AWS SDK, where `dlo` was built without it.
#[cfg(not(feature = "aws"))]
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
struct NotBuilt {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<String>,
}

fn main() -> ExitCode {
    transform::work_if_asked();
    let cli = Cli::parse();
    #[cfg(feature = "aws")]
    lambda::connect::provide_tls();
    log_to_stderr();
    match run(cli.command) {
        Ok(code) => code,
        Err(error) => {
            office::say_error!("dlo: {}", office::error::chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Box<dyn Error>> {
    match command {
        Command::Demo { data, port, fresh, accept_damage, orders_per_s } => {
            let dashboard = dashboard_files::FILES;
            let config = DemoConfig { folder: data, port, fresh, orders_per_s, accept_damage, dashboard };
            on_runtime(async { Ok(demo::run(config).await?) })?;
        }
        #[cfg(feature = "aws")]
        Command::Open { queue, peek: _, custody, main, receipts, data, port, policy, accept_damage, user } => {
            let user = local::sign_in::user(user.as_deref())
                .map_err(|error| format!("{error}; choose another name with --as"))?;
            let policy = policy.map(|file| read_policy(&file)).transpose()?.unwrap_or_default();
            let main = main.map(domain::id::QueueArn::new);
            on_runtime(async {
                let aws = lambda::connect::for_queue(&queue).await;
                let config = local::open::OpenConfig {
                    aws,
                    queue,
                    main,
                    receipts,
                    custody,
                    folder: data,
                    port,
                    accept_damage,
                    user,
                    policy,
                    dashboard: dashboard_files::FILES,
                };
                local::open::run(config).await.map_err(|error| aws::with_remedy(&error))
            })?;
        }
        #[cfg(feature = "aws")]
        Command::Doctor { queue, json } => return aws::examine(&queue, json),
        #[cfg(feature = "aws")]
        Command::Attach { queue, office } => return aws::attach(&queue, &office),
        #[cfg(not(feature = "aws"))]
        Command::Open(_) | Command::Doctor(_) | Command::Attach(_) | Command::Evacuate(_) => {
            return Err(not_built().into());
        }
        #[cfg(feature = "aws")]
        Command::Evacuate { office } => return aws::evacuate_office(&office),
        Command::Backup { to, data } => {
            print(&on_runtime(async { Ok(local::backup::run(&data, &to).await?.to_string() + "\n") })?)?;
        }
        Command::Orders { data, command } => {
            let url = Control::read(&data)?.url;
            print(&on_runtime(async { Ok(panel::cli(&url, command).await? + "\n") })?)?;
        }
        Command::Links { data } => {
            let control = Control::read(&data)?;
            print(&on_runtime(async { Ok(control.new_links().await?) })?)?;
        }
        Command::Classify { file, merge } => {
            let mode = if merge { Mode::Merge } else { Mode::Stream };
            let all_parsed = local::classify::cli(file.as_deref(), mode)?;
            return Ok(if all_parsed { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
        Command::Policy { office, command } => return policy(&office, &command),
        Command::Witness { command } => print(&witness::cli(&command))?,
        Command::Openapi => {
            let document = office::api::document(&local::serve::endpoints());
            print(&(serde_json::to_string_pretty(&document)? + "\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says how to build `dlo` so that it has the command that was called.
#[cfg(not(feature = "aws"))]
fn not_built() -> String {
    let called: Vec<String> = std::env::args().skip(1).collect();
    format!(
        "this program was built without AWS, which this command needs. In the project's folder, run: cargo run --profile \
         demo -p dlo --features aws --bin dlo -- {}",
        called.join(" ")
    )
}

/// Calls the API of a running office with the token of the environment.
fn policy(office: &str, command: &PolicyCommand) -> Result<ExitCode, Box<dyn Error>> {
    let token = std::env::var(remote::TOKEN).ok();
    let said = on_runtime(async { Ok(policy::run(command, office, token.as_deref()).await?) })?;
    print(&said.text)?;
    Ok(if said.is_fine { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

#[cfg(feature = "aws")]
fn read_policy(file: &std::path::Path) -> Result<domain::policy::Policy, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read the policy file {}: {error}", file.display()))?;
    let invalid = |error| format!("{} is not a valid policy: {}", file.display(), office::error::chain(&error));
    Ok(domain::policy::Policy::parse(&text).map_err(invalid)?)
}

fn on_runtime<T>(work: impl Future<Output = Result<T, Box<dyn Error>>>) -> Result<T, Box<dyn Error>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

/// Prints what a command was called for. Unlike the office's own output, losing it is an error.
fn print(text: &str) -> Result<(), Box<dyn Error>> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    Ok(written.map_err(|error| format!("cannot write the output: {error}"))?)
}

/// The level without `RUST_LOG`. The AWS SDK warns with dumps of its types; the errors of the commands say the same.
const LOG_DEFAULT: &str = "warn,aws_config=error,aws_smithy_runtime=error";

/// Logs to stderr: plain lines on a terminal, JSON otherwise. `RUST_LOG` sets the level; the default is `warn`.
fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(LOG_DEFAULT));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(office::log::stderr);
    // It reports its own errors with `eprintln!`.
    let subscriber = subscriber.log_internal_errors(false);
    if io::stderr().is_terminal() {
        subscriber.init();
    } else {
        subscriber.json().init();
    }
    office::guard::log_locations_of_panics();
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_folder_may_stand_before_or_after_the_subcommand() {
        for line in ["dlo orders --data x status", "dlo orders status --data x", "dlo orders place 3 --data x"] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"));
            let Command::Orders { data, .. } = cli.command else { panic!("{line}: not `orders`") };
            assert_eq!(data, PathBuf::from("x"), "{line}");
        }
        let Ok(Cli { command: Command::Orders { data, .. } }) = Cli::try_parse_from(["dlo", "orders", "status"]) else {
            panic!("`dlo orders status` is refused");
        };
        assert_eq!(data, PathBuf::from(".dlo"));
    }
}

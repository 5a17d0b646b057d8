//! `dlo`: the office on one machine.

use clap::{Parser, Subcommand};
use local::classify::Mode;
use local::control::Control;
use local::demo::{self, DemoConfig};
use local::panel::{self, PanelCommand};
use std::error::Error;
use std::io::{self, BufWriter, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

/// Dead Letter Office on one machine: reads dead letters, groups them, and sends them back when a fix is in.
#[derive(Parser)]
#[command(name = "dlo", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Open an office with embedded queues and a demo service that really fails
    Demo {
        /// Where its files are
        #[arg(long, value_name = "FOLDER", default_value = ".dlo")]
        data: PathBuf,
        /// Where it listens, on this machine only; 0 takes any free port
        #[arg(long, default_value_t = 8118)]
        port: u16,
        /// Forget what happened before
        #[arg(long)]
        fresh: bool,
        /// Orders that the demo service gets each second
        #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=100))]
        orders_per_s: u32,
    },
    /// Open an office against a real dead-letter queue; nothing is deployed
    ///
    /// Without --custody it only looks: each letter is received once and put back, so its receive count grows by one
    /// and it is out of others' sight for a moment. Region and credentials come from where AWS's own tools look.
    #[cfg(feature = "aws")]
    Open {
        /// The address of the dead-letter queue, as AWS prints it
        #[arg(long, value_name = "URL")]
        queue: String,
        /// Only look, which is the default
        #[arg(long, conflicts_with = "custody")]
        peek: bool,
        /// Take letters off the queue, each after it is kept in the folder, and replay for real
        #[arg(long)]
        custody: bool,
        /// The main queue's ARN, for letters that do not say theirs
        #[arg(long, value_name = "ARN")]
        main: Option<String>,
        /// The address of a queue to which consumers send receipts (`ConsumerConfig::receipts`): what they have processed
        /// is delivered at once. Receipts are taken off it
        #[arg(long, value_name = "URL", requires = "custody")]
        receipts: Option<String>,
        /// Where its files are
        #[arg(long, value_name = "FOLDER", default_value = ".dlo-open")]
        data: PathBuf,
        /// Where it listens, on this machine only; 0 takes any free port
        #[arg(long, default_value_t = 8118)]
        port: u16,
        /// The team's policy (see infra/policy.example.json)
        #[arg(long, value_name = "FILE")]
        policy: Option<PathBuf>,
    },
    /// Steer the demo service: deploy versions, take its payments down, place orders
    Orders {
        /// The folder of the office that runs
        #[arg(long, value_name = "FOLDER", default_value = ".dlo")]
        data: PathBuf,
        #[command(subcommand)]
        command: PanelCommand,
    },
    /// Print new sign-in links of the office that runs
    Links {
        /// The folder of the office that runs
        #[arg(long, value_name = "FOLDER", default_value = ".dlo")]
        data: PathBuf,
    },
    /// Classify failures: JSON lines on stdin, JSON lines on stdout
    ///
    /// A line is {"id","error_type","error_message","stack_trace","body"} (all but id optional), or an SQS message as
    /// `aws sqs receive-message` prints it. The answer to a line that cannot be read has an `error`, and the exit
    /// status is then 1.
    Classify {
        /// Read everything first, then answer with the group that each fingerprint was merged into
        ///
        /// The letter's own fingerprint is then `own_fingerprint`. About 0.5 kB a line is kept in memory.
        #[arg(long)]
        merge: bool,
    },
    /// Print the OpenAPI document of the api
    Openapi,
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
            eprintln!("dlo: {}", office::error::chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Box<dyn Error>> {
    match command {
        Command::Demo { data, port, fresh, orders_per_s } => {
            let config = DemoConfig { folder: data, port, fresh, orders_per_s, dashboard: dashboard_files::FILES };
            on_runtime(async { Ok(demo::run(config).await?) })?;
        }
        #[cfg(feature = "aws")]
        Command::Open { queue, peek: _, custody, main, receipts, data, port, policy } => {
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
                    policy,
                    dashboard: dashboard_files::FILES,
                };
                Ok(local::open::run(config).await?)
            })?;
        }
        Command::Orders { data, command } => {
            let url = Control::read(&data)?.url;
            println!("{}", on_runtime(async { Ok(panel::cli(&url, command).await?) })?);
        }
        Command::Links { data } => {
            let control = Control::read(&data)?;
            print!("{}", on_runtime(async { Ok(control.new_links().await?) })?);
        }
        Command::Classify { merge } => {
            let mode = if merge { Mode::Merge } else { Mode::Stream };
            let all_good = local::classify::run(io::stdin().lock(), BufWriter::new(io::stdout().lock()), mode)?;
            return Ok(if all_good { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
        Command::Openapi => {
            let document = office::api::document(&local::serve::endpoints());
            println!("{}", serde_json::to_string_pretty(&document)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "aws")]
fn read_policy(file: &std::path::Path) -> Result<domain::policy::Policy, Box<dyn Error>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{} is not a policy: {error}", file.display()))?)
}

fn on_runtime<T>(work: impl Future<Output = Result<T, Box<dyn Error>>>) -> Result<T, Box<dyn Error>> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}

/// Logs go to stderr: lines for a person on a terminal, JSON elsewhere. `RUST_LOG` says how much.
fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    if io::stderr().is_terminal() {
        subscriber.init();
    } else {
        subscriber.json().init();
    }
    office::guard::log_locations_of_panics();
}

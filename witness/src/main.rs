//! The program `dlo-witness`: an extension without arguments, otherwise a wrapper. See the library.

use std::ffi::OsString;
use std::process::ExitCode;
use witness::settings::{Settings, of_process};
use witness::voice::say;
use witness::{extension, run, wrapper};

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| say(&format!("internal error, a report is lost: {panic}"))));
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.as_slice() {
        [] => match Settings::of_process() {
            Some(settings) => block_on(extension::run(settings)),
            None => {
                say(
                    "runs inside of AWS Lambda only; see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-modify.html",
                );
                ExitCode::FAILURE
            }
        },
        [first, second, command @ ..] if first == "run" && second == "--" => {
            block_on(run::run(command, Settings::of_process()))
        }
        command => wrapper::run(command, of_process),
    }
}

fn block_on(work: impl Future<Output = ExitCode>) -> ExitCode {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => {
            let code = runtime.block_on(work);
            // Does not wait for a name that the resolver still looks for: that may take ten seconds.
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            say(&format!("cannot start: {error}"));
            ExitCode::FAILURE
        }
    }
}

//! A PostgreSQL server of this machine, from Debian's package `postgresql`. It has a folder and a socket of its own, no
//! port, and ends with the test process, even if that is killed.

use crate::processes;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio_postgres::{Client, Config, NoTls};

/// Where Debian installs each version of the server.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The deadline for the server to answer. It takes two seconds, or some more on a machine that compiles meanwhile.
const START_MAX: Duration = Duration::from_secs(120);
/// The time between two attempts to reach the server.
const PAUSE: Duration = Duration::from_millis(20);
/// The user and group `nobody` of Debian: the server refuses to run as root.
const NOBODY: u32 = 65_534;

/// Makes a database, runs the server, ends it when standard input ends, which it does with the test process, and
/// removes what it wrote. SIGQUIT ends it without waiting for connections.
const GUARD: &str = r#"
    "$1/initdb" --pgdata "$2/data" --username test --auth trust --no-sync --encoding UTF8 --locale C &&
    { "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=200 & server=$!
      read -r _; kill -QUIT "$server"; wait "$server"; }
    rm -rf "$2""#;

/// A running server.
pub struct Postgres {
    folder: PathBuf,
    _guard: Child,
    _alive: Option<ChildStdin>,
}

impl Postgres {
    /// Starts a server of the newest version that is installed. Returns `None` where none is.
    pub fn start() -> Option<Self> {
        let programs = installed(Path::new(VERSIONS))?;
        let folder = tempfile::Builder::new().prefix("pg").tempdir().expect("a folder").keep();
        let mut guard = Command::new("sh");
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).expect("root may give a folder away");
            guard.uid(NOBODY).gid(NOBODY);
        }
        guard.args(["-c", GUARD, "guard"]).arg(programs).arg(&folder).current_dir(&folder);
        guard.env(processes::RUN, processes::run());
        let log = std::fs::File::create(folder.join("log")).expect("a file in a folder of our own");
        let guard = guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
        let mut guard = guard.spawn().expect("a shell");
        let alive = guard.stdin.take();
        Some(Self { folder, _guard: guard, _alive: alive })
    }

    /// Returns the configuration of connections whose tables are in a schema of their own, once the server answers.
    pub async fn fresh(&self) -> Config {
        static SCHEMAS: AtomicU64 = AtomicU64::new(0);
        let schema = format!("test_{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
        let mut config = Config::new();
        config.host_path(&self.folder).user("test").dbname("postgres");
        let started = Instant::now();
        let client = loop {
            match connect(&config).await {
                Ok(client) => break client,
                Err(error) => {
                    let log = || std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                    assert!(started.elapsed() < START_MAX, "PostgreSQL does not answer: {error}\n{}", log());
                }
            }
            tokio::time::sleep(PAUSE).await;
        };
        client.batch_execute(&format!("CREATE SCHEMA {schema}")).await.expect("a new schema");
        config.options(format!("-c search_path={schema}")).application_name(&schema);
        config
    }
}

/// Returns a connection.
pub async fn connect(config: &Config) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Returns the folder of the newest version's programs.
fn installed(versions: &Path) -> Option<PathBuf> {
    let versions = std::fs::read_dir(versions).into_iter().flatten().flatten();
    let of =
        |entry: std::fs::DirEntry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path().join("bin")));
    let (_, newest) = versions.filter_map(of).filter(|(_, bin)| bin.join("initdb").exists()).max()?;
    Some(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_installed_version_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(installed(&folder.path().join("missing")), None);
        for (version, programs) in [("9", true), ("15", true), ("17", false), ("common", true)] {
            let bin = folder.path().join(version).join("bin");
            std::fs::create_dir_all(&bin).expect("a folder");
            if programs {
                std::fs::write(bin.join("initdb"), "").expect("a file");
            }
        }
        assert_eq!(installed(folder.path()), Some(folder.path().join("15/bin")));
    }
}

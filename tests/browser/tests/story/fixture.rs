//! The fixture of every example: an office, a browser driver, and a lock against parallel examples.

use browser::driver::Driver;
use browser::person::Person;
use domain::role::Role;
use harness::running::{Demo, Panel};
use local::store::SqliteStore;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};

/// The title of the gift cards' group. It shows numbers at the stars once enough customers have such a letter.
pub const BUG: &str = "panic: index out of bounds: the len is * but the index is *";
/// The gate's evidence that the quiet time has passed.
pub const QUIET: &str = "No new failure for 10 s or more";
/// Enough for a few waves with their windows on a loaded machine.
pub const A_REPLAY: Duration = Duration::from_secs(300);

/// Examples run one by one, because two of them on two cores would time out.
static ALONE: Mutex<()> = Mutex::const_new(());

/// An empty office and a browser driver. Fields are dropped in this order.
pub struct Fixture {
    /// The browser driver.
    pub driver: Driver,
    /// The office.
    pub demo: Demo,
    _folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Fixture {
    /// Opens an empty office.
    pub async fn open() -> Self {
        let alone = ALONE.lock().await;
        let folder = tempfile::tempdir().expect("a folder");
        let demo = Demo::start_with(folder.path(), &["--fresh"]);
        Self { driver: Driver::start(), demo, _folder: folder, _alone: alone }
    }

    /// Opens an office over a store that holds something already.
    pub async fn over(fill: impl AsyncFnOnce(&SqliteStore)) -> Self {
        let alone = ALONE.lock().await;
        let folder = tempfile::tempdir().expect("a folder");
        let demo = Demo::start_over(folder.path(), fill).await;
        Self { driver: Driver::start(), demo, _folder: folder, _alone: alone }
    }

    /// Opens a browser for a person and signs them in by link.
    pub async fn enters(&self, role: Role, name: &'static str) -> Person {
        let person = Person::new(&self.driver, name).await;
        person.open(self.demo.link(role)).await;
        person.find("heading", "Groups").await;
        person
    }

    /// Returns the control panel of the demo service.
    pub fn panel(&self) -> Panel {
        self.demo.panel()
    }
}

//! A disk whose power a test can cut: SQLite files on it keep what was synced, and of the rest only what a seed chooses.
//!
//! A [`Disk`] is a folder. SQLite reaches it through the VFS [`VFS`], which passes every call to the operating system's
//! VFS and remembers per file what was synced and what was written since. Other files in the folder are not affected.

mod image;
mod vfs;

use image::Image;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of the VFS. It is registered with the first [`Disk`].
pub const VFS: &str = "dlo-power";

/// Returns a number from 0 up to and excluding its argument.
pub type Chance<'a> = &'a mut dyn FnMut(usize) -> usize;

/// What survives a power cut, besides all that was synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survives {
    /// Everything: the process was killed, and the machine kept running.
    All,
    /// Nothing.
    Synced,
    /// The first writes of each file.
    Prefix,
    /// Any of the writes, in any order, some of them in part: what a disk that reorders leaves.
    Any,
}

/// A disk.
#[derive(Clone)]
pub struct Disk {
    folder: PathBuf,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    is_off: bool,
    syncs: u64,
    files: BTreeMap<PathBuf, Image>,
}

impl Disk {
    /// Makes a folder a disk. What is in it counts as synced.
    pub fn new(folder: &Path) -> Self {
        let disk = Self { folder: folder.to_owned(), state: Arc::default() };
        vfs::add(disk.clone());
        disk
    }

    /// Cuts the power: nothing can be written from now on.
    pub fn power_off(&self) {
        self.state().is_off = true;
    }

    /// Switches the power on again and writes what survived into the files. Every connection must have been closed before.
    pub fn power_on(&self, survives: Survives, chance: Chance<'_>) -> io::Result<()> {
        let mut state = self.state();
        for (path, image) in &mut state.files {
            let content = image.survivors(survives, chance);
            // The same file as before, not a new one of its name.
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
            file.write_all(&content)?;
            *image = Image::synced(content);
            // The log's index lives in memory only.
            let mut index = path.as_os_str().to_owned();
            index.push("-shm");
            match fs::remove_file(index) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        state.is_off = false;
        Ok(())
    }

    /// Returns how often a file was synced so far.
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.folder)
    }

    /// Notes that a file was opened.
    fn opened(&self, path: &Path) {
        let image = || Image::synced(fs::read(path).unwrap_or_default());
        self.state().files.entry(path.to_owned()).or_insert_with(image);
    }

    /// Changes the image of a file. Returns `false` if the power is off.
    fn change(&self, path: &Path, change: impl FnOnce(&mut Image)) -> bool {
        let mut state = self.state();
        if state.is_off {
            return false;
        }
        if let Some(image) = state.files.get_mut(path) {
            change(image);
        }
        true
    }

    fn synced(&self, path: &Path) -> bool {
        let is_on = self.change(path, Image::sync);
        self.state().syncs += u64::from(is_on);
        is_on
    }

    /// Notes that a file was deleted. Returns `false` if the power is off.
    fn deleted(&self, path: &Path) -> bool {
        let mut state = self.state();
        if !state.is_off {
            state.files.remove(path);
        }
        !state.is_off
    }
}

//! The VFS: the operating system's, whose files report their writes, truncations and syncs to their [`Disk`].
//!
//! SQLite allocates a file's structure, and the operating system's VFS fills it in. Then only its table of methods is
//! replaced, by a copy in which four methods are ours. All other methods stay the operating system's.
#![allow(unsafe_code)]

use crate::{Disk, VFS};
use rusqlite::ffi::{
    SQLITE_IOERR_DELETE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE, SQLITE_MISUSE, SQLITE_OK,
    sqlite3_file, sqlite3_filename, sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find, sqlite3_vfs_register,
};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

/// All disks of this process.
static DISKS: Mutex<Vec<Disk>> = Mutex::new(Vec::new());
/// All open files, by the address of SQLite's structure.
static OPEN: LazyLock<Mutex<HashMap<usize, Open>>> = LazyLock::new(Mutex::default);
/// The operating system's VFS.
static SYSTEM: OnceLock<System> = OnceLock::new();

struct System(*mut sqlite3_vfs);

// SAFETY: SQLite's VFS structures are constant after registration and may be used from any thread.
unsafe impl Send for System {}
// SAFETY: as above.
unsafe impl Sync for System {}

#[derive(Clone)]
struct Open {
    disk: Disk,
    path: PathBuf,
    methods: &'static sqlite3_io_methods,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a disk; registers the VFS first if it is not yet.
pub(crate) fn add(disk: Disk) {
    SYSTEM.get_or_init(register);
    locked(&DISKS).push(disk);
}

fn register() -> System {
    let name = CString::new(VFS).expect("a name without NUL");
    // SAFETY: the default VFS exists for ever; its copy is leaked, so it does, too.
    unsafe {
        let system = sqlite3_vfs_find(std::ptr::null());
        let ours = sqlite3_vfs {
            pNext: std::ptr::null_mut(),
            zName: name.into_raw(),
            xOpen: Some(open),
            xDelete: Some(delete),
            ..*system
        };
        assert_eq!(sqlite3_vfs_register(Box::leak(Box::new(ours)), 0), SQLITE_OK);
        System(system)
    }
}

/// Returns the disk that holds a file.
fn disk_of(path: &Path) -> Option<Disk> {
    locked(&DISKS).iter().find(|disk| disk.holds(path)).cloned()
}

/// Returns a path that SQLite names; `None` for a temporary file.
///
/// # Safety
/// `name` is null or a string that ends in NUL.
unsafe fn path_of(name: *const c_char) -> Option<PathBuf> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller promises a string that ends in NUL.
    Some(unsafe { CStr::from_ptr(name) }.to_str().ok()?.into())
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let Some((system, open)) = SYSTEM.get().and_then(|system| {
        // SAFETY: the system's VFS exists for ever.
        Some((system.0, unsafe { (*system.0).xOpen }?))
    }) else {
        return SQLITE_MISUSE;
    };
    // SAFETY: SQLite's arguments are passed on as they are, with the VFS that they are meant for.
    let opened = unsafe { open(system, name, file, flags, out_flags) };
    // SAFETY: SQLite passes null or a name that ends in NUL, and a structure that the system's VFS has filled in.
    unsafe {
        if opened == SQLITE_OK
            && let Some(path) = path_of(name)
            && let Some(disk) = disk_of(&path)
            && let Some(methods) = (*file).pMethods.as_ref()
        {
            disk.opened(&path);
            let ours = sqlite3_io_methods {
                xClose: Some(close),
                xWrite: Some(write),
                xTruncate: Some(truncate),
                xSync: Some(sync),
                ..*methods
            };
            // One small table for each opening, for ever: tests open few files.
            (*file).pMethods = Box::leak(Box::new(ours));
            locked(&OPEN).insert(file.addr(), Open { disk, path, methods });
        }
    }
    opened
}

unsafe extern "C" fn delete(_: *mut sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: SQLite passes a name that ends in NUL.
    let path = unsafe { path_of(name) };
    if let Some((path, disk)) = path.and_then(|path| disk_of(&path).map(|disk| (path, disk)))
        && !disk.deleted(&path)
    {
        return SQLITE_IOERR_DELETE;
    }
    match SYSTEM.get() {
        // SAFETY: the system's VFS exists for ever, and SQLite's arguments are passed on as they are.
        Some(system) => unsafe {
            (*system.0).xDelete.map_or(SQLITE_MISUSE, |delete| delete(system.0, name, sync_folder))
        },
        None => SQLITE_MISUSE,
    }
}

fn opened(file: *mut sqlite3_file) -> Option<Open> {
    locked(&OPEN).get(&file.addr()).cloned()
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let Some(open) = locked(&OPEN).remove(&file.addr()) else { return SQLITE_MISUSE };
    // SAFETY: the file is open, and gets its own method.
    unsafe { open.methods.xClose.map_or(SQLITE_MISUSE, |close| close(file)) }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, bytes: *const c_void, count: c_int, at: i64) -> c_int {
    let (Some(open), Ok(count_bytes), Ok(at_byte)) = (opened(file), usize::try_from(count), usize::try_from(at)) else {
        return SQLITE_MISUSE;
    };
    // SAFETY: SQLite passes a buffer of this length.
    let content = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), count_bytes) };
    if !open.disk.change(&open.path, |image| image.write(at_byte, content)) {
        return SQLITE_IOERR_WRITE;
    }
    // SAFETY: the file is open, and gets its own method with SQLite's arguments.
    unsafe { open.methods.xWrite.map_or(SQLITE_MISUSE, |write| write(file, bytes, count, at)) }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, length: i64) -> c_int {
    let (Some(open), Ok(bytes)) = (opened(file), usize::try_from(length)) else { return SQLITE_MISUSE };
    if !open.disk.change(&open.path, |image| image.truncate(bytes)) {
        return SQLITE_IOERR_TRUNCATE;
    }
    // SAFETY: the file is open, and gets its own method with SQLite's argument.
    unsafe { open.methods.xTruncate.map_or(SQLITE_MISUSE, |truncate| truncate(file, length)) }
}

/// Does not sync the real disk: what a power cut leaves is decided by the image.
unsafe extern "C" fn sync(file: *mut sqlite3_file, _: c_int) -> c_int {
    match opened(file) {
        Some(open) if open.disk.synced(&open.path) => SQLITE_OK,
        Some(_) => SQLITE_IOERR_FSYNC,
        None => SQLITE_MISUSE,
    }
}

//! Sessions that survive a restart: a file with the hash of each token, and whose it is.
//!
//! Whoever reads the file learns no token. It is kept only in a folder that nobody else may read or write: somebody who
//! could replace it would be signed in.

use super::Grant;
use crate::private::{self, Others};
use domain::id::Actor;
use domain::person::{Person, PersonId};
use domain::role::Role;
use domain::time::Timestamp;
use office::api::Caller;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// The file's name in the folder of an office.
pub const FILE: &str = "sessions.json";

/// A session in the file.
#[derive(Deserialize, Serialize)]
struct Kept {
    /// The SHA-256 of the token, in hex.
    token_hash: String,
    name: Actor,
    id: Option<PersonId>,
    role: Role,
    signed_in_at: Option<Timestamp>,
    until: Timestamp,
}

/// Reads the sessions of these people. A file that cannot be read counts as empty: everyone signs in again.
pub(super) fn read(folder: &Path, people: &[(Role, Person)]) -> HashMap<String, Grant> {
    let path = folder.join(FILE);
    if !is_own(folder) {
        return HashMap::new();
    }
    let kept: Vec<Kept> = match std::fs::read(&path).map(|text| serde_json::from_slice(&text)) {
        Ok(Ok(kept)) => kept,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return unreadable(&path, &error),
        Ok(Err(error)) => return unreadable(&path, &error),
    };
    // The office may be another person's today, or have fewer roles.
    let is_known = |it: &Kept| {
        people.iter().any(|(role, person)| (*role, &person.name, &person.id) == (it.role, &it.name, &it.id))
    };
    kept.into_iter().filter(is_known).map(grant).collect()
}

fn grant(kept: Kept) -> (String, Grant) {
    let Kept { token_hash, name, id, role, signed_in_at, until } = kept;
    (token_hash, Grant { caller: Caller { actor: name, role, id, signed_in_at }, until })
}

fn unreadable(path: &Path, error: &dyn std::error::Error) -> HashMap<String, Grant> {
    tracing::warn!(file = %path.display(), %error, "the sessions of the last run could not be read: everyone has to sign in again");
    HashMap::new()
}

/// Writes the sessions. Where they cannot be written, the older file goes, too: a session that was ended must not be in it.
/// That costs a sign-in after the next restart, and nothing now.
pub(super) fn write(folder: &Path, sessions: &HashMap<String, Grant>) {
    let path = folder.join(FILE);
    if !is_own(folder) {
        return remove(&path);
    }
    let kept: Vec<Kept> = sessions.iter().map(|(token_hash, grant)| to_kept(token_hash, grant)).collect();
    if let Err(error) = replace(&path, &kept) {
        remove(&path);
        tracing::warn!(%error, "the sessions could not be written: everyone has to sign in again after a restart");
    }
}

fn is_own(folder: &Path) -> bool {
    matches!(private::others_may(folder), Ok(Others::Nothing))
}

/// Removes a file, if it exists. That works on a full disk, too.
fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::error!(file = %path.display(), %error, "an old file of sessions could not be removed: delete it, or sessions that were ended go on after a restart");
    }
}

fn to_kept(token_hash: &str, Grant { caller, until }: &Grant) -> Kept {
    Kept {
        token_hash: token_hash.into(),
        name: caller.actor.clone(),
        id: caller.id.clone(),
        role: caller.role,
        signed_in_at: caller.signed_in_at,
        until: *until,
    }
}

fn replace(path: &Path, kept: &[Kept]) -> io::Result<()> {
    let new = path.with_extension("json.new");
    // Not through a link that somebody has put there.
    remove(&new);
    private::write(&new, &serde_json::to_vec(kept)?)?;
    std::fs::rename(&new, path)?;
    private::sync_folder_of(path)
}

//! People: the name that the office shows, and the identity that it compares.
//!
//! A name can change, and an issuer may give the same name to two people. Whether two acts are one person's is therefore
//! decided by the identity.

use crate::id::Actor;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// The issuer in the identity of everyone who signs in with a one-time link on one machine.
const MACHINE: &str = "urn:dead-letter-office:this-machine";
/// The issuer in the identities of the demo.
const DEMO: &str = "urn:dead-letter-office:demo";

/// An identity, which never changes: the issuer's URL, and the name (`sub`) that it never gives to anyone else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PersonId {
    /// The issuer's URL. A fixed name if the office itself signs people in.
    pub issuer: String,
    /// The claim `sub`.
    pub subject: String,
}

/// What an identity proves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IdentityKind {
    /// An issuer knows the person, so two identities are two people.
    #[default]
    Issuer,
    /// All one-time links of this machine belong to one person, whatever their roles.
    OneMachine,
    /// The demo's people do not exist: anyone at this machine plays any of them.
    Demo,
}

impl PersonId {
    /// Returns the identity of the one person who uses this machine.
    pub fn of_machine(user: &str) -> Self {
        Self { issuer: MACHINE.to_string(), subject: user.to_string() }
    }

    /// Returns the identity of one of the demo's people.
    pub fn of_demo(name: &str) -> Self {
        Self { issuer: DEMO.to_string(), subject: name.to_string() }
    }

    /// Returns what the identity proves.
    pub fn kind(&self) -> IdentityKind {
        match self.issuer.as_str() {
            MACHINE => IdentityKind::OneMachine,
            DEMO => IdentityKind::Demo,
            _ => IdentityKind::Issuer,
        }
    }
}

/// Who acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name, for display.
    pub name: Actor,
    /// The identity. `None` for rules of the policy, and in records that older versions wrote.
    pub id: Option<PersonId>,
}

impl Person {
    /// Whether this person did what is recorded under a name and, in newer records, an identity. Names count only if
    /// an identity is missing.
    pub fn is(&self, name: &Actor, id: Option<&PersonId>) -> bool {
        match (&self.id, id) {
            (Some(own), Some(id)) => own == id,
            _ => self.name == *name,
        }
    }

    /// Returns what the person's identity proves.
    pub fn kind(&self) -> IdentityKind {
        self.id.as_ref().map(PersonId::kind).unwrap_or_default()
    }
}

impl From<&Person> for Person {
    fn from(person: &Person) -> Self {
        person.clone()
    }
}

impl From<&Actor> for Person {
    fn from(name: &Actor) -> Self {
        Self { name: name.clone(), id: None }
    }
}

impl From<&str> for Person {
    fn from(name: &str) -> Self {
        Self { name: name.into(), id: None }
    }
}

//! The limits of a check, and the rules that a check may leave out.

/// The limits of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Attempts at once, of intake and of sweep, at most 3.
    pub attempts: usize,
    /// At most 2.
    pub letters: usize,
    /// Groups that two versions of intake read from one message, at most 2.
    pub groups: u8,
    /// Writes whose answer was lost and that may still arrive, at any time or never, at most 2 at once.
    pub late: usize,
    /// Whether only a write of this kind is late.
    pub only: Option<Kind>,
    /// Whether messages expire in their queue. Then sweep is needed.
    pub expires: bool,
    /// Whether an attempt first tries one transaction.
    pub few: bool,
    /// Whether a message that was deleted may come again.
    pub copies: bool,
    /// Whether letters leave the list and come back.
    pub moves: bool,
}

/// A kind of write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Put,
    Void,
    Adopt,
    Seal,
    Few,
}

pub(super) const SMALL: Scope = Scope {
    attempts: 2,
    letters: 1,
    groups: 1,
    late: 0,
    only: None,
    expires: true,
    few: false,
    copies: false,
    moves: false,
};

/// The scopes of `cargo ci`.
pub const SCOPES: [Scope; 4] = [
    Scope { letters: 2, expires: false, ..SMALL },
    Scope { groups: 2, late: 1, copies: true, ..SMALL },
    Scope { late: 1, few: true, moves: true, ..SMALL },
    Scope { groups: 2, few: true, moves: true, ..SMALL },
];

/// Scopes that take minutes or longer: `simulate --keep N`, counted on from [`SCOPES`].
pub const LARGE_SCOPES: [Scope; 13] = [
    Scope { letters: 2, ..SMALL },
    Scope { letters: 2, late: 1, only: Some(Kind::Put), expires: false, ..SMALL },
    Scope { letters: 2, late: 1, only: Some(Kind::Adopt), expires: false, ..SMALL },
    Scope { letters: 2, attempts: 3, expires: false, ..SMALL },
    Scope { letters: 2, late: 1, expires: false, ..SMALL },
    Scope { letters: 2, groups: 2, ..SMALL },
    Scope { letters: 2, few: true, moves: true, ..SMALL },
    Scope { letters: 2, late: 1, ..SMALL },
    Scope { attempts: 3, late: 1, ..SMALL },
    Scope { attempts: 3, groups: 2, late: 1, copies: true, ..SMALL },
    Scope { late: 2, groups: 2, few: true, copies: true, moves: true, ..SMALL },
    Scope { letters: 2, attempts: 3, ..SMALL },
    Scope { late: 2, ..SMALL },
];

/// A rule that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    AdoptWithoutVoid,
    SealWithoutCondition,
    DeleteBeforeSeal,
    AdoptWithoutCondition,
    PutWithoutCondition,
    VoidWithoutCondition,
    SealWithoutBits,
    AdoptKeepsTheLetter,
    UnsealedIsADuplicate,
    SealIsForgotten,
    NoSweep,
    NoteAfterTheLetters,
    NoteEndsWithLetters,
    NoteEndsWithoutAnAnswer,
    NoteEndsBeforeTheHour,
    CustomerBeforeSeal,
    CustomerWithoutCondition,
    ListInAWriteOfItsOwn,
    BitWithoutVersion,
    MarkerReadsTheLetterFirst,
    ReturnLeavesTheBlock,
}

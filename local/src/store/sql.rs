//! All reading statements in one place, so that a test can check SQLite's query plan for each of them.

pub(super) const LETTER: &str = "
    SELECT letter.record, content.record, letter.checksum, content.checksum FROM letter JOIN content ON content.letter = letter.key
    WHERE letter.id = ?1";
pub(super) const LETTERS_OF_GROUP: &str = "
    SELECT letter.record, content.record, letter.checksum, content.checksum FROM letter JOIN content ON content.letter = letter.key
    WHERE group_id = ?1 AND (sent_at, id) > (?2, ?3) ORDER BY sent_at, id LIMIT ?4";
pub(super) const LETTERS_IN_STATE: &str = "
    SELECT letter.record, content.record, letter.checksum, content.checksum FROM letter JOIN content ON content.letter = letter.key
    WHERE group_id = ?1 AND (sent_at, id) > (?2, ?3) AND state = ?5 ORDER BY sent_at, id LIMIT ?4";
pub(super) const OLDEST_SENT_AT: &str = "SELECT min(sent_at) FROM letter WHERE group_id = ?1 AND open = 1";
pub(super) const FIRST_LOSS_AT: &str = "SELECT min(loss_at) FROM letter WHERE group_id = ?1 AND open = 1";

pub(super) const CHECKSUMS: &str = "
    SELECT letter.record, content.record, letter.checksum, content.checksum, letter.id
    FROM letter JOIN content ON content.letter = letter.key";

pub(super) const HAS_DEATH: &str = "SELECT 1 FROM death WHERE id = ?1";
pub(super) const DEATHS: &str = "SELECT record FROM death WHERE letter = ?1 ORDER BY number, key LIMIT ?2";

pub(super) const GROUP: &str = "SELECT record FROM error_group WHERE id = ?1";
pub(super) const GROUPS: &str = "SELECT record FROM error_group WHERE id > ?1 ORDER BY id LIMIT ?2";
pub(super) const COUNTS: &str = "SELECT record, checksum FROM group_count WHERE group_id = ?1";
pub(super) const ARRIVALS: &str =
    "SELECT bucket, deaths FROM arrival WHERE group_id = ?1 AND bucket >= ?2 ORDER BY bucket";

pub(super) const CUSTOMERS: &str = "SELECT customer FROM group_customer WHERE group_id = ?1";

pub(super) const LAST_CHANGE: &str = "SELECT max(number) FROM change";
pub(super) const CHANGES: &str = "SELECT group_id FROM change WHERE number > ?1";

pub(super) const SNAPSHOT: &str = "SELECT packed FROM snapshot WHERE key = 1";

pub(super) const PLAN: &str = "SELECT record FROM plan WHERE group_id = ?1";
pub(super) const DRAFT: &str = "SELECT record FROM draft WHERE id = ?1";
pub(super) const REPLAY: &str = "SELECT record FROM replay WHERE id = ?1";
pub(super) const REPLAYS: &str = "
    SELECT record FROM replay
    WHERE (approved_at, id) < (?1, ?2) ORDER BY approved_at DESC, id DESC LIMIT ?3";
pub(super) const REPLAYS_OF_GROUP: &str = "
    SELECT record FROM replay
    WHERE group_id = ?4 AND (approved_at, id) < (?1, ?2) ORDER BY approved_at DESC, id DESC LIMIT ?3";
pub(super) const UNFINISHED_REPLAYS: &str = "SELECT id FROM replay WHERE finished = 0 ORDER BY id";

pub(super) const BOOK: &str = "SELECT key, ledger FROM book WHERE replay = ?1";
pub(super) const BLOCK: &str = "
    SELECT number, version, entries FROM block
    WHERE book = (SELECT key FROM book WHERE replay = ?1) AND number = ?2";
pub(super) const BLOCKS: &str = "
    SELECT number, version, entries FROM block
    WHERE book = (SELECT key FROM book WHERE replay = ?1) AND number >= ?2 ORDER BY number LIMIT ?3";

pub(super) const SENT: &str = "SELECT replay, place, letter FROM sent WHERE message = ?1";
pub(super) const DEPLOYMENT: &str = "SELECT record FROM deployment WHERE service = ?1";
pub(super) const TRANSFORM: &str = "
    SELECT transform.record, dry_run.record FROM transform LEFT JOIN dry_run USING (group_id, version)
    WHERE group_id = ?1 AND version = ?2";
pub(super) const TRANSFORMS: &str = "
    SELECT transform.record, dry_run.record FROM transform LEFT JOIN dry_run USING (group_id, version)
    WHERE group_id = ?1 ORDER BY version DESC";
pub(super) const ATTACHED: &str = "SELECT record FROM attached WHERE queue = ?1";
pub(super) const REPORTS: &str = "SELECT record FROM reports WHERE queue = ?1 AND message = ?2";
pub(super) const NOTICES: &str = "SELECT record FROM notices WHERE queue = ?1";
pub(super) const CLOCK: &str = "SELECT record FROM clock WHERE key = 1";
pub(super) const POLICIES: &str = "SELECT record FROM policy WHERE version < ?1 ORDER BY version DESC LIMIT ?2";
pub(super) const AUDIT: &str = "
    SELECT record, at, key FROM audit
    WHERE group_id = ?1 AND (at, key) < (?2, ?3) ORDER BY at DESC, key DESC LIMIT ?4";

/// All statements above, each with the index that SQLite must use.
#[cfg(test)]
pub(super) const ALL: &[(&str, &str)] = &[
    (LETTER, "letter USING INDEX sqlite_autoindex_letter_1 (id=?)"),
    (LETTERS_OF_GROUP, "letter_by_time (group_id=? AND (sent_at,id)>(?,?))"),
    (LETTERS_IN_STATE, "letter_by_state (group_id=? AND state=? AND (sent_at,id)>(?,?))"),
    (OLDEST_SENT_AT, "open_letter_by_time (group_id=?)"),
    (FIRST_LOSS_AT, "open_letter_by_loss (group_id=?)"),
    (HAS_DEATH, "(id=?)"),
    (DEATHS, "death_by_letter (letter=?)"),
    (GROUP, "(id=?)"),
    (GROUPS, "(id>?)"),
    (COUNTS, "(group_id=?)"),
    (ARRIVALS, "PRIMARY KEY (group_id=? AND bucket>?)"),
    (CUSTOMERS, "PRIMARY KEY (group_id=?)"),
    (LAST_CHANGE, "change_by_number"),
    (CHANGES, "change_by_number (number>?)"),
    (SNAPSHOT, "(rowid=?)"),
    (PLAN, "(group_id=?)"),
    (DRAFT, "(id=?)"),
    (REPLAY, "(id=?)"),
    (REPLAYS, "replay_by_time ((approved_at,id)<(?,?))"),
    (REPLAYS_OF_GROUP, "replay_by_group (group_id=? AND (approved_at,id)<(?,?))"),
    (UNFINISHED_REPLAYS, "replay_unfinished"),
    (BOOK, "(replay=?)"),
    (BLOCK, "PRIMARY KEY (book=? AND number=?)"),
    (BLOCKS, "PRIMARY KEY (book=? AND number>?)"),
    (SENT, "(message=?)"),
    (DEPLOYMENT, "(service=?)"),
    (TRANSFORM, "transform USING PRIMARY KEY (group_id=? AND version=?)"),
    (TRANSFORMS, "transform USING PRIMARY KEY (group_id=?)"),
    (ATTACHED, "(queue=?)"),
    (REPORTS, "PRIMARY KEY (queue=? AND message=?)"),
    (NOTICES, "PRIMARY KEY (queue=?)"),
    (CLOCK, "(rowid=?)"),
    (POLICIES, "policy USING INTEGER PRIMARY KEY (rowid<?)"),
    (AUDIT, "audit_by_group (group_id=? AND at<?)"),
];

//! The words that a sentence is made with. None is about one library.

/// Words that ask for another try: a rule with one of them is about a moment.
#[rustfmt::skip]
pub const AGAIN: &[&str] = &[
    "retry", "retried", "retrying", "retries", "retryable", "retriable", "again", "later", "temporarily", "temporary", "transient", "restarted", "backoff",
];

/// Words of a moment that no sentence about a rule has.
#[rustfmt::skip]
pub const SURELY_PASSING: &[&str] = &[
    "temporarily", "transient", "retryable", "retriable", "overloaded", "overload", "unreachable", "congested", "congestion", "failover", "switchover",
    "rebalancing", "bootstrapping", "election", "draining", "backpressure", "preempted", "unresponsive", "throttled",
];

/// What is limited or sent for a while only: a word about a mistake may be about the moment.
#[rustfmt::skip]
pub const PASSING: &[&str] = &[
    "connections", "connection", "request", "requests", "attempts", "retries", "rate", "quota", "memory", "replicas", "concurrent", "throughput", "eof", "packet",
    "packets", "response", "reply", "frame", "socket", "server", "broker", "master", "leader", "primary",
];

/// What follows an adjective that then says nothing.
pub const EMPTY: &[&str] = &[
    "error",
    "errors",
    "exception",
    "failure",
    "problem",
    "issue",
    "reason",
    "condition",
    "cause",
    "fault",
    "happened",
];

/// What gives somebody a right.
pub const RIGHTS: &[&str] =
    &["authentication", "authorization", "credential", "credentials", "licence", "license", "password", "token", "key"];
/// How a right ends.
pub const ENDED: &[&str] = &["expired", "revoked", "disabled", "suspended", "failed", "denied", "rejected"];

/// What follows "lost" if it is data that is lost.
pub const OWNED: &[&str] = &["its", "their", "the", "all", "data", "update", "updates", "precision", "records"];

/// Two words of a moment.
#[rustfmt::skip]
pub const PASSING_PAIRS: &[[&str; 2]] = &[
    ["the", "moment"], ["this", "time"], ["right", "now"], ["went", "away"], ["gone", "away"], ["going", "away"], ["hung", "up"], ["hang", "up"], ["torn", "down"],
    ["shut", "down"], ["backed", "up"], ["timing", "out"], ["into", "shutdown"], ["in", "shutdown"], ["shutting", "down"],
];

/// Who else may use something.
#[rustfmt::skip]
pub const OTHERS: &[&str] = &[
    "process", "operation", "transaction", "client", "instance", "worker", "session", "request", "user", "connection", "job", "consumer", "query", "task", "node", "host",
];

/// How somebody else uses it.
pub const USING: &[&str] = &[
    "using",
    "running",
    "progress",
    "use",
    "holds",
    "holding",
    "locked",
    "owns",
    "modifying",
    "updating",
    "processing",
    "updated",
    "modified",
    "changed",
];

/// What somebody does to something now, after "being".
#[rustfmt::skip]
pub const BEING: &[&str] = &[
    "modified", "updated", "edited", "changed", "processed", "deployed", "migrated", "created", "deleted", "restarted", "terminated", "moved", "written",
    "built", "rebuilt", "upgraded", "drained", "provisioned", "started", "stopped",
];

/// How a program ends before its time.
pub const ENDING: &[&str] =
    &["quit", "exited", "ended", "terminated", "stopped", "died", "crashed", "closed", "disconnected", "dropped"];

/// What becomes true by itself: "not" before one of these is a moment.
pub const UNFINISHED: &[&str] = &["terminated", "finished", "synced", "synched", "synchronized"];

/// What is done later.
#[rustfmt::skip]
pub const UNDONE_YET: &[&str] = &[
    "unfinished", "uncompleted", "undelivered", "unconnected", "unacknowledged", "uncommitted", "unsynced", "unconfirmed", "unprocessed", "unsettled", "undetermined",
];

/// What somebody locks for a reason.
pub const LOCKED_FOR_GOOD: &[&str] = &["account", "user", "card", "period", "document", "login", "policy"];

/// What is said of a version of a program, and not of a moment.
pub const OF_VERSIONS: &[&str] = &["supported", "support", "supports", "implemented", "implement", "implements"];

/// What states a rule even next to a word of time: `a value needs to be specified at this time`.
pub const OF_RULES: &[&str] = &["must", "should", "needs"];

/// How a word of time ends: `at this time`.
pub const OF_NOW: &[&str] = &["time", "moment", "now"];

/// What an action follows, and a state does not.
pub const OF_ACTIONS: &[&str] = &["when", "while", "before", "after", "by", "during"];

/// Parts of the same program that it calls.
pub const LOCAL: &[&str] = &["setter", "getter", "method", "constructor", "callback", "hook", "listener", "builder"];

/// What begins a sentence about a name or a value that nobody knows.
pub const UNKNOWN: &[&str] = &["unknown", "unsupported", "unrecognized", "unrecognised", "illegal"];

/// Who leads a cluster.
pub const LEADING: &[&str] = &["leader", "primary", "master", "owner", "controller", "coordinator", "member"];

/// What a server limits for a while, after "too many".
#[rustfmt::skip]
pub const LIMITED: &[&str] = &[
    "pending", "outstanding", "open", "active", "concurrent", "in-flight", "inflight", "waiting", "queued", "failures", "retries", "attempts", "sessions", "channels",
    "streams", "clients", "locks", "threads", "tasks", "jobs", "parallel", "simultaneous", "unacked", "unacknowledged", "waiters", "processes",
];

/// What may come later: that it is absent says nothing of a mistake.
#[rustfmt::skip]
pub const ABSENT_FOR_NOW: &[&str] = &[
    "response", "reply", "answer", "ack", "acks", "heartbeat", "heartbeats", "route", "routes", "space", "memory", "progress", "data", "one", "longer", "bytes", "room",
    "reason", "error", "errors", "message", "messages", "resources", "quorum", "capacity", "credit", "credits", "time", "endpoint", "endpoints", "address", "addresses",
];

/// What is compared with what follows "but".
pub const COMPARED: &[&str] =
    &["found", "has", "have", "got", "given", "contains", "expected", "is", "was", "were", "are"];

/// States that end by themselves.
#[rustfmt::skip]
pub const PASSING_STATES: &[&str] = &[
    "busy", "unavailable", "unhealthy", "shutdown", "shutting", "stopping", "starting", "restarting", "closing", "draining", "recovering", "recovery", "loading",
    "initializing", "initialising", "warming", "paused", "suspended", "exhausted", "saturated", "lost", "interrupted", "contention", "stale",
    "undetermined", "exiting", "evicted", "outage", "maintenance", "backlog", "lagging", "syncing", "rebuilding", "election", "full", "crashed", "killed", "temporary",
    "again", "later", "elapsed", "loss", "quorum", "lag", "unanswered", "glitch", "momentarily", "leadership", "heartbeat", "heartbeats", "keepalive", "hung", "stalled", "preempted", "concurrently", "simultaneously",
];

/// What is tried, and may succeed another time: "cannot" before one of these says nothing of a rule.
#[rustfmt::skip]
pub const EVENTS: &[&str] = &[
    "connect", "reach", "open", "send", "write", "read", "fetch", "acquire", "obtain", "allocate", "get", "contact", "establish", "flush", "commit", "lock", "process",
    "complete", "proceed", "start", "continue", "keep", "publish", "consume", "receive", "deliver", "refresh", "download", "upload", "join", "sync", "access", "renew",
    "resolve", "produce", "poll", "enqueue", "currently", "load", "retrieve", "contacted", "finish", "schedule", "deliver", "query",
];

/// Irregular participles of [`EVENTS`].
pub const PARTICIPLES: &[&str] =
    &["sent", "written", "read", "gotten", "got", "kept", "committed", "begun", "synced", "found", "held", "made"];

/// What something lacks by its nature.
#[rustfmt::skip]
pub const LACKING: &[&str] = &[
    "support", "implement", "accept", "begin", "allow", "have", "match", "contain", "conform", "meet", "belong", "define", "specify", "provide", "satisfy", "know", "recognize",
    "recognise", "fit", "equal", "correspond", "comply", "declare", "include", "share", "apply", "appear", "represent", "extend", "inherit", "look", "live", "agree", "refer",
    "point", "permit", "own", "work", "make", "use", "start", "end", "take", "need", "call", "expose", "parse", "resolve", "produce", "return", "find", "expect",
];

/// Participles and adjectives that state what is, after "not".
#[rustfmt::skip]
pub const STATED: &[&str] = &[
    "valid", "set", "given", "specified", "provided", "defined", "declared", "registered", "configured", "enabled", "installed", "implemented", "supported", "allowed",
    "permitted", "numeric", "unique", "equal", "empty", "known", "recognized", "recognised", "found", "present", "included", "associated", "mapped", "bound", "assigned",
    "capable", "correct", "compatible", "consistent", "sorted", "aligned", "complete", "used", "consumed", "properly", "fully", "string", "json", "null", "initialized",
    "initialised", "authorized", "authorised", "entitled", "part", "passed", "called", "created", "imported", "prepared", "attached", "serialized", "authenticated", "needed", "applicable", "the", "expected", "matched", "matching", "documented", "loaded", "exported", "resolved", "required",
];

/// What "only" allows.
#[rustfmt::skip]
pub const ALLOWED: &[&str] = &[
    "supported", "supports", "support", "allowed", "permitted", "accepts", "accept", "accepted", "available", "valid", "can", "may", "works", "defined", "possible",
    "used", "be", "contain", "have", "one", "implemented", "applicable", "applies", "for",
];

/// What advice asks for.
#[rustfmt::skip]
pub const ADVISED: &[&str] = &[
    "specify", "provide", "use", "set", "add", "make", "ensure", "install", "call", "define", "enable", "configure", "remove", "update", "upgrade", "register", "see",
    "check", "pass", "supply", "choose", "select", "include", "refer", "verify", "consider", "replace", "explicitly", "fix", "correct", "change",
];

/// What is being done now, after "already".
pub const DOING: &[&str] = &[
    "in",
    "running",
    "being",
    "locked",
    "processing",
    "closed",
    "shutting",
    "stopping",
    "stopped",
    "disconnected",
    "shutdown",
    "shut",
    "terminated",
    "closing",
];

/// Adjectives and verbs of something wrong.
#[rustfmt::skip]
pub const WRONG: &[&str] = &[
    "invalid", "illegal", "malformed", "unexpected", "unknown", "unsupported", "unrecognized", "unrecognised", "duplicate", "duplicated", "incorrect", "improper",
    "incompatible", "inconsistent", "ambiguous", "conflicting", "conflicts", "undefined", "undeclared", "unresolved", "unbound", "corrupt", "corrupted", 
    "incomplete", "nonexistent", "non-existent", "obsolete", "read-only", "readonly", "negative", "non-numeric", "non-empty", "non-null", "non-string", "unspecified", "unparsable",
    "unparseable", "unserializable", "mismatched", "mismatch", "missing", "wrong", "bad", "forbidden", "denied", "disallowed", "prohibited", "banned", "truncated", "overflow", "overflows",
    "underflow", "violates", "violated", "violation", "exceeds", "overlap", "overlaps", "disabled", "empty", "unterminated", "unclosed", "unbalanced", "unmatched", "untrusted",
    "unauthorized", "unauthorised", "misconfigured", "circular", "recursive", "cyclic", "nested", "redundant", "superfluous", "abstract", "multiple", "unset", "uninitialized",
    "unsigned", "unregistered", "unassigned", "unused", "unordered", "unsatisfiable", "satisfiable", "unencodable", "undecodable", "inaccessible", "unreadable", "imbalanced", "contradicts", "contradict", "contradictory", "contradicting", "several", "unhandled", "trailing", "extra", "extraneous", "dangling", "premature", "garbage", "bogus",
    "damaged", "lacks", "lack", "prohibits", "restricted", "infinite", "nan", "mixing", "bug", "different", "differs", "differ", "nil", "null", "superseded",
];

/// What a program does with what it was given: it fails in the same way each time.
#[rustfmt::skip]
pub const DETERMINED: &[&str] = &[
    "determine", "infer", "identify", "recognize", "recognise", "understand", "interpret", "find", "locate", "parse", "parsing", "decode", "decoding", "encode", "encoding",
    "convert", "converting", "cast", "map", "mapping", "match", "validate", "validating", "verify", "verifying", "compile", "compiling", "build", "construct",
    "constructing", "instantiate", "import", "importing", "render", "rendering", "evaluate", "evaluating", "normalize", "normalizing", "denormalize", "generate",
    "compute", "calculate", "divide", "split", "format", "formatting", "extract", "extracting", "detect", "guess", "serialize", "serialise", "serializing", "deserialize",
    "deserializing", "transform", "transforming", "compare", "apply", "composing", "scanning", "unpack", "unpacking", "inject", "introspect", "deduce", "figure", "bind", "assign", "append", "attach", "transition",
];

/// What is said to be absent.
#[rustfmt::skip]
pub const GIVEN: &[&str] = &[
    "found", "given", "specified", "provided", "defined", "registered", "configured", "set", "named", "called", "matching", "matches", "such", "supplied", "declared",
    "present", "for", "with", "supporting", "default", "more", "in", "at", "attribute", "method", "parent", "mapping", "available", "exists", "exist", "passed", "selected", "supported",
];

/// Sizes that no wait changes, after "too".
pub const SIZES: &[&str] = &["large", "small", "short", "deep", "big", "wide", "high", "low", "complex"];

/// Measures of data, after "too".
pub const MEASURES: &[&str] = &["long", "many", "few", "old", "early"];

/// Steps of a life, after "before" or "after": a program took them in a wrong order.
#[rustfmt::skip]
pub const STEPS: &[&str] = &[
    "completion", "close", "end", "calling", "being", "initialization", "initialisation", "it", "they", "using", "use", "starting", "start", "finish", "commit", "init", "construction",
];

/// What one program does at another.
#[rustfmt::skip]
pub const REMOTE: &[&str] = &[
    "publish", "publishing", "send", "sending", "deliver", "delivering", "upload", "uploading", "download", "downloading", "fetch", "fetching", "sync", "syncing", "synchronize",
    "call", "calling", "invoke", "invoking", "contact", "query", "querying", "request", "submit", "submitting", "notify", "dispatch", "dispatching", "push", "pushing", "pull", "poll",
    "refresh", "forward", "forwarding", "transmit", "communicate", "enqueue", "commit", "flush", "retrieve", "retrieving", "post", "receive", "consume", "acquire", "connect",
];

/// What is looked up in a network.
pub const HOSTS: &[&str] =
    &["host", "hostname", "hosts", "address", "addresses", "dns", "domain", "endpoint", "name", "names", "server"];

/// What a connection or a client is that somebody shut: a state of the moment.
pub const SHUT: &[&str] = &["closed", "closing", "stopped", "stopping", "disconnected", "shutdown"];

//! The things and conditions that messages speak of, and what people do with them.

/// Names of connections between two programs: one that is lost is made again.
pub const LINKS: &[&str] = &[
    "connection",
    "connections",
    "socket",
    "channel",
    "transport",
    "tunnel",
    "link",
    "stream",
    "handshake",
    "conn",
    "conns",
];

/// What answers, in another process.
#[rustfmt::skip]
pub const SERVERS: &[&str] = &[
    "broker", "brokers", "server", "servers", "node", "nodes", "host", "hosts", "controller", "coordinator", "leader", "master",
    "replica", "replicas", "shard", "shards", "cluster", "sentinel", "sentinels", "database", "databases", "upstream", "backend",
    "backends", "peer", "gateway", "gateways", "endpoint", "endpoints", "proxy", "service", "services", "instance", "instances", "partition", "partitions", "member",
    "members", "slave", "slaves", "dependency",
];

/// What a program has a limited number of, and gets back when others are done.
#[rustfmt::skip]
pub const SLOTS: &[&str] = &[
    "pool", "queue", "buffer", "backlog", "bulkhead", "slot", "slots", "semaphore", "producer", "producers", "worker", "workers",
    "executor", "threads", "capacity", "client", "clients", "channels", "permits", "permit",
];

pub const LINK_LOST: &[&str] = &[
    "closed",
    "closing",
    "lost",
    "terminated",
    "dropped",
    "broken",
    "aborted",
    "interrupted",
    "disconnected",
    "dead",
    "ended",
    "reset",
    "stale",
    "inactive",
    "stopped",
];

pub const SERVER_DOWN: &[&str] = &[
    "down",
    "unreachable",
    "unavailable",
    "offline",
    "dead",
    "unhealthy",
    "overloaded",
    "busy",
    "loading",
    "crashed",
    "unresponsive",
    "disconnected",
    "suspended",
    "restarting",
    "recovering",
    "initializing",
    "initialising",
];

pub const SLOTS_TAKEN: &[&str] =
    &["full", "exhausted", "saturated", "overflow", "overflowed", "busy", "empty", "suspended", "paused"];

pub const UP: &[&str] = &[
    "available",
    "connected",
    "ready",
    "reachable",
    "writable",
    "writeable",
    "healthy",
    "active",
    "alive",
    "responding",
    "online",
    "up",
    "usable",
    "running",
    "open",
];

pub const NOT: &[&str] = &["not", "isn't", "aren't", "wasn't", "never"];
pub const FAILED: &[&str] =
    &["cannot", "can't", "failed", "unable", "error", "failure", "couldn't", "errored", "problem", "failing"];

/// Turning one form of data into another.
#[rustfmt::skip]
pub const CONVERTING: &[&str] = &[
    "convert", "converted", "converting", "conversion", "cast", "casted", "casting", "coerce", "coerced", "coercing", "scan", "scanning",
    "decode", "decoded", "decoding", "encode", "encoded", "encoding", "serialize", "serializing", "serialized", "serialise",
    "interpret", "parse", "parsed", "parsing", "marshal", "marshalling", "decompress", "decompressing", "inflate", "inflating",
    "deserialize", "deserializing", "normalize", "denormalize", "hydrate",
];

/// Using a part of a program in a way that it does not allow.
#[rustfmt::skip]
pub const USING: &[&str] = &[
    "use", "used", "reuse", "reused", "mix", "mixed", "combine", "combined", "overwrite", "override", "overridden", "redefine",
    "nest", "nested", "instantiate", "instantiated", "mutate", "modify", "assign", "assigned", "declare", "call", "called",
    "register", "specify", "specified", "redeclare", "extend", "subclass", "compare", "iterate", "await", "pickle",
];

/// What is unknown, unexpected, bad or missing because somebody wrote it so.
#[rustfmt::skip]
pub const WRITTEN: &[&str] = &[
    "type", "types", "value", "values", "key", "keys", "argument", "arguments", "option", "options", "parameter", "parameters",
    "property", "properties", "format", "mechanism", "encoding", "charset", "algorithm", "level", "mode", "scheme", "setting",
    "settings", "method", "codec", "operator", "element", "kind", "version", "plugin", "directive", "attribute", "field",
    "fields", "config", "configs", "configuration", "column", "columns", "character", "token", "syntax", "input", "header",
    "headers", "params", "param", "identifier", "name", "driver", "cipher", "curve", "profile", "claim", "body", "url", "uri",
    "dsn", "metadata", "schema", "strategy", "modifier", "unit", "flag", "choice", "command", "compression", "signature", "tag", "opcode",
];

/// Words that say by themselves that something was made wrong.
#[rustfmt::skip]
pub const ALWAYS_WRONG: &[&str] = &[
    "unrecognized", "unrecognised", "unsupported", "incompatible", "compatible", "undefined", "unparsable", "ambiguous", "misspelled",
    "mismatched", "mutually",
];

/// What is missing only until it comes.
#[rustfmt::skip]
pub const AWAITED: &[&str] = &[
    "lock", "lease", "heartbeat", "heartbeats", "ack", "acknowledgement", "replica", "dependency", "dependencies", "node", "leader",
    "data", "records",
];

/// What a program finds by its name when it starts or works.
pub const LOADED: &[&str] = &[
    "class",
    "driver",
    "module",
    "library",
    "plugin",
    "bean",
    "extension",
    "handler",
    "serializer",
    "deserializer",
    "converter",
    "encoder",
    "decoder",
    "codec",
    "mapping",
    "provider",
    "implementation",
    "constructor",
    "schema",
    "key",
    "keystore",
    "certificate",
    "template",
];

/// A step of a program's life that is taken once.
pub const ONCE: &[&str] = &[
    "acknowledged",
    "registered",
    "defined",
    "declared",
    "initialized",
    "initialised",
    "connected",
    "called",
    "configured",
    "added",
    "assigned",
    "bound",
    "subscribed",
    "set",
    "started",
    "installed",
    "exists",
    "used",
    "consumed",
    "released",
    "disposed",
];

pub const COMPARED: &[&str] = &[
    "less", "greater", "more", "larger", "smaller", "shorter", "longer", "lower", "higher", "below", "above", "exceeds",
];
pub const BOUNDS: &[&str] = &["minimum", "maximum", "allowed", "max", "min", "permitted"];

/// What is limited for a while only, or read from a network: a rule for a value does not speak of it.
#[rustfmt::skip]
pub const PASSING: &[&str] = &[
    "connections", "connection", "request", "requests", "attempts", "retries", "rate", "quota", "memory", "replicas", "concurrent",
    "time", "seconds", "throughput", "bytes", "byte", "eof", "packet", "packets", "read", "response", "reply", "frame", "socket",
    "status", "server", "broker", "master", "leader", "primary",
];

/// Stores and brokers by name: a short message that one failed says no more than that.
pub const STORES: &[&str] = &[
    "redis",
    "postgres",
    "postgresql",
    "mysql",
    "kafka",
    "rabbitmq",
    "elasticsearch",
    "mongodb",
    "mongo",
    "dynamodb",
    "s3",
    "sqs",
    "sns",
    "memcached",
    "cassandra",
    "database",
    "db",
    "cache",
    "broker",
];

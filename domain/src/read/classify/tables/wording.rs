//! Wordings, the evidence of last resort if there is no code. In lower case; the first matching row decides.
//!
//! Permanent wordings come before transient ones: "permission denied, try again" will be denied again. Within each
//! class, specific wordings come before general ones.

use super::super::grams::{self, Slots};
use super::{P, T, U};
use crate::reading::Category::{self, *};
use crate::reading::Class;

/// A list of wordings with one meaning.
pub type Wording = (Class, Category, &'static [&'static str]);

/// Computes the filter slots of every wording of a table, in table order.
pub const fn slots<const N: usize>(groups: &[Wording]) -> [Slots; N] {
    let mut all = [[0; 3]; N];
    let (mut at, mut group) = (0, 0);
    while group < groups.len() {
        let words = groups[group].2;
        let mut word = 0;
        while word < words.len() {
            all[at] = grams::slots(words[word]);
            at += 1;
            word += 1;
        }
        group += 1;
    }
    all
}

/// Counts the wordings of a table.
pub const fn count(groups: &[Wording]) -> usize {
    let (mut count, mut group) = (0, 0);
    while group < groups.len() {
        count += groups[group].2.len();
        group += 1;
    }
    count
}

/// See [`slots`].
pub static SENTENCE_SLOTS: [Slots; count(SENTENCES)] = slots(SENTENCES);
/// See [`slots`].
pub static CERTIFICATE_SLOTS: [Slots; count(CERTIFICATES)] = slots(CERTIFICATES);
/// See [`slots`].
pub static WORD_SLOTS: [Slots; count(WORDS)] = slots(WORDS);

/// Sentences of database servers and drivers, long enough to be conclusive. Sources: sys.messages and EF Core's
/// detector (SQL Server), PostgreSQL's and MySQL's message catalogues, the drivers' own.
#[rustfmt::skip]
pub const SENTENCES: &[Wording] = &[
    (P, Conflict, &["conditionalcheckfailed", "itemcollectionsizelimitexceeded", "reasons [validationerror"]),
    (P, ConsumerBug, &["no primary key", "non-retryable", "non-retriable", "nonretryable", "do not try again", "don't try again", "do not retry", "don't retry", "should not be retried", "must not be retried", "nonretriable", "not retryable", "not retriable"]),
    (T, Conflict, &["transactionconflict", "messagelocklost", "the lock expired", "version conflict", "the object has been modified"]),
    (T, DependencyUnavailable, &["aadsts90033", "aadsts90012"]),
    (U, Auth, &["cannot open database"]),
    (U, Conflict, &["canceling statement due to user request"]),
    (T, Throttled, &[
        "too many operations in progress", "not enough resources to process request", "limit for the database is", "minimum guarantee is", "request limit for the",
        "service is currently busy", "service is currently too busy", "is busy with another operation", "too many requests have been performed", "hourly api", "maximum number of hourly", "resource quota for the current database",
        "server is currently too busy", "session has been terminated because of excessive",
    ]),
    (T, Conflict, &[
        "deadlocked on", "update conflict", "serializable validation failure", "serializable isolation violation", "transactionretrywithprotorefresh", "repeatable read validation failure", "updated since the transaction started", "dependency failure: a dependency was taken",
        "maximum number of commit dependencies", "lock request time out", "cannot obtain a lock resource", "could not serialize access", "lock wait timeout", "deadlock", "could not obtain lock",
        "canceling statement due to lock timeout", "due to conflict with recovery", "concurrent update", "was updated or deleted by another transaction", "nowait specified", "writeconflict", "write conflict",
        "transaction was aborted due to concurrent", "commit of replay transaction", "could not obtain pessimistic lock",
    ]),
    (T, Timeout, &[
        "failed to complete before its timeout", "semaphore timeout period", "execution timeout expired", "statement timeout", "maximum statement execution time exceeded", "idle-session timeout", "idle-in-transaction timeout",
        "timeout expired", "task timed out after", "context deadline exceeded", "httpclient.timeout", "took too long", "for too long", "waited too long",
    ]),
    (T, DependencyUnavailable, &[
        "is not currently available", "has encountered an error processing your request", "is in transition", "lacks a quorum of nodes", "database is unavailable at the moment", "operation failed to complete. retry",
        "sql pool is warming up", "transport-level error", "error occurred during the login process", "error occurred while establishing a connection to sql server", "connection initialization process",
        "database system is starting up", "database system is shutting down", "in recovery mode", "not yet accepting connections", "terminating connection", "server closed the connection", "i/o error occurred while sending to the backend", "connection has been closed", "connection already closed", "connection is already closed",
        "error reading from server: eof", "unable to connect to any of the specified mysql hosts", "mysql server has gone away", "lost connection to mysql", "communications link failure", "node is recovering", "quiesce mode", "quiescing", "ssl syscall error", "eof detected", "query_wait_timeout", "not primary",
        "not master", "interrupted at shutdown", "no primary", "replica set", "does not support encryption", "try the statement later", "accessible for queries", "target database", "participating in an availability group",
        "machine actively refused", "please retry connection at later time", "connection attempt failed", "server is shutting down", "server shutdown in progress", "is not supported in state standby", "etcdserver: leader changed", "being used by another process", "is being recovered", "waiting until recovery is finished",
    ]),
    (T, ResourceLimit, &["circuit_breaking_exception", "too many connections", "too many clients already", "remaining connection slots are reserved", "maximum number of clients reached", "max_user_connections", "connection pool exhausted", "pool is exhausted", "resource pool"]),
    (P, Duplicate, &[
        "duplicate key", "duplicate entry", "unique constraint", "violation of primary key", "violation of unique key", "e11000", "violates unique", "because of unique constraint", "already exists", "already in use by another",
    ]),
    (P, MissingReference, &["foreign key constraint", "reference constraint", "child record found", "parent key not found"]),
    (P, SchemaViolation, &[
        "cannot insert the value null", "cannot insert explicit value", "would be truncated", "converting data type", "conversion failed when", "arithmetic overflow", "violates check constraint", "violates not-null constraint",
        "check constraint", "doesn't have a default value", "cannot be null", "data too long for column", "out of range value", "incorrect integer value", "incorrect datetime value", "value too long for type",
        "invalid input syntax", "invalid byte sequence", "numeric field overflow", "document failed validation", "invalid number", "not a valid month", "unsupported unicode escape", "cannot be converted to text", "outside of valid range", "out of range for type",
    ]),
    (P, ConsumerBug, &[
        "invalid object name", "invalid column name", "ambiguous column name", "incorrect syntax near", "syntax error at or near", "you have an error in your sql syntax", "unknown column", "unknown table", "invalid sql statement",
        "missing expression", "table or view does not exist", "must declare the scalar variable", "could not find stored procedure", "wrong number of arguments", "operation against a key holding the wrong kind", "unknown command", "number of columns", "unknown operator",
        "current transaction is aborted", "no matching script",
    ]),
    (P, Auth, &["permission was denied", "command denied to user", "password authentication failed", "access denied for user", "no pg_hba.conf entry", "login failed for user", "not authorized on", "role does not exist", "invalid username/password", "authentication required"]),
    (P, Configuration, &["unknown database", "cached plan must not change", "read-only transaction", "is not yet implemented"]),
];

/// Certificate errors: a retry does not make an untrusted peer trusted. Sources: OpenSSL, Go crypto/x509, Java PKIX
/// texts.
#[rustfmt::skip]
pub const CERTIFICATES: &[Wording] = &[(P, Configuration, &[
    "x509:", "certificate verify failed", "certificate has expired", "certificate is not", "certificate not ", "certificate signed by unknown", "certificate chain", "certificate revoked", "certificate signature", "certificate expired",
    "self signed certificate", "self-signed certificate", "unable to get local issuer", "unable to get issuer", "unable to verify the first certificate", "hostname mismatch", "doesn't match certificate", "does not match certificate", "subject alternative",
    "pkix path", "bad certificate", "unknown ca", "unrecognized name", "no cipher", "wrong version number", "unsupported protocol version", "protocol version", "crl has expired", "invalid ca", "path length constraint", "cert chain", "certificate unknown",
    "untrusted", "trust anchor", "invalid peer certificate", "invalid certificate", "certificate required", "inappropriate fallback", "no suitable certificate", "handshake_failure",
])];

/// Plain words used by people and libraries.
#[rustfmt::skip]
pub const WORDS: &[Wording] = &[
    (P, Expired, &["message expired", "message has expired", "deadline has passed", "deadline passed", "past its deadline", "past the deadline", "ttl expired", "ttlexpired", "message is too old", "time to live", "expired message", "offer has expired", "order has expired", "quote has expired", "hold has expired", "too late to", "can no longer be", "no longer valid", "voucher has expired", "coupon has expired", "reservation has expired", "reservation expired", "offer expired", "message was too old", "expired before"]),
    (P, BusinessRule, &["insufficient funds", "insufficient_funds", "card was declined", "card declined", "payment declined", "declined by issuer", "do_not_honor", "expired_card", "out of stock", "not in stock", "credit limit", "balance is too low", "insufficient balance", "not eligible", "business rule", "over the limit of", "already shipped", "already cancelled", "already canceled", "already refunded", "already closed", "was declined", "been declined", "instrument declined", "transaction declined", "refused: ", "do not honor", "insufficient stock", "insufficient inventory", "account restricted", "account is restricted", "limit reached for this customer", "cannot be cancelled", "cannot be canceled", "cannot be refunded", "because of dependent", "was already processed", "has already been processed", "has already been paid", "has already been shipped", "has already been captured", "has already been refunded", "has already been submitted", "card expired", "card has expired", "not in the correct state", "incorrect state", "wrong state", "unsubscribed", "opted out", "blocked by the user", "is archived", "not allowed in state", "invalid state transition", "not in the right state", "blacklisted", "is blocked by", "spending limit", "fraud", "suspected"]),
    (P, Auth, &[
        "not connected to this account", "not connected to your account", "access denied", "access is denied", "permission denied", "not authorized", "unauthorized", "forbidden", "authentication failed", "authorization failed", "authorization failure", "authentication failure", "invalid api key", "invalid credentials", "bad credentials", "invalid token", "token has expired", "token expired", "jwt expired",
        "jwt malformed", "invalid_grant", "invalid_client", "invalid_token", "invalid signature", "signature verification", "insufficient privilege", "insufficient permission", "insufficient scope", "does not have permission", "do not have permission", "has no permissions", "have the required permissions", "lacks permission",
        "login failed", "unable to locate credentials", "no credentials", "credentials", "failed to retrieve a token", "does not have storage", "is locked out", "account is locked", "account is disabled", "wrong password", "incorrect password", "incorrect username", "username or password", "password is wrong", "invalid password", "security token", "not permitted", "operation not permitted", "delegation token", "sasl", "unauthenticated", "access refused", "invalid auth", "not authed", "authorization violation", "session expired", "invalid session", "session has expired", "invalid client secret", "client secret", "aadsts", "missing scope", "doesn't have permission", "not enough permission", "no permission", "lacks the permission", "restricted resource", "login required", "must be logged in", "not allowed for the client", "account has been disabled", "account inactive", "token revoked", "password expired", "mfa", "multi-factor",
    ]),
    (P, MalformedPayload, &[
        "error decoding response body", "unexpected token", "unexpected end of json", "unexpected end of input", "invalid json", "not valid json", "malformed", "deserializ", "unmarshal", "could not parse", "failed to parse", "cannot parse", "can't parse", "unable to parse", "parse error", "parsing error", "error parsing",
        "eof while parsing", "expected value at line", "unparseable", "unparsable", "invalid character", "content is not allowed in prolog", "premature end of file", "unterminated string", "expecting value: line", "expecting property name", "expecting ',' delimiter", "invalid utf-8", "can't decode byte", "can't encode character", "invalid escape", "failed to decode", "cannot decode",
        "unexpected character", "unknown magic byte", "trailing characters", "control character", "key must be a string", "invalid start byte", "no viable alternative", "unexpected mimetype", "unexpected content type", "invalid syntax", "cannot decode", "decoding failed", "invalid digit found", "unknown encoding", "bad magic", "corrupt message", "truncated message", "checksum mismatch", "mapping values are not allowed",
    ]),
    (P, ConsumerBug, &[
        "cannot read propert", "undefined is not", "is not a function", "is not a constructor", "is not iterable", "is not subscriptable", "is not callable", "is not defined", "nil pointer dereference", "invalid memory address", "index out of range", "index out of bounds", "out of bounds", "null pointer", "null reference", "'nonetype' object", "object reference not set",
        "undefined method", "has no attribute", "undefined local variable", "undefined variable", "undefined index", "undefined offset", "undefined array key", "undefined property", "call to undefined", "division by zero", "divide by zero", "divided by zero", "attempt to divide", "attempt to subtract with overflow", "stack overflow", "maximum recursion", "maximum call stack", "cannot be cast to",
        "unable to cast object", "interface conversion", "assignment to entry in nil map", "slice bounds out of range", "not implemented", "assertion failed", "unwrap()` on a `none`", "unsupported operand", "must be str, not", "unexpected keyword argument", "missing 1 required positional", "required positional argument", "concurrent map", "range end index", "range start index", "already borrowed", "because the return value of", "because \"",
        "relative url without a base", "invalid header field", "syntax error", "cannot invoke", "cannot destructure", "before initialization", "converting circular structure", "convert undefined or null", "argument of type", "no implicit conversion", "wrong number of arguments", "positional arguments but", "only concatenate str", "no function clause", "no matching clause", "undefined function", "not an instance of", "not registered", "no handler for", "no route found", "call to a member function", "lazily initialize", "after they are sent", "on null", "lateinit property", "cannot issue", "must involve", "cannot be issued", "already associated with", "unsaved transient instance", "cyclic", "infinite loop", "must be of type", "illegal state", "unreachable code", "unreachable state", "unreachable statement", "reached unreachable",
    ]),
    (P, SchemaViolation, &[
        "missing field", "unknown field", "unrecognized field", "unknown name", "invalid type:", "missing required", "field required", "is required", "required property", "required field", "must not be null", "must not be blank", "must not be empty", "must be a", "must be one of", "must be positive", "must be greater", "must be less", "must be string", "must be number", "must be between", "must have", "must match", "must contain",
        "validation failed", "validation error", "failed validation", "failed the validation", "schema validation", "schema mismatch", "does not match schema", "additional properties", "invalid argument", "invalid value", "invalid input", "invalid format", "invalid parameter", "invalid payload", "invalid request", "invalid date", "invalid email", "invalid enum", "invalid literal", "invalid url", "invalid uri", "is not a valid", "not a valid", "is invalid", "cannot be blank", "can't be blank", "cannot be empty",
        "should not be empty", "should be a", "unknown variant", "unsupported value", "unsupported currency", "unsupported type", "negative amount", "out of range", "too long", "too short", "bad request", "unprocessable", "cannot be negative", "may not be null", "no enum constant", "value cannot be null", "expected type", "string was not in a correct format", "was not recognized as a valid", "not one of the allowed", "param is missing", "parameter missing", "custom validation", "validation exception", "cannot be in the past", "must not be in the past", "lies in the past", "is in the past", "is malformed", "is incomplete", "value was incomplete", "cannot be set", "is incompatible", "incompatible with", "unable to verify", "cannot be processed because", "is not allowed to be", "failed on the", "invalid characters", "not a number", "must lie", "must start", "must end", "must be at", "must contain", "must use", "must not", "must include", "must specify", "must only", "admission webhook", "denied the request", "does not match", "did not match", "mismatch", "unpermitted", "is marked as", "null or transient",
    ]),
    (P, Configuration, &["unsupported protocol scheme", "unsupported scheme", "too many redirects", "stopped after 10 redirects", "no module named", "cannot find module", "classnotfound", "environment variable", "misconfigured", "not configured", "not been configured", "unknown host key", "you must specify a region", "config profile", "is not enabled on", "is not supported", "not supported", "unsupported operation", "feature is disabled", "not enabled for", "not yet supported", "yet implemented", "has been disabled", "unimplemented"]),
    (T, Throttled, &["rate limit", "rate-limit", "rate_limit", "ratelimit", "too many requests", "throttl", "rate exceeded", "slow down", "reduce your request rate", "server is busy", "is too busy", "currently busy", "server busy", "requests per minute", "requests per second", "calls per second", "calls per minute", "per hour", "hourly", "secondly limit", "request limit reached", "only one request", "too many existing", "too many write", "too many operations", "too many calls", "too many messages", "ratelimited", "flood control", "flow control limit", "retry in a ", "too many simultaneous", "too many concurrent", "max concurrent req", "concurrent requests reached", "concurrent request limit", "requests queued per", "too many parts", "a wait of ", "queue is full", "queue full", "request was throttled", "tokens per min", "requests per min", "es_rejected_execution", "rejected execution", "too many pending", "rate exceed", "please slow", "concurrency limit", "backpressure", "over capacity", "overloaded"]),
    (T, Timeout, &["timed out", "timedout", "timeout", "time-out", "time out", "deadline exceeded", "no response within", "did not respond", "did not answer within", "took too long", "execution expired", "could not process the request in time", "not completed in time", "no reply within", "greeting never received", "server never responded", "server never replied", "server never answered"]),
    (T, DependencyUnavailable, &[
        "connection refused", "connection reset", "connection aborted", "connection abort", "connection closed", "connection was closed", "connection lost", "connection terminated", "connection broken", "connection error", "connection failed", "connection failure", "connection is closed", "connection dropped", "connection not available", "connection attempt", "closed idle connection", "closed connection", "closed by the remote", "closed by peer", "remotely closed", "reset by peer",
        "broken pipe", "no route to host", "host is down", "host is unreachable", "socket hang up", "socket closed", "socket is closed", "could not connect", "failed to connect", "unable to connect", "cannot connect", "can't connect", "error connecting", "error trying to connect", "couldn't connect", "can't reach", "cannot reach", "could not reach", "could not be reached", "cannot be reached", "not reachable", "unable to reach", "bad connection", "while reading from stream", "failed to establish a new connection", "failed to initiate the connection", "error occurred in the connection", "network error", "network is down", "network down", "network partition", "remote host closed", "forcibly closed", "stream closed", "stream was reset", "http2: ", "goaway", "unexpected eof", "incompleteread",
        "temporary failure in name resolution", "try again", "server misbehaving", "servfail", "max retries exceeded", "service unavailable", "temporarily unavailable", "currently unavailable", " unavailable", "bad gateway", "gateway time", "internal server error", "internal error encountered", "internal error occurred", "internal error has occurred", "internal_error", "no healthy upstream", "upstream connect error", "leader changed", "no longer the leader", "no cluster leader", "no metadata leader", "circuit breaker", "circuit is open", "circuitbreaker", "leader election", "no leader", "starting up", "shutting down", "is not ready", "under maintenance",
        "please retry", "retry later", "retry your request", "retry the", "try later", "temporary failure", "temporary error", "transient error", "transient failure", "transient fault", "transient condition", "transient issue", "transient network", "transient exception", "is transient", "failover", "connection unexpectedly closed", "unexpectedly closed", "server disconnected", "was disconnected", "not currently responding", "not responding", "is sealed", "cluster leader", "server closed", "read error on connection", "write error on connection", "no connection to", "not connected", "could not establish", "not possible to connect", "client disconnected", "prematurely closed", "premature close", "premature end of", "premature eof", "other side closed", "connection has been shut down", "peer shut down", "connection was lost", "connection was aborted", "no responders", "no nodes", "no node av", "no node is", "no node re", "no node to", "no node co", "mgr not available", "server unavailable", "service is down", "is restarting", "rebalanc", "not leader", "try sending", "connection forced", "backend error", "reached the max retries", "maximum retries", "retries exhausted", "in another region", "recovering", "server error", "unreachable",
    ]),
    (T, Conflict, &["optimistic lock", "optimistic concurrency", "version conflict", "concurrent modification", "concurrently modified", "resource busy", "is locked by another", "locked by another", "being modified by", "lock could not be acquired", "could not acquire lock", "failed to acquire lock", "serialization failure", "stale version", "database is locked", "database table is locked", "conflicting operation", "unable to lock", "exclusive access", "currently accessing", "in-progress request", "currently being processed", "currently being", "request in progress", "transaction was aborted", "transaction aborted", "has been modified by", "has been modified since", "has been modified or", "been modified concurrently", "was modified by another", "stale object", "stale struct", "stale entry", "staleness", "already present lease", "lease already present", "lease already held", "lease already exists", "lease already acquired", "lease already taken", "lease already owned", "lease present", "lock lost", "lock expired", "lock timeout", "contention", "retry your transaction", "aborted due to"]),
    (U, ResourceLimit, &["out of memory", "no space left", "disk full", "disk quota", "too many open files", "cannot allocate memory", "quota exceeded", "memory limit", "heap space", "oomkilled", "killed by signal"]),
    (U, DependencyUnavailable, &["name or service not known", "no such host", "nodename nor servname", "nxdomain", "could not resolve host", "network is unreachable", "unknown host", "name resolution"]),
    (P, MissingReference, &["does not exist", "doesn't exist", "not found", "no such file", "no such key", "no such", "could not find", "cannot find", "can't find", "couldn't find", "unknown product", "unknown customer", "unknown order", "unknown user", "unknown account", "no longer exists", "has been deleted", "was deleted", "missing reference", "no record", "no rows in result set", "is unknown", "no rows returned", "not be found", "was removed", "is deleted", "has been removed", "unknown channel", "unknown recipient", "unknown topic", "no matching", "no entity", "unregistered", "record gone", "missing entity", "key not present", "not exist"]),
    (P, SchemaViolation, &["invalid ", "is not allowed", "not allowed", "illegal "]),
    (P, ResourceLimit, &["too large", "exceeds the maximum", "exceeds maximum", "larger than", "maximum size", "max message size", "too big", "limit exceeded", "payload exceeded", "maximum payload", "context length", "body too large", "message size"]),
];

/// Types and message endings that disguise a broken connection as another error.
pub static DISGUISED: &[(&str, &str)] = &[
    ("TypeError", "fetch failed"),
    ("TypeError", "failed to fetch"),
    ("TypeError", "load failed"),
    ("url.Error", ": eof"),
];

/// Words for a tenant or account. Together with one of [`GONE`] they mean that it is gone.
pub static TENANTS: &[&str] = &["tenant", "workspace", "organisation", "organization", "subscription", "account"];
/// See [`TENANTS`].
pub static GONE: &[&str] = &[
    "unknown",
    "not found",
    "does not exist",
    "deleted",
    "disabled",
    "suspended",
    "inactive",
    "closed",
    "deactivated",
    "no longer exists",
    "terminated",
    "cancelled",
];

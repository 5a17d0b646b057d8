//! Evidence about consumers from their platform: which version went live when, and whether anything consumes a main
//! queue. An adapter asks the platform; this module judges and stores the answers.

use crate::act;
use crate::commit::commit;
use crate::error::{OfficeError, chain};
use crate::known::first_bucket;
use crate::office::Office;
use crate::port::Write;
use domain::deployment::{Attached, AttachedConsumer, Deployment};
use domain::id::QueueArn;
use domain::time::{Span, Timestamp};
use std::collections::{BTreeSet, HashMap};
use wire::DeploymentRequest;

/// Environment variables that may hold a function's version, in this order: ours, then those of common tools.
const VERSIONS: [&str; 4] = ["DLO_VERSION", "DD_VERSION", "SERVICE_VERSION", "APP_VERSION"];
/// Environment variables that may hold the name of its service.
const SERVICES: [&str; 4] = ["DLO_SERVICE", "DD_SERVICE", "OTEL_SERVICE_NAME", "SERVICE_NAME"];
/// OpenTelemetry's list of resource attributes: `service.name=orders,service.version=v3`.
const OTEL_ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
/// The platform's name of an unpublished version.
const UNPUBLISHED: &str = "$LATEST";
/// Characters of a code hash that identify it.
const HASH_CHARS: usize = 12;
/// Unchanged observations are written again after this time, so that the gate knows that they are current.
const WRITTEN_EVERY: Span = Span::from_mins(10);

/// A function, as its platform describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The platform's own version of it: a number, or `$LATEST`.
    pub version: String,
    /// The time of its last change.
    pub modified_at: Option<Timestamp>,
    /// The hash of its code.
    pub code_hash: Option<String>,
    /// How long it may run.
    pub timeout: Option<Span>,
    /// The log group that it is set to write to.
    pub log_group: Option<String>,
    /// Its environment.
    pub variables: HashMap<String, String>,
}

impl Function {
    /// Returns the name of its service, as its letters and its pipeline use it.
    pub fn service(&self) -> &str {
        self.variable(&SERVICES, "service.name").unwrap_or(&self.name)
    }

    fn variable(&self, names: &[&str], otel: &str) -> Option<&str> {
        let set = |name: &&str| self.variables.get(*name).map(|value| value.trim()).filter(|value| !value.is_empty());
        let attribute = || {
            let attributes = self.variables.get(OTEL_ATTRIBUTES)?.split(',');
            attributes.filter_map(|pair| pair.split_once('=')).find(|(name, _)| name.trim() == otel)
        };
        names.iter().find_map(set).or_else(|| attribute().map(|(_, value)| value.trim()))
    }

    /// Returns the deployment if it is new. Returns `None` if it is known, or if a pipeline has reported a later one. A
    /// function without a version is named by its code hash, because only a named version can be declared as a fix.
    pub fn deployment(&self, known: Option<&Deployment>, now: Timestamp) -> Option<Deployment> {
        let is_published = self.version != UNPUBLISHED;
        let hash = || self.code_hash.as_ref().map(|hash| hash.chars().take(HASH_CHARS).collect());
        let named = self.variable(&VERSIONS, "service.version").map(String::from);
        let version = match (named, is_published) {
            (Some(name), _) => name,
            (None, true) => self.version.clone(),
            (None, false) => hash()?,
        };
        let modified_at = self.modified_at?.min(now);
        let at = match known {
            Some(known) if known.version == version => return None,
            Some(known) if known.at < modified_at => modified_at,
            // An alias went back to an older version, at an unknown time. A version that a pipeline named stays.
            Some(known) if is_published && known.version.bytes().all(|b| b.is_ascii_digit()) => now,
            Some(_) => return None,
            None => modified_at,
        };
        Some(Deployment { service: self.service().into(), version, commit: None, at })
    }
}

/// Reports a new deployment of a function, as its pipeline would.
pub async fn saw_function(office: &Office, function: &Function) -> Result<(), OfficeError> {
    let known = office.store.deployment(function.service()).await?;
    let Some(Deployment { service, version, commit, at }) = function.deployment(known.as_ref(), office.now()) else {
        return Ok(());
    };
    tracing::info!(service, version, "a new deployment was found");
    act::report_deployment(office, &DeploymentRequest { service, version, commit, at: Some(at) }).await?;
    Ok(())
}

/// Returns the main queues whose consumers matter, each once and always in the same order: those that the stack names,
/// those of the policy, and those that a letter ever named, which include queues that are attached by stacks of their
/// own. What could not be read is logged and left out.
pub async fn main_queues(office: &Office, named: &[QueueArn]) -> Vec<QueueArn> {
    let mut queues: BTreeSet<QueueArn> = named.iter().cloned().collect();
    match office.latest().await {
        Ok(Office { policy, .. }) => {
            queues.extend(policy.queues.main.iter().chain(&policy.queues.default_main).cloned())
        }
        Err(error) => tracing::warn!(error = chain(&error), "the main queues of the policy could not be read"),
    }
    let now = office.now();
    match office.known_groups.now(&*office.store, first_bucket(now), now).await {
        Ok(known) => queues.extend(known.variants().filter_map(|variant| variant.facts.variant.main_queue.clone())),
        Err(error) => tracing::warn!(error = chain(&error), "the main queues of letters could not be read"),
    }
    queues.into_iter().collect()
}

/// Stores which consumers are attached to a main queue.
pub async fn saw_queue(office: &Office, queue: &QueueArn, consumers: Vec<AttachedConsumer>) -> Result<(), OfficeError> {
    let (known, seen_at) = (office.store.attached(queue).await?, office.now());
    // An observation from the future was written by a clock that has gone back since.
    let is_recent = |known: &Attached| known.seen_at <= seen_at && seen_at.since(known.seen_at) < WRITTEN_EVERY;
    let is_known = |known: &Attached| known.consumers == consumers && is_recent(known);
    if known.as_ref().is_some_and(is_known) || (known.is_none() && consumers.is_empty()) {
        return Ok(());
    }
    // On a conflict another process has just stored its own observation.
    let _ = commit(office, vec![Write::Attached(Attached { queue: queue.clone(), seen_at, consumers })]).await?;
    Ok(())
}

/// Logs an observation that could not be stored. Missing evidence fails nothing else.
pub fn logged(what: &str, done: Result<(), OfficeError>) {
    if let Err(error) = done {
        tracing::warn!(
            what,
            error = chain(&error),
            "an observation of a consumer was not stored; the next one repeats it"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_000);

    fn function(version: &str, modified_ms: i64, variables: &[(&str, &str)]) -> Function {
        Function {
            name: "orders-fn".into(),
            version: version.into(),
            modified_at: Some(Timestamp::from_ms(modified_ms)),
            code_hash: Some("abcdefghijklmnopqrstuvwxyz=".into()),
            timeout: None,
            log_group: None,
            variables: variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        }
    }

    /// Checks what is reported (version, time) for a function, given the known deployment.
    fn check(seen: &Function, known: Option<(&str, i64)>, reported: Option<(&str, i64)>) {
        let at = Timestamp::from_ms;
        let known = known.map(|(version, ms)| Deployment {
            service: "orders-fn".into(),
            version: version.into(),
            commit: None,
            at: at(ms),
        });
        let now = seen.deployment(known.as_ref(), NOW).map(|deployment| (deployment.version, deployment.at));
        assert_eq!(now, reported.map(|(version, ms)| (version.into(), at(ms))), "{seen:?}, known: {known:?}");
    }

    #[test]
    fn a_deployment_is_reported_when_its_version_is_new() {
        let named = |modified_ms| function("$LATEST", modified_ms, &[("SERVICE_VERSION", "v3")]);
        check(&named(500), None, Some(("v3", 500)));
        check(&named(500), Some(("v2", 100)), Some(("v3", 500)));
        check(&named(500), Some(("v3", 100)), None);
        // A change of its memory, not of its version.
        check(&named(900), Some(("v3", 500)), None);
        // A pipeline has reported a later version.
        check(&named(500), Some(("build-77", 600)), None);
        // The platform's clock is ahead.
        check(&named(5_000), None, Some(("v3", 1_000)));

        let unnamed = |modified_ms| function("$LATEST", modified_ms, &[]);
        check(&unnamed(500), None, Some(("abcdefghijkl", 500)));
        check(&unnamed(500), Some(("build-77", 600)), None);
        check(&unnamed(700), Some(("build-77", 600)), Some(("abcdefghijkl", 700)));

        let published = function("7", 500, &[]);
        check(&published, None, Some(("7", 500)));
        check(&published, Some(("6", 400)), Some(("7", 500)));
        // The alias went back.
        check(&published, Some(("8", 600)), Some(("7", 1_000)));
        check(&published, Some(("build-77", 600)), None);
        check(&Function { modified_at: None, ..published }, None, None);
    }

    #[test]
    fn names_are_read_from_the_variables_of_common_tools() {
        let named = |variables: &[(&str, &str)]| {
            let seen = function("3", 1, variables);
            (seen.service().to_owned(), seen.deployment(None, NOW).map(|deployment| deployment.version))
        };
        for (variables, service, version) in [
            (&[][..], "orders-fn", "3"),
            (&[("DLO_VERSION", "v1"), ("DD_VERSION", "v2")], "orders-fn", "v1"),
            (&[("DD_SERVICE", "orders"), ("DD_VERSION", "v2")], "orders", "v2"),
            (&[("DLO_VERSION", " "), ("APP_VERSION", "v4")], "orders-fn", "v4"),
            (&[("OTEL_RESOURCE_ATTRIBUTES", "a=b, service.name=orders,service.version=v5")], "orders", "v5"),
        ] {
            assert_eq!(named(variables), (service.into(), Some(version.into())), "{variables:?}");
        }
    }
}

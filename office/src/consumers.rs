//! Evidence about consumers, from what their platform says of them: which version went live when, and whether anything
//! takes messages from a main queue. Pure but for the store; how the platform is asked is an adapter's affair.

use crate::act;
use crate::commit::commit;
use crate::error::{OfficeError, chain};
use crate::office::Office;
use crate::port::Write;
use domain::deployment::{Attached, AttachedConsumer, Deployment};
use domain::id::QueueArn;
use domain::time::{Span, Timestamp};
use std::collections::HashMap;
use wire::DeploymentRequest;

/// Variables in which a function's version is looked for, in this order: ours, then those of the common tools.
const VERSIONS: [&str; 4] = ["DLO_VERSION", "DD_VERSION", "SERVICE_VERSION", "APP_VERSION"];
/// Variables in which its service's name is looked for.
const SERVICES: [&str; 4] = ["DLO_SERVICE", "DD_SERVICE", "OTEL_SERVICE_NAME", "SERVICE_NAME"];
/// OpenTelemetry's list of a resource's attributes: `service.name=orders,service.version=v3`.
const OTEL_ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
/// What the platform calls a version that nobody has published.
const UNPUBLISHED: &str = "$LATEST";
/// Characters of a code's hash that tell two apart.
const HASH_CHARS: usize = 12;
/// What has not changed is written again after so long, so that the gate knows that somebody looks.
const WRITTEN_EVERY: Span = Span::from_mins(10);

/// A function as its platform describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The platform's own version of it: a number, or `$LATEST`.
    pub version: String,
    /// When that was changed last.
    pub modified_at: Option<Timestamp>,
    /// The hash of its code.
    pub code_hash: Option<String>,
    /// Its environment.
    pub variables: HashMap<String, String>,
}

impl Function {
    /// The service that it is, as its letters and its pipeline call it.
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

    /// The deployment that is seen for the first time; none when it is known, or somebody who knows better has reported
    /// a later one. Only what has a name of its own can be declared as a fix, so the code's hash stands in for it.
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
            // An alias went back to an older version; when, nobody says. A name that a pipeline gave stays.
            Some(known) if is_published && known.version.bytes().all(|b| b.is_ascii_digit()) => now,
            Some(_) => return None,
            None => modified_at,
        };
        Some(Deployment { service: self.service().into(), version, commit: None, at })
    }
}

/// Reports what is seen of a function, as its pipeline would.
pub async fn saw_function(office: &Office, function: &Function) -> Result<(), OfficeError> {
    let known = office.store.deployment(function.service()).await?;
    let Some(Deployment { service, version, commit, at }) = function.deployment(known.as_ref(), office.now()) else {
        return Ok(());
    };
    tracing::info!(service, version, "a deployment was seen");
    act::report_deployment(office, &DeploymentRequest { service, version, commit, at: Some(at) }).await?;
    Ok(())
}

/// Keeps what is seen to be attached to a main queue.
pub async fn saw_queue(office: &Office, queue: &QueueArn, consumers: Vec<AttachedConsumer>) -> Result<(), OfficeError> {
    let (known, seen_at) = (office.store.attached(queue).await?, office.now());
    let is_known = |known: &Attached| known.consumers == consumers && seen_at.since(known.seen_at) < WRITTEN_EVERY;
    if known.as_ref().is_some_and(is_known) || (known.is_none() && consumers.is_empty()) {
        return Ok(());
    }
    // On a conflict another process has just written what it saw.
    let _ = commit(office, vec![Write::Attached(Attached { queue: queue.clone(), seen_at, consumers })]).await?;
    Ok(())
}

/// Says in the log what could not be kept: evidence never fails anything else.
pub fn logged(what: &str, done: Result<(), OfficeError>) {
    if let Err(error) = done {
        tracing::warn!(what, error = chain(&error), "what was seen of a consumer is lost; the next look sees it again");
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
            variables: variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        }
    }

    /// What is seen, what is known (version, time), and what is reported.
    fn check(seen: &Function, known: Option<(&str, i64)>, reported: Option<(&str, i64)>) {
        let at = Timestamp::from_ms;
        let known = known.map(|(version, ms)| Deployment {
            service: "orders-fn".into(),
            version: version.into(),
            commit: None,
            at: at(ms),
        });
        let now = seen.deployment(known.as_ref(), NOW).map(|deployment| (deployment.version, deployment.at));
        assert_eq!(now, reported.map(|(version, ms)| (version.into(), at(ms))), "{seen:?} where {known:?} is known");
    }

    #[test]
    fn a_deployment_is_reported_when_its_version_is_new() {
        let named = |modified_ms| function("$LATEST", modified_ms, &[("SERVICE_VERSION", "v3")]);
        check(&named(500), None, Some(("v3", 500)));
        check(&named(500), Some(("v2", 100)), Some(("v3", 500)));
        check(&named(500), Some(("v3", 100)), None);
        // Its memory was changed, its version was not.
        check(&named(900), Some(("v3", 500)), None);
        // A pipeline has named a later one.
        check(&named(500), Some(("build-77", 600)), None);
        // Clocks differ.
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
    fn names_are_looked_for_where_tools_put_them() {
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

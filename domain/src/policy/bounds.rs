//! The ranges of a policy's numbers. A policy out of range would switch a protection off, or never end a wait.

use super::error::PolicyError;
use super::links::why_not_a_pattern;
use super::sign_in::Revoked;
use super::{AlertPolicy, Policy, StrategyRule, shape};
use crate::limits::{
    ALERT_WAIT_MIN, CANARY_LETTERS_MAX, DELIVERED_KEPT_MAX, DISCARDED_KEPT_MIN, GROWTH_FACTOR_MAX, IDLE_MIN,
    PACE_PER_S_MAX, PAUSE_SHARE_PCT_MAX, PLAN_LETTERS_MAX, POLICY_WAIT_MAX, RECEIVES_MAX, REPLAYS_MAX_MAX,
    RETENTION_MAX, RETENTION_MIN, STAGES_MAX, VISIBILITY_S_MAX, WAVE_LETTERS_MAX,
};
use crate::time::Span;
use alloc::format;
use alloc::string::{String, ToString};
use serde_json::{Map, Value};

impl Policy {
    /// Parses a policy file (JSON) and checks the range of every number. Use it for every policy from outside.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let policy: Self = serde_json::from_str(text).map_err(PolicyError::Unreadable)?;
        // Read again, because what was read from a list looks like any other policy.
        shape::check(&serde_json::from_str(text).map_err(PolicyError::Unreadable)?)?;
        policy.check()?;
        Ok(policy)
    }

    /// Reads a policy from JSON that is parsed already, and checks the range of every number. Unlike [`Policy::parse`], an
    /// error names a setting, because there are no lines to count.
    ///
    /// ```
    /// use domain::policy::Policy;
    ///
    /// let wrong = serde_json::json!({ "class_rules": [{ "name": "a", "class": "bug" }] });
    /// let error = Policy::from_value(&wrong).unwrap_err();
    /// assert_eq!(error.to_string(), "class_rules[0] cannot be read");
    /// ```
    pub fn from_value(value: &Value) -> Result<Self, PolicyError> {
        shape::check(value)?;
        let policy: Self = serde_json::from_value(value.clone()).map_err(|source| match place(value) {
            Some(setting) => PolicyError::Setting { setting, source },
            None => PolicyError::Unreadable(source),
        })?;
        policy.check()?;
        Ok(policy)
    }

    /// Checks the range of every number, the message type of every rule, and the pattern of every link.
    fn check(&self) -> Result<(), PolicyError> {
        let (gate, replay) = (&self.gate, &self.replay);
        within("gate.replays_max", gate.replays_max, 1, REPLAYS_MAX_MAX)?;
        within("replay.canary_pct", replay.canary_pct, 1, 100)?;
        within("replay.canary_letters_max", replay.canary_letters_max, 1, CANARY_LETTERS_MAX)?;
        within("replay.growth_factor", replay.growth_factor, 1, GROWTH_FACTOR_MAX)?;
        within("replay.wave_letters_max", replay.wave_letters_max, 1, WAVE_LETTERS_MAX)?;
        within("replay.pace_per_s", replay.pace_per_s, 1, PACE_PER_S_MAX)?;
        within("replay.pause_share_pct", replay.pause_share_pct, 0, PAUSE_SHARE_PCT_MAX)?;
        within("replay.canary_pause_share_pct", replay.canary_pause_share_pct, 0, PAUSE_SHARE_PCT_MAX)?;
        within("replay.sample_letters_min", replay.sample_letters_min, 1, CANARY_LETTERS_MAX)?;
        for (setting, wait) in [
            ("gate.quiet_ms", gate.quiet_ms),
            ("replay.window_slack_ms", replay.window_slack_ms),
            ("replay.backlog_ms_max", replay.backlog_ms_max),
            ("replay.wave_delay_ms", replay.wave_delay_ms),
            ("replay.wave_delay_ms_max", replay.wave_delay_ms_max),
        ] {
            span(setting, wait, Span::ZERO, POLICY_WAIT_MAX)?;
        }
        self.alerts.check()?;
        for (at, rule) in self.auto_approvals.iter().enumerate() {
            within(&format!("auto_approvals[{at}].letters_max"), rule.letters_max, 0, PLAN_LETTERS_MAX)?;
        }
        for (at, rule) in self.message_types.iter().enumerate() {
            shape::message_type(&format!("message_types[{at}]"), &rule.message_type)?;
        }
        for (at, rule) in self.strategies.iter().enumerate() {
            shape::message_type(&format!("strategies[{at}]"), &rule.message_type)?;
            rule.check(at)?;
        }
        if let Some(why) = self.links.trace.as_deref().and_then(why_not_a_pattern) {
            return Err(PolicyError::Link { setting: "links.trace", why });
        }
        if let Some(at) = self.sign_in.revoked.iter().position(Revoked::names_nobody) {
            return Err(PolicyError::RevokesNobody { setting: format!("sign_in.revoked[{at}]") });
        }
        self.sign_in.idle_ms.map_or(Ok(()), |idle| span("sign_in.idle_ms", idle, IDLE_MIN, POLICY_WAIT_MAX))?;
        span("retention_ms", self.retention_ms, RETENTION_MIN, RETENTION_MAX)?;
        let discarded = |kept| span("discarded_kept_ms", kept, DISCARDED_KEPT_MIN, DELIVERED_KEPT_MAX);
        self.discarded_kept_ms.map_or(Ok(()), discarded)?;
        // A value below the minimum that is kept anyway is documented, and stays allowed.
        self.delivered_kept_ms.map_or(Ok(()), |kept| span("delivered_kept_ms", kept, Span::ZERO, DELIVERED_KEPT_MAX))
    }
}

impl AlertPolicy {
    fn check(&self) -> Result<(), PolicyError> {
        within("alerts.letters_from", self.letters_from, 0, PLAN_LETTERS_MAX)?;
        within("alerts.ages_ms.length", self.ages_ms.len() as i128, 0, STAGES_MAX)?;
        for age in &self.ages_ms {
            span("alerts.ages_ms", *age, ALERT_WAIT_MIN, POLICY_WAIT_MAX)?;
        }
        for (setting, wait) in
            [("alerts.critical_ms", Some(self.critical_ms)), ("alerts.reminder_ms", self.reminder_ms)]
        {
            wait.map_or(Ok(()), |wait| span(setting, wait, ALERT_WAIT_MIN, POLICY_WAIT_MAX))?;
        }
        span("alerts.deadline_within_ms", self.deadline_within_ms, Span::ZERO, POLICY_WAIT_MAX)
    }
}

impl StrategyRule {
    fn check(&self, at: usize) -> Result<(), PolicyError> {
        let named = |setting: &str| format!("strategies[{at}].{setting}");
        if let Some(attempts_max) = self.attempts_max {
            within(&named("attempts_max"), attempts_max, 1, RECEIVES_MAX)?;
        }
        within(&named("stages_ms.length"), self.stages_ms.len() as i128, 0, STAGES_MAX)?;
        let waits = [("backoff_ms", self.backoff_ms), ("backoff_ms_max", self.backoff_ms_max)];
        let waits = waits.into_iter().filter_map(|(setting, wait)| Some((setting, wait?)));
        for (setting, wait) in waits.chain(self.stages_ms.iter().map(|stage| ("stages_ms", *stage))) {
            span(&named(setting), wait, Span::ZERO, Span::from_secs(VISIBILITY_S_MAX))?;
        }
        self.ttl_ms.map_or(Ok(()), |ttl| span(&named("ttl_ms"), ttl, Span::ZERO, RETENTION_MAX))
    }
}

/// Returns the path of the first setting that cannot be read by itself, down to the second level.
fn place(value: &Value) -> Option<String> {
    let alone = |key: &str, member: Value| Value::Object([(key.to_string(), member)].into_iter().collect());
    let is_read = |key: &str, member: Value| serde_json::from_value::<Policy>(alone(key, member)).is_ok();
    let (key, member) = value.as_object()?.iter().find(|(key, member)| !is_read(key, (*member).clone()))?;
    let deeper = match member {
        Value::Array(items) => {
            let at = items.iter().position(|item| !is_read(key, Value::Array([item.clone()].into())));
            at.map(|at| format!("{key}[{at}]"))
        }
        // Only where the members may be absent: otherwise each of them fails by itself.
        Value::Object(members) if is_read(key, Value::Object(Map::new())) => {
            let found = members.iter().find(|(name, member)| !is_read(key, alone(name, (*member).clone())));
            found.map(|(name, _)| format!("{key}.{name}"))
        }
        _ => None,
    };
    Some(deeper.unwrap_or_else(|| key.clone()))
}

fn within<T: Into<i128> + Copy>(setting: &str, value: T, min: T, max: T) -> Result<(), PolicyError> {
    let (value, min, max) = (value.into(), min.into(), max.into());
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(PolicyError::OutOfRange { setting: setting.to_string(), value, min, max })
}

fn span(setting: &str, value: Span, min: Span, max: Span) -> Result<(), PolicyError> {
    within(setting, value.as_ms(), min.as_ms(), max.as_ms())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_revokes_nobody_is_refused() {
        for entry in ["{}", r#"{"name":" "}"#, r#"{"name":"otto","subject":""}"#] {
            let text = format!(r#"{{"sign_in":{{"revoked":[{{"name":"otto"}},{entry}]}}}}"#);
            let expected =
                "sign_in.revoked[1] names nobody. Give a subject, a name or issued_before, or remove the entry";
            assert_eq!(Policy::parse(&text).expect_err(&text).to_string(), expected);
        }
        assert!(Policy::parse(r#"{"sign_in":{"revoked":[{"issued_before":5},{"subject":"s"}]}}"#).is_ok());
    }

    #[test]
    fn a_number_out_of_range_is_refused_by_name_and_range() {
        let rows = [
            (r#"{"replay":{"pause_share_pct":100}}"#, "replay.pause_share_pct is 100; it must be between 0 and 90"),
            (
                r#"{"replay":{"canary_pause_share_pct":91}}"#,
                "replay.canary_pause_share_pct is 91; it must be between 0 and 90",
            ),
            (r#"{"replay":{"canary_letters_max":0}}"#, "replay.canary_letters_max is 0; it must be between 1 and 1000"),
            (r#"{"sign_in":{"idle_ms":0}}"#, "sign_in.idle_ms is 0; it must be between 60000 and 1209600000"),
            (r#"{"replay":{"canary_pct":0}}"#, "replay.canary_pct is 0; it must be between 1 and 100"),
            (r#"{"replay":{"growth_factor":101}}"#, "replay.growth_factor is 101; it must be between 1 and 100"),
            (r#"{"replay":{"wave_letters_max":0}}"#, "replay.wave_letters_max is 0; it must be between 1 and 250000"),
            (r#"{"replay":{"pace_per_s":0}}"#, "replay.pace_per_s is 0; it must be between 1 and 10000"),
            (r#"{"replay":{"sample_letters_min":0}}"#, "replay.sample_letters_min is 0; it must be between 1 and 1000"),
            (r#"{"gate":{"replays_max":0}}"#, "gate.replays_max is 0; it must be between 1 and 100"),
            (r#"{"gate":{"quiet_ms":-1}}"#, "gate.quiet_ms is -1; it must be between 0 and 1209600000"),
            (
                r#"{"replay":{"wave_delay_ms_max":1209600001}}"#,
                "replay.wave_delay_ms_max is 1209600001; it must be between 0 and 1209600000",
            ),
            (
                r#"{"alerts":{"reminder_ms":59999}}"#,
                "alerts.reminder_ms is 59999; it must be between 60000 and 1209600000",
            ),
            (r#"{"alerts":{"ages_ms":[60000,0]}}"#, "alerts.ages_ms is 0; it must be between 60000 and 1209600000"),
            (
                r#"{"alerts":{"letters_from":1000001}}"#,
                "alerts.letters_from is 1000001; it must be between 0 and 1000000",
            ),
            (r#"{"retention_ms":59999}"#, "retention_ms is 59999; it must be between 60000 and 1209600000"),
            (
                r#"{"discarded_kept_ms":86400000}"#,
                "discarded_kept_ms is 86400000; it must be between 259200000 and 3155760000000",
            ),
            (r#"{"delivered_kept_ms":-5}"#, "delivered_kept_ms is -5; it must be between 0 and 3155760000000"),
            (
                r#"{"auto_approvals":[{"name":"a","classes":[],"letters_max":1000001}]}"#,
                "auto_approvals[0].letters_max is 1000001; it must be between 0 and 1000000",
            ),
            (
                r#"{"strategies":[{"message_type":"*","attempts_max":0}]}"#,
                "strategies[0].attempts_max is 0; it must be between 1 and 1000",
            ),
            (
                r#"{"strategies":[{"message_type":"*"},{"message_type":"a","stages_ms":[1,43200001]}]}"#,
                "strategies[1].stages_ms is 43200001; it must be between 0 and 43200000",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(Policy::parse(text).expect_err(text).to_string(), expected);
        }
        assert_eq!(Policy::parse("{}").ok(), Some(Policy::default()));
        assert!(Policy::parse(r#"{"delivered_kept_ms":null,"replay":{"pause_share_pct":0}}"#).is_ok());
        for (text, expected) in [
            (r#"{"gate":{"quiet_ms":1,"four_eyes":"no"}}"#, "gate.four_eyes cannot be read"),
            (r#"{"misspelt":1}"#, "misspelt cannot be read"),
            (r#"{"rates":{"base":"EUR"}}"#, "rates cannot be read"),
            (r#"{"strategies":[{},{"jitter":"loud"}]}"#, "strategies[1] cannot be read"),
            (r#"{"replay":{"pace_per_s":0}}"#, "replay.pace_per_s is 0; it must be between 1 and 10000"),
            ("[]", "the policy must be an object of named settings, { … }"),
            ("7", "the policy must be an object of named settings, { … }"),
        ] {
            let value = serde_json::from_str(text).expect(text);
            assert_eq!(Policy::from_value(&value).expect_err(text).to_string(), expected);
        }
        assert!(matches!(Policy::parse(r#"{"replay":{"pace_per_s":1e9}}"#), Err(PolicyError::Unreadable(_))));
    }

    #[test]
    fn a_strategy_that_cannot_be_read_is_named_with_what_was_expected() {
        for (rule, expected) in [
            (r#"{"circuit_open":"open"}"#, "unknown variant `open`, expected `wait` or `dead_letter`"),
            (r#"{"budget_exhausted":"retry"}"#, "unknown variant `retry`, expected `wait` or `dead_letter`"),
            (r#"{"dlq":"urgent"}"#, "unknown variant `urgent`, expected one of `critical`, `retry`, `investigation`"),
            (r#"{"circut_open":"wait"}"#, "unknown field `circut_open`"),
            // It stands in `message_types`, so that it is said once.
            (r#"{"severity":"critical"}"#, "unknown field `severity`"),
        ] {
            let value = serde_json::from_str(&format!(r#"{{"strategies":[{{}},{rule}]}}"#)).expect(rule);
            let error = Policy::from_value(&value).expect_err(rule);
            assert_eq!(error.to_string(), "strategies[1] cannot be read");
            let cause = core::error::Error::source(&error).expect("a cause").to_string();
            assert!(cause.starts_with(expected), "{cause}");
        }
    }
}

//! The door: the only way from a bearer token to a caller, and what happens to those who fail.
//!
//! Failed sign-ins are logged and answered more slowly the more of them there are. A valid token is never delayed, but
//! its person may make only so many calls.

use super::answer::ApiError;
use super::calls::Calls;
use super::{Api, Caller};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use wire::ErrorCode;

/// The number of failures that are answered at once: a browser whose session expires makes a few calls in parallel.
const FAILURES_FREE: u32 = 10;
/// The most failures that are remembered.
const FAILURES_MAX: u32 = 20;
/// How long it takes to forget one failure.
const FORGET_EVERY: Duration = Duration::from_secs(5);
/// The first delay. Each further failure doubles it.
const DELAY_MIN: Duration = Duration::from_millis(20);
/// The most answers that are delayed at a time. Further ones are given at once, so that waiting costs no memory.
const DELAYED_MAX: usize = 64;
/// The shortest time between two log lines once failures are delayed.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Recent failures: a bucket that leaks.
#[derive(Debug, Default)]
struct Failures {
    level: u32,
    leaked_at: Option<Instant>,
    logged_at: Option<Instant>,
    unlogged: u64,
}

/// What to do about a failure.
#[derive(Debug, PartialEq, Eq)]
struct Reaction {
    delay: Duration,
    /// How many failures the log line stands for; `None` if there is to be none yet.
    logged: Option<u64>,
}

impl Failures {
    fn add(&mut self, now: Instant, delay_max: Duration) -> Reaction {
        let since = self.leaked_at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        let leaked = u32::try_from(since.as_secs() / FORGET_EVERY.as_secs()).unwrap_or(u32::MAX);
        if leaked >= self.level {
            (self.level, self.leaked_at) = (0, Some(now));
        } else if leaked > 0 {
            self.level -= leaked;
            self.leaked_at = self.leaked_at.map(|at| at + FORGET_EVERY * leaked);
        }
        self.level = (self.level + 1).min(FAILURES_MAX);
        let delay = match self.level.saturating_sub(FAILURES_FREE) {
            0 => Duration::ZERO,
            n => (DELAY_MIN * 2_u32.pow(n - 1)).min(delay_max),
        };
        self.unlogged += 1;
        let is_due = delay.is_zero() || self.logged_at.is_none_or(|at| now.saturating_duration_since(at) >= LOG_EVERY);
        let logged = is_due.then(|| std::mem::take(&mut self.unlogged));
        if logged.is_some() {
            self.logged_at = Some(now);
        }
        Reaction { delay, logged }
    }
}

/// Admits callers.
#[derive(Debug)]
pub struct Door {
    failures: Mutex<Failures>,
    calls: Mutex<Calls>,
    waiting: Semaphore,
}

impl Default for Door {
    fn default() -> Self {
        Self { failures: Mutex::default(), calls: Mutex::default(), waiting: Semaphore::new(DELAYED_MAX) }
    }
}

impl Door {
    /// Returns the caller whom a bearer token belongs to, unless they call too often.
    pub async fn admit(&self, api: &Api, token: &str) -> Result<Caller, ApiError> {
        let Some(caller) = api.identify.who(token, api.office.now()).await else {
            return Err(self.refuse(api, "invalid or expired token", SIGNED_OUT).await);
        };
        self.count(api, &caller)?;
        self.welcome(api, caller).await
    }

    fn count(&self, api: &Api, caller: &Caller) -> Result<(), ApiError> {
        let Some(max) = api.identify.calls_max() else { return Ok(()) };
        // No code panics while it holds this lock, and the counts would be usable even then.
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.add(&caller.person(), max, Instant::now()).map_err(|wait| ApiError {
            retry_after_s: Some(u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1)),
            ..ApiError::new(ErrorCode::TooManyCalls, "You are making too many calls. Wait a moment, then try again.")
        })
    }

    /// Returns a person who has just been identified, unless the policy revokes their access.
    pub async fn welcome(&self, api: &Api, caller: Caller) -> Result<Caller, ApiError> {
        let signed_in_at = caller.signed_in_at.unwrap_or_default();
        let office = api.office.current().await?;
        if office.policy.sign_in.revokes(&caller.person(), signed_in_at) {
            tracing::warn!(actor = %caller.actor, "a person whose access is revoked tried to sign in");
            return Err(self.refuse(api, "revoked", REVOKED).await);
        }
        Ok(caller)
    }

    /// Logs a failed sign-in, waits if there were many, and returns the answer.
    pub async fn refuse(&self, api: &Api, why: &'static str, message: impl Into<String>) -> ApiError {
        let delay_max = api.identify.delay_max();
        // No code panics while it holds this lock, and the counts would be usable even then.
        let reaction = self.failures.lock().unwrap_or_else(PoisonError::into_inner).add(Instant::now(), delay_max);
        if let Some(count) = reaction.logged {
            tracing::warn!(why, count, "sign-ins failed");
        }
        if !reaction.delay.is_zero()
            && let Ok(_place) = self.waiting.try_acquire()
        {
            tokio::time::sleep(reaction.delay).await;
        }
        ApiError::new(ErrorCode::SignedOut, message)
    }
}

const SIGNED_OUT: &str = "You are signed out. Sign in again.";
const REVOKED: &str = "Your access to this office was revoked. Ask an admin.";

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_secs(1);

    #[test]
    fn delays_grow_with_failures_up_to_the_limit_and_failures_are_forgotten() {
        let (mut failures, start) = (Failures::default(), Instant::now());
        let delays_ms: Vec<_> = (0..30).map(|_| failures.add(start, MAX).delay.as_millis()).collect();
        assert_eq!(delays_ms[..10], [0; 10]);
        assert_eq!(delays_ms[10..16], [20, 40, 80, 160, 320, 640]);
        assert_eq!(delays_ms[16..], [1_000; 14]);
        // 20 are remembered; after 5 s each one less.
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(failures.add(after(25), MAX).delay.as_millis(), 640);
        assert_eq!(failures.add(after(25 + 60), MAX).delay, Duration::ZERO);
        assert_eq!(failures.add(after(1_000_000), MAX).delay, Duration::ZERO);
        assert_eq!(failures.level, 1);
        // A platform where waiting is expensive bounds the delay further.
        let mut failures = Failures::default();
        let most = (0..30).map(|_| failures.add(start, Duration::from_millis(100)).delay).max();
        assert_eq!(most, Some(Duration::from_millis(100)));
    }

    #[test]
    fn a_flood_of_failures_is_counted_in_few_log_lines() {
        let (mut failures, start) = (Failures::default(), Instant::now());
        let logged: Vec<_> = (0..1_000).filter_map(|_| failures.add(start, MAX).logged).collect();
        assert_eq!(logged, [1; 10], "each of the first ones, then none for a while");
        assert_eq!(failures.add(start + LOG_EVERY, MAX).logged, Some(991));
    }
}

//! What identifies the running process on stamps.

use serde::{Deserialize, Serialize};
use std::env;

/// The longest text of an instance, bytes: longer than a Lambda log stream's name.
const TEXT_BYTES_MAX: usize = 128;
/// Where Linux tells the host's name if the environment does not.
const HOSTNAME_FILE: &str = "/proc/sys/kernel/hostname";

/// The process, its host and its build.
///
/// ```
/// use consumer::Instance;
///
/// let instance = Instance { commit: Some("4f1c2d9".into()), ..Instance::from_env() };
/// assert!(!instance.instance.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Tells this process from all others: Lambda's log stream, or a random number.
    #[serde(default)]
    pub instance: String,
    /// The host's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The runtime: `AWS_EXECUTION_ENV`, or operating system and processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The commit that was built. Not in any environment by itself, so set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl Instance {
    /// Reads the environment of Lambda, ECS, Kubernetes or plain Linux.
    ///
    /// ```
    /// # use consumer::Instance;
    /// assert_ne!(Instance::from_env().instance, Instance::from_env().instance, "outside Lambda it is random");
    /// ```
    pub fn from_env() -> Self {
        let var = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let file = || std::fs::read_to_string(HOSTNAME_FILE).ok().map(|name| name.trim().to_owned());
        Self {
            instance: var("AWS_LAMBDA_LOG_STREAM_NAME").map_or_else(random, cut),
            host: var("HOSTNAME").or_else(file).map(cut),
            runtime: Some(var("AWS_EXECUTION_ENV").map_or_else(platform, cut)),
            commit: None,
        }
    }
}

fn cut(text: String) -> String {
    domain::text::head(&text, TEXT_BYTES_MAX).to_owned()
}

fn platform() -> String {
    format!("{} {}", env::consts::OS, env::consts::ARCH)
}

/// Without random numbers from the system, the process id: unique on its host at least.
fn random() -> String {
    format!("{:016x}", getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id())))
}

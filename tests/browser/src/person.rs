//! A simulated person with their own browser: finds elements by role and name as a screen reader does, clicks, types
//! and reads.

use crate::driver::Driver;
use crate::look::By;
use harness::running::within;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thirtyfour::common::capabilities::chrome::ChromeCapabilities;
use thirtyfour::prelude::*;
use thirtyfour::{LoggingPrefsLogLevel, TypingData};

/// How long a person looks for an element before the test fails. Chromium and the office share two cores with
/// everything else on the machine, so only a failure should ever take this long.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// What Chromium says on a page that needs a few seconds to start, which depends on what else the machine does.
const SLOWNESS: [&str; 1] = ["was preloaded using link preload but not used within a few seconds"];
/// More than twice the tab stops of the longest page.
const TABS_MAX: usize = 200;

/// Chromium's options. The last one exposes each element's accessible role and name to scripts. The one before keeps the
/// tree of accessible elements: without it, Chromium builds the whole tree anew for each role and each name that a script
/// reads, which took 22 s instead of 41 ms on a page of 1,705 elements.
const OPTIONS: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1440,900",
    "--force-renderer-accessibility",
    "--enable-blink-features=ComputedAccessibilityInfo",
];

/// Returns the elements with a role, and their names. Elements behind an open dialog have neither.
const FIND: &str = r#"
    const [role] = arguments;
    const plain = text => text.replace(/\s+/g, ' ').trim();
    // ARIA has no role for <summary>, so Chromium reports none.
    const roleOf = e => e.computedRole || e.localName;
    const all = [...document.querySelectorAll('*')].filter(e => roleOf(e) === role);
    return [all, all.map(e => plain(e.computedName))];
"#;
const FOCUS: &str = r#"
    const e = document.activeElement;
    return [e.computedRole || e.localName, e.computedName.replace(/\s+/g, ' ').trim()];
"#;
/// Returns the visible text, with single spaces.
const READ: &str = "return document.body.innerText.replace(/\\s+/g, ' ')";

/// Whether an element has an expected name. A `*` in it stands for any text: a title shows there what all letters say, once
/// enough letters say it.
fn fits(expected: &str, name: &str) -> bool {
    let mut parts = expected.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// A simulated person.
pub struct Person {
    /// Their browser.
    pub driver: WebDriver,
    name: &'static str,
    pub(crate) by: Mutex<By>,
    faults: Mutex<Vec<String>>,
}

impl Person {
    /// Opens a browser with its own profile.
    pub async fn new(driver: &Driver, name: &'static str) -> Self {
        let mut options = ChromeCapabilities::new();
        for option in OPTIONS {
            options.add_arg(option).expect("an option");
        }
        options.set_browser_log_level(LoggingPrefsLogLevel::All).expect("a log level");
        local::http::provide_tls();
        let driver = WebDriver::new(driver.url(), options).await.expect("Chromium starts");
        let person = Self { driver, name, by: Mutex::new(By::Mouse), faults: Mutex::new(Vec::new()) };
        person.works(By::Mouse).await;
        person
    }

    /// Opens a URL.
    pub async fn open(&self, url: &str) {
        self.driver.goto(url).await.expect("the page opens");
    }

    /// Runs a script in the page.
    pub async fn script(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.driver.execute(script, arguments).await.expect("the script runs").json().clone()
    }

    /// Runs a script that calls its last argument when it is done.
    pub async fn slow_script(&self, script: &str) -> Value {
        self.driver.execute_async(script, Vec::new()).await.expect("the script runs").json().clone()
    }

    /// Records a fault. The test fails at its end, so that it reports all faults.
    pub fn fault(&self, fault: String) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
    }

    /// Waits for the only element with a role and a name, and returns it.
    pub async fn find(&self, role: &str, name: &str) -> WebElement {
        self.finds_within(role, name, PATIENCE).await
    }

    /// Like [`Person::find`], with another timeout.
    pub async fn finds_within(&self, role: &str, name: &str, patience: Duration) -> WebElement {
        let mut last = Vec::new();
        let found = within(patience, async || {
            let (mut found, names) = self.look_for(role, name).await?;
            last = names;
            (found.len() == 1).then(|| found.remove(0))
        })
        .await;
        match found {
            Some(element) => element,
            None => panic!("{} finds no {role} {name:?}, but {last:?}\n{}", self.name, self.reads().await),
        }
    }

    async fn look_for(&self, role: &str, name: &str) -> Option<(Vec<WebElement>, Vec<String>)> {
        // While a page is being replaced, the script fails. The next attempt finds the element.
        let found = self.driver.execute(FIND, vec![json!(role)]).await.ok()?;
        let names = found.json()[1].as_array()?.iter().map(|name| name.as_str().unwrap_or_default().into());
        let names: Vec<String> = names.collect();
        let elements = found.json()[0].as_array()?.iter().zip(&names).filter(|(_, own)| fits(name, own));
        let elements = elements.map(|(e, _)| WebElement::from_json(e.clone(), Arc::clone(&self.driver)));
        Some((elements.collect::<Result<_, _>>().ok()?, names))
    }

    /// Returns whether such an element exists now.
    pub async fn has(&self, role: &str, name: &str) -> bool {
        self.look_for(role, name).await.is_some_and(|(found, _)| !found.is_empty())
    }

    /// Returns the names of all elements with a role, in document order.
    pub async fn names(&self, role: &str) -> Vec<String> {
        self.look_for(role, "").await.map(|(_, names)| names).unwrap_or_default()
    }

    /// Clicks an element, or presses Tab until it has the focus and then Enter, as soon as it is enabled.
    pub async fn clicks(&self, role: &str, name: &str) {
        self.clicks_when(role, name, false).await;
    }

    /// Like [`Person::clicks`], even if the element is disabled.
    pub async fn tries(&self, role: &str, name: &str) {
        self.clicks_when(role, name, true).await;
    }

    async fn clicks_when(&self, role: &str, name: &str, may_be_disabled: bool) {
        let mut last = String::new();
        let clicked = within(2 * PATIENCE, async || {
            let element = self.find(role, name).await;
            let is_disabled = matches!(element.attr("aria-disabled").await, Ok(Some(value)) if value == "true");
            if is_disabled && !may_be_disabled {
                "it stays disabled".clone_into(&mut last);
                return None;
            }
            // The element may move or be replaced before the click, or be covered by a sticky element. Then scroll and
            // retry.
            let pressed = match self.by() {
                By::Mouse | By::Touch => element.click().await.map_err(|error| error.to_string()),
                By::Keyboard => self.presses(role, &element).await,
            };
            if let Err(error) = pressed {
                last = error;
                let _ = element.scroll_into_view().await;
                return None;
            }
            Some(())
        });
        if clicked.await.is_none() {
            panic!("{} cannot click the {role} {name:?}: {last}\n{}", self.name, self.reads().await);
        }
    }

    /// Presses Tab until an element has the focus, then Enter. A text field only needs the focus.
    async fn presses(&self, role: &str, element: &WebElement) -> Result<(), String> {
        for _ in 0..TABS_MAX {
            let focused = self.driver.active_element().await.map_err(|error| error.to_string())?;
            if focused == *element {
                if role != "textbox" {
                    self.types(Key::Enter).await;
                }
                return Ok(());
            }
            self.types(Key::Tab).await;
        }
        Err(format!("{TABS_MAX} times Tab do not reach it; now the focus is at {:?}", self.focus().await))
    }

    /// Waits for an element whose name begins so, and returns the name of the first one.
    pub async fn finds_beginning(&self, role: &str, beginning: &str) -> String {
        let name =
            within(PATIENCE, async || self.names(role).await.into_iter().find(|name| name.starts_with(beginning)));
        match name.await {
            Some(name) => name,
            None => panic!("{} finds no {role} {beginning:?}…\n{}", self.name, self.reads().await),
        }
    }

    /// Clicks the first link whose name begins so.
    pub async fn follows(&self, beginning: &str) {
        let name = self.finds_beginning("link", beginning).await;
        self.clicks("link", &name).await;
    }

    /// Goes to a text field and types.
    pub async fn writes(&self, field: &str, text: &str) {
        self.clicks("textbox", field).await;
        self.types(text).await;
    }

    /// Types into the focused element.
    pub async fn types(&self, keys: impl Into<TypingData>) {
        self.driver.action_chain().send_keys(keys).perform().await.expect("keys are typed");
    }

    /// Presses Tab until an element has the focus.
    pub async fn tabs_to(&self, role: &str, name: &str) {
        let mut passed = Vec::new();
        for _ in 0..TABS_MAX {
            let focus = self.focus().await;
            if focus.0 == role && fits(name, &focus.1) {
                return;
            }
            passed.push(focus);
            self.types(Key::Tab).await;
        }
        passed.truncate(60);
        panic!("{} does not get to the {role} {name:?} by Tab, but to {passed:?}", self.name);
    }

    /// Returns role and name of the focused element.
    pub async fn focus(&self) -> (String, String) {
        let focus = self.script(FOCUS, Vec::new()).await;
        (focus[0].as_str().unwrap_or_default().into(), focus[1].as_str().unwrap_or_default().into())
    }

    /// Waits until an element has the focus.
    pub async fn is_at(&self, role: &str, name: &str) {
        let there = within(PATIENCE, async || {
            let (focused, own) = self.focus().await;
            (focused == role && fits(name, &own)).then_some(())
        });
        if there.await.is_none() {
            panic!("{} is not at the {role} {name:?}, but at {:?}", self.name, self.focus().await);
        }
    }

    /// Returns the visible text.
    pub async fn reads(&self) -> String {
        self.script(READ, Vec::new()).await.as_str().unwrap_or_default().to_string()
    }

    /// Waits for a text to be visible.
    pub async fn sees(&self, words: &str) {
        self.sees_within(words, PATIENCE).await;
    }

    /// Like [`Person::sees`], with another timeout.
    pub async fn sees_within(&self, words: &str, patience: Duration) {
        if within(patience, async || self.reads().await.contains(words).then_some(())).await.is_none() {
            panic!("{} does not see {words:?} but\n{}", self.name, self.reads().await);
        }
    }

    /// Closes the browser and fails on recorded faults. Each console message is a fault (a blocked style, a panic, a failed
    /// request), unless it contains an expected text, or is about how fast the machine is.
    pub async fn leaves(self, expected: &[&str]) {
        let log = self.driver.browser_log().await.expect("the console's log");
        let is_expected = |message: &str| expected.iter().chain(&SLOWNESS).any(|words| message.contains(words));
        for entry in log.iter().filter(|entry| !is_expected(&entry.message)) {
            self.fault(format!("console, {}: {}", entry.level, entry.message));
        }
        let faults = std::mem::take(&mut *self.faults.lock().unwrap_or_else(PoisonError::into_inner));
        self.driver.clone().quit().await.expect("the browser closes");
        assert!(faults.is_empty(), "{}:\n{}", self.name, faults.join("\n"));
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        // After a failure the driver's shutdown closes every browser. Closing each one in a destructor would take minutes.
        let _ = self.driver.clone().leak();
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_in_an_expected_name_stands_for_any_text() {
        for (expected, name, is_right) in [
            ("Groups", "Groups", true),
            ("Groups", "Groups 2", false),
            ("", "", true),
            ("", "Groups", false),
            ("len is * but index is *", "len is * but index is *", true),
            ("len is * but index is *", "len is 0 but index is 0", true),
            ("len is * but index is *", "len is 0 but", false),
            ("a * b", "a * b!", false),
        ] {
            assert_eq!(fits(expected, name), is_right, "{expected} {name}");
        }
    }
}

//! Looking at a page as people with different eyes do: small and large, light and dark, and with axe's rules.

use crate::person::Person;
use serde_json::{Value, json};
use std::path::PathBuf;

/// A screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// A laptop.
    Wide,
    /// A phone.
    Phone,
}

impl Screen {
    fn size(self) -> (u32, u32) {
        match self {
            Self::Wide => (1440, 900),
            Self::Phone => (390, 844),
        }
    }
}

/// What the system asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// `cargo ci` installs it.
const AXE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/npm/node_modules/axe-core/axe.min.js");

/// Two frames: what the change of size or theme asks for is laid out and painted.
const SETTLE: &str = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(null)))";
const RUN_AXE: &str = r#"
    const done = arguments[0];
    const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    axe.run(document, { runOnly: rules }).then(found => done(found.violations.map(rule =>
        rule.id + ': ' + rule.help + ': ' + rule.nodes.map(node => node.html.slice(0, 200)).join(' | '))));
"#;
/// Pages scroll down, never sideways.
const TOO_WIDE: &str = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";

/// Where pictures go: `screenshots` in cargo's target folder, which holds this program in `<profile>/deps`.
fn shots() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    program.ancestors().nth(3).expect("it lies in cargo's target folder").join("screenshots")
}

impl Person {
    /// Gives the page another screen and another theme.
    pub async fn sees_as(&self, screen: Screen, theme: Theme) {
        let (width, height) = screen.size();
        let phone = screen == Screen::Phone;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone });
        let cdp = self.driver.cdp();
        cdp.send_raw("Emulation.setDeviceMetricsOverride", metrics).await.expect("another screen");
        cdp.send_raw("Emulation.setTouchEmulationEnabled", json!({ "enabled": phone })).await.expect("fingers");
        // Without fades: a colour on its way from one theme to the other belongs to neither.
        let features = json!([
            { "name": "prefers-color-scheme", "value": theme.as_str() },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        cdp.send_raw("Emulation.setEmulatedMedia", json!({ "features": features })).await.expect("another theme");
        self.slow_script(SETTLE).await;
    }

    /// Takes the page's pictures, and lets axe look at it.
    pub async fn shows(&self, what: &str) {
        for screen in [Screen::Wide, Screen::Phone] {
            for theme in [Theme::Light, Theme::Dark] {
                self.sees_as(screen, theme).await;
                let (width, height) = screen.size();
                let which = format!("{what}-{width}x{height}-{}", theme.as_str());
                let path = shots().join(format!("{which}.png"));
                std::fs::create_dir_all(shots()).expect("a folder for pictures");
                self.driver.screenshot(&path).await.expect("a picture");
                let sideways = self.script(TOO_WIDE, Vec::new()).await;
                if sideways.as_i64() != Some(0) {
                    self.fault(format!("{which}: {sideways} px too wide"));
                }
                self.is_sound(&which).await;
            }
        }
        self.sees_as(Screen::Wide, Theme::Light).await;
    }

    async fn is_sound(&self, which: &str) {
        if self.script("return typeof axe", Vec::new()).await == json!("undefined") {
            let axe = std::fs::read_to_string(AXE)
                .unwrap_or_else(|error| panic!("{AXE}: {error}: run `cargo ci`, which installs it"));
            self.script(&axe, Vec::new()).await;
        }
        if let Value::Array(violations) = self.slow_script(RUN_AXE).await {
            for violation in violations {
                self.fault(format!("{which}: axe: {}", violation.as_str().unwrap_or_default()));
            }
        }
    }
}

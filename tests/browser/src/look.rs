//! Screenshots and accessibility checks: small and large screens, light and dark themes, and axe's rules.

use crate::person::Person;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::PoisonError;

/// A screen size.
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

/// What a person works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A mouse, at a laptop.
    Mouse,
    /// A finger, on a phone.
    Touch,
    /// Tab and Enter, at a laptop.
    Keyboard,
}

impl By {
    fn screen(self) -> Screen {
        match self {
            Self::Mouse | Self::Keyboard => Screen::Wide,
            Self::Touch => Screen::Phone,
        }
    }
}

/// The system's theme.
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

/// axe-core, installed by `cargo ci`.
const AXE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/npm/node_modules/axe-core/axe.min.js");

/// Waits two frames, so that a change of size or theme is laid out and painted.
const SETTLE: &str = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(null)))";
const RUN_AXE: &str = r#"
    const done = arguments[0];
    const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    axe.run(document, { runOnly: rules }).then(found => done(found.violations.map(rule =>
        rule.id + ': ' + rule.help + ': ' + rule.nodes.map(node => node.html.slice(0, 200)).join(' | '))));
"#;
/// What can be pressed and is smaller than `arguments[0]` pixels in either direction, with its size. Links within a sentence are
/// as high as their line. A link that covers its row is as large as the row, and a tick in a label as large as the label.
const TOO_SMALL: &str = r#"
    const [least] = arguments;
    const isInText = e => getComputedStyle(e).display === 'inline'
        && [...e.parentElement.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    const area = e => {
        const cover = getComputedStyle(e, '::after');
        if (cover.position === 'absolute' && cover.content !== 'none' && cover.inset === '0px') return e.offsetParent;
        return e.localName === 'input' && e.closest('label') || e;
    };
    const all = (document.querySelector('dialog[open]') ?? document)
        .querySelectorAll('a[href], button, summary, input, select, textarea');
    return [...all]
        .filter(e => e.checkVisibility({ visibilityProperty: true }) && !e.matches('.skip') && !isInText(e))
        .map(e => [e, area(e).getBoundingClientRect()])
        .filter(([, r]) => r.width > 0 && (r.width < least || r.height < least))
        .map(([e, r]) => `${Math.round(r.width)} x ${Math.round(r.height)}: ${e.outerHTML.slice(0, 120)}`);
"#;
/// Keys that are shown, other than in the help.
const KEYS: &str =
    "return [...document.querySelectorAll('kbd')].filter(e => e.checkVisibility() && !e.closest('.help')).length";
/// Which of an open dialog's title and buttons is out of sight, at its beginning or at its end.
const OUT_OF_SIGHT: &str = r#"
    const dialog = document.querySelector('dialog[open]');
    if (!dialog) return [];
    const before = dialog.scrollTop;
    const isOut = css => {
        const frame = dialog.getBoundingClientRect();
        const part = dialog.querySelector(`.dialog-form > ${css}`)?.getBoundingClientRect();
        return part && (part.top < frame.top - 1 || part.bottom > frame.bottom + 1);
    };
    const out = [0, dialog.scrollHeight].flatMap(to => {
        dialog.scrollTop = to;
        return ['h2', '.dialog-buttons'].filter(isOut).map(css => `${css} where the dialog is scrolled to ${to}`);
    });
    dialog.scrollTop = before;
    return out;
"#;
/// WCAG 2.5.8.
const TARGET_PX: u32 = 24;
/// The number of pixels by which the page is too wide. Pages must not scroll sideways.
const TOO_WIDE: &str = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";

/// Returns the folder of screenshots: `screenshots` in cargo's target folder, which contains this program in
/// `<profile>/deps`.
fn screenshots() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    program.ancestors().nth(3).expect("it lies in cargo's target folder").join("screenshots")
}

impl Person {
    /// Emulates a screen and a theme.
    pub async fn sees_as(&self, screen: Screen, theme: Theme) {
        let (width, height) = screen.size();
        let phone = screen == Screen::Phone;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone });
        let cdp = self.driver.cdp();
        cdp.send_raw("Emulation.setDeviceMetricsOverride", metrics).await.expect("the screen is emulated");
        cdp.send_raw("Emulation.setTouchEmulationEnabled", json!({ "enabled": phone }))
            .await
            .expect("touch is emulated");
        // Without fades: a colour in transition belongs to neither theme.
        let features = json!([
            { "name": "prefers-color-scheme", "value": theme.as_str() },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        cdp.send_raw("Emulation.setEmulatedMedia", json!({ "features": features }))
            .await
            .expect("the theme is emulated");
        self.slow_script(SETTLE).await;
    }

    /// Goes on with another device.
    pub async fn works(&self, by: By) {
        *self.by.lock().unwrap_or_else(PoisonError::into_inner) = by;
        self.sees_as(by.screen(), Theme::Light).await;
    }

    /// What they work with.
    pub fn by(&self) -> By {
        *self.by.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes screenshots and runs axe in every screen and theme. A story by touch or by keyboard shows nothing new.
    pub async fn shows(&self, what: &str) {
        if self.by() != By::Mouse {
            return;
        }
        for screen in [Screen::Wide, Screen::Phone] {
            for theme in [Theme::Light, Theme::Dark] {
                self.sees_as(screen, theme).await;
                let (width, height) = screen.size();
                let which = format!("{what}-{width}x{height}-{}", theme.as_str());
                let path = screenshots().join(format!("{which}.png"));
                std::fs::create_dir_all(screenshots()).expect("the folder is created");
                self.driver.screenshot(&path).await.expect("the screenshot is taken");
                let sideways = self.script(TOO_WIDE, Vec::new()).await;
                if sideways.as_i64() != Some(0) {
                    self.fault(format!("{which}: {sideways} px too wide"));
                }
                if let Value::Array(out) = self.script(OUT_OF_SIGHT, Vec::new()).await {
                    out.into_iter().for_each(|one| self.fault(format!("{which}: out of sight: {one}")));
                }
                if let Value::Array(small) = self.script(TOO_SMALL, vec![json!(TARGET_PX)]).await {
                    small.into_iter().for_each(|one| self.fault(format!("{which}: too small to press: {one}")));
                }
                if screen == Screen::Phone && self.script(KEYS, Vec::new()).await != json!(0) {
                    self.fault(format!("{which}: keys are shown on a phone"));
                }
                self.check_accessibility(&which).await;
            }
        }
        self.sees_as(Screen::Wide, Theme::Light).await;
    }

    async fn check_accessibility(&self, which: &str) {
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

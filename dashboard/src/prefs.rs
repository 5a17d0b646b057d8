//! Preferences for this browser: theme, density, time zone, single-key shortcuts. They are stored in `localStorage`.
//! `boot.js` applies theme and density from the same keys before the first paint.

use crate::reactive::prelude::*;

/// The theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Follows the system.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Theme {
    fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// The preferences, as signals.
#[derive(Clone, Copy)]
pub struct Prefs {
    /// The theme.
    pub theme: RwSignal<Theme>,
    /// Whether rows are dense.
    pub dense: RwSignal<bool>,
    /// Whether times are shown in UTC.
    pub utc: RwSignal<bool>,
    /// Whether single-key shortcuts are enabled. WCAG 2.1.4 requires a way to disable them.
    pub letter_keys: RwSignal<bool>,
}

impl Prefs {
    /// Reads the preferences and provides them to all components below.
    pub fn provide() -> Self {
        let theme = match stored("theme").as_deref() {
            Some("light") => Theme::Light,
            Some("dark") => Theme::Dark,
            _ => Theme::System,
        };
        let prefs = Self {
            theme: RwSignal::new(theme),
            dense: RwSignal::new(stored("dense").as_deref() == Some("yes")),
            utc: RwSignal::new(stored("utc").as_deref() == Some("yes")),
            letter_keys: RwSignal::new(stored("letter-keys").as_deref() != Some("no")),
        };
        let root = || document().document_element();
        Effect::new(move || {
            let theme = prefs.theme.get();
            store("theme", theme.as_str());
            if let Some(root) = root() {
                // On failure the theme stays as it was.
                let _ = match theme {
                    Theme::System => root.remove_attribute("data-theme"),
                    _ => root.set_attribute("data-theme", theme.as_str()),
                };
            }
        });
        Effect::new(move || {
            let dense = prefs.dense.get();
            store("dense", yes_no(dense));
            if let Some(root) = root() {
                let _ = root.toggle_attribute_with_force("data-dense", dense);
            }
        });
        Effect::new(move || store("utc", yes_no(prefs.utc.get())));
        Effect::new(move || {
            let letter_keys = prefs.letter_keys.get();
            store("letter-keys", yes_no(letter_keys));
            // A key that does nothing is not shown.
            if let Some(root) = root() {
                let _ = root.toggle_attribute_with_force("data-no-keys", !letter_keys);
            }
        });
        provide_context(prefs);
        prefs
    }

    /// Switches between light and dark.
    pub fn toggle_theme(self) {
        self.theme.set(if self.is_dark() { Theme::Light } else { Theme::Dark });
    }

    /// Returns whether the current theme is dark. Tracks the preference, not the system.
    pub fn is_dark(self) -> bool {
        match self.theme.get() {
            Theme::Light => false,
            Theme::Dark => true,
            Theme::System => {
                window().match_media("(prefers-color-scheme: dark)").ok().flatten().is_some_and(|query| query.matches())
            }
        }
    }
}

/// Returns the preferences.
pub fn prefs() -> Prefs {
    expect_context()
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

fn key(name: &str) -> String {
    format!("dlo.{name}")
}

// Storage may be blocked (private windows, policies). Preferences then last until the page is closed.
fn stored(name: &str) -> Option<String> {
    window().local_storage().ok().flatten()?.get_item(&key(name)).ok().flatten()
}

fn store(name: &str, value: &str) {
    if let Ok(Some(storage)) = window().local_storage() {
        let _ = storage.set_item(&key(name), value);
    }
}

//! Icons as paths of 20 x 20, drawn in the colour of the text.

use crate::reactive::prelude::*;

/// The icons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph {
    /// The office.
    Letter,
    /// The list of groups.
    Groups,
    /// Replays.
    Replays,
    /// The policy.
    Policy,
    /// Search.
    Search,
    /// The dark theme.
    Moon,
    /// The light theme.
    Sun,
    /// Help.
    Help,
    /// Back.
    Back,
    /// Copy.
    Copy,
    /// Close.
    Close,
    /// A person.
    Person,
    /// Pause.
    Pause,
    /// Resume.
    Play,
}

impl Glyph {
    fn path(self) -> &'static str {
        match self {
            Self::Letter => "M2.5 5h15v10.5h-15zM2.5 5.5l7.5 6 7.5-6",
            Self::Groups => "M3 5.5h14M3 10h10M3 14.5h12",
            Self::Replays => "M4 10a6 6 0 1 0 2-4.5M6 2.5v3.3h3.3",
            Self::Policy => "M5 2.5h10v15H5zM7.5 6.5h5M7.5 10h5M7.5 13.5h3",
            Self::Search => "M9 3.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM13 13l4 4",
            Self::Moon => "M15.5 12.3A6.3 6.3 0 0 1 7.7 4.5a6.3 6.3 0 1 0 7.8 7.8z",
            Self::Sun => {
                "M10 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM10 1.8v2M10 16.2v2M1.8 10h2M16.2 10h2M4.2 4.2l1.4 1.4M14.4 14.4l1.4 1.4M4.2 15.8l1.4-1.4M14.4 5.6l1.4-1.4"
            }
            Self::Help => "M7.3 7.2a2.7 2.7 0 1 1 3.9 2.4c-.8.4-1.2.9-1.2 1.9M10 14.6v.1",
            Self::Back => "M16 10H4M9 5l-5 5 5 5",
            Self::Copy => "M7 7V3.5h9.5V13H13M3.5 7H13v9.5H3.5z",
            Self::Close => "M5 5l10 10M15 5L5 15",
            Self::Person => "M10 3.5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM4 17c0-3.3 2.7-5 6-5s6 1.7 6 5",
            Self::Pause => "M7 5v10M13 5v10",
            Self::Play => "M6.5 4.5l9 5.5-9 5.5z",
        }
    }
}

/// Shows an icon. Screen readers skip it: its control has a label.
#[component]
pub fn Icon(glyph: Glyph) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
            <path d=glyph.path() />
        </svg>
    }
}

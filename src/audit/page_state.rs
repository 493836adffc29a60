//! The states of pages that answer, which stand beside those of links.

/// The state of a page that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PageState {
    /// It has no sign of the other states.
    NoSign,
    /// Redirects led to another registrable domain.
    OtherDomain,
    /// Redirects led from a page to the front page of its domain.
    FrontPage,
    /// Redirects led to a parking service, or it loads from one.
    Parked,
    /// It is the page of its host for a path that cannot exist.
    Soft404,
    /// It cannot be judged: a script may draw it, or it asks for a password.
    Undecided,
    /// It was not read: excluded by a robots.txt, private, or its server gave no page.
    NotRead,
}

impl PageState {
    /// All states, in the order in which they are reported.
    pub const ALL: [PageState; 7] = [
        PageState::NoSign,
        PageState::OtherDomain,
        PageState::FrontPage,
        PageState::Parked,
        PageState::Soft404,
        PageState::Undecided,
        PageState::NotRead,
    ];

    /// Returns the name that the tables and the CSV files have.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns the words for people.
    pub(crate) fn title(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            PageState::NoSign => ("no_sign", "No sign"),
            PageState::OtherDomain => ("other_domain", "Other domain"),
            PageState::FrontPage => ("front_page", "Front page"),
            PageState::Parked => ("parked", "Parked"),
            PageState::Soft404 => ("soft_404", "Soft 404"),
            PageState::Undecided => ("undecided", "Undecided"),
            PageState::NotRead => ("not_read", "Not read"),
        }
    }

    /// Returns the state with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<PageState> {
        PageState::ALL
            .into_iter()
            .find(|state| state.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for state in PageState::ALL {
            assert_eq!(PageState::named(state.name()), Some(state));
        }
        assert_eq!(PageState::named("alive"), None);
    }
}

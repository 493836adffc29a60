//! The states of pages that answer, which stand beside those of links.

/// The state of a page that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PageState {
    /// It is like the snapshot nearest to its first citation.
    AsCited,
    /// It differs from that snapshot, and has something in common with it or a later one.
    Changed,
    /// It has nothing in common with that snapshot, nor with later ones that have.
    TakenOver,
    /// It belongs to a parking service, or its host offers its domain on all paths.
    Parked,
    /// It is the page of its host for paths that do not exist.
    Soft404,
    /// It shows no sign of the states before, and was not compared with a snapshot.
    NotCompared,
    /// It cannot be judged: a script draws it, it asks for a login, or it is no text.
    Undecided,
    /// It was not read: excluded by a robots.txt, private, or its server gave no page.
    NotRead,
}

impl PageState {
    /// All states, in the order in which they are reported.
    pub const ALL: [PageState; 8] = [
        PageState::AsCited,
        PageState::Changed,
        PageState::TakenOver,
        PageState::Parked,
        PageState::Soft404,
        PageState::NotCompared,
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
            PageState::AsCited => ("as_cited", "As cited"),
            PageState::Changed => ("changed", "Changed"),
            PageState::TakenOver => ("taken_over", "Taken over"),
            PageState::Parked => ("parked", "Parked"),
            PageState::Soft404 => ("soft_404", "Soft 404"),
            PageState::NotCompared => ("not_compared", "Not compared"),
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

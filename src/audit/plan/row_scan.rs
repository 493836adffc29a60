//! One pass over the rows of `urls`: the row by which each link is known, and properties of all its rows.

use rusqlite::Connection;

use super::exclusion::MIN_CONFIDENCE;

/// Properties of the rows of one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowFacts {
    /// Identifier of its first row; 0 if there is none. Rows that can be checked come before others, then the earliest date
    /// before later ones and none, then the lowest identifier.
    pub(super) first_row: i64,
    /// Rank of the first row: lower ones come first.
    rank: u64,
    /// `true` if a row is in no header field.
    pub(super) is_in_a_body: bool,
    /// `true` if such a row has a confidence of [`MIN_CONFIDENCE`].
    pub(super) is_confident: bool,
}

/// Rank of a row without a plausible date: after all dates, which have 14 digits.
const UNDATED: u64 = 99_999_999_999_999;

/// Added to the rank of a row that is not checked.
const NOT_CHECKED: u64 = 100_000_000_000_000;

impl RowFacts {
    fn add(&mut self, row: i64, cited: Option<&str>, confidence: f64, region: &str) {
        let is_in_a_body = !region.starts_with("header:");
        let is_confident = is_in_a_body && MIN_CONFIDENCE <= confidence;
        let date = cited.map_or(UNDATED, digits);
        let rank = if is_confident {
            date
        } else {
            date + NOT_CHECKED
        };
        // Rows come in the order of their identifiers.
        if self.first_row == 0 || rank < self.rank {
            (self.first_row, self.rank) = (row, rank);
        }
        self.is_in_a_body |= is_in_a_body;
        self.is_confident |= is_confident;
    }
}

/// The digits of a date: `1996-07-02T13:45:00Z` is 19960702134500.
fn digits(date: &str) -> u64 {
    let digits = date.bytes().filter(u8::is_ascii_digit);
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// Reads all rows. The facts of a link are at the index of its identifier.
pub(super) fn scan_rows(db: &Connection) -> rusqlite::Result<Vec<RowFacts>> {
    let last: i64 = db.query_row("SELECT ifnull(max(id), 0) FROM links", [], |row| row.get(0))?;
    let mut facts = vec![RowFacts::default(); usize::try_from(last).unwrap_or(0) + 1];
    let mut statement = db.prepare(
        "SELECT id, link, cited, confidence, region FROM urls NOT INDEXED WHERE link IS NOT NULL",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let link = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
        let cited = row.get_ref(2)?.as_str_or_null()?;
        let region = row.get_ref(4)?.as_str()?;
        if let Some(facts) = facts.get_mut(link) {
            facts.add(row.get(0)?, cited, row.get(3)?, region);
        }
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_is_the_earliest_that_is_checked() {
        let mut facts = RowFacts::default();
        facts.add(1, Some("1994-01-01T00:00:00Z"), 1.0, "header:X-Url");
        assert_eq!((facts.first_row, facts.is_in_a_body), (1, false));
        facts.add(2, None, 1.0, "body");
        assert_eq!((facts.first_row, facts.is_confident), (2, true));
        facts.add(3, Some("1996-01-01T00:00:00Z"), 0.9, "body");
        facts.add(4, Some("1995-01-01T00:00:00Z"), 0.8, "signature");
        facts.add(5, Some("1995-01-01T00:00:00Z"), 0.8, "body");
        facts.add(6, Some("1993-01-01T00:00:00Z"), 0.7, "body");
        assert_eq!(facts.first_row, 4);
    }

    #[test]
    fn a_doubtful_link_is_not_confident() {
        let mut facts = RowFacts::default();
        facts.add(1, None, 0.7, "body");
        facts.add(2, None, 1.0, "header:References");
        assert!(facts.is_in_a_body && !facts.is_confident);
    }
}

//! Plausible dates of citations.

/// First day on which a message can cite an http URL: the year in which the Web became public.
const FIRST_HTTP_DAY: &str = "1991-01-01";

/// First day on which any message can have been sent; clocks that are not set say 1970.
const FIRST_DAY: &str = "1970-01-02";

/// Length of a date in a record: `1996-07-02T13:45:00Z`.
const DATE_BYTES: usize = 20;

/// Returns `true` if a message of `date` can cite a URL of `scheme`: not before there were such URLs, and not after
/// `last_day`, the day of loading.
pub(super) fn is_plausible(scheme: &str, date: &str, last_day: &str) -> bool {
    let first_day = match scheme {
        "http" | "https" => FIRST_HTTP_DAY,
        _ => FIRST_DAY,
    };
    let day = date.get(..FIRST_DAY.len()).unwrap_or_default();
    date.len() == DATE_BYTES && first_day <= day && day <= last_day
}

/// Returns the present day in UTC, as `1996-07-02`.
pub(super) fn today() -> String {
    let mut text = jiff::Timestamp::now().to_string();
    text.truncate(FIRST_DAY.len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_day_depends_on_the_scheme() {
        for (scheme, date, expected) in [
            ("http", "1990-12-31T23:59:59Z", false),
            ("http", "1991-01-01T00:00:00Z", true),
            ("ftp", "1989-03-12T10:00:00Z", true),
            ("ftp", "1970-01-01T00:00:00Z", false),
            ("http", "2026-11-22T23:59:59Z", true),
            ("http", "2026-11-23T00:00:00Z", false),
            ("http", "12026-11-23T00:00:00Z", false),
            ("http", "-1996-07-02T00:00:0Z", false),
        ] {
            let found = is_plausible(scheme, date, "2026-11-22");
            assert_eq!(found, expected, "{scheme} {date}");
        }
    }

    #[test]
    fn today_is_a_day() {
        assert_eq!(today().len(), "1996-07-02".len());
    }
}

//! Keys of URLs without the parameters that count visitors and campaigns. Links that were shared in
//! different ways get the same clean key.

use std::borrow::Cow;
use std::sync::LazyLock;

/// Parameters that do not change the page. A trailing `*` matches any suffix. A line of the file
/// has a name, spaces, and the page or report that documents it.
static PARAMETERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let lines = include_str!("tracking.txt").lines();
    let rows = lines.filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| row.split(' ').next()).collect()
});

/// Returns the key of a web URL without the query parameters listed in `PARAMETERS`, and without
/// the `?` if no parameter is left. Other keys are returned unchanged. Runs in linear time.
pub fn clean_key(key: &str) -> Cow<'_, str> {
    let is_web = key.starts_with("http://") || key.starts_with("https://");
    let Some((start, query)) = key.split_once('?').filter(|_| is_web) else {
        return key.into();
    };
    if !query.split('&').any(is_tracking) {
        return key.into();
    }
    let mut clean = start.to_owned();
    let kept = query.split('&').filter(|text| !is_tracking(text));
    for (index, text) in kept.enumerate() {
        clean.push(if index == 0 { '?' } else { '&' });
        clean.push_str(text);
    }
    clean.into()
}

/// Returns `true` if the name of this query parameter is in the table. In text taken from HTML,
/// `&amp;` may separate parameters.
fn is_tracking(text: &str) -> bool {
    let text = text.strip_prefix("amp;").unwrap_or(text);
    let name = text.split('=').next().unwrap_or(text);
    PARAMETERS
        .iter()
        .any(|known| match known.strip_suffix('*') {
            Some(start) => {
                let found = name.get(..start.len());
                found.is_some_and(|found| found.eq_ignore_ascii_case(start))
            }
            None => name.eq_ignore_ascii_case(known),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_campaigns_are_removed() {
        for (key, clean) in [
            (
                "http://a.example/x?utm_source=b&id=1&utm_medium=c",
                "http://a.example/x?id=1",
            ),
            ("https://a.example/?fbclid=b", "https://a.example/"),
            (
                "https://a.example/?a=1&amp;UTM_Source=b&amp;c=2",
                "https://a.example/?a=1&amp;c=2",
            ),
            ("https://a.example/?gclid", "https://a.example/"),
        ] {
            assert_eq!(clean_key(key), clean);
        }
        for key in [
            "http://a.example/?ref=b&source=c&id=utm_source",
            "http://a.example/utm_source=b",
            "http://a.example/?",
            "http://a.example/?utm=1",
            "http://a.example/?s_cid=1&spm=2",
            "mailto:joe@a.example?utm_source=b",
        ] {
            assert_eq!(clean_key(key), key);
        }
    }

    #[test]
    fn each_parameter_is_in_the_table_once() {
        let names = &*PARAMETERS;
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].contains(name), "{name}");
            let name = name.replace('*', "x");
            assert!(
                is_tracking(&name) && is_tracking(&format!("{name}=1")),
                "{name}"
            );
        }
    }
}

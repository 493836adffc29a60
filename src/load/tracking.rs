//! Keys of URLs without the parameters that count visitors and campaigns: links that were shared in
//! different ways have the same.

use std::borrow::Cow;

/// A parameter that has no effect on the page.
struct TrackingParameter {
    /// The name; a final `*` stands for any letters.
    name: &'static str,
    /// A page or a report that names it.
    #[expect(dead_code, reason = "it is the reason for the row")]
    source: &'static str,
}

const fn parameter(name: &'static str, source: &'static str) -> TrackingParameter {
    TrackingParameter { name, source }
}

/// The parameters. Those of one word that sites use for pages too, such as `ref` and `source`, are
/// not among them.
#[rustfmt::skip]
static PARAMETERS: &[TrackingParameter] = &[
    parameter("utm_*", "Google Analytics Help, answer 10917952: URL builders"),
    parameter("fbclid", "Brave's query filter: brave-browser report 4239"),
    parameter("gclid", "Brave's query filter: brave-browser report 4239"),
    parameter("msclkid", "Brave's query filter: brave-browser report 4239"),
    parameter("mc_eid", "Brave's query filter: brave-browser report 4239"),
    parameter("dclid", "Brave's query filter: brave-browser report 9879"),
    parameter("gbraid", "Brave's query filter: brave-browser report 18758"),
    parameter("wbraid", "Brave's query filter: brave-browser report 18758"),
    parameter("twclid", "Brave's query filter: brave-browser report 18020"),
    parameter("igshid", "Brave's query filter: brave-browser report 11580"),
    parameter("yclid", "Brave's query filter: brave-browser report 11578"),
    parameter("_openstat", "Brave's query filter: brave-browser report 11579"),
    parameter("_hsenc", "Brave's query filter: brave-browser report 9019"),
    parameter("__hssc", "Brave's query filter: brave-browser report 9019"),
    parameter("__hstc", "Brave's query filter: brave-browser report 9019"),
    parameter("__hsfp", "Brave's query filter: brave-browser report 9019"),
    parameter("hsCtaTracking", "Brave's query filter: brave-browser report 9019"),
    parameter("mkt_tok", "Brave's query filter: brave-browser report 9018"),
    parameter("oly_anon_id", "Brave's query filter: brave-browser report 13644"),
    parameter("oly_enc_id", "Brave's query filter: brave-browser report 13644"),
    parameter("vero_id", "Brave's query filter: brave-browser report 11817"),
    parameter("vero_conv", "Brave's query filter: brave-browser report 11817"),
    parameter("__s", "Brave's query filter: brave-browser report 8975"),
    parameter("wickedid", "Brave's query filter: brave-browser report 13647"),
    parameter("ml_subscriber", "Brave's query filter: brave-browser report 17507"),
    parameter("ml_subscriber_hash", "Brave's query filter: brave-browser report 17507"),
    parameter("oft_id", "Brave's query filter: brave-browser report 22082"),
    parameter("oft_k", "Brave's query filter: brave-browser report 22082"),
    parameter("oft_lk", "Brave's query filter: brave-browser report 22082"),
    parameter("oft_d", "Brave's query filter: brave-browser report 22082"),
    parameter("oft_c", "Brave's query filter: brave-browser report 22082"),
    parameter("oft_ck", "Brave's query filter: brave-browser report 22082"),
    parameter("oft_ids", "Brave's query filter: brave-browser report 22082"),
    parameter("oft_sk", "Brave's query filter: brave-browser report 22082"),
    parameter("gclsrc", "DandelionSprout/adfilt: LegitimateURLShortener.txt"),
    parameter("mc_cid", "DandelionSprout/adfilt: LegitimateURLShortener.txt"),
    parameter("srsltid", "DandelionSprout/adfilt: LegitimateURLShortener.txt"),
    parameter("vgo_ee", "DandelionSprout/adfilt: LegitimateURLShortener.txt"),
    parameter("ysclid", "DandelionSprout/adfilt: LegitimateURLShortener.txt"),
    parameter("_ga", "Google's guide to analytics.js: linker plugin"),
    parameter("_gl", "Google Analytics Help, answer 10071811: cross-domain measurement"),
    parameter("_hsmi", "Brave's query filter: brave-browser report 9019"),
    parameter("ttclid", "TikTok Business Help Center: About TikTok Click ID"),
    parameter("li_fat_id", "LinkedIn Marketing API: enabling first-party cookies"),
    parameter("ck_subscriber_id", "ConvertKit/convertkit-wordpress: class-convertkit-subscriber.php"),
    parameter("elqTrackId", "Oracle Eloqua Help: Oracle Eloqua tracking parameters"),
    parameter("elqTrack", "Oracle Eloqua Help: Oracle Eloqua tracking parameters"),
    parameter("pk_campaign", "matomo-org/matomo: config/global.ini.php"),
    parameter("pk_kwd", "matomo-org/matomo: config/global.ini.php"),
    parameter("pk_keyword", "matomo-org/matomo: config/global.ini.php"),
    parameter("piwik_campaign", "matomo-org/matomo: config/global.ini.php"),
    parameter("piwik_kwd", "matomo-org/matomo: config/global.ini.php"),
    parameter("matomo_campaign", "matomo-org/matomo: config/global.ini.php"),
    parameter("matomo_kwd", "matomo-org/matomo: config/global.ini.php"),
    parameter("mtm_*", "Matomo FAQ: how to manually build campaign tracking URLs"),
];

/// Returns the key of a URL of the web without the parameters of its query that [`PARAMETERS`] has,
/// and without the `?` if no other is left. Other keys stay as they are. Linear.
pub(crate) fn clean_key(key: &str) -> Cow<'_, str> {
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

/// Returns `true` for the text between two `&` of a query if its name is one of the table. Text that
/// was HTML has `&amp;` for each `&`.
fn is_tracking(text: &str) -> bool {
    let text = text.strip_prefix("amp;").unwrap_or(text);
    let name = text.split('=').next().unwrap_or(text);
    PARAMETERS
        .iter()
        .any(|row| match row.name.strip_suffix('*') {
            Some(start) => name
                .get(..start.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(start)),
            None => name.eq_ignore_ascii_case(row.name),
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
        for (index, row) in PARAMETERS.iter().enumerate() {
            let is_same = |other: &TrackingParameter| other.name == row.name;
            assert!(!PARAMETERS[..index].iter().any(is_same), "{}", row.name);
            let name = row.name.replace('*', "x");
            assert!(
                is_tracking(&name) && is_tracking(&format!("{name}=1")),
                "{name}"
            );
        }
    }
}

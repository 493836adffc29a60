//! Keys of URLs without the parameters that count visitors and campaigns. Links that were shared in
//! different ways get the same clean key.

use std::borrow::Cow;

/// Parameters that do not change the page, each with the page or report that documents it. A
/// trailing `*` matches any suffix. Common words that sites also use to select pages, such as `ref`
/// and `source`, are left out.
#[rustfmt::skip]
static PARAMETERS: &[(&str, &[&str])] = &[
    ("Google Analytics Help, answer 10917952: URL builders", &["utm_*"]),
    ("Brave's query filter: brave-browser report 4239", &["fbclid", "gclid", "msclkid", "mc_eid"]),
    ("Brave's query filter: brave-browser report 9879", &["dclid"]),
    ("Brave's query filter: brave-browser report 18758", &["gbraid", "wbraid"]),
    ("Brave's query filter: brave-browser report 18020", &["twclid"]),
    ("Brave's query filter: brave-browser report 11580", &["igshid"]),
    ("Brave's query filter: brave-browser report 11578", &["yclid"]),
    ("Brave's query filter: brave-browser report 11579", &["_openstat"]),
    ("Brave's query filter: brave-browser report 9019",
        &["_hsenc", "__hssc", "__hstc", "__hsfp", "hsCtaTracking", "_hsmi"]),
    ("Brave's query filter: brave-browser report 9018", &["mkt_tok"]),
    ("Brave's query filter: brave-browser report 13644", &["oly_anon_id", "oly_enc_id"]),
    ("Brave's query filter: brave-browser report 11817", &["vero_id", "vero_conv"]),
    ("Brave's query filter: brave-browser report 8975", &["__s"]),
    ("Brave's query filter: brave-browser report 13647", &["wickedid"]),
    ("Brave's query filter: brave-browser report 17507", &["ml_subscriber", "ml_subscriber_hash"]),
    ("Brave's query filter: brave-browser report 22082",
        &["oft_id", "oft_k", "oft_lk", "oft_d", "oft_c", "oft_ck", "oft_ids", "oft_sk"]),
    ("DandelionSprout/adfilt: LegitimateURLShortener.txt",
        &["gclsrc", "mc_cid", "srsltid", "vgo_ee", "ysclid"]),
    ("Google's guide to analytics.js: linker plugin", &["_ga"]),
    ("Google Analytics Help, answer 10071811: cross-domain measurement", &["_gl"]),
    ("TikTok Business Help Center: About TikTok Click ID", &["ttclid"]),
    ("LinkedIn Marketing API: enabling first-party cookies", &["li_fat_id"]),
    ("ConvertKit/convertkit-wordpress: class-convertkit-subscriber.php", &["ck_subscriber_id"]),
    ("Oracle Eloqua Help: Oracle Eloqua tracking parameters", &["elqTrackId", "elqTrack"]),
    ("matomo-org/matomo: config/global.ini.php",
        &["pk_campaign", "pk_kwd", "pk_keyword", "piwik_campaign", "piwik_kwd", "matomo_campaign",
        "matomo_kwd"]),
    ("Matomo FAQ: how to manually build campaign tracking URLs", &["mtm_*"]),
];

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
    let mut known = PARAMETERS.iter().flat_map(|(_, names)| *names);
    known.any(|known| match known.strip_suffix('*') {
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
        let names: Vec<_> = PARAMETERS.iter().flat_map(|(_, names)| *names).collect();
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

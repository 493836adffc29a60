//! urlspool.toml(5), from the comments of the default configuration.

use super::roff::RoffPage;
use crate::config::Config;

/// The page of the configuration file.
pub(super) fn config_page() -> String {
    let mut page = RoffPage::of_format("urlspool.toml", "the configuration of urlspool");
    page.section("description");
    page.paragraph(
        "A file in TOML. `urlspool watch --config FILE` and `urlspool status --config FILE` read it, and `urlspool scan \
         --config FILE` reads its tables [extract] and [limits]. Unknown keys are errors.",
    );
    let mut comments = Vec::new();
    for line in Config::commented_default().lines() {
        match ConfigLine::of(line) {
            ConfigLine::Comment(text) => comments.push(text),
            ConfigLine::Table(name) => {
                page.named_section(name);
                paragraph(&mut page, &mut comments);
            }
            ConfigLine::Key { key, value } => {
                page.term(key, &format!("= {value}"), &comments.join("\n"));
                comments.clear();
            }
            ConfigLine::Blank => paragraph(&mut page, &mut comments),
        }
    }
    page.section("files");
    page.paragraph(
        "Without --config, `urlspool watch`, `urlspool status` and `urlspool check-config` read the file that \
         URLSPOOL_CONFIG names, or the first that exists of $XDG_CONFIG_HOME/urlspool/urlspool.toml \
         (~/.config/urlspool/urlspool.toml) and /etc/urlspool/urlspool.toml. `urlspool scan` reads only the file of \
         --config or URLSPOOL_CONFIG.",
    );
    page.section("examples");
    page.verbatim(
        "urlspool check-config --default > urlspool.toml\nurlspool check-config urlspool.toml",
    );
    page.section("see also");
    page.paragraph("urlspool(1), urlspool-watch(1), urlspool-scan(1), urlspool-check-config(1)");
    page.finish()
}

fn paragraph(page: &mut RoffPage, comments: &mut Vec<&str>) {
    if !comments.is_empty() {
        page.paragraph(&comments.join("\n"));
        comments.clear();
    }
}

/// One line of the default configuration.
enum ConfigLine<'l> {
    Comment(&'l str),
    /// The header of a table.
    Table(&'l str),
    /// A key and its default.
    Key {
        key: &'l str,
        value: &'l str,
    },
    Blank,
}

impl ConfigLine<'_> {
    /// Reads a line. A table without a default, and its keys, stand in comments.
    fn of(line: &str) -> ConfigLine<'_> {
        let comment = line.strip_prefix('#');
        if let Some(("", example)) = comment.and_then(|text| text.split_once("   ")) {
            return ConfigLine::key(example, "=");
        }
        match comment.map(str::trim_start) {
            Some(text) if text.starts_with("[[") => ConfigLine::Table(text),
            Some(text) => ConfigLine::Comment(text),
            None if line.is_empty() => ConfigLine::Blank,
            None if line.starts_with('[') => ConfigLine::Table(line),
            None => ConfigLine::key(line, " = "),
        }
    }

    fn key<'l>(line: &'l str, equals: &str) -> ConfigLine<'l> {
        let (key, value) = line.split_once(equals).unwrap_or((line, ""));
        ConfigLine::Key { key, value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn every_key_is_described() {
        let page = config_page();
        for key in ["dir", "seal_bytes", "kind", "dedupe", "rules", "html"] {
            assert!(page.contains(&format!(".TP\n\\fB{key}\\fR = ")), "{key}");
        }
        for limit in Limits::ALL {
            assert!(
                page.contains(&format!("\\fB{}\\fR", limit.name)),
                "{}",
                limit.name
            );
        }
        assert!(page.contains(".SH \"[[spool]]\""));
        assert!(!page.contains("\\fR = \n"));
    }
}

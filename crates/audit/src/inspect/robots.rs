//! robots.txt rules (RFC 9309) for this program.
//!
//! Implemented here because existing crates need a regular expression per rule or are unmaintained.

use urlspool_text::grammar::escaped_byte;
use urlspool_text::limits::INSPECT_ROBOTS_RULES;

/// Product token by which groups name this program.
const TOKEN: &str = "urlspool";

/// A rule that applies to this program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    is_allowed: bool,
    /// Normalized by [`comparable_pattern`]. Starts with `/` or `*`. `*` matches any characters,
    /// and a final `$` matches the end.
    pattern: String,
}

/// A host's rules for this program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Robots {
    rules: Vec<Rule>,
}

impl Robots {
    /// Parses the groups for this program or, if there are none, the groups for all programs
    /// (section 2.2.1).
    pub(super) fn parse(text: &[u8]) -> Robots {
        let text = String::from_utf8_lossy(text);
        let (mut named, mut general) = (Vec::new(), Vec::new());
        let (mut is_named, mut is_general, mut is_in_rules) = (false, false, true);
        let mut has_named = false;
        // A line may end with CR alone (section 2.2).
        for line in text.trim_start_matches('\u{feff}').split(['\n', '\r']) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((field, value)) = line.split_once(':') else {
                continue;
            };
            let (field, value) = (field.trim().to_ascii_lowercase(), value.trim());
            let is_allowed = match field.as_str() {
                "user-agent" => {
                    if is_in_rules {
                        (is_named, is_general, is_in_rules) = (false, false, false);
                    }
                    is_named |= is_token(value);
                    has_named |= is_named;
                    is_general |= value == "*";
                    continue;
                }
                "allow" => true,
                "disallow" => false,
                _ => continue,
            };
            is_in_rules = true;
            if !value.starts_with(['/', '*']) {
                continue;
            }
            let rule = Rule {
                is_allowed,
                pattern: comparable_pattern(value),
            };
            for (is_ours, rules) in [(is_named, &mut named), (is_general, &mut general)] {
                if is_ours && rules.len() < INSPECT_ROBOTS_RULES {
                    rules.push(rule.clone());
                }
            }
        }
        Robots {
            rules: if has_named { named } else { general },
        }
    }

    /// Returns the rules as a group for all programs, which [`Robots::parse`] can read.
    pub(super) fn text(&self) -> String {
        let mut text = "User-agent: *\n".to_owned();
        for rule in &self.rules {
            let field = if rule.is_allowed { "Allow" } else { "Disallow" };
            text += &format!("{field}: {}\n", rule.pattern);
        }
        text
    }

    /// Returns `true` if a path with its query may be requested. The longest matching rule applies;
    /// of equally long rules, the one that allows (section 2.2.2).
    pub(super) fn allows(&self, path: &str) -> bool {
        let path = comparable(path).replace('*', "%2A").replace('$', "%24");
        let matching = self
            .rules
            .iter()
            .filter(|rule| matches(&rule.pattern, &path));
        let strongest = matching.max_by_key(|rule| (rule.pattern.len(), rule.is_allowed));
        strongest.is_none_or(|rule| rule.is_allowed)
    }
}

/// Returns `true` for this program's name, with or without a version.
fn is_token(value: &str) -> bool {
    let name = value.split(['/', ' ']).next().unwrap_or_default();
    name.eq_ignore_ascii_case(TOKEN)
}

/// Normalizes a path or pattern for comparison (section 2.2.2): decodes escapes of unreserved
/// characters, and escapes bytes that cannot occur in a URL.
fn comparable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, is_plain) = match escaped_byte(rest) {
            Some(byte) => {
                rest = &rest[3..];
                (
                    byte,
                    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte),
                )
            }
            None => {
                rest = after;
                (
                    first,
                    first.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&first),
                )
            }
        };
        if is_plain {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

/// Normalizes a pattern. `$` is a literal unless it is last.
fn comparable_pattern(pattern: &str) -> String {
    match pattern.strip_suffix('$') {
        Some(start) => comparable(start).replace('$', "%24") + "$",
        None => comparable(pattern).replace('$', "%24"),
    }
}

/// Matches from the start. Each piece between `*` is searched for after the previous one. The first
/// occurrence is sufficient because it leaves the most text for the others.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        last = Some(piece);
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    match last {
        _ if !is_whole => true,
        None => rest.is_empty(),
        Some(piece) => {
            rest.is_empty() || first.len() + piece.len() <= path.len() && path.ends_with(piece)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, path: &str, expected: bool) {
        let robots = Robots::parse(text.as_bytes());
        assert_eq!(robots.allows(path), expected, "{text:?} {path}");
        let again = Robots::parse(robots.text().as_bytes());
        assert_eq!(again, robots, "{text:?}");
    }

    #[test]
    fn the_longest_rule_of_this_programs_group_applies() {
        let text = "User-agent: a\nUser-Agent: URLspool/1\nDisallow: /x # no\nAllow: /x/y\n\n\
                    User-agent: *\nDisallow: /";
        check(text, "/x", false);
        check(text, "/x/y/z", true);
        check(text, "/other", true);
        check("User-agent: *\nDisallow: /a\nAllow: /a", "/a", true);
        check("User-agent: *\nDisallow:", "/a", true);
        check("User-agent: b\nDisallow: /", "/a", true);
        check("Disallow: /", "/a", true);
        check(
            "User-agent: urlspool\nCrawl-delay: 1\n\nUser-agent: *\nDisallow: /",
            "/a",
            false,
        );
        check("\u{feff}user-agent:*\r\ndisallow:/a\r\n", "/ab", false);
        check("", "/", true);
    }

    #[test]
    fn patterns_support_stars_and_an_end_marker() {
        for (pattern, path, expected) in [
            ("/*.gif$", "/a/b.gif", false),
            ("/*.gif$", "/a/b.gif?x", true),
            ("/*.gif$", "/a.gif/b.gif", false),
            ("/a$", "/a", false),
            ("/a$", "/ab", true),
            ("*x*y", "/axby", false),
            ("*x*y", "/ay", true),
            ("/a*", "/a", false),
            ("/a*$", "/abc", false),
        ] {
            check(
                &format!("User-agent: *\nDisallow: {pattern}"),
                path,
                expected,
            );
        }
    }

    #[test]
    fn escapes_are_normalized_before_comparison() {
        for (pattern, path, expected) in [
            ("/\u{fc}ber", "/%C3%BCber/x", false),
            ("/%c3%bcber", "/%C3%BCber", false),
            ("/%7euser", "/~user", false),
            ("/~user", "/%7Euser", false),
            ("/a b", "/a%20b", false),
            ("/{x}", "/%7Bx%7D", false),
            ("/%2F", "//", true),
            ("/a%2A", "/abc", true),
            ("/a%2A", "/a*b", false),
            ("/a%24", "/a$", false),
            ("/a$b", "/a$b", false),
            ("/a$b$", "/a%24bc", true),
            ("/%257e", "/~", true),
        ] {
            check(
                &format!("User-agent: *\nDisallow: {pattern}"),
                path,
                expected,
            );
        }
    }

    #[test]
    fn lines_may_end_with_cr_alone() {
        check("User-agent: *\rDisallow: /a\r", "/a", false);
        check("User-agent: *\r\n\r\nDisallow: /a", "/a", false);
    }

    #[test]
    fn the_number_of_rules_is_limited() {
        let many = format!(
            "User-agent: *\n{}",
            "Disallow: /x\n".repeat(INSPECT_ROBOTS_RULES + 9)
        );
        assert_eq!(
            Robots::parse(many.as_bytes()).rules.len(),
            INSPECT_ROBOTS_RULES
        );
    }
}

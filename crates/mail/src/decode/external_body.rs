//! External bodies: converts the parameters of `message/external-body` (RFC 2046 section 5.2.3, RFC
//! 2017) to a URL.
//!
//! The part's header and its own text are read like in any other part.

use std::borrow::Cow;

use super::header::HeaderFields;
use urlspool_text::grammar::encode;
use urlspool_text::span::Span;

/// Media type of a part with an external body.
pub(super) const EXTERNAL_BODY: &str = "message/external-body";

/// Returns the URL of the external body named by a header, and the range of the field's value. The
/// header's fields are ranges of `raw`. Returns `None` if the access type has no URL (`local-file`,
/// `afs`, unregistered types).
///
/// # Errors
///
/// Returns the names of missing parameters that the URL needs.
pub(super) fn external_body(
    raw: &[u8],
    fields: &HeaderFields,
) -> Option<(Span, Result<String, &'static str>)> {
    let mut types = fields.content_types(raw);
    let (field, content) =
        types.find(|(_, content)| content.mimetype.eq_ignore_ascii_case(EXTERNAL_BODY))?;
    let parameter = |name: &str| {
        let text = content.params.get(name).map(|text| text.trim());
        text.filter(|text| !text.is_empty())
    };
    let access_type = parameter("access-type")?.to_ascii_lowercase();
    let (url, names) = match access_type.as_str() {
        "url" => (parameter("url").map(without_white_space), "url"),
        "anon-ftp" | "ftp" | "tftp" => {
            let file = parameter("site").zip(parameter("name"));
            let url = file
                .map(|(site, name)| ftp_url(site, parameter("directory"), name, parameter("mode")));
            (url, "site or name")
        }
        "mail-server" => {
            let url = parameter("server").map(|server| format!("mailto:{}", escaped(server, "@")));
            (url, "server")
        }
        _ => return None,
    };
    Some((field.value, url.ok_or(names)))
}

/// Removes white space, which mailers insert into long parameters (RFC 2017 section 3).
fn without_white_space(text: &str) -> String {
    text.split_ascii_whitespace().collect()
}

/// Returns the URL of a file on an FTP server (RFC 1738 section 3.2.2).
///
/// Each directory is a path component. A path from the server's root starts with an encoded slash;
/// without it, the path would be relative to the login directory. Only the modes `image` and
/// `ascii` have a type code.
fn ftp_url(site: &str, directory: Option<&str>, name: &str, mode: Option<&str>) -> String {
    let path = match directory {
        Some(directory) if !name.starts_with('/') => Cow::Owned(format!("{directory}/{name}")),
        _ => Cow::Borrowed(name),
    };
    let root = if path.starts_with('/') { "%2F" } else { "" };
    let components = path.split('/').filter(|component| !component.is_empty());
    let components: Vec<_> = components
        .map(|component| escaped(component, "?:@&="))
        .collect();
    let mode = mode.map(str::to_ascii_lowercase);
    let type_code = match mode.as_deref() {
        Some("image" | "octet") => ";type=i",
        Some("ascii" | "netascii") => ";type=a",
        _ => "",
    };
    let site = without_white_space(site);
    format!("ftp://{site}/{root}{}{type_code}", components.join("/"))
}

/// Percent-encodes the bytes of `text` that are neither `uchar` of RFC 1738 section 5 nor in
/// `also`. Encodes `%` too, because file names hold no escapes.
fn escaped(text: &str, also: &str) -> String {
    encode(text.as_bytes(), |byte| {
        byte.is_ascii_alphanumeric()
            || b"$-_.+!*'(),".contains(&byte)
            || also.as_bytes().contains(&byte)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the URL of a content type, or the missing parameters.
    fn url(content_type: &str) -> Option<Result<String, &'static str>> {
        let raw = format!("Subject: s\nContent-Type: {content_type}\n\n");
        let fields = HeaderFields::of(raw.as_bytes(), usize::MAX);
        let (range, url) = external_body(raw.as_bytes(), &fields)?;
        assert_eq!(range.of(raw.as_bytes()), content_type.as_bytes());
        Some(url)
    }

    #[track_caller]
    fn check(parameters: &str, expected: &str) {
        let found = url(&format!("Message/External-Body; {parameters}"));
        assert_eq!(found, Some(Ok(expected.to_owned())), "{parameters}");
    }

    #[test]
    fn a_url_loses_its_white_space() {
        check(
            "access-type=URL;\n URL=\"http://a.example/long\n   /path/x.txt\"",
            "http://a.example/long/path/x.txt",
        );
        check(
            "access-type=url; url=\" ftp://a.example/x\"",
            "ftp://a.example/x",
        );
    }

    #[test]
    fn continued_parameters_are_joined() {
        // RFC 2231 section 3.
        check(
            "access-type=URL;\n URL*0=\"ftp://\";\n URL*1=\"a.example/pub/x.tar\"",
            "ftp://a.example/pub/x.tar",
        );
    }

    #[test]
    fn files_on_ftp_servers_have_urls() {
        let file = "name=\"draft-x-00.txt\"; site=ftp.a.example; directory=drafts";
        for (parameters, end) in [
            ("access-type=anon-ftp", ""),
            ("access-type=ANON-FTP; mode=\"image\"", ";type=i"),
            ("access-type=ftp; mode=ASCII", ";type=a"),
            ("access-type=tftp; mode=octet", ";type=i"),
            ("access-type=anon-ftp; mode=local8", ""),
        ] {
            let url = format!("ftp://ftp.a.example/drafts/draft-x-00.txt{end}");
            check(&format!("{parameters}; {file}"), &url);
        }
    }

    #[test]
    fn directories_are_components() {
        let ftp = "access-type=anon-ftp; site=a.example";
        check(&format!("{ftp}; name=x"), "ftp://a.example/x");
        check(
            &format!("{ftp}; name=x; directory=\"/pub/y/\""),
            "ftp://a.example/%2Fpub/y/x",
        );
        check(
            &format!("{ftp}; name=\"/pub/x\"; directory=z"),
            "ftp://a.example/%2Fpub/x",
        );
        check(
            &format!("{ftp}; name=\"100% of it;1.txt\"; directory=\"a b/c#d\""),
            "ftp://a.example/a%20b/c%23d/100%25%20of%20it%3B1.txt",
        );
    }

    #[test]
    fn a_mail_server_has_an_address() {
        check(
            "access-type=mail-server; server=\"archive@a.example\"; subject=\"get x\"",
            "mailto:archive@a.example",
        );
    }

    #[test]
    fn missing_parameters_are_named() {
        for (parameters, expected) in [
            ("access-type=URL", Some(Err("url"))),
            ("access-type=URL; url=\"  \"", Some(Err("url"))),
            ("access-type=anon-ftp; site=a", Some(Err("site or name"))),
            ("access-type=anon-ftp; name=x", Some(Err("site or name"))),
            ("access-type=mail-server", Some(Err("server"))),
            ("access-type=local-file; name=\"/etc/motd\"", None),
            ("name=x", None),
        ] {
            let found = url(&format!("message/external-body; {parameters}"));
            assert_eq!(found, expected, "{parameters}");
        }
        assert_eq!(url("text/plain; access-type=URL; url=\"http://a.b\""), None);
    }
}

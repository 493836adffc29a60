//! The answers of lychee, in its JSON (`--format json -v`), versions 0.15 to 0.24.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::state::{CheckFailure, CheckOutcome};

/// The answer of a checker for one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The link as it was given to the checker.
    pub(super) url: String,
    /// The URL that was asked for: another one if the checker was told to map URLs.
    pub(super) asked_url: String,
    pub(super) outcome: CheckOutcome,
    /// The URL at the end of redirects; `None` without any.
    pub(super) final_url: Option<String>,
}

/// The output of lychee. Of its maps only these hold answers; each is by the input that the link
/// stands in.
#[derive(Debug, Deserialize)]
struct LycheeOutput {
    #[serde(rename = "success_map")]
    successes: AnswersByInput,
    #[serde(rename = "error_map", alias = "fail_map")]
    errors: AnswersByInput,
    #[serde(rename = "timeout_map", default)]
    timeouts: AnswersByInput,
    #[serde(rename = "excluded_map")]
    excluded: AnswersByInput,
}

type AnswersByInput = BTreeMap<String, Vec<Body>>;

#[derive(Debug, Deserialize)]
struct Body {
    url: String,
    status: LycheeStatus,
    redirects: Option<Redirects>,
    remap: Option<Remap>,
}

#[derive(Debug, Deserialize)]
struct LycheeStatus {
    #[serde(default)]
    text: String,
    code: Option<u16>,
}

#[derive(Debug, Deserialize)]
struct Redirects {
    redirects: Vec<LycheeUrl>,
}

#[derive(Debug, Deserialize)]
struct Remap {
    original: LycheeUrl,
}

#[derive(Debug, Deserialize)]
struct LycheeUrl {
    url: String,
}

/// Reads the output of lychee.
///
/// # Errors
///
/// It is no such output, or does not name successes: lychee lists them with `-v` only.
pub(super) fn lychee_answers(json: &[u8]) -> Result<Vec<Answer>, serde_json::Error> {
    let output: LycheeOutput = serde_json::from_slice(json)?;
    let mut answers = Vec::new();
    for (map, failure) in [
        (output.successes, None),
        (output.errors, None),
        (output.timeouts, Some(CheckFailure::Timeout)),
        (output.excluded, Some(CheckFailure::Excluded)),
    ] {
        let bodies = map.into_values().flatten();
        answers.extend(bodies.map(|body| answer(body, failure)));
    }
    Ok(answers)
}

/// Returns the answer in `body`, which stands in a map of failures of one kind, or in another map.
fn answer(body: Body, of_map: Option<CheckFailure>) -> Answer {
    let last = body
        .redirects
        .and_then(|list| list.redirects.into_iter().next_back());
    let last_url = last.as_ref().map_or(&body.url, |redirect| &redirect.url);
    let outcome = match (body.status.code, of_map) {
        (_, Some(CheckFailure::Excluded)) => CheckOutcome::Failed(CheckFailure::Excluded),
        (Some(code), _) => CheckOutcome::Status(code),
        (None, Some(failure)) => CheckOutcome::Failed(failure),
        (None, None) => {
            CheckOutcome::Failed(failure(&body.status.text, last_url.starts_with("https:")))
        }
    };
    Answer {
        url: body
            .remap
            .map_or_else(|| body.url.clone(), |remap| remap.original.url),
        asked_url: body.url,
        outcome,
        final_url: last.map(|redirect| redirect.url),
    }
}

/// The kind of a failure, by lychee's words. A name service or a network that fails on this side
/// proves nothing.
fn failure(text: &str, is_https: bool) -> CheckFailure {
    let holds = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if holds(&["DNS temporarily unavailable", "etwork unreachable"]) {
        CheckFailure::Other
    } else if holds(&["timed out", "Timeout"]) {
        CheckFailure::Timeout
    } else if holds(&["DNS", "dns error"]) {
        CheckFailure::Dns
    } else if holds(&["TLS", "SSL", "certificate", "corrupt message", "handshake"]) {
        CheckFailure::Tls
    } else if is_https && holds(&["Invalid response data"]) {
        // A certificate that is not accepted, and an answer without TLS, if the checker uses a
        // proxy.
        CheckFailure::Tls
    } else if holds(&["onnection refused", "No route to host", "HostUnreachable"]) {
        CheckFailure::Connect
    } else {
        // "Connection failed" is one that a server closed during its handshake, too.
        CheckFailure::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(map: &str, body: &str, expected: (&str, CheckOutcome, Option<&str>)) {
        let maps = ["success_map", "error_map", "timeout_map", "excluded_map"];
        let maps = maps.map(|name| {
            let bodies = if name == map {
                format!("\"l.html\":[{body}]")
            } else {
                String::new()
            };
            format!("\"{name}\":{{{bodies}}}")
        });
        let json = format!("{{\"total\":1,{},\"duration\":1}}", maps.join(","));
        let answers = lychee_answers(json.as_bytes()).unwrap();
        let [answer] = &answers[..] else {
            panic!("{answers:?}")
        };
        let found = (
            answer.url.as_str(),
            answer.outcome,
            answer.final_url.as_deref(),
        );
        assert_eq!(found, expected);
    }

    #[test]
    fn a_code_counts_in_any_map() {
        for (map, code) in [
            ("success_map", 200),
            ("error_map", 404),
            ("timeout_map", 504),
        ] {
            let body = format!(r#"{{"url":"http://h/","status":{{"text":"x","code":{code}}}}}"#);
            check(map, &body, ("http://h/", CheckOutcome::Status(code), None));
        }
    }

    #[test]
    fn redirects_end_at_the_last_one() {
        let body = r#"{"url":"http://h/","status":{"text":"200 OK","code":200},
            "redirects":{"origin":"http://h/","redirects":[{"url":"http://i/","code":301},{"url":"http://j/","code":302}]}}"#;
        let expected = ("http://h/", CheckOutcome::Status(200), Some("http://j/"));
        check("success_map", body, expected);
    }

    #[test]
    fn a_mapped_link_is_known_by_its_own_url() {
        let body = r#"{"url":"http://127.0.0.1/h/","status":{"text":"200 OK","code":200},
            "remap":{"original":{"url":"http://h/"},"new":{"url":"http://127.0.0.1/h/"}}}"#;
        check(
            "success_map",
            body,
            ("http://h/", CheckOutcome::Status(200), None),
        );
    }

    #[test]
    fn words_of_errors_give_their_kind() {
        for (text, expected) in [
            (
                "Network error: DNS resolution failed. Check hostname",
                CheckFailure::Dns,
            ),
            (
                "Network error: DNS temporarily unavailable. Try again later",
                CheckFailure::Other,
            ),
            (
                "Network error: Connection refused - server may be down",
                CheckFailure::Connect,
            ),
            (
                "Network error: I/O error (HostUnreachable). Check network",
                CheckFailure::Connect,
            ),
            (
                "Network error: Connection failed. Check network",
                CheckFailure::Other,
            ),
            (
                "Network error: No route to host. Check network routing",
                CheckFailure::Connect,
            ),
            (
                "Network error: Network unreachable. Check internet",
                CheckFailure::Other,
            ),
            ("Network error: SSL certificate expired.", CheckFailure::Tls),
            (
                "Network error: received corrupt message of type X",
                CheckFailure::Tls,
            ),
            (
                "Network error: Connection reset by server.",
                CheckFailure::Other,
            ),
            ("Too many redirects", CheckFailure::Other),
        ] {
            let body = format!(r#"{{"url":"http://h/","status":{{"text":"{text}"}}}}"#);
            let outcome = CheckOutcome::Failed(expected);
            check("error_map", &body, ("http://h/", outcome, None));
        }
        let body = r#"{"url":"http://h/","status":{"text":"Timeout","details":"x"}}"#;
        let outcome = CheckOutcome::Failed(CheckFailure::Timeout);
        check("timeout_map", body, ("http://h/", outcome, None));
        let outcome = CheckOutcome::Failed(CheckFailure::Excluded);
        check("excluded_map", body, ("http://h/", outcome, None));
    }

    #[test]
    fn malformed_data_under_https_are_a_failure_of_tls() {
        let text = "Network error: Invalid response data. Server sent malformed response";
        for (url, expected) in [
            ("http://h/", CheckFailure::Other),
            ("https://h/", CheckFailure::Tls),
        ] {
            let body = format!(r#"{{"url":"{url}","status":{{"text":"{text}"}}}}"#);
            check(
                "error_map",
                &body,
                (url, CheckOutcome::Failed(expected), None),
            );
        }
    }

    #[test]
    fn other_json_is_refused() {
        for json in ["", "[]", "{}", "{\"success_map\":{}}"] {
            assert!(lychee_answers(json.as_bytes()).is_err(), "{json}");
        }
    }
}

//! Tests of the properties of tokens.

use super::*;

fn token(all: &str) -> ContinuationToken<'_> {
    ContinuationToken::new(all.as_bytes()).unwrap()
}

/// The members of `tokens` for which `is` returns `true`.
fn which<'t>(tokens: &'t str, is: impl Fn(&ContinuationToken<'t>) -> bool) -> String {
    tokens
        .split(' ')
        .filter(|all| is(&token(all)))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_scheme_before_the_path_begins_a_url() {
    let tokens = "x://y xx-://y WWW.x url:x x:y /x://y x?y=z://a newsx";
    assert_eq!(
        which(tokens, ContinuationToken::begins_url),
        "x://y xx-://y WWW.x url:x"
    );
}

#[test]
fn a_query_begins_with_what_only_continues_a_url() {
    let tokens = "?x ?(x &x =% =x %4F %4 %4g #x.y #x/y .html ..html .html5 .HTML .Z .z ...html";
    assert_eq!(
        which(tokens, ContinuationToken::begins_query),
        "?x &x =% =x %4F #x.y .html ..html .Z"
    );
}

#[test]
fn a_path_begins_with_its_punctuation() {
    let tokens = "/x /. _x ~% .x ./ -x -x.y -x/ -/x.y x/y";
    assert_eq!(
        which(tokens, ContinuationToken::begins_path),
        "/x /. _x ~% .x -x.y"
    );
}

#[test]
fn labels_capitals_and_stop_words_are_prose() {
    assert_eq!(
        which(
            "Re:x Re-x:y Re: re:x 8:x x_y:z",
            ContinuationToken::is_labelled
        ),
        "Re:x Re-x:y re:x"
    );
    assert_eq!(
        which(
            "Mary O'Hara Mary-Jane X x X1 X- Mary-.",
            ContinuationToken::is_capitalized
        ),
        "Mary O'Hara Mary-Jane X"
    );
    assert_eq!(
        which("the The, a thee", ContinuationToken::is_stop_word),
        "the The,"
    );
}

#[test]
fn mail_addresses_and_telephone_numbers_are_addresses() {
    let mail = "joe@a.example j.o+e@a.b.example, joe[at]a.example joe@a @a.example joe@.example";
    assert_eq!(
        which(mail, ContinuationToken::is_address),
        "joe@a.example j.o+e@a.b.example, joe[at]a.example"
    );
    assert_eq!(
        which(
            "+1-234-567.8 (12)34567 1234-567 +12345678",
            ContinuationToken::is_address
        ),
        "+1-234-567.8 (12)34567"
    );
}

#[test]
fn a_host_is_in_a_known_domain() {
    let tokens = "a.com A.COM/x a.b-c.org:80 a.org:80/x a.org:x a.org:8x a.example com .com a..com a.com.x a.com?x";
    assert_eq!(
        which(tokens, ContinuationToken::begins_host),
        "a.com A.COM/x a.b-c.org:80 a.org:80/x"
    );
}

#[test]
fn an_extension_may_begin_at_the_end_of_the_url() {
    let has = |url: &str, all: &str| token(all).has_extension(url.as_bytes());
    assert!(
        has("", "x.html")
            && has("", "x.HTML?y.z,")
            && has("", "..ps")
            && !has("", "joe@a.pl")
            && !has("", "html")
    );
    assert!(has("/x.ht", "ml") && has("/x.", "html") && has("/x.HT", "ml."));
    assert!(
        !has("/x.html", "ml") && !has("/x.ht", "ML") && !has("/x", "html") && !has("/x.ht", "m/l")
    );
}

#[test]
fn list_numbers_have_at_most_three_digits() {
    assert_eq!(
        which(
            "1. 123) 1234. 1.x -- -x -option *x //x",
            ContinuationToken::is_rule
        ),
        "1. 123) -- -option //x"
    );
}

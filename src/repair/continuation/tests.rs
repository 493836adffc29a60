//! Tests of the rules of continuation on small texts.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;
use crate::limits::LINE_LOOKBACK_BYTES;

/// The first line of a URL, so full that a mailer broke it after its last slash. It has 69 columns.
pub(super) const FULL: &str =
    "http://www.a.example/archives/of/the/working/group/on/long/addresses/";

/// A full line in the middle of such a URL.
const MIDDLE: &str = "which/nobody/could/ever/remember/but/which/machines/made/in/plenty/and/";

/// The pieces of the URL whose head begins at `start` and ends with its line, each with `true` if it is accepted.
fn pieces(text: &str, start: usize) -> Vec<(Span, bool)> {
    let line_end = text[start..]
        .find(['\n', '\r'])
        .map_or(text.len(), |len| start + len);
    let head = Span::new(start, start + text[start..line_end].trim_end().len());
    let mut pieces = vec![(head, true)];
    for step in continuations(text.as_bytes(), head) {
        let at = pieces.len() - 1;
        pieces[at].0.end -= step.dropped;
        pieces.push((step.token, step.points() >= LIKELY));
    }
    pieces
}

/// Checks that the URL whose head is marked with `«` and `»` is continued by the other tokens marked so, and that a token
/// marked with `‹` and `›` is merely possible. `¶` is a line end: LF, CRLF and CR in turn.
#[track_caller]
pub(super) fn check(marked: &str) {
    for line_end in ["\n", "\r\n", "\r"] {
        let marked = marked.replace('¶', line_end);
        let text = marked.replace(['«', '»', '‹', '›'], "");
        let mut shown = text.clone();
        for (span, taken) in pieces(&text, marked.find('«').unwrap()).into_iter().rev() {
            let (open, close) = if taken { ('«', '»') } else { ('‹', '›') };
            shown.insert(span.end, close);
            shown.insert(span.start, open);
        }
        assert_eq!(shown, marked);
    }
}

/// The names of the features of the first continuation of the URL at the start of `text`.
pub(super) fn features(text: &str) -> Vec<&'static str> {
    let head = Span::new(0, text.find('\n').unwrap());
    continuations(text.as_bytes(), head)
        .first()
        .map(|step| step.features.iter().map(Feature::name).collect())
        .unwrap_or_default()
}

#[test]
fn a_url_that_fills_its_line_is_continued() {
    check(&format!("«{FULL}»¶«drafts/index.html» is the newest."));
    check(&format!("The minutes:¶¶   «{FULL}»¶   «minutes»¶"));
}

#[test]
fn a_short_line_of_a_whole_url_ends_it() {
    check("«http://a.example/minutes»¶are the newest.");
    check("«http://www.a.example/minutes.html»¶Regards¶");
}

#[test]
fn prose_does_not_continue_a_url() {
    check(&format!("«{FULL}»¶The minutes are there."));
    check(&format!("«{FULL}»¶and in the archives."));
    check(&format!("«{FULL}minutes»¶Thursday, or later."));
}

#[test]
fn a_hyphen_at_the_line_end_is_kept() {
    check("«http://www.a.example/working-groups/long-»¶«addresses/index.html.»");
    check("«http://www.a.example/archives/of/the/working/group/long-»¶«addresses»¶");
}

#[test]
fn a_list_of_urls_is_not_joined() {
    check(&format!("«{FULL}»¶http://b.example/¶"));
    check(&format!("«{FULL}»¶www.b.example/index.html¶"));
    check(&format!("«{FULL}»¶mailto:joe@b.example¶"));
    check("«http://www.a.example/pub»¶ftp.b.com/pub/¶");
}

#[test]
fn a_list_of_paths_is_not_joined() {
    check("«ftp://ftp.a.example»¶/pub/one.txt¶/pub/two.txt¶");
    check("«ftp://ftp.a.example»¶«/pub/one.txt»¶");
}

#[test]
fn quote_marks_are_skipped_at_any_depth() {
    check(&format!("> «{FULL}»¶> «drafts/index.html»"));
    check(&format!("> > «{FULL}»¶> «drafts/index.html»"));
    check(&format!("> «{FULL}»¶«drafts/index.html»¶"));
    check(&format!("| «{FULL}»¶| «drafts/index.html»"));
}

#[test]
fn initials_and_colons_are_marks_only_in_both_lines() {
    check(&format!("JD> «{FULL}»¶JD> «drafts/index.html»"));
    check(&format!(": «{FULL}»¶: «drafts/index.html»"));
    check(&format!("«{FULL}»¶: drafts/index.html"));
    check(&format!("«{FULL}»¶JD> drafts/index.html"));
}

#[test]
fn a_continuation_reports_skipped_quote_marks() {
    let quoted = |text: &str| {
        continuations(text.as_bytes(), Span::new(2, text.find('\n').unwrap()))[0].quoted
    };
    assert!(quoted(&format!("> {FULL}\n> index.html")));
    assert!(!quoted(&format!("  {FULL}\n  index.html")));
}

#[test]
fn leads_of_comments_and_diffs_are_skipped_in_both_lines() {
    check(&format!("# «{FULL}»¶# «drafts/index.html»"));
    check(&format!("+ * «{FULL}»¶+ * «drafts/index.html»"));
    check(&format!("// «{FULL}»¶// «drafts/index.html»"));
    check(&format!("«{FULL}»¶# drafts/index.html"));
}

#[test]
fn a_soft_line_end_is_removed() {
    check(&format!("«{FULL}abcdef»=¶«ghi.html» is"));
    check("«http://a.example/x»\\¶«/y/index.html»");
}

#[test]
fn a_querys_equals_sign_is_soft_only_among_others() {
    check(&format!("«{FULL}?a=»¶«bcdef»"));
    check(&format!("D=FCrer =3D¶«{FULL}?a»=¶«bcdef»"));
}

#[test]
fn an_extension_is_completed() {
    check("«http://a.example/working/group/minutes.ht»¶«ml»");
    check("«http://a.example/working/group/minutes»¶«.html»");
    check("«http://a.example/working/group/minutes.html»¶ml");
}

#[test]
fn an_escape_a_query_and_a_fragment_continue_a_url() {
    check(&format!("«{FULL}minutes%2»¶«0of»"));
    check("«http://a.example/cgi/find»¶«?minutes»");
    check("«http://a.example/minutes.html»¶«#drafts»");
}

#[test]
fn a_token_ends_where_the_run_of_a_url_ends() {
    check(&format!("«{FULL}»¶«drafts/index.html»>, and"));
    check(&format!("«{FULL}»¶«drafts/index.html»&gt;, and"));
    check(&format!("«{FULL}»¶«drafts/index.html»\u{201D}, and"));
}

#[test]
fn an_ascii_url_is_continued_in_ascii() {
    check(&format!("«{FULL}»¶entwürfe/index.html"));
    check(&format!("«{FULL}ä/»¶«entwürfe/index.html»"));
}

#[test]
fn a_host_is_continued_after_its_dot() {
    check("«http://www.»¶«a.example/minutes»");
    check("«http://»¶«a.example/minutes»");
    check("«http://www.a.com»¶of that name");
}

#[test]
fn a_bracket_is_closed_in_the_next_line() {
    check("(«http://www.a.example/archives/of/the/working»¶‹group7),› and");
    check("«http://www.a.example/archives/of/the/working»¶group7), and");
    check("(«http://www.a.example/archives(of)the/working»¶group), and");
}

#[test]
fn a_url_is_continued_over_three_lines() {
    check(&format!("«{FULL}»¶«{MIDDLE}»¶«index.html»¶Regards"));
}

#[test]
fn a_url_ends_after_a_token_that_other_text_follows() {
    check(&format!("«{FULL}»¶«{MIDDLE}» and¶index.html"));
}

#[test]
fn the_number_of_lines_is_limited() {
    let lines = [MIDDLE; 2 * CONTINUATION_LINES].join("\n");
    let text = format!("{FULL}\n{lines}");
    assert_eq!(
        continuations(text.as_bytes(), Span::new(0, FULL.len())).len(),
        CONTINUATION_LINES
    );
}

#[test]
fn a_token_that_would_have_fitted_has_the_feature_fits() {
    let prose =
        "The working group met for the third time, and it did not agree on the length of lines.";
    assert!(features(&format!("{FULL}\nindex.html\n\n{prose}")).contains(&"fits"));
    assert!(!features(&format!("{FULL}\nindex.html\n\n{}", &prose[..79])).contains(&"fits"));
}

#[test]
fn a_possible_token_is_reported_and_ends_the_url() {
    check(&format!("«{FULL}»¶‹drafts/one.c›¶drafts/two.c"));
}

#[test]
fn a_url_is_not_continued_over_a_blank_line() {
    check(&format!("«{FULL}»"));
    check(&format!("«{FULL}»¶"));
    check(&format!("«{FULL}»¶¶drafts/index.html"));
    check(&format!("> «{FULL}»¶> ¶> ¶> drafts/index.html"));
    check(&format!("> «{FULL}»¶> ¶> The minutes are there."));
}

#[test]
fn one_line_of_quote_marks_may_stand_between() {
    check(&format!("> «{FULL}»¶> ¶> «drafts/index.html»"));
    check(&format!("> «{FULL}»¶> ¶drafts/index.html"));
}

#[test]
fn blanks_at_line_ends_do_not_matter() {
    check(&format!("«{FULL}»  ¶«{MIDDLE}» \t¶«index.html» "));
}

#[test]
fn a_head_before_other_text_has_no_continuations() {
    let text = format!("{FULL} x\ndrafts/index.html");
    assert_eq!(continuations(text.as_bytes(), Span::new(0, FULL.len())), []);
    let text = format!("{FULL}&gt;\ndrafts/index.html");
    assert_eq!(
        continuations(text.as_bytes(), Span::new(0, FULL.len() + 4)),
        []
    );
}

#[test]
fn a_url_without_slashes_has_no_continuations() {
    check("«news:joe-»¶mary@a.example");
    check("«www.a.example/working-»¶groups/index.html");
}

#[test]
fn lines_and_tokens_above_their_limits_have_no_continuations() {
    let long = |len: usize| format!("http://a.example/{}/", "x".repeat(len));
    check(&format!(
        "«{}»¶«drafts/index.html»",
        long(CONTINUATION_BYTES - 20)
    ));
    check(&format!("«{}»¶drafts/index.html", long(CONTINUATION_BYTES)));
    check(&format!(
        "{} «{FULL}»¶drafts/index.html",
        "x".repeat(LINE_LOOKBACK_BYTES)
    ));
    check(&format!(
        "«{FULL}»¶drafts/{}",
        "x".repeat(CONTINUATION_BYTES)
    ));
    check(&format!(
        "«{FULL}»¶«drafts/index.html» {}",
        "x".repeat(CONTINUATION_BYTES)
    ));
}

#[test]
fn points_give_confidence() {
    let step = |features: &[Feature]| {
        let mut step = Continuation {
            token: Span::new(0, 1),
            dropped: 0,
            quoted: false,
            whole_line: true,
            features: Features::default(),
        };
        for &feature in features {
            step.features.add([(feature, true)]);
        }
        step
    };
    let base = step(&[Feature::Bias]);
    let known = |points: f32| 1.0 / (1.0 + (-points).exp());
    assert!(base.points() < POSSIBLE && (base.confidence() - known(base.points())).abs() < 0.001);
    let likely = step(&[
        Feature::Bias,
        Feature::TokenAlone,
        Feature::TokenEndsWithExtension,
        Feature::FullLine,
    ]);
    assert!(LIKELY < likely.points() && 0.8 < likely.confidence());
}

#[test]
fn the_rows_are_in_the_order_of_the_features() {
    for (at, feature) in Feature::ALL.into_iter().enumerate() {
        assert_eq!(feature as usize, at);
        assert_eq!((feature.points() * 4.0).fract().abs().to_bits(), 0);
    }
}

/// Random texts of pieces that matter to the features, and of any bytes.
fn random_text() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &str = "\n~\n~\r\n~\r~ ~\t~> ~|~:~JD> ~# ~+~-~=~\\~%~%2~?~&~;~&gt;~.~...~/~//~(~)~'~1997~12.\
        ~html~.ht~index.html~Minutes~the~a.example~joe@a.example~=3D~ü~\u{3000}";
    let pieces: Vec<&str> = PIECES.split('~').collect();
    let piece = prop_oneof![
        1 => any::<u8>().prop_map(|byte| vec![byte]),
        1 => Just(b"http://".to_vec()),
        1 => (7..FULL.len()).prop_map(|len| FULL.as_bytes()[..len].to_vec()),
        13 => select(pieces).prop_map(|piece| piece.as_bytes().to_vec()),
    ];
    vec(piece, 24).prop_map(|pieces| pieces.concat())
}

#[test]
fn continuations_of_any_bytes_are_in_order_and_only_the_last_is_uncertain() {
    let (texts, mut runner) = (random_text(), TestRunner::deterministic());
    let mut joined = 0;
    for _ in 0..1_000 {
        let text = texts.new_tree(&mut runner).unwrap().current();
        for start in memchr::memmem::find_iter(&text, b"http://") {
            let len = text[start..]
                .iter()
                .position(|byte| b"\r\n".contains(byte))
                .unwrap_or(text.len() - start);
            let steps = continuations(
                &text,
                Span::new(
                    start,
                    start + text[start..start + len].trim_ascii_end().len(),
                ),
            );
            let mut end = start + 1;
            for (at, step) in steps.iter().enumerate() {
                assert!(end < step.token.start && !step.token.is_empty() && step.dropped <= 1);
                assert!(at + 1 == steps.len() || step.points() >= LIKELY && step.whole_line);
                assert!(step.points() >= POSSIBLE);
                end = step.token.end;
            }
            joined += steps.len();
        }
    }
    assert!(joined > 50, "only {joined} continuations were tried");
}

#[test]
fn a_mail_address_is_completed() {
    check("[«mailto:working-group-»¶«owner@vger.b.com]» wrote");
    check("«mailto:joe@»¶«b.com»");
    check("«mailto:joe@b.com»¶owner@vger.b.com");
}

#[test]
fn an_at_sign_continues_a_message_id_and_a_path() {
    check("«https://lore.a.example/linux-minutes/20040501123456.1234-1-joe/and-others»¶«@b.com/»¶");
    check(&format!("«{FULL}»¶«@joe/minutes-12»¶"));
    check(&format!("«{FULL}»¶@@ -1,2 +1,2"));
    check(&format!("«{FULL}»¶@joe thanks"));
}

#[test]
fn a_host_alone_on_its_line_is_continued_by_its_path_or_port() {
    check("«http://www.a.example.com»¶«/minutes/drafts»¶");
    check("\"«http://localhost.com»¶«:1083/» is");
}

#[test]
fn a_commit_is_completed_to_forty_digits() {
    let head = "https://git.a.example/minutes/commit/?id=0123456789abcdef0123456789ab";
    check(&format!("«{head}»¶«cdef01234567»¶"));
    check(&format!("«{head}cdef01234567»¶and more"));
}

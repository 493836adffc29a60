//! Tests of the rules of continuation, of single features, and of reasons against a continuation,
//! on small texts.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::features::FEATURES;
use super::*;
use crate::limits::LINE_LOOKBACK_BYTES;

/// The first line of a URL, with 69 columns: a mailer broke it after its final slash because it was
/// full.
pub(super) const FULL: &str =
    "http://www.a.example/archives/of/the/working/group/on/long/addresses/";

/// A full line in the middle of such a URL.
const MIDDLE: &str = "which/nobody/could/ever/remember/but/which/machines/made/in/plenty/and/";

/// The continuations of a URL in a hand-written text, without evidence from elsewhere.
fn continuations(text: &[u8], head: Span) -> Vec<Continuation> {
    super::continuations(text, head, LineBreakPolicy::Join, None)
}

/// The pieces of the URL whose head starts at `start` and ends with its line, each with `true` if
/// it is accepted.
fn pieces(text: &str, start: usize) -> Vec<(Span, bool)> {
    let line_end = text[start..]
        .find(['\n', '\r'])
        .map_or(text.len(), |len| start + len);
    let head = Span::new(start, start + text[start..line_end].trim_end().len());
    let mut pieces = vec![(head, true)];
    for step in continuations(text.as_bytes(), head) {
        let at = pieces.len() - 1;
        pieces[at].0.end -= step.dropped;
        pieces.push((step.token, step.features.points() >= LIKELY_POINTS));
    }
    pieces
}

/// Checks that the tokens marked with `«` and `»` continue the URL whose head is marked in the same
/// way, and that a token marked with `‹` and `›` is merely possible. `¶` is a line end: LF, CRLF
/// and CR in turn.
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
        .map(|step| step.features.iter().map(|feature| feature.name).collect())
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
    check(&format!("«{FULL}minut»¶Thursday, or later."));
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
fn a_defanged_url_host_or_address_is_not_joined() {
    for other in [
        "http[:]//b.example/",
        "https[:]//b.example/",
        "http(:)//b.example/",
        "hxxp[://]b.example/",
        "hxxp:\\\\b.example\\",
        "h**p[:]//b.example/",
        "sftp[:]//b.example/",
        "http:/www.b.com/",
        "http ://b.example/",
        "hxxp : //b.example/",
        "www[.]b.example/",
        "b[.]example[.]com/minutes.html",
        "b [dot] example",
        "192.0.2[.]1",
        "joe[at]b[.]com",
    ] {
        for end in ["", "minutes", "minutes-"] {
            check(&format!("«{FULL}{end}»¶{other}¶"));
        }
        check(&format!("«http://a.example/»¶{other}¶"));
    }
    check("«hxxp://»¶«a[.]example/minutes.html»¶");
    check("«hxxp://working-»¶«group[.]example[.]com/minutes.html»¶");
    check("«http://»¶«www.b.example.com/minutes.html» of the working group");
    check(&format!("«{FULL}»¶«index.html» http://b.example/"));
}

#[test]
fn the_next_parameter_continues_a_query() {
    check(
        "Click here:¶«http://www.a.example/optout.php?email=joe.second.user@mail.b.example»¶«&pos=9\
         900027056.»  Thank you¶",
    );
}

#[test]
fn an_address_with_an_ornament_is_not_joined() {
    check("> User No. 12///¶> «http://a.example/~joe/»¶> ‹joe.user@b.example///›¶");
    check("«http://a.example/~joe/»¶‹joe.user@b.example*›¶");
    check("«http://a.example/~joe/»¶‹joe.user@b.example›¶");
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
    let page = &FULL[..FULL.len() - "sr=2-1".len()];
    check(&format!("«{page}sr=2-1/b=»¶«bcdef»"));
    check(&format!("D=FCrer =3D¶«{FULL}?a»=¶«bcdef»"));
}

#[test]
fn an_extension_is_completed() {
    check("«http://a.example/working/group/minutes.ht»¶«ml»");
    check("«http://a.example/working/group/minutes»¶«.html»");
    check("«http://a.example/working/group/minutes.html»¶‹ml›");
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
    check("(«http://www.a.example/archives/of/the/working»¶«group7),» and");
    check("«http://www.a.example/archives/of/the/working»¶‹group7),› and");
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
    check(&format!("«{FULL}»¶‹Drafts›¶http://b.example/"));
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
fn a_line_of_quote_marks_ends_a_url_unless_a_program_inserted_it() {
    check(&format!("> «{FULL}»¶> ¶> drafts/index.html"));
    check(&format!("> «{FULL}»¶> ¶drafts/index.html"));
    let lines = "> the minutes of the working group¶>¶".repeat(5);
    check(&format!(
        "{lines}> «{FULL}»¶>¶> «drafts/index.html»¶>¶{lines}"
    ));
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
}

#[test]
fn a_url_without_a_scheme_is_continued() {
    check("«www.a.example/working-»¶«groups/index.html»");
    check(
        "«ftp.a.example.com/archives/of/the/working/group/on/long/names/and/»¶«drafts/index.html» \
         is",
    );
    check("«www.a.example.com»¶are the newest.");
    check("«www.a.example.com»¶www.b.example.com¶");
    check("«ftp.a.example.com:/pub/drafts»¶ftp.b.example.com:/pub/drafts¶");
    check("«ftp.a.example.com»¶    «/pub/drafts»¶");
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

/// The features with these names.
fn set(names: &[&str]) -> Features {
    let has = |feature: &&Feature| names.contains(&feature.name);
    FEATURES.iter().filter(has).collect()
}

#[test]
fn points_determine_confidence() {
    let base = set(&["base"]);
    assert!(base.points() < LIKELY_POINTS && base.confidence() < 0.25);
    let likely = set(&["base", "one", "marks-3", "full-line"]);
    assert!(LIKELY_POINTS < likely.points() && 0.8 < likely.confidence());
    assert!(set(&["one", "other-url"]).confidence() <= 0.0);
}

#[test]
fn likely_points_are_the_fewest_with_the_confidence_of_a_join() {
    let confidence = features::confidence;
    assert!(JOIN_CONFIDENCE <= confidence(LIKELY_POINTS));
    assert!(confidence(LIKELY_POINTS - 0.25) < JOIN_CONFIDENCE);
}

#[test]
fn weights_are_quarters_of_a_point_after_those_that_exclude_a_continuation() {
    let is_veto = |feature: &Feature| feature.points == f32::NEG_INFINITY;
    assert!(FEATURES.is_sorted_by_key(|feature| !is_veto(feature)));
    for feature in FEATURES.iter().filter(|feature| !is_veto(feature)) {
        assert_eq!(
            (feature.points * 4.0).fract().abs().to_bits(),
            0,
            "{}",
            feature.name
        );
    }
    assert!(FEATURES[FEATURES.len() - 1].points < 0.0);
}

/// Random texts made of pieces that matter to the features, and random bytes.
fn random_text() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &str = "\n~\n~\r\n~\r~ ~\t~> ~|~:~JD> ~# \
        ~+~-~=~\\~%~%2~?~&~;~&gt;~.~...~/~//~(~)~'~1997~12.~html~.ht~index.html~Minutes~the~a.examp\
        le~joe@a.example~=3D~ü~\u{3000}";
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
                assert!(
                    at + 1 == steps.len()
                        || step.features.points() >= LIKELY_POINTS && step.whole_line
                );
                assert!(step.features.points() >= POSSIBLE_POINTS);
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
    let cut = "https://www.a.example/news.cgi?article=0123456789abcd";
    let completes = |rest: &str| features(&format!("{cut}\n{rest}\n")).contains(&"incomplete");
    assert!(completes("ef0123456789abcdef") && !completes("xef0123456789abcdef0"));
    // A program cut the line again: 16 digits, five digits, and the rest.
    check(
        "> «https://git.a.example/minutes/of/the/working/group/commit/0123456789abcdef»¶> \
         «01234»¶> > «56789abcdef01234567»¶",
    );
}

#[test]
fn the_message_id_of_a_patch_is_completed_by_an_address() {
    let sent = "https://l.a.example/netdev/20260102030405.678901-2-";
    check(&format!(
        ">> - Before:¶>>    «{sent}»¶>> «joe@b.example»¶>>    http://c.example/"
    ));
    check(&format!("«{sent}»¶«joe@b.example/»¶and more"));
    let completes = |head: &str| {
        features(&format!("https://l.a.example/{head}\njoe@b.example\n")).contains(&"incomplete")
    };
    assert!(completes("x/20260102030405.6-2-"));
    assert!(completes("x/20260102030405.6-2"));
    for other in [
        "2026-01-02-",
        "x/202601020304.6-2-",
        "x/20260102030405-2-",
        "-",
    ] {
        assert!(!completes(other), "{other}");
    }
}

#[test]
fn a_repeatedly_broken_line_is_joined() {
    let head = "http://a.example/minutes/of/the/working/group/on/long/names/which";
    let long = "nobody/reads/from/2004/to/2007/and/which/nobody/prints/from-2008-to";
    // Rests that are words, and a capital letter.
    check(&format!(
        "> > «{head}»¶> > «ce»¶> > «tr»¶> > «/names/x.c#L1»¶> > Yes."
    ));
    check(&format!("> «{head}»¶> «W»¶> «bki4dY2/x@b.example/»¶"));
    // Moved out of the quotation, over one and two lines of only quote marks.
    check(&format!(
        ">>> «http://a.example/minutes-»¶>>>¶>«{long}»¶>>> «x»¶>>> «re.c»¶>>> a b"
    ));
    check(&format!(
        ">>> «http://a.example/minutes-»¶>>>¶>>¶>«{long}»¶"
    ));
    check(">>> «http://a.example/minutes-»¶>>>¶>of-2004/x¶");
    check(&format!("maria>«{head}/x.ht»¶maria>«ml»¶maria> And this."));
}

#[test]
fn text_after_a_dash_or_a_line_number_is_no_rest() {
    for text in [
        "(«http://a.example/minutes-of-the-working-group-on-long-names--»¶note I used it",
        "«http://a.example/minutes/of/the/working/group/on/names.c#L12»¶¶The_name-of_Names¶",
        "> -[1] «http://a.example/minutes/of/the/working/group/on/x?key=6»¶> -[2] \
         http://b.example/",
        "14  See: «http://a.example/minutes/of/the/working/group/on/x?key=401»¶15¶16 The author",
    ] {
        check(text);
    }
}

/// The names of the features of the first continuation of `url` in `text`.
fn features_at(text: &str, url: &str) -> Vec<&'static str> {
    let at = text.find(url).unwrap();
    let head = crate::span::Span::new(at, at + url.len());
    super::line_break_evidence(text.as_bytes(), head)[0]
        .features
        .iter()
        .map(|feature| feature.name)
        .collect()
}

#[test]
fn a_line_that_was_cut_twice_is_as_long_as_it_was_before() {
    let head = "http://a.example/minutes/of/the/working/group/on/long/names/whi";
    // 76 columns, then 72 with the quote mark.
    check(&format!(
        "> «{head}ch-nobo»¶> «dy-rea»¶> «d/from-2004-to-2007»¶"
    ));
    check(&format!(
        "> «{head}ch-nobo»¶«dy-rea»¶> «d/from-2004-to-2007»¶"
    ));
    // One column less.
    let names = features(&format!("{head}ch-no\nbody-rea\nd/from-2004"));
    assert!(!names.contains(&"cut-column"));
}

#[test]
fn blanks_at_line_ends_show_where_a_program_broke_them() {
    let lines = "All the minutes of the working group, or what is left of  ¶them, are in the \
        archive, which nobody has read before  ¶";
    let plain = lines.replace("  ¶", "¶");
    let url = "http://www.a.example/archives/of/the/working/";
    check(&format!("{lines}us: «{url}» ¶«group/2004» and so on."));
    check(&format!("{lines}us: «{url}»  ¶‹group/2004› and so on."));
    check(&format!("{plain}us: «{url}» ¶‹group/2004› and so on."));
    // A program that adds no blanks broke most lines at blanks.
    let flowed = lines.replace("  ¶", " ¶");
    check(&format!(
        "{flowed}{lines}{flowed}us: «{url}» ¶‹group/2004› and so on."
    ));
}

#[test]
fn a_line_of_quote_marks_ends_a_paragraph_of_soft_blanks() {
    let lines = "> All the minutes of the working group, or what is left of  \n> them, are in the \
        archive, which nobody has read before  \n";
    let url = "http://www.a.example/archives/of/the/working/";
    let names =
        |between: &str| features_at(&format!("{lines}> {url} \n{between}> group/2004\n"), url);
    assert!(names("").contains(&"soft"));
    assert!(!names(">\n").contains(&"soft"));
}

#[test]
fn a_soft_hyphen_is_removed() {
    let text = "http://a.example/archives/of/min\u{AD}\nutes/index.html";
    assert!(features(text).contains(&"soft"));
    let head = crate::span::Span::new(0, text.find('\n').unwrap());
    assert_eq!(continuations(text.as_bytes(), head)[0].dropped, 2);
    for rest in ["utes/of/the/oil\u{AD}\nman.html", "utes/oilmané.html"] {
        let text = format!("http://a.example/archives/of/min\u{AD}\n{rest}");
        assert!(!features(&text).contains(&"foreign"), "{rest}");
    }
}

#[test]
fn a_host_is_continued_by_its_domain_or_port() {
    check(
        "the aims and members of the working group are at «http://www.group.ac.»¶«uk/aims/2004» \
         now",
    );
    check("the aims of the working group are at «http://www.group.com.»¶it/he are");
    check("\"«http://localhost»¶«:8080/minutes/»\" is");
    check("\"«http://localhost:80»¶:8080/minutes/\" is");
}

#[test]
fn an_extension_is_completed_after_one_that_is_shorter() {
    check(&format!("«{FULL}minutes.h»¶«tm.» The"));
    check(&format!("«{FULL}minutes.htm»¶«l»¶"));
    check(&format!("«{FULL}minutes.h»¶the list"));
}

#[test]
fn a_git_repository_is_not_continued_by_a_branch_or_tag() {
    let repository = "git://git.a.example/pub/scm/linux/kernel/git/minutes/minutes.git";
    for reference in [
        "tags/minutes-2023",
        "for-linus",
        "minutes_pull",
        "refs/heads/next",
    ] {
        check(&format!("  «{repository}»¶    {reference}¶"));
        check(&format!("  «{repository}/»¶    {reference}¶"));
    }
    check(&format!("«{repository}/»¶«commit/?id=0123456789»¶"));
    check(&format!("«{repository}»¶«/commit/?id=0123456789»¶"));
    check("«https://a.example/archives/of/the/working/group/linux»¶tags/minutes-2023¶");
}

#[test]
fn other_notations_do_not_continue_a_url() {
    check(&format!("«{FULL}»¶drafts/index.html | 12 +++---"));
    for directive in ["include", "ifdef", "endif", "define"] {
        check(&format!("«{FULL}minutes»¶#{directive} <minutes.h>"));
        check(&format!("«{FULL}minutes»¶#{directive}"));
    }
    check(&format!("«{FULL}minutes»¶#syz fix: minutes"));
    check(&format!("«{FULL}index.html»¶?http://b.example/"));
    check("«https://a.example/archives/of/the/compiler-hint.html#toc170»¶5.5.1 Tail calls");
}

#[test]
fn a_host_or_mail_address_is_not_joined() {
    check("«http://a.example/details/minutes»¶archive.org/details/minutes");
    check(&format!("«{FULL}x»¶‹joe@b.com›¶"));
}

#[test]
fn rules_bullets_and_numbers_are_not_joined() {
    for sign in [
        "-----",
        "=====",
        "__x",
        "...",
        "~~~~",
        "-o-",
        "/* x",
        "* x",
        "12. Minutes",
        "3) Minutes",
        "++",
    ] {
        check(&format!("«{FULL}»¶{sign}"));
    }
}

#[test]
fn a_number_of_four_digits_is_not_a_list_item() {
    check(&format!("«{FULL}»¶«1997.»"));
    check(&format!("«{FULL}»¶997."));
}

#[test]
fn attributes_and_parameters_are_not_joined() {
    check(&format!("«{FULL}»¶name='minutes'"));
    check("access-type=x; url=«http://a.example/minutes;»¶size=1997");
}

#[test]
fn the_final_character_of_a_url_may_be_alone_on_its_line() {
    let open = &FULL[..FULL.len() - 1];
    check(&format!("> «{FULL}»¶> «{}minutes»¶> «/»¶", &MIDDLE[..21]));
    check(&format!("The list, «{open}»¶«/»¶¶Regards"));
    check(&format!("«{FULL}show.cgi?SHELF»¶«=»¶¶Regards"));
    // A separator of two sites, a list of paths, the end of a comment, a whole URL, a short line.
    check(&format!("«{open}»¶/¶http://b.example/"));
    check(&format!("«{open}»¶/¶/pub/minutes"));
    check(&format!("/* See¶ * «{open}»¶ */¶"));
    check(&format!("«{open}.html»¶/¶"));
    check(&format!("«{FULL}»¶/¶"));
    check("«http://www.a.example/archives»¶/¶");
    check(&format!("«{FULL}show.cgi?SHELF=1»¶=¶"));
    check(&format!("«{open}»¶/, or¶"));
}

#[test]
fn a_quote_is_closed_after_the_last_text_of_its_line() {
    let url = "http://www.a.example/";
    let one = |text: &str| features_at(text, url).contains(&"one");
    assert!(one("\"http://www.a.example/\nminutesOfTheGroup\".\nx"));
    assert!(!one("\"http://www.a.example/\nminutesOfTheGroup\" and\nx"));
    assert!(!one("http://www.a.example/\nminutesOfTheGroup\".\nx"));
    check("value \"«http://www.a.example/»¶«minutesOfTheGroup.wsdl»\".¶");
}

#[test]
fn the_value_of_an_attribute_ends_with_its_tag() {
    let url = "http://www.a.example/minutes/of/the/working/gr";
    let names = |before: &str| features_at(&format!("{before}{url}\noup\">text\nx"), url);
    assert!(names("<a href=\"").contains(&"one"));
    assert!(names("said \"").contains(&"more-text"));
}

#[test]
fn no_url_continues_with_a_relative_path() {
    check(&format!("«{FULL}»¶../drafts/index.html"));
    check(&format!("«{FULL}»¶./drafts/index.html"));
}

#[test]
fn a_reply_of_a_server_is_other_text() {
    let url = "http://www.a.example/policy/";
    let names = |rest: &str| {
        let text = format!("host mx.example said: 550 see {url}\na1b2c3-d4e5.6{rest}\n");
        features_at(&text, url)
    };
    assert!(names(" (in reply to end of DATA command)").contains(&"other-text"));
    assert!(!names(" (a reply)").contains(&"other-text"));
}

#[test]
fn opening_and_closing_punctuation_starts_no_token() {
    for first in "[({*\\'^!,;:)]}$\"<`".chars() {
        check(&format!("«{FULL}»¶{first}drafts/index.html"));
    }
}

/// A full line that ends inside a name in capitals.
const CAPITALS: &str = "http://www.a.example/cgi-bin/manager.cmd/BOOKS/OF/LONG/NAMES/CONTENT";

#[test]
fn a_name_in_capitals_or_a_number_that_was_cut_is_continued() {
    check(&format!("The book:¶¶«{CAPITALS}»¶«S»¶¶For the others:"));
    check(&format!(
        "The book:¶¶«{CAPITALS}»¶«SOF1999»¶¶For the others:"
    ));
    check(&format!(
        "The book:¶¶«{FULL}103-7»¶«081220-41864»¶¶For the others:"
    ));
    check(&format!(
        "The book:¶¶«{FULL}103-7»¶«-081220-41864»¶¶For the others:"
    ));
    let has = |text: &str, name: &str| features(text).contains(&name);
    assert!(!has(&format!("{CAPITALS}\nIBM is"), "number"));
    assert!(!has(&format!("{FULL}x\nIBM\n"), "number"));
    assert!(!has("http://a.example/CONTENT\nS\n", "number"));
    assert!(!has(&format!("{FULL}x\n555-1234-567\n"), "number"));
    // A line number is whole.
    check(&format!("«{FULL}x.c#L597»¶IBM¶"));
}

#[test]
fn an_extension_that_was_cut_is_completed() {
    assert!(features("http://a.example/minutes.ht\nml\n").contains(&"incomplete"));
    assert!(!features(&format!("{FULL}x.ht\nml is the format")).contains(&"incomplete"));
}

#[test]
fn a_paragraph_of_a_url_and_its_rest_is_one_url() {
    let has = |text: &str| features(text).contains(&"own-para");
    assert!(has(&format!("{FULL}minut\nesofmay\n\nThen")));
    assert!(!has(&format!("{FULL}minut\nesofmay\nThen")));
    assert!(!has(&format!("{FULL}minut\nesofmay are\n\nThen")));
    assert!(!has(&format!("{FULL}minut\nMary\n\nThen")));
}

#[test]
fn patches_and_manual_pages_are_not_joined() {
    // Requests, macros and comments of roff.
    for line in [
        ".UE",
        ".br",
        ".SH BUGS",
        ".\\\" the newest",
        "'\\\" the newest",
    ] {
        check(&format!("+.UR «{FULL}»¶+{line}"));
        check(&format!(".UR «{FULL}»¶{line}"));
    }
    check(&format!("«{FULL}minutes»¶«.ps»¶"));
    check(&format!(
        ".\\\" See «{FULL}»¶.\\\" «drafts/index.html» for more."
    ));
    check(&format!("«{FULL}»¶+drafts/index.html¶"));
    check(&format!("«{FULL}?q=drafts»¶«+of+index.html»¶"));
    check(&format!("«{FULL}x»¶-'y'.¶"));
    check(&format!("«{FULL}»¶@@ -1,2 +1,2 @@¶"));
    // Outside a patch, a URL may continue after a hyphen.
    check(&format!("see «{FULL}drafts»¶«-in/index.html»¶"));
}

#[test]
fn variables_and_tables_are_not_joined() {
    check(&format!("HOME=«{FULL}»¶SUFFIX=.tar.gz¶"));
    check(&format!("HOME=«{FULL}?A=1&»¶«SUFFIX=.tar.gz»¶"));
    check(&format!("«{FULL}»¶drafts.html | the drafts | 1995 |"));
    check(&format!("'«{FULL}»¶«drafts.html'» | grep x"));
    check(&format!("«{FULL}a-»¶Source:¶"));
}

#[test]
fn words_of_two_letters_and_pairs_of_frequent_words_are_prose() {
    for word in ["yo", "vs", "hi", "and/or"] {
        let text = format!("{FULL}x?\n{word}\nhttp://b.example/\n");
        let head = Span::new(0, FULL.len() + 2);
        let steps = continuations(text.as_bytes(), head);
        assert!(
            steps
                .iter()
                .all(|step| step.features.points() < LIKELY_POINTS),
            "{word}"
        );
        assert!(!features(&text).contains(&"tiny"), "{word}");
    }
    assert!(features(&format!("{FULL}x\nq2\n")).contains(&"tiny"));
}

#[test]
fn a_list_of_sites_under_a_full_line_is_not_joined() {
    check(&format!("«{FULL}x»¶lists.example.net¶www.b.example.com/x¶"));
}

#[test]
fn the_closing_bracket_of_a_url_on_its_own_line_is_no_quote_mark() {
    check(&format!("< «{FULL}»¶> drafts/index.html"));
    check(&format!("> < «{FULL}»¶> > drafts/index.html"));
    check(&format!("> < «{FULL}»¶> «drafts/index.html» >"));
}

#[test]
fn arrows_and_bars_of_unicode_are_quote_marks() {
    check(
        &format!("\u{203A} «{FULL}»¶\u{203A} «drafts/index.html»")
            .replace("\u{203A} ", "\u{2502} "),
    );
    let text = format!("\u{203A} {FULL}\n\u{203A} drafts/index.html");
    let at = "\u{203A} ".len();
    assert!(continuations(text.as_bytes(), Span::new(at, at + FULL.len()))[0].quoted);
}

#[test]
fn a_bracket_of_unicode_is_closed_after_the_url() {
    let text = format!("\u{27E8}{FULL}\n  minutes\u{27E9}.");
    let names = features_at(&text, FULL);
    assert!(names.contains(&"closer"));
}

#[test]
fn a_scheme_alone_is_continued_by_its_host() {
    check("see «http://»¶«www.a.example/x/y.html»¶");
    check("see «http://www.b.example/»¶www.a.example/x/y.html¶");
    for host in [
        "a.example",
        "192.0.2.1/x",
        "localhost:80",
        "server:80/x",
        "server/x/y.html",
    ] {
        check(&format!("see «http://»¶«{host}»¶"));
    }
    for word in ["protocol.", "e.g.", "client/server", "and"] {
        check(&format!("see «http://»¶{word}¶"));
    }
}

#[test]
fn a_property_of_a_calendar_does_not_continue_a_url() {
    for property in [
        "ATTACH;FMTTYPE=application/pdf:https://b.example/x.pdf",
        "DESCRIPTION;ALTREP=\"cid:x\":minutes",
        "X-GOOGLE-CONFERENCE:https://b.example/abc",
        "DTSTART:20260102T030405Z",
        "END:VEVENT",
        "ITEM1-X:minutes of",
    ] {
        check(&format!("URL:«http://a.example/abc-defg-hij»¶{property}¶"));
        check(&format!("URL:«{FULL}»¶ «minutes-12»¶{property}¶"));
        check(&format!("«{FULL}min-»¶{property}¶"));
    }
    check(&format!("«{FULL}»¶«A;B/minutes.html»"));
}

#[test]
fn a_closing_does_not_continue_a_url() {
    for closing in [
        "thanks", "Thanks,", "thx!", "cheers", "regards", "danke", "merci",
    ] {
        check(&format!("«{FULL}»¶{closing}¶¶"));
        check(&format!("«http://a.example/minutes»¶{closing}¶¶"));
        check(&format!("«http://a.example/?minutes=»¶{closing}¶¶"));
    }
}

#[test]
fn a_line_end_may_have_two_carriage_returns() {
    let text = format!("{FULL}\r\r\ndrafts/index.html\r\r\n");
    assert_eq!(
        continuations(text.as_bytes(), Span::new(0, FULL.len())).len(),
        1
    );
}

//! The laws of continuation, shown on small texts.

use super::*;
use crate::limits::LINE_LOOKBACK_BYTES;

/// The first line of a URL, full enough that a mailer broke it behind its last slash. It has 69 columns.
const FULL: &str = "http://www.a.example/archives/of/the/working/group/on/long/addresses/";

/// A line that such a URL fills.
const MIDDLE: &str = "which/nobody/could/ever/remember/but/which/machines/made/in/plenty/and/";

/// The pieces of the URL whose head begins at `start` and ends with its line: where they stand, and whether taken.
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

/// `«` and `»` mark a URL's head and the tokens that it must be continued by, `‹` and `›` a token that is merely
/// possible; `¶` is a line end, of all three sorts in turn.
#[track_caller]
fn check(marked: &str) {
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

/// The names of the evidence for the first step of the URL that `text` begins with.
fn evidence(text: &str) -> Vec<&'static str> {
    let head = Span::new(0, text.find('\n').unwrap());
    continuations(text.as_bytes(), head)
        .first()
        .map(|step| step.features.iter().map(Feature::name).collect())
        .unwrap_or_default()
}

#[test]
fn a_url_that_fills_its_line_goes_on() {
    check(&format!("«{FULL}»¶«drafts/index.html» is the newest."));
    check(&format!("The minutes:¶¶   «{FULL}»¶   «minutes»¶"));
}

#[test]
fn a_short_line_of_a_whole_url_ends_it() {
    check("«http://a.example/minutes»¶are the newest.");
    check("«http://www.a.example/minutes.html»¶Regards¶");
}

#[test]
fn prose_does_not_go_on_with_a_url() {
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
fn quote_marks_are_undone_whatever_their_depth() {
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
fn a_step_says_whether_marks_were_undone() {
    let quoted = |text: &str| {
        continuations(text.as_bytes(), Span::new(2, text.find('\n').unwrap()))[0].quoted
    };
    assert!(quoted(&format!("> {FULL}\n> index.html")));
    assert!(!quoted(&format!("  {FULL}\n  index.html")));
}

#[test]
fn leads_of_comments_and_diffs_are_undone_in_both_lines() {
    check(&format!("# «{FULL}»¶# «drafts/index.html»"));
    check(&format!("+ * «{FULL}»¶+ * «drafts/index.html»"));
    check(&format!("// «{FULL}»¶// «drafts/index.html»"));
    check(&format!("«{FULL}»¶# drafts/index.html"));
}

#[test]
fn a_soft_line_end_is_dropped() {
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
fn an_escape_a_query_and_a_fragment_go_on() {
    check(&format!("«{FULL}minutes%2»¶«0of»"));
    check("«http://a.example/cgi/find»¶«?minutes»");
    check("«http://a.example/minutes.html»¶«#drafts»");
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
fn a_number_of_four_digits_is_no_item() {
    check(&format!("«{FULL}»¶«1997.»"));
    check(&format!("«{FULL}»¶997."));
}

#[test]
fn attributes_and_parameters_are_not_joined() {
    check(&format!("«{FULL}»¶name='minutes'"));
    check("access-type=x; url=«http://a.example/minutes;»¶size=1997");
}

#[test]
fn what_opens_or_stops_something_is_no_token() {
    for first in "[({*\\'^!,;:)]}$@\"<`".chars() {
        check(&format!("«{FULL}»¶{first}drafts/index.html"));
    }
}

#[test]
fn a_token_ends_where_a_urls_run_ends() {
    check(&format!("«{FULL}»¶«drafts/index.html»>, and"));
    check(&format!("«{FULL}»¶«drafts/index.html»&gt;, and"));
    check(&format!("«{FULL}»¶«drafts/index.html»\u{201D}, and"));
}

#[test]
fn ascii_goes_on_in_ascii() {
    check(&format!("«{FULL}»¶entwürfe/index.html"));
    check(&format!("«{FULL}ä/»¶«entwürfe/index.html»"));
}

#[test]
fn a_host_goes_on_behind_its_dot() {
    check("«http://www.»¶«a.example/minutes»");
    check("«http://»¶«a.example/minutes»");
    check("«http://www.a.com»¶of that name");
}

#[test]
fn a_bracket_is_closed_in_the_next_line() {
    check("(«http://www.a.example/archives/of/the/working»¶‹group),› and");
    check("«http://www.a.example/archives/of/the/working»¶group), and");
    check("(«http://www.a.example/archives(of)the/working»¶group), and");
}

#[test]
fn three_lines_are_a_chain() {
    check(&format!("«{FULL}»¶«{MIDDLE}»¶«index.html»¶Regards"));
}

#[test]
fn a_chain_ends_where_a_token_is_not_all_of_its_line() {
    check(&format!("«{FULL}»¶«{MIDDLE}» and¶index.html"));
}

#[test]
fn a_chain_is_no_longer_than_its_limit() {
    let lines = [MIDDLE; 2 * CONTINUATION_LINES].join("\n");
    let text = format!("{FULL}\n{lines}");
    assert_eq!(
        continuations(text.as_bytes(), Span::new(0, FULL.len())).len(),
        CONTINUATION_LINES
    );
}

#[test]
fn what_would_have_fitted_was_not_broken() {
    let prose =
        "The working group met for the third time, and it did not agree on the length of lines.";
    assert!(evidence(&format!("{FULL}\nindex.html\n\n{prose}")).contains(&"fits"));
    assert!(!evidence(&format!("{FULL}\nindex.html\n\n{}", &prose[..79])).contains(&"fits"));
}

#[test]
fn a_doubtful_token_is_shown_and_ends_the_url() {
    check(&format!("«{FULL}»¶‹minutes› and"));
}

#[test]
fn nothing_goes_on_over_a_blank_line() {
    check(&format!("«{FULL}»"));
    check(&format!("«{FULL}»¶"));
    check(&format!("«{FULL}»¶¶drafts/index.html"));
    check(&format!("> «{FULL}»¶> ¶> drafts/index.html"));
}

#[test]
fn blanks_at_line_ends_do_not_matter() {
    check(&format!("«{FULL}»  ¶«{MIDDLE}» \t¶«index.html» "));
}

#[test]
fn a_head_within_its_line_has_no_steps() {
    let text = format!("{FULL} x\ndrafts/index.html");
    assert_eq!(continuations(text.as_bytes(), Span::new(0, FULL.len())), []);
    let text = format!("{FULL}&gt;\ndrafts/index.html");
    assert_eq!(
        continuations(text.as_bytes(), Span::new(0, FULL.len() + 4)),
        []
    );
}

#[test]
fn a_url_without_slashes_has_no_steps() {
    check("«mailto:joe-»¶mary@a.example");
    check("«www.a.example/working-»¶groups/index.html");
}

#[test]
fn what_is_longer_than_its_limit_has_no_steps() {
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
fn points_make_confidence() {
    let step = |features: &[Feature]| {
        let mut step = Continuation {
            token: Span::new(0, 1),
            dropped: 0,
            quoted: false,
            whole_line: true,
            features: Features::default(),
        };
        for &evidence in features {
            step.features.add([(evidence, true)]);
        }
        step
    };
    let doubtful = step(&[Feature::Base, Feature::HeadEscape, Feature::HeadSoft]);
    assert!(
        (doubtful.points() - LIKELY).abs() < f32::EPSILON
            && (doubtful.confidence() - 0.5).abs() < 0.001
    );
    let likely = step(&[
        Feature::Base,
        Feature::One,
        Feature::TokExt,
        Feature::Filled,
    ]);
    assert!(
        (likely.points() - 1.5).abs() < f32::EPSILON && (likely.confidence() - 0.867).abs() < 0.001
    );
}

#[test]
fn the_rows_stand_in_the_order_of_the_evidence() {
    for (at, evidence) in Feature::ALL.into_iter().enumerate() {
        assert_eq!(evidence as usize, at);
        assert_eq!((evidence.points() * 4.0).fract().abs().to_bits(), 0);
    }
}

/// Random texts of what matters to the evidence, and of any bytes.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % most
    }

    fn text(&mut self, pieces: usize) -> Vec<u8> {
        const PIECES: &str = "\n~\n~\r\n~\r~ ~\t~> ~|~:~JD> ~# ~+~-~=~\\~%~%2~?~&~;~&gt;~.~...~/~//~(~)~'~1997~12.\
            ~html~.ht~index.html~Minutes~the~a.example~joe@a.example~=3D~ü~\u{3000}";
        let all: Vec<&str> = PIECES.split('~').collect();
        let mut text = Vec::new();
        for _ in 0..pieces {
            match self.below(16) {
                0 => text.push(self.below(256) as u8),
                1 => text.extend_from_slice(b"http://"),
                2 => text.extend_from_slice(&FULL.as_bytes()[..7 + self.below(FULL.len() - 7)]),
                _ => text.extend_from_slice(all[self.below(all.len())].as_bytes()),
            }
        }
        text
    }
}

#[test]
fn steps_of_any_octets_lie_in_order_and_only_the_last_is_in_doubt() {
    let mut random = Random(1738);
    let mut joined = 0;
    for _ in 0..20_000 {
        let text = random.text(24);
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
    assert!(joined > 1_000, "only {joined} steps were tried");
}

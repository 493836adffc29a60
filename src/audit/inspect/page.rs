//! The parts of a page by which it is judged: title, language, visible text, and what it loads; and
//! the likeness of two texts.

use std::collections::HashSet;

use html5gum::emitters::callback::CallbackEvent;
use twox_hash::XxHash3_64;

use crate::decode::{ElementContent, page_in_utf8, tokenize};
use crate::limits::{INSPECT_RESOURCES, INSPECT_TEXT_BYTES, INSPECT_TITLE_CHARS};
use crate::page::html::ratio;

/// Number of words of a shingle: a run of words that two texts may share.
const SHINGLE_WORDS: usize = 3;

/// Minimum number of characters of a word that says something of its text: shorter ones are in
/// every text of a language.
const CONTENT_WORD_CHARS: usize = 5;

/// A page as a reader sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// The title, on one line; empty without one.
    pub(super) title: String,
    /// The language that the page names, in lower case.
    pub(super) language: Option<String>,
    /// The visible text.
    pub(super) text: String,
    /// Addresses of scripts, frames, pictures and style sheets, in lower case.
    pub(super) resources: Vec<String>,
    /// The scripts in the page, without blanks.
    pub(super) scripts: String,
    /// `true` if it loads or holds a script.
    pub(super) has_script: bool,
    /// `true` if it asks for a password.
    pub(super) has_password: bool,
}

impl Page {
    /// Reads HTML. `charset` is the one that the server names.
    pub(super) fn html(body: &[u8], charset: Option<&str>) -> Page {
        let html = page_in_utf8(body, charset);
        let mut reader = PageReader::default();
        tokenize(&html, ElementContent::AsBrowsers, &mut |event, _| {
            reader.event(&event);
        });
        let mut page = reader.page;
        page.title = one_line(&String::from_utf8_lossy(&reader.title));
        page.text = cut(&String::from_utf8_lossy(&reader.text));
        page.scripts = String::from_utf8_lossy(&reader.scripts).into_owned();
        page
    }

    /// Reads plain text.
    pub(super) fn plain(body: &[u8], charset: Option<&str>) -> Page {
        Page {
            text: cut(&String::from_utf8_lossy(&page_in_utf8(body, charset))),
            ..Page::default()
        }
    }
}

/// Returns the beginning of a text that is kept.
fn cut(text: &str) -> String {
    let mut end = text.len().min(INSPECT_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// Returns a title without line breaks and repeated blanks, cut to its limit.
fn one_line(title: &str) -> String {
    let words: Vec<_> = title.split_whitespace().collect();
    words.join(" ").chars().take(INSPECT_TITLE_CHARS).collect()
}

/// Elements whose content no reader sees as text of the page.
const HIDDEN: [&[u8]; 4] = [b"script", b"style", b"noscript", b"template"];

/// Elements that do not separate words.
const INLINE: [&[u8]; 14] = [
    b"a", b"abbr", b"b", b"big", b"code", b"em", b"font", b"i", b"small", b"span", b"strong",
    b"sub", b"tt", b"u",
];

/// Builds a [`Page`] from tokens.
#[derive(Default)]
struct PageReader {
    page: Page,
    title: Vec<u8>,
    text: Vec<u8>,
    scripts: Vec<u8>,
    element: Vec<u8>,
    attribute: Vec<u8>,
    /// The open element of [`HIDDEN`].
    hidden: Option<&'static [u8]>,
    is_in_title: bool,
}

impl PageReader {
    fn event(&mut self, event: &CallbackEvent<'_>) {
        match *event {
            CallbackEvent::OpenStartTag { name } => {
                name.clone_into(&mut self.element);
                self.separate(name);
            }
            CallbackEvent::AttributeName { name } => name.clone_into(&mut self.attribute),
            CallbackEvent::AttributeValue { value } => self.value(value),
            CallbackEvent::CloseStartTag { self_closing } => self.opened(self_closing),
            CallbackEvent::EndTag { name } => {
                self.hidden = self.hidden.filter(|hidden| *hidden != name);
                self.is_in_title &= name != b"title";
                self.separate(name);
            }
            CallbackEvent::String { value } => self.text(value),
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
    }

    fn separate(&mut self, name: &[u8]) {
        if !INLINE.contains(&name) && self.text.last().is_some_and(|last| *last != b'\n') {
            self.text.push(b'\n');
        }
    }

    fn opened(&mut self, is_closed: bool) {
        let name = self.element.as_slice();
        self.page.has_script |= name == b"script";
        if self.hidden.is_none() && !is_closed {
            self.hidden = HIDDEN.into_iter().find(|hidden| *hidden == name);
        }
        // The title of a picture in SVG is none of the page.
        self.is_in_title = name == b"title" && self.title.is_empty();
    }

    fn value(&mut self, value: &[u8]) {
        match (self.element.as_slice(), self.attribute.as_slice()) {
            (b"html", b"lang") if self.page.language.is_none() => {
                self.page.language = language(&String::from_utf8_lossy(value));
            }
            (b"script" | b"iframe" | b"frame" | b"img" | b"embed", b"src") | (b"link", b"href")
                if self.page.resources.len() < INSPECT_RESOURCES =>
            {
                let address = String::from_utf8_lossy(value).to_lowercase();
                self.page.resources.push(one_line(&address));
            }
            (b"input", b"type") if value.eq_ignore_ascii_case(b"password") => {
                self.page.has_password = true;
            }
            _ => {}
        }
    }

    fn text(&mut self, value: &[u8]) {
        match self.hidden {
            Some(b"script") => {
                let left = INSPECT_TEXT_BYTES.saturating_sub(self.scripts.len());
                let code = value.iter().filter(|byte| !byte.is_ascii_whitespace());
                self.scripts.extend(code.take(left));
            }
            Some(_) => {}
            None if self.is_in_title => self.title.extend_from_slice(value),
            None => self.text.extend_from_slice(value),
        }
    }
}

/// Returns a language tag (BCP 47) in lower case; `None` for another text.
pub(super) fn language(tag: &str) -> Option<String> {
    const MAX_TAG_BYTES: usize = 35;
    let tag = tag.split(',').next().unwrap_or_default().trim();
    let is_tag = (2..=MAX_TAG_BYTES).contains(&tag.len())
        && tag
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_tag.then(|| tag.to_ascii_lowercase())
}

/// Returns the words of a text in lower case. Characters of scripts without blanks between words
/// are words of their own.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for character in text.chars() {
        let is_single = is_single(character);
        if (is_single || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if is_single {
            words.push(character.to_string());
        } else if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns `true` for a character of a script that has no blanks between words: Chinese, Japanese,
/// Thai, Lao, Burmese, Khmer.
fn is_single(character: char) -> bool {
    matches!(character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// Returns the words of a text, separated by blanks, with a blank at each end: the form in which
/// phrases are looked for.
pub(super) fn spaced(text: &str) -> String {
    format!(" {} ", words(text).join(" "))
}

/// Returns the number of words of a text, where two characters of a script without blanks make one.
pub(super) fn length(text: &str) -> usize {
    let words = words(text);
    let singles = words
        .iter()
        .filter(|word| word.chars().all(is_single))
        .count();
    words.len() - singles / 2
}

/// Returns the lines of a text in the form of [`spaced`], without empty ones.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(spaced).filter(|line| line != "  ")
}

/// The features of a text by which it is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// Number of words.
    pub(super) words: usize,
    /// Hashes of all runs of [`SHINGLE_WORDS`] words.
    shingles: HashSet<u64>,
    /// Hashes of the words that say something of the text.
    content_words: HashSet<u64>,
    /// The similarity hash (M. Charikar, "Similarity Estimation Techniques from Rounding
    /// Algorithms", STOC 2002) of the shingles: texts that share most of them differ in few bits.
    pub(super) hash: u64,
}

impl Fingerprint {
    pub(super) fn of(text: &str) -> Fingerprint {
        Fingerprint::of_words(&words(text))
    }

    pub(super) fn of_words(words: &[String]) -> Fingerprint {
        let shingles: HashSet<u64> = if words.len() < SHINGLE_WORDS {
            words.iter().map(|word| hash(word)).collect()
        } else {
            let runs = words.windows(SHINGLE_WORDS);
            runs.map(|run| hash(&run.join(" "))).collect()
        };
        Fingerprint {
            words: words.len(),
            hash: similarity_hash(&shingles),
            content_words: content_words(words),
            shingles,
        }
    }

    /// The share of shingles of either text that both have.
    pub(super) fn likeness(&self, other: &Fingerprint) -> f64 {
        jaccard(&self.shingles, &other.shingles)
    }

    /// The share of the shingles of `earlier` that this text still has.
    pub(super) fn kept_of(&self, earlier: &Fingerprint) -> f64 {
        let kept = earlier.shingles.intersection(&self.shingles).count();
        ratio(kept as u64, earlier.shingles.len() as u64)
    }

    /// The share of the words of either text that both have.
    pub(super) fn shared_words(&self, other: &Fingerprint) -> f64 {
        jaccard(&self.content_words, &other.content_words)
    }
}

fn content_words(words: &[String]) -> HashSet<u64> {
    let is_content = |word: &&String| {
        CONTENT_WORD_CHARS <= word.chars().count()
            && !word.bytes().all(|byte| byte.is_ascii_digit())
    };
    let long = words.iter().filter(is_content).map(|word| hash(word));
    long.chain(pairs_of_singles(words)).collect()
}

/// Returns the hashes of all pairs of neighbours of scripts without blanks.
fn pairs_of_singles(words: &[String]) -> impl Iterator<Item = u64> + '_ {
    let is_single_word = |word: &String| word.chars().all(is_single);
    let pairs = words.windows(2);
    let pairs = pairs.filter(move |pair| pair.iter().all(is_single_word));
    pairs.map(|pair| hash(&pair.concat()))
}

/// Words of titles of any site: greetings, parts of sites, and the commonest short words.
const TITLE_WORDS: [&str; 61] = [
    "home",
    "homepage",
    "page",
    "pages",
    "welcome",
    "index",
    "site",
    "website",
    "web",
    "untitled",
    "document",
    "official",
    "online",
    "start",
    "main",
    "the",
    "and",
    "for",
    "from",
    "with",
    "our",
    "your",
    "www",
    "com",
    "org",
    "net",
    "willkommen",
    "startseite",
    "offizielle",
    "bei",
    "der",
    "die",
    "das",
    "und",
    "von",
    "für",
    "accueil",
    "bienvenue",
    "les",
    "des",
    "une",
    "sur",
    "inicio",
    "bienvenido",
    "bienvenidos",
    "página",
    "pagina",
    "los",
    "las",
    "del",
    "benvenuti",
    "della",
    "início",
    "bem",
    "vindo",
    "welkom",
    "het",
    "een",
    "välkommen",
    "och",
    "главная",
];

/// Minimum number of characters of a word of a title that says something of its page.
const TITLE_WORD_CHARS: usize = 3;

/// The share of the words of two titles that both have, without those of any title; `None` if either
/// has none.
pub(super) fn title_likeness(one: &str, other: &str) -> Option<f64> {
    let (one, other) = (title_words(one), title_words(other));
    (!one.is_empty() && !other.is_empty()).then(|| jaccard(&one, &other))
}

fn title_words(title: &str) -> HashSet<u64> {
    let words = words(title);
    let is_own = |word: &&String| {
        TITLE_WORD_CHARS <= word.chars().count()
            && !word.bytes().all(|byte| byte.is_ascii_digit())
            && !TITLE_WORDS.contains(&word.as_str())
    };
    let own = words.iter().filter(is_own).map(|word| hash(word));
    own.chain(pairs_of_singles(&words)).collect()
}

fn hash(text: &str) -> u64 {
    XxHash3_64::oneshot(text.as_bytes())
}

fn jaccard(one: &HashSet<u64>, other: &HashSet<u64>) -> f64 {
    let both = one.intersection(other).count();
    ratio(both as u64, (one.len() + other.len() - both) as u64)
}

/// Each bit is the one that most of the shingles have.
fn similarity_hash(shingles: &HashSet<u64>) -> u64 {
    let mut balance = [0_i64; 64];
    for shingle in shingles {
        for (bit, balance) in balance.iter_mut().enumerate() {
            *balance += if shingle >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    let set = balance
        .iter()
        .enumerate()
        .filter(|(_, balance)| 0 < **balance);
    set.fold(0, |hash, (bit, _)| hash | 1 << bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_is_seen() {
        let html = "<!DOCTYPE html><html lang=EN-gb><head><title> A \n lamp </title>\
            <script src=//S.test/X.js></script><style>.hidden{}</style></head>\
            <body><p>Wick<b>s</b> &amp; oil<p>No<noscript>Turn it on</noscript>\
            <script>var x = 1</script><svg><title>icon</title></svg>\
            <input type=PASSWORD><template>later</template></body>";
        let page = Page::html(html.as_bytes(), None);
        assert_eq!(page.title, "A lamp");
        assert_eq!(page.language.as_deref(), Some("en-gb"));
        assert_eq!(words(&page.text), ["wicks", "oil", "no", "icon"]);
        assert_eq!(page.resources, ["//s.test/x.js"]);
        assert_eq!(page.scripts, "varx=1");
        assert!(page.has_password && page.has_script);
    }

    #[test]
    fn charsets_and_limits_hold() {
        let page = Page::html(b"<title>Caf\xe9</title>", Some("iso-8859-1"));
        assert_eq!(page.title, "Caf\u{e9}");
        let long = format!(
            "<title>{}</title>{}",
            "t".repeat(9_999),
            "\u{e9} ".repeat(99_999)
        );
        let page = Page::html(long.as_bytes(), None);
        assert_eq!(page.title.chars().count(), INSPECT_TITLE_CHARS);
        assert!(page.text.len() <= INSPECT_TEXT_BYTES);
        let sources = "<img src=x>".repeat(INSPECT_RESOURCES + 1);
        let page = Page::html(sources.as_bytes(), None);
        assert_eq!(page.resources.len(), INSPECT_RESOURCES);
    }

    fn percent(share: f64) -> String {
        format!("{:.0} %", share * 100.0)
    }

    #[test]
    fn likeness_is_one_for_the_same_and_nothing_for_another_text() {
        let lamps = "Each brass lantern of the lighthouse was trimmed twice before midnight.";
        let trains = "No narrow locomotive crossed that viaduct without its timetable.";
        let (one, other) = (Fingerprint::of(lamps), Fingerprint::of(trains));
        assert_eq!(percent(one.likeness(&one)), "100 %");
        assert_eq!(percent(one.likeness(&other)), "0 %");
        assert_eq!(percent(one.shared_words(&other)), "0 %");
        let grown = Fingerprint::of(&format!("{trains} {lamps}"));
        assert_eq!(percent(grown.kept_of(&one)), "100 %");
        assert!(one.kept_of(&grown) < 0.6);
        let empty = Fingerprint::of("");
        assert_eq!(percent(empty.likeness(&empty)), "0 %");
        assert_eq!(Fingerprint::of("One word").words, 2);
    }

    #[test]
    fn the_hash_of_texts_that_differ_in_a_word_differs_in_few_bits() {
        let text = |word: &str| {
            let sentences: Vec<_> = (0..40)
                .map(|number| format!("w{number} x{}", number * 7))
                .collect();
            format!("{} {word}", sentences.join(" "))
        };
        let near = Fingerprint::of(&text("one")).hash ^ Fingerprint::of(&text("two")).hash;
        assert!(near.count_ones() < 12, "{}", near.count_ones());
        let far = Fingerprint::of(&text("one")).hash ^ Fingerprint::of("quite another text").hash;
        assert!(16 < far.count_ones(), "{}", far.count_ones());
    }

    #[test]
    fn scripts_without_blanks_have_words_of_one_character() {
        assert_eq!(words("域名 for SALE"), ["域", "名", "for", "sale"]);
        assert_eq!(spaced("Can't find"), " can t find ");
        assert_eq!(title_likeness("", "x"), None);
        assert_eq!(title_likeness("A lamp", "lamp, a"), Some(1.0));
        assert_eq!(language("de-DE, en"), Some("de-de".to_owned()));
        assert_eq!(language("<b>"), None);
    }
}

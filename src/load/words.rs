//! Words of a text, as all full-text indexes have them: runs of letters and digits, in lower case.
//!
//! `SQLite` divides texts itself. [`each_word`] does the same for indexes that do not; by the tables of `SQLite`'s tokenizer, so that
//! both find the same rows. A character that is not assigned is a letter, since it may become one.

#[cfg(any(feature = "postgres", test))]
use std::cmp::Ordering;

/// Returns the separators that `SQLite`'s tokenizer does not know.
pub(super) fn separators_for_sqlite() -> String {
    NEWER_SEPARATORS
        .iter()
        .flat_map(|&(first, last)| first..=last)
        .collect()
}

/// Calls `found` with each word of `text`, in order. Linear in its length.
#[cfg(any(feature = "postgres", test))]
pub(super) fn each_word(text: &str, mut found: impl FnMut(&str)) {
    for run in text.split(|c| !is_word_char(c)) {
        let is_folded = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
        if run.bytes().all(is_folded) {
            if !run.is_empty() {
                found(run);
            }
        } else {
            found(&run.chars().map(folded).collect::<String>());
        }
    }
}

/// Letters, digits, and the marks that combine with them.
#[cfg(any(feature = "postgres", test))]
fn is_word_char(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    !contains(SEPARATORS, c) && !contains(NEWER_SEPARATORS, c)
}

/// The lower case of a character, each by itself: `SQLite` knows no final sigma, and no letter of which two become.
#[cfg(any(feature = "postgres", test))]
fn folded(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    if let Some((_, other)) = FOLDED.iter().find(|(first, _)| *first == c) {
        return *other;
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) if !contains(UNFOLDED, c) => only,
        _ => c,
    }
}

/// Returns `true` if a character is in one of the ranges, which are in order.
#[cfg(any(feature = "postgres", test))]
fn contains(ranges: &[(char, char)], c: char) -> bool {
    let place = ranges.binary_search_by(|&(first, last)| {
        if last < c {
            Ordering::Less
        } else if c < first {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    });
    place.is_ok()
}

// These tables are those of `SQLite`'s tokenizer, which are older than Unicode's.

/// Ranges of separators that `SQLite` knows, without ASCII: punctuation, symbols, blanks, controls.
#[rustfmt::skip]
#[cfg(any(feature = "postgres", test))]
const SEPARATORS: &[(char, char)] = &[
    ('\u{80}', '\u{A9}'), ('\u{AB}', '\u{B1}'), ('\u{B4}', '\u{B4}'), ('\u{B6}', '\u{B8}'), ('\u{BB}', '\u{BB}'),
    ('\u{BF}', '\u{BF}'), ('\u{D7}', '\u{D7}'), ('\u{F7}', '\u{F7}'), ('\u{2C2}', '\u{2C5}'), ('\u{2D2}', '\u{2DF}'),
    ('\u{2E5}', '\u{2EB}'), ('\u{2ED}', '\u{2ED}'), ('\u{2EF}', '\u{2FF}'), ('\u{375}', '\u{375}'), ('\u{37E}', '\u{37E}'),
    ('\u{384}', '\u{385}'), ('\u{387}', '\u{387}'), ('\u{3F6}', '\u{3F6}'), ('\u{482}', '\u{482}'), ('\u{55A}', '\u{55F}'),
    ('\u{589}', '\u{58A}'), ('\u{58F}', '\u{58F}'), ('\u{5BE}', '\u{5BE}'), ('\u{5C0}', '\u{5C0}'), ('\u{5C3}', '\u{5C3}'),
    ('\u{5C6}', '\u{5C6}'), ('\u{5F3}', '\u{5F4}'), ('\u{600}', '\u{604}'), ('\u{606}', '\u{60F}'), ('\u{61B}', '\u{61B}'),
    ('\u{61E}', '\u{61F}'), ('\u{66A}', '\u{66D}'), ('\u{6D4}', '\u{6D4}'), ('\u{6DD}', '\u{6DE}'), ('\u{6E9}', '\u{6E9}'),
    ('\u{6FD}', '\u{6FE}'), ('\u{700}', '\u{70D}'), ('\u{70F}', '\u{70F}'), ('\u{7F6}', '\u{7F9}'), ('\u{830}', '\u{83E}'),
    ('\u{85E}', '\u{85E}'), ('\u{964}', '\u{965}'), ('\u{970}', '\u{970}'), ('\u{9F2}', '\u{9F3}'), ('\u{9FA}', '\u{9FB}'),
    ('\u{AF0}', '\u{AF1}'), ('\u{B70}', '\u{B70}'), ('\u{BF3}', '\u{BFA}'), ('\u{C7F}', '\u{C7F}'), ('\u{D79}', '\u{D79}'),
    ('\u{DF4}', '\u{DF4}'), ('\u{E3F}', '\u{E3F}'), ('\u{E4F}', '\u{E4F}'), ('\u{E5A}', '\u{E5B}'), ('\u{F01}', '\u{F17}'),
    ('\u{F1A}', '\u{F1F}'), ('\u{F34}', '\u{F34}'), ('\u{F36}', '\u{F36}'), ('\u{F38}', '\u{F38}'), ('\u{F3A}', '\u{F3D}'),
    ('\u{F85}', '\u{F85}'), ('\u{FBE}', '\u{FC5}'), ('\u{FC7}', '\u{FCC}'), ('\u{FCE}', '\u{FDA}'), ('\u{104A}', '\u{104F}'),
    ('\u{109E}', '\u{109F}'), ('\u{10FB}', '\u{10FB}'), ('\u{1360}', '\u{1368}'), ('\u{1390}', '\u{1399}'),
    ('\u{1400}', '\u{1400}'), ('\u{166D}', '\u{166E}'), ('\u{1680}', '\u{1680}'), ('\u{169B}', '\u{169C}'),
    ('\u{16EB}', '\u{16ED}'), ('\u{1735}', '\u{1736}'), ('\u{17D4}', '\u{17D6}'), ('\u{17D8}', '\u{17DB}'),
    ('\u{1800}', '\u{180A}'), ('\u{180E}', '\u{180E}'), ('\u{1940}', '\u{1940}'), ('\u{1944}', '\u{1945}'),
    ('\u{19DE}', '\u{19FF}'), ('\u{1A1E}', '\u{1A1F}'), ('\u{1AA0}', '\u{1AA6}'), ('\u{1AA8}', '\u{1AAD}'),
    ('\u{1B5A}', '\u{1B6A}'), ('\u{1B74}', '\u{1B7C}'), ('\u{1BFC}', '\u{1BFF}'), ('\u{1C3B}', '\u{1C3F}'),
    ('\u{1C7E}', '\u{1C7F}'), ('\u{1CC0}', '\u{1CC7}'), ('\u{1CD3}', '\u{1CD3}'), ('\u{1FBD}', '\u{1FBD}'),
    ('\u{1FBF}', '\u{1FC1}'), ('\u{1FCD}', '\u{1FCF}'), ('\u{1FDD}', '\u{1FDF}'), ('\u{1FED}', '\u{1FEF}'),
    ('\u{1FFD}', '\u{1FFE}'), ('\u{2000}', '\u{2064}'), ('\u{206A}', '\u{206F}'), ('\u{207A}', '\u{207E}'),
    ('\u{208A}', '\u{208E}'), ('\u{20A0}', '\u{20B9}'), ('\u{2100}', '\u{2101}'), ('\u{2103}', '\u{2106}'),
    ('\u{2108}', '\u{2109}'), ('\u{2114}', '\u{2114}'), ('\u{2116}', '\u{2118}'), ('\u{211E}', '\u{2123}'),
    ('\u{2125}', '\u{2125}'), ('\u{2127}', '\u{2127}'), ('\u{2129}', '\u{2129}'), ('\u{212E}', '\u{212E}'),
    ('\u{213A}', '\u{213B}'), ('\u{2140}', '\u{2144}'), ('\u{214A}', '\u{214D}'), ('\u{214F}', '\u{214F}'),
    ('\u{2190}', '\u{23F3}'), ('\u{2400}', '\u{2426}'), ('\u{2440}', '\u{244A}'), ('\u{249C}', '\u{24E9}'),
    ('\u{2500}', '\u{26FF}'), ('\u{2701}', '\u{2775}'), ('\u{2794}', '\u{2B4C}'), ('\u{2B50}', '\u{2B59}'),
    ('\u{2CE5}', '\u{2CEA}'), ('\u{2CF9}', '\u{2CFC}'), ('\u{2CFE}', '\u{2CFF}'), ('\u{2D70}', '\u{2D70}'),
    ('\u{2E00}', '\u{2E2E}'), ('\u{2E30}', '\u{2E3B}'), ('\u{2E80}', '\u{2E99}'), ('\u{2E9B}', '\u{2EF3}'),
    ('\u{2F00}', '\u{2FD5}'), ('\u{2FF0}', '\u{2FFB}'), ('\u{3000}', '\u{3004}'), ('\u{3008}', '\u{3020}'),
    ('\u{3030}', '\u{3030}'), ('\u{3036}', '\u{3037}'), ('\u{303D}', '\u{303F}'), ('\u{309B}', '\u{309C}'),
    ('\u{30A0}', '\u{30A0}'), ('\u{30FB}', '\u{30FB}'), ('\u{3190}', '\u{3191}'), ('\u{3196}', '\u{319F}'),
    ('\u{31C0}', '\u{31E3}'), ('\u{3200}', '\u{321E}'), ('\u{322A}', '\u{3247}'), ('\u{3250}', '\u{3250}'),
    ('\u{3260}', '\u{327F}'), ('\u{328A}', '\u{32B0}'), ('\u{32C0}', '\u{32FE}'), ('\u{3300}', '\u{33FF}'),
    ('\u{4DC0}', '\u{4DFF}'), ('\u{A490}', '\u{A4C6}'), ('\u{A4FE}', '\u{A4FF}'), ('\u{A60D}', '\u{A60F}'),
    ('\u{A673}', '\u{A673}'), ('\u{A67E}', '\u{A67E}'), ('\u{A6F2}', '\u{A6F7}'), ('\u{A700}', '\u{A716}'),
    ('\u{A720}', '\u{A721}'), ('\u{A789}', '\u{A78A}'), ('\u{A828}', '\u{A82B}'), ('\u{A836}', '\u{A839}'),
    ('\u{A874}', '\u{A877}'), ('\u{A8CE}', '\u{A8CF}'), ('\u{A8F8}', '\u{A8FA}'), ('\u{A92E}', '\u{A92F}'),
    ('\u{A95F}', '\u{A95F}'), ('\u{A9C1}', '\u{A9CD}'), ('\u{A9DE}', '\u{A9DF}'), ('\u{AA5C}', '\u{AA5F}'),
    ('\u{AA77}', '\u{AA79}'), ('\u{AADE}', '\u{AADF}'), ('\u{AAF0}', '\u{AAF1}'), ('\u{ABEB}', '\u{ABEB}'),
    ('\u{FB29}', '\u{FB29}'), ('\u{FBB2}', '\u{FBC1}'), ('\u{FD3E}', '\u{FD3F}'), ('\u{FDFC}', '\u{FDFD}'),
    ('\u{FE10}', '\u{FE19}'), ('\u{FE30}', '\u{FE52}'), ('\u{FE54}', '\u{FE66}'), ('\u{FE68}', '\u{FE6B}'),
    ('\u{FEFF}', '\u{FEFF}'), ('\u{FF01}', '\u{FF0F}'), ('\u{FF1A}', '\u{FF20}'), ('\u{FF3B}', '\u{FF40}'),
    ('\u{FF5B}', '\u{FF65}'), ('\u{FFE0}', '\u{FFE6}'), ('\u{FFE8}', '\u{FFEE}'), ('\u{FFF9}', '\u{FFFF}'),
    ('\u{10100}', '\u{10102}'), ('\u{10137}', '\u{1013F}'), ('\u{10179}', '\u{10189}'), ('\u{10190}', '\u{1019B}'),
    ('\u{101D0}', '\u{101FC}'), ('\u{1039F}', '\u{1039F}'), ('\u{103D0}', '\u{103D0}'), ('\u{10857}', '\u{10857}'),
    ('\u{1091F}', '\u{1091F}'), ('\u{1093F}', '\u{1093F}'), ('\u{10A50}', '\u{10A58}'), ('\u{10A7F}', '\u{10A7F}'),
    ('\u{10B39}', '\u{10B3F}'), ('\u{11047}', '\u{1104D}'), ('\u{110BB}', '\u{110C1}'), ('\u{11140}', '\u{11143}'),
    ('\u{111C5}', '\u{111C8}'), ('\u{12470}', '\u{12473}'), ('\u{1D000}', '\u{1D0F5}'), ('\u{1D100}', '\u{1D126}'),
    ('\u{1D129}', '\u{1D164}'), ('\u{1D16A}', '\u{1D16C}'), ('\u{1D173}', '\u{1D17A}'), ('\u{1D183}', '\u{1D184}'),
    ('\u{1D18C}', '\u{1D1A9}'), ('\u{1D1AE}', '\u{1D1DD}'), ('\u{1D200}', '\u{1D241}'), ('\u{1D245}', '\u{1D245}'),
    ('\u{1D300}', '\u{1D356}'), ('\u{1D6C1}', '\u{1D6C1}'), ('\u{1D6DB}', '\u{1D6DB}'), ('\u{1D6FB}', '\u{1D6FB}'),
    ('\u{1D715}', '\u{1D715}'), ('\u{1D735}', '\u{1D735}'), ('\u{1D74F}', '\u{1D74F}'), ('\u{1D76F}', '\u{1D76F}'),
    ('\u{1D789}', '\u{1D789}'), ('\u{1D7A9}', '\u{1D7A9}'), ('\u{1D7C3}', '\u{1D7C3}'), ('\u{1EEF0}', '\u{1EEF1}'),
    ('\u{1F000}', '\u{1F02B}'), ('\u{1F030}', '\u{1F093}'), ('\u{1F0A0}', '\u{1F0AE}'), ('\u{1F0B1}', '\u{1F0BE}'),
    ('\u{1F0C1}', '\u{1F0CF}'), ('\u{1F0D1}', '\u{1F0DF}'), ('\u{1F110}', '\u{1F12E}'), ('\u{1F130}', '\u{1F16B}'),
    ('\u{1F170}', '\u{1F19A}'), ('\u{1F1E6}', '\u{1F202}'), ('\u{1F210}', '\u{1F23A}'), ('\u{1F240}', '\u{1F248}'),
    ('\u{1F250}', '\u{1F251}'), ('\u{1F300}', '\u{1F320}'), ('\u{1F330}', '\u{1F335}'), ('\u{1F337}', '\u{1F37C}'),
    ('\u{1F380}', '\u{1F393}'), ('\u{1F3A0}', '\u{1F3C4}'), ('\u{1F3C6}', '\u{1F3CA}'), ('\u{1F3E0}', '\u{1F3F0}'),
    ('\u{1F400}', '\u{1F43E}'), ('\u{1F440}', '\u{1F440}'), ('\u{1F442}', '\u{1F4F7}'), ('\u{1F4F9}', '\u{1F4FC}'),
    ('\u{1F500}', '\u{1F53D}'), ('\u{1F540}', '\u{1F543}'), ('\u{1F550}', '\u{1F567}'), ('\u{1F5FB}', '\u{1F640}'),
    ('\u{1F645}', '\u{1F64F}'), ('\u{1F680}', '\u{1F6C5}'), ('\u{1F700}', '\u{1F773}'), ('\u{E0001}', '\u{E0001}'),
    ('\u{E0020}', '\u{E007F}'),
];

/// Ranges of separators that `SQLite` takes for letters, since they are newer than its tables: it is given them as separators.
#[rustfmt::skip]
const NEWER_SEPARATORS: &[(char, char)] = &[
    ('\u{58D}', '\u{58E}'), ('\u{605}', '\u{605}'), ('\u{61C}', '\u{61D}'), ('\u{7FE}', '\u{7FF}'), ('\u{888}', '\u{888}'),
    ('\u{890}', '\u{891}'), ('\u{8E2}', '\u{8E2}'), ('\u{9FD}', '\u{9FD}'), ('\u{A76}', '\u{A76}'), ('\u{C77}', '\u{C77}'),
    ('\u{C84}', '\u{C84}'), ('\u{D4F}', '\u{D4F}'), ('\u{1B7D}', '\u{1B7E}'), ('\u{2066}', '\u{2069}'),
    ('\u{20BA}', '\u{20C0}'), ('\u{218A}', '\u{218B}'), ('\u{23F4}', '\u{23FF}'), ('\u{2700}', '\u{2700}'),
    ('\u{2B4D}', '\u{2B4F}'), ('\u{2B5A}', '\u{2B73}'), ('\u{2B76}', '\u{2B95}'), ('\u{2B97}', '\u{2BFF}'),
    ('\u{2E3C}', '\u{2E5D}'), ('\u{32FF}', '\u{32FF}'), ('\u{A8FC}', '\u{A8FC}'), ('\u{AB5B}', '\u{AB5B}'),
    ('\u{AB6A}', '\u{AB6B}'), ('\u{FBC2}', '\u{FBC2}'), ('\u{FD40}', '\u{FD4F}'), ('\u{FDCF}', '\u{FDCF}'),
    ('\u{FDFE}', '\u{FDFF}'), ('\u{1018C}', '\u{1018E}'), ('\u{1019C}', '\u{1019C}'), ('\u{101A0}', '\u{101A0}'),
    ('\u{1056F}', '\u{1056F}'), ('\u{10877}', '\u{10878}'), ('\u{10AC8}', '\u{10AC8}'), ('\u{10AF0}', '\u{10AF6}'),
    ('\u{10B99}', '\u{10B9C}'), ('\u{10EAD}', '\u{10EAD}'), ('\u{10F55}', '\u{10F59}'), ('\u{10F86}', '\u{10F89}'),
    ('\u{110CD}', '\u{110CD}'), ('\u{11174}', '\u{11175}'), ('\u{111CD}', '\u{111CD}'), ('\u{111DB}', '\u{111DB}'),
    ('\u{111DD}', '\u{111DF}'), ('\u{11238}', '\u{1123D}'), ('\u{112A9}', '\u{112A9}'), ('\u{1144B}', '\u{1144F}'),
    ('\u{1145A}', '\u{1145B}'), ('\u{1145D}', '\u{1145D}'), ('\u{114C6}', '\u{114C6}'), ('\u{115C1}', '\u{115D7}'),
    ('\u{11641}', '\u{11643}'), ('\u{11660}', '\u{1166C}'), ('\u{116B9}', '\u{116B9}'), ('\u{1173C}', '\u{1173F}'),
    ('\u{1183B}', '\u{1183B}'), ('\u{11944}', '\u{11946}'), ('\u{119E2}', '\u{119E2}'), ('\u{11A3F}', '\u{11A46}'),
    ('\u{11A9A}', '\u{11A9C}'), ('\u{11A9E}', '\u{11AA2}'), ('\u{11C41}', '\u{11C45}'), ('\u{11C70}', '\u{11C71}'),
    ('\u{11EF7}', '\u{11EF8}'), ('\u{11FD5}', '\u{11FF1}'), ('\u{11FFF}', '\u{11FFF}'), ('\u{12474}', '\u{12474}'),
    ('\u{12FF1}', '\u{12FF2}'), ('\u{13430}', '\u{13438}'), ('\u{16A6E}', '\u{16A6F}'), ('\u{16AF5}', '\u{16AF5}'),
    ('\u{16B37}', '\u{16B3F}'), ('\u{16B44}', '\u{16B45}'), ('\u{16E97}', '\u{16E9A}'), ('\u{16FE2}', '\u{16FE2}'),
    ('\u{1BC9C}', '\u{1BC9C}'), ('\u{1BC9F}', '\u{1BCA3}'), ('\u{1CF50}', '\u{1CFC3}'), ('\u{1D1DE}', '\u{1D1EA}'),
    ('\u{1D800}', '\u{1D9FF}'), ('\u{1DA37}', '\u{1DA3A}'), ('\u{1DA6D}', '\u{1DA74}'), ('\u{1DA76}', '\u{1DA83}'),
    ('\u{1DA85}', '\u{1DA8B}'), ('\u{1E14F}', '\u{1E14F}'), ('\u{1E2FF}', '\u{1E2FF}'), ('\u{1E95E}', '\u{1E95F}'),
    ('\u{1ECAC}', '\u{1ECAC}'), ('\u{1ECB0}', '\u{1ECB0}'), ('\u{1ED2E}', '\u{1ED2E}'), ('\u{1F0BF}', '\u{1F0BF}'),
    ('\u{1F0E0}', '\u{1F0F5}'), ('\u{1F10D}', '\u{1F10F}'), ('\u{1F12F}', '\u{1F12F}'), ('\u{1F16C}', '\u{1F16F}'),
    ('\u{1F19B}', '\u{1F1AD}'), ('\u{1F23B}', '\u{1F23B}'), ('\u{1F260}', '\u{1F265}'), ('\u{1F321}', '\u{1F32F}'),
    ('\u{1F336}', '\u{1F336}'), ('\u{1F37D}', '\u{1F37F}'), ('\u{1F394}', '\u{1F39F}'), ('\u{1F3C5}', '\u{1F3C5}'),
    ('\u{1F3CB}', '\u{1F3DF}'), ('\u{1F3F1}', '\u{1F3FF}'), ('\u{1F43F}', '\u{1F43F}'), ('\u{1F441}', '\u{1F441}'),
    ('\u{1F4F8}', '\u{1F4F8}'), ('\u{1F4FD}', '\u{1F4FF}'), ('\u{1F53E}', '\u{1F53F}'), ('\u{1F544}', '\u{1F54F}'),
    ('\u{1F568}', '\u{1F5FA}'), ('\u{1F641}', '\u{1F644}'), ('\u{1F650}', '\u{1F67F}'), ('\u{1F6C6}', '\u{1F6D7}'),
    ('\u{1F6DD}', '\u{1F6EC}'), ('\u{1F6F0}', '\u{1F6FC}'), ('\u{1F780}', '\u{1F7D8}'), ('\u{1F7E0}', '\u{1F7EB}'),
    ('\u{1F7F0}', '\u{1F7F0}'), ('\u{1F800}', '\u{1F80B}'), ('\u{1F810}', '\u{1F847}'), ('\u{1F850}', '\u{1F859}'),
    ('\u{1F860}', '\u{1F887}'), ('\u{1F890}', '\u{1F8AD}'), ('\u{1F8B0}', '\u{1F8B1}'), ('\u{1F900}', '\u{1FA53}'),
    ('\u{1FA60}', '\u{1FA6D}'), ('\u{1FA70}', '\u{1FA74}'), ('\u{1FA78}', '\u{1FA7C}'), ('\u{1FA80}', '\u{1FA86}'),
    ('\u{1FA90}', '\u{1FAAC}'), ('\u{1FAB0}', '\u{1FABA}'), ('\u{1FAC0}', '\u{1FAC5}'), ('\u{1FAD0}', '\u{1FAD9}'),
    ('\u{1FAE0}', '\u{1FAE7}'), ('\u{1FAF0}', '\u{1FAF6}'), ('\u{1FB00}', '\u{1FB92}'), ('\u{1FB94}', '\u{1FBCA}'),
];

/// Capital letters that `SQLite` does not change to lower case, since they are newer than its tables.
#[rustfmt::skip]
#[cfg(any(feature = "postgres", test))]
const UNFOLDED: &[(char, char)] = &[
    ('\u{130}', '\u{130}'), ('\u{37F}', '\u{37F}'), ('\u{528}', '\u{528}'), ('\u{52A}', '\u{52A}'), ('\u{52C}', '\u{52C}'),
    ('\u{52E}', '\u{52E}'), ('\u{13A0}', '\u{13F5}'), ('\u{1C89}', '\u{1C89}'), ('\u{1C90}', '\u{1CBA}'),
    ('\u{1CBD}', '\u{1CBF}'), ('\u{2C2F}', '\u{2C2F}'), ('\u{A698}', '\u{A698}'), ('\u{A69A}', '\u{A69A}'),
    ('\u{A796}', '\u{A796}'), ('\u{A798}', '\u{A798}'), ('\u{A79A}', '\u{A79A}'), ('\u{A79C}', '\u{A79C}'),
    ('\u{A79E}', '\u{A79E}'), ('\u{A7AB}', '\u{A7AE}'), ('\u{A7B0}', '\u{A7B4}'), ('\u{A7B6}', '\u{A7B6}'),
    ('\u{A7B8}', '\u{A7B8}'), ('\u{A7BA}', '\u{A7BA}'), ('\u{A7BC}', '\u{A7BC}'), ('\u{A7BE}', '\u{A7BE}'),
    ('\u{A7C0}', '\u{A7C0}'), ('\u{A7C2}', '\u{A7C2}'), ('\u{A7C4}', '\u{A7C7}'), ('\u{A7C9}', '\u{A7C9}'),
    ('\u{A7CB}', '\u{A7CC}'), ('\u{A7CE}', '\u{A7CE}'), ('\u{A7D0}', '\u{A7D0}'), ('\u{A7D2}', '\u{A7D2}'),
    ('\u{A7D4}', '\u{A7D4}'), ('\u{A7D6}', '\u{A7D6}'), ('\u{A7D8}', '\u{A7D8}'), ('\u{A7DA}', '\u{A7DA}'),
    ('\u{A7DC}', '\u{A7DC}'), ('\u{A7F5}', '\u{A7F5}'), ('\u{104B0}', '\u{104D3}'), ('\u{10570}', '\u{1057A}'),
    ('\u{1057C}', '\u{1058A}'), ('\u{1058C}', '\u{10592}'), ('\u{10594}', '\u{10595}'), ('\u{10C80}', '\u{10CB2}'),
    ('\u{10D50}', '\u{10D65}'), ('\u{118A0}', '\u{118BF}'), ('\u{16E40}', '\u{16E5F}'), ('\u{16EA0}', '\u{16EB8}'),
    ('\u{1E900}', '\u{1E921}'),
];

/// Letters that `SQLite` folds although they are no capitals.
#[rustfmt::skip]
#[cfg(any(feature = "postgres", test))]
const FOLDED: &[(char, char)] = &[
    ('\u{B5}', '\u{3BC}'), ('\u{17F}', '\u{73}'), ('\u{345}', '\u{3B9}'), ('\u{3C2}', '\u{3C3}'), ('\u{3D0}', '\u{3B2}'),
    ('\u{3D1}', '\u{3B8}'), ('\u{3D5}', '\u{3C6}'), ('\u{3D6}', '\u{3C0}'), ('\u{3F0}', '\u{3BA}'), ('\u{3F1}', '\u{3C1}'),
    ('\u{3F5}', '\u{3B5}'), ('\u{1E9B}', '\u{1E61}'), ('\u{1FBE}', '\u{3B9}'),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::sqlite::tokenizer;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(
            words("http://Info.CERN.ch/a_b%20c-\u{C4}\u{E9}"),
            [
                "http",
                "info",
                "cern",
                "ch",
                "a",
                "b",
                "20c",
                "\u{E4}\u{E9}"
            ]
        );
        assert_eq!(words("V\u{2069}er a\u{1F914}b"), ["v", "er", "a", "b"]);
    }

    /// Each character between two letters, as `SQLite` divides the text.
    #[test]
    fn sqlite_finds_the_same_words() {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        db.execute_batch(&format!(
            "CREATE VIRTUAL TABLE texts USING fts5(text, tokenize=\"{}\");
             CREATE VIRTUAL TABLE terms USING fts5vocab(texts, 'instance'); BEGIN",
            tokenizer()
        ))
        .unwrap();
        let planes = ('\u{80}'..='\u{1FFFF}').chain('\u{E0000}'..='\u{E01FF}');
        let mut insert = db
            .prepare("INSERT INTO texts(rowid, text) VALUES(?1, ?2)")
            .unwrap();
        for c in planes.clone() {
            insert.execute((u32::from(c), format!("q{c}z"))).unwrap();
        }
        let mut found = vec![Vec::new(); 0x11_0000];
        let mut terms = db
            .prepare("SELECT doc, term FROM terms ORDER BY doc, offset")
            .unwrap();
        let mut rows = terms.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let doc: u32 = row.get(0).unwrap();
            found[doc as usize].push(row.get::<_, String>(1).unwrap());
        }
        let differences: Vec<_> = planes
            .filter(|&c| found[u32::from(c) as usize] != words(&format!("q{c}z")))
            .map(|c| format!("{:X}", u32::from(c)))
            .collect();
        assert!(differences.is_empty(), "{differences:?}");
    }
}

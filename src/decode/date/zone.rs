//! Zones of dates: by their offset, or by a name in the table of zones.

use super::prefix::{DatePrefix, number};

/// The minutes east of Greenwich of `+hhmm` or `-hhmm` at the start of a text.
pub(super) fn numeric_zone(text: &[u8]) -> Option<DatePrefix<'_>> {
    let (sign, rest) = text.split_first()?;
    let DatePrefix { value, rest } = number(rest, 4..=4)?;
    let (hours, minutes) = (value / 100, value % 100);
    if 14 < hours || 59 < minutes {
        return None;
    }
    let east = hours * 60 + minutes;
    match sign {
        b'+' => Some(DatePrefix { value: east, rest }),
        b'-' => Some(DatePrefix { value: -east, rest }),
        _ => None,
    }
}

/// The minutes east of Greenwich of a zone by its name at the start of a text.
pub(super) fn named_zone(text: &[u8]) -> Option<DatePrefix<'_>> {
    let len = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let (name, rest) = text.split_at(len);
    let value = minutes_of_zone(name)?;
    Some(DatePrefix { value, rest })
}

/// The minutes east of Greenwich of a zone by its name, in upper or lower case.
pub(super) fn minutes_of_zone(name: &[u8]) -> Option<i32> {
    let (_, minutes) = ZONES
        .iter()
        .find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name))?;
    Some(*minutes)
}

/// The minutes east of Greenwich of `+hhmm`, `+hh:mm`, `+hh`.
pub(super) fn lenient_offset(text: &str) -> Option<i32> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text[1..].chars().filter(|&c| c != ':').collect();
    if digits.is_empty() || 4 < digits.len() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: i32 = digits.parse().ok()?;
    let (hours, minutes) = if digits.len() <= 2 {
        (number, 0)
    } else {
        (number / 100, number % 100)
    };
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Names of zones and their minutes east of Greenwich: those of RFC 822, and those seen in the news and mail of its time.
const ZONES: &[(&str, i32)] = &[
    ("ut", 0),
    ("utc", 0),
    ("gmt", 0),
    ("z", 0),
    ("wet", 0),
    ("west", 60),
    ("bst", 60),
    ("ist", 330),
    ("met", 60),
    ("mez", 60),
    ("cet", 60),
    ("mest", 120),
    ("mesz", 120),
    ("cest", 120),
    ("eet", 120),
    ("eest", 180),
    ("msk", 180),
    ("msd", 240),
    ("jst", 540),
    ("kst", 540),
    ("sgt", 480),
    ("hkt", 480),
    ("aest", 600),
    ("aedt", 660),
    ("nzst", 720),
    ("nzdt", 780),
    ("est", -300),
    ("edt", -240),
    ("cst", -360),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
    ("ast", -240),
    ("adt", -180),
    ("nst", -210),
    ("ndt", -150),
    ("akst", -540),
    ("akdt", -480),
    ("hst", -600),
    ("sst", 60),
    ("dst", 0),
];

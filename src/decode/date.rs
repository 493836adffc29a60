//! Dates of mail and news, in the many forms that four decades wrote them.
//!
//! A normaliser of ours finds the day, month, year, time and zone; `jiff` knows the calendar.

use jiff::civil;
use jiff::tz::Offset;

/// A date as it was written, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date {
    /// The field's text.
    pub raw: String,
    /// The moment in UTC, as RFC 3339 with a `Z`; nothing where the text is no date.
    pub utc: Option<String>,
    /// Seconds since 1970, for comparing.
    pub unix: Option<i64>,
    /// Whether the zone was written and known. An unknown zone is read as UTC.
    pub zone: Zone,
}

/// What is known of a date's zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// It was written.
    Known,
    /// It is a name that nobody can tell, or none at all.
    Unknown,
}

/// Names of zones and their minutes east of Greenwich. RFC 822's and those seen in news and mail of the time.
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

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// What was found so far.
#[derive(Default)]
struct Pieces {
    numbers: Vec<(i32, usize)>,
    month: Option<i8>,
    /// How many numbers stood before the month.
    before_month: usize,
    time: Option<(i8, i8, i8)>,
    /// Minutes east, from digits or a name.
    offset: Option<i32>,
    iso: Option<(i16, i8, i8)>,
}

/// Reads a date: RFC 5322, RFC 850, ctime, ISO 8601, years of two and three digits, zones by name.
#[must_use]
pub fn parse_date(raw: &str) -> Date {
    usual(raw).unwrap_or_else(|| any(raw))
}

/// Reads a date as nearly all mail of today has it, `Thu, 1 Dec 1994 09:30:00 +0000` (RFC 5322 section 3.3), perhaps
/// with a comment behind it. Nothing for any other.
fn usual(raw: &str) -> Option<Date> {
    let text = raw.as_bytes();
    let rest = match text {
        [a, b, c, b',', b' ', rest @ ..]
            if [a, b, c].iter().all(|byte| byte.is_ascii_alphabetic()) =>
        {
            rest
        }
        _ => text,
    };
    let (day, rest) = digits(rest, 1..=2)?;
    let rest = rest.strip_prefix(b" ")?;
    let (name, rest) = rest.split_at_checked(3)?;
    let month = month(name)?;
    let (year, rest) = digits(rest.strip_prefix(b" ")?, 4..=4)?;
    let (hour, rest) = digits(rest.strip_prefix(b" ")?, 2..=2)?;
    let (minute, rest) = digits(rest.strip_prefix(b":")?, 2..=2)?;
    let (second, rest) = digits(rest.strip_prefix(b":")?, 2..=2)?;
    let zone = rest.strip_prefix(b" ")?;
    let (offset, rest) = east_of_greenwich(zone).or_else(|| named_zone(zone))?;
    let known = second < 60 && (1900..=9998).contains(&year);
    if !known || !(rest.is_empty() || rest.starts_with(b" (")) {
        return None;
    }
    let date = civil::Date::new(year as i16, month, day as i8).ok()?;
    let moment =
        date.to_datetime(civil::Time::new(hour as i8, minute as i8, second as i8, 0).ok()?);
    utc(raw, moment, Some(offset))
}

/// The minutes of `+hhmm` at the start of a text, and what follows it.
fn east_of_greenwich(text: &[u8]) -> Option<(i32, &[u8])> {
    let (sign, rest) = text.split_first()?;
    let (zone, rest) = digits(rest, 4..=4)?;
    let minutes = zone / 100 * 60 + zone % 100;
    let is_known = zone / 100 <= 14 && zone % 100 < 60;
    match sign {
        b'+' if is_known => Some((minutes, rest)),
        b'-' if is_known => Some((-minutes, rest)),
        _ => None,
    }
}

/// The minutes of a zone by its name at the start of a text, and what follows it.
fn named_zone(text: &[u8]) -> Option<(i32, &[u8])> {
    let len = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let (name, rest) = text.split_at(len);
    Some((minutes_of(name)?, rest))
}

/// The minutes of a zone of that name, in any case.
fn minutes_of(name: &[u8]) -> Option<i32> {
    let (_, minutes) = ZONES
        .iter()
        .find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name))?;
    Some(*minutes)
}

/// A number of so many digits at the start of a text, and what follows it.
fn digits(text: &[u8], many: std::ops::RangeInclusive<usize>) -> Option<(i32, &[u8])> {
    let len = text
        .iter()
        .take(many.end() + 1)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (number, rest) = text.split_at(len);
    let value = number
        .iter()
        .fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
    many.contains(&len).then_some((value, rest))
}

/// A moment, and its zone's minutes east of Greenwich, where that is known.
fn utc(raw: &str, moment: civil::DateTime, offset: Option<i32>) -> Option<Date> {
    let timestamp = Offset::UTC.to_timestamp(moment).ok()?;
    let unix = timestamp.as_second() - i64::from(offset.unwrap_or(0)) * 60;
    let utc = jiff::Timestamp::from_second(unix).ok()?.to_string();
    let zone = if offset.is_some() {
        Zone::Known
    } else {
        Zone::Unknown
    };
    Some(Date {
        raw: raw.to_owned(),
        utc: Some(utc),
        unix: Some(unix),
        zone,
    })
}

/// Reads a date in any of the forms.
fn any(raw: &str) -> Date {
    let unknown = || Date {
        raw: raw.to_owned(),
        utc: None,
        unix: None,
        zone: Zone::Unknown,
    };
    let pieces = pieces(raw);
    let Some(moment) = moment(&pieces) else {
        return unknown();
    };
    utc(raw, moment, pieces.offset).unwrap_or_else(unknown)
}

/// What the words of a date say, but for its comments and its weekday.
fn pieces(raw: &str) -> Pieces {
    // Comments hold the zone's name again (RFC 5322 section 3.2.2).
    let text = raw.split('(').next().unwrap_or_default();
    // Tuesday is `Mar` in three languages, and no month then: `Mar, 5 Feb 1998`.
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let behind_weekday = text
        .split_once(',')
        .filter(|(weekday, _)| is_word(weekday) && month(weekday.as_bytes()).is_some());
    let behind_weekday = behind_weekday
        .map(|(_, rest)| pieces_of(rest))
        .filter(|pieces| pieces.month.is_some());
    behind_weekday.unwrap_or_else(|| pieces_of(text))
}

/// What words say that are all part of the date.
fn pieces_of(text: &str) -> Pieces {
    let mut pieces = Pieces::default();
    for word in text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty())
        .take(16)
    {
        if !(time(&mut pieces, word) || zone(&mut pieces, word) || iso(&mut pieces, word)) {
            // RFC 850 writes `02-Jul-96`.
            word.split(['-', '/', '.'])
                .filter(|piece| !piece.is_empty())
                .for_each(|piece| day_month_year(&mut pieces, piece));
        }
    }
    pieces
}

/// `13:45:10`, `13:45`, `13.45.10`.
fn time(pieces: &mut Pieces, word: &str) -> bool {
    let divided = |by: char| {
        let fields: Vec<&str> = word.split(by).collect();
        let numeric = fields.iter().all(|field| {
            (1..=2).contains(&field.len()) && field.bytes().all(|b| b.is_ascii_digit())
        });
        (numeric && (2..=3).contains(&fields.len())).then_some(fields)
    };
    let Some(fields) = divided(':')
        .or_else(|| divided('.').filter(|fields| fields.len() == 3 && pieces.month.is_some()))
    else {
        return false;
    };
    let number = |index: usize| {
        fields
            .get(index)
            .and_then(|field| field.parse::<i8>().ok())
            .unwrap_or(0)
    };
    // A leap second is the one before it.
    pieces
        .time
        .get_or_insert((number(0), number(1), number(2).min(59)));
    true
}

/// `+0200`, `-05:00`, `EST`, `GMT+2`; the `DST` of `MET DST` adds an hour.
fn zone(pieces: &mut Pieces, word: &str) -> bool {
    if pieces.time.is_none() && pieces.numbers.len() < 2 {
        return false;
    }
    let lower = word.to_ascii_lowercase();
    let (name, digits) = lower.split_at(lower.find(['+', '-']).unwrap_or(lower.len()));
    if !digits.is_empty() && (name.is_empty() || minutes_of(name.as_bytes()).is_some()) {
        let Some(minutes) = offset(digits) else {
            return false;
        };
        pieces.offset = Some(minutes);
        return true;
    }
    if lower == "dst" && pieces.offset.is_some() {
        pieces.offset = pieces.offset.map(|minutes| minutes + 60);
        return true;
    }
    match minutes_of(word.as_bytes()) {
        Some(minutes) => {
            pieces.offset.get_or_insert(minutes);
            true
        }
        None => false,
    }
}

/// Minutes east of `+hhmm`, `+hh:mm`, `+hh`.
fn offset(text: &str) -> Option<i32> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text[1..].chars().filter(|&c| c != ':').collect();
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
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

/// `1996-07-02` and `1996-07-02T13:45:10Z` (RFC 3339).
fn iso(pieces: &mut Pieces, word: &str) -> bool {
    let Some((day, rest)) = word.split_at_checked(word.len().min(10)) else {
        return false;
    };
    let fields: Vec<&str> = day.split(['-', '/']).collect();
    let [year, month, day] = fields[..] else {
        return false;
    };
    let (Ok(year), Ok(month), Ok(day)) =
        (year.parse::<i16>(), month.parse::<i8>(), day.parse::<i8>())
    else {
        return false;
    };
    if year < 1000 {
        return false;
    }
    pieces.iso = Some((year, month, day));
    if let Some(rest) = rest.strip_prefix(['T', 't']) {
        let end = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
        let clock = rest[..end].split('.').next().unwrap_or_default();
        time(pieces, clock);
        if !rest[end..].is_empty() {
            zone(pieces, &rest[end..]);
        }
    }
    true
}

fn day_month_year(pieces: &mut Pieces, piece: &str) {
    if let Ok(number) = piece.parse::<i32>() {
        pieces.numbers.push((number, piece.len()));
    } else if pieces.month.is_none()
        && let Some(month) = month(piece.as_bytes())
    {
        pieces.month = Some(month);
        pieces.before_month = pieces.numbers.len();
    }
}

/// The month whose name a word begins with.
fn month(word: &[u8]) -> Option<i8> {
    let start = word.first_chunk::<3>()?;
    MONTHS
        .iter()
        .position(|name| name.as_bytes().eq_ignore_ascii_case(start))
        .map(|month| month as i8 + 1)
}

fn moment(pieces: &Pieces) -> Option<civil::DateTime> {
    let (hour, minute, second) = pieces.time.unwrap_or((0, 0, 0));
    let (year, month, day) = match pieces.iso {
        Some(iso) => iso,
        None => {
            let mut numbers = pieces.numbers.clone();
            // The day is the first number of one or two digits; the year is one of the others.
            let day = numbers
                .iter()
                .position(|&(number, digits)| digits <= 2 && (1..=31).contains(&number))?;
            let (day, _) = numbers.remove(day);
            let &(year, digits) = numbers
                .iter()
                .find(|&&(_, digits)| digits == 4)
                .or_else(|| numbers.first())?;
            (full_year(year, digits)?, pieces.month?, day as i8)
        }
    };
    civil::Date::new(year, month, day)
        .ok()?
        .to_datetime(civil::Time::new(hour, minute, second, 0).ok()?)
        .into()
}

/// RFC 5322 section 4.3: two digits below 50 are of this century, other years of two or three digits count from 1900.
fn full_year(year: i32, digits: usize) -> Option<i16> {
    let year = match (digits, year) {
        (..=2, 0..=49) => year + 2000,
        (..=3, _) => year + 1900,
        _ => year,
    };
    i16::try_from(year)
        .ok()
        .filter(|year| (1900..=9998).contains(year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, utc: &str) {
        assert_eq!(parse_date(raw).utc.as_deref(), Some(utc), "{raw}");
    }

    #[test]
    fn the_forms_of_four_decades_are_read() {
        check("Thu, 1 Dec 1994 09:30:00 +0000", "1994-12-01T09:30:00Z");
        check("Tuesday, 02-Jul-96 13:45:10 GMT", "1996-07-02T13:45:10Z");
        check("Tue Jul  2 13:45:10 1996", "1996-07-02T13:45:10Z");
        check("Tue Jul  2 13:45:10 EDT 1996", "1996-07-02T17:45:10Z");
        check("2 Jul 96 13:45 PDT", "1996-07-02T20:45:00Z");
        check("Tue, 2 Jul 1996 13:45:10 MET DST", "1996-07-02T11:45:10Z");
        check("Tue, 2 Jul 1996 13.45.10 +0200", "1996-07-02T11:45:10Z");
        check("Tue, 2 Jul 1996 13:45:60 JST", "1996-07-02T04:45:59Z");
        check(
            "Tue, 2 Jul 101 13:45:10 -0500 (EST)",
            "2001-07-02T18:45:10Z",
        );
        check("1996-07-02T13:45:10+02:00", "1996-07-02T11:45:10Z");
        check("Sun, 03 May 2020 20:01:02 GMT+2", "2020-05-03T18:01:02Z");
        check("Mar, 5 Feb 1998 10:00 GMT", "1998-02-05T10:00:00Z");
        check("March 5, 1998 10:00 GMT", "1998-03-05T10:00:00Z");
        check("Dec 31, 1998 10:00 GMT by Mar", "1998-12-31T10:00:00Z");
        check("mar, 5 98 10:00 GMT", "1998-03-05T10:00:00Z");
    }

    #[test]
    fn the_usual_form_is_read_as_any_other() {
        let mut read = 0;
        for day in ["1", "01", "31", "32", "0"] {
            for month in ["Feb", "dec", "Foo"] {
                for year in ["1899", "1900", "1996", "2026", "9999", "96"] {
                    for time in [
                        "00:00:00", "23:59:59", "23:59:60", "24:00:00", "9:30:00", "09:30",
                    ] {
                        for zone in [
                            "+0000",
                            "-0730",
                            "+1500",
                            "+0060",
                            "GMT",
                            "pst (x)",
                            "MET DST",
                            "+0200 (CEST)",
                            "-0800(PST)",
                            "DST",
                        ] {
                            for weekday in ["", "Thu, ", "Thursday, ", "thu ", "Mar, "] {
                                let raw = format!("{weekday}{day} {month} {year} {time} {zone}");
                                if let Some(date) = usual(&raw) {
                                    assert_eq!(date, any(&raw), "{raw}");
                                    read += 1;
                                }
                            }
                        }
                    }
                }
            }
        }
        assert!(read > 100);
    }

    #[test]
    fn an_unknown_zone_is_said_to_be_unknown() {
        assert_eq!(parse_date("2 Jul 1996 13:45:10 XYZ").zone, Zone::Unknown);
        assert_eq!(parse_date("2 Jul 1996 13:45:10 JST").zone, Zone::Known);
    }

    #[test]
    fn what_is_no_date_is_kept_as_it_is() {
        for raw in ["", "yesterday", "99 Foo 1996", "31 Feb 1996 10:00", "0 0 0"] {
            assert_eq!(
                (parse_date(raw).utc, parse_date(raw).raw),
                (None, raw.to_owned())
            );
        }
    }
}

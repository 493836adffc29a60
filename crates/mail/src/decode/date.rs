//! Dates of mail and news in the many forms of four decades, read as words in any order.
//!
//! This module finds the day, month, year, time and zone; `jiff` does the calendar arithmetic.

use std::ops::Range;

use jiff::civil;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::Offset;

use urlspool_text::byte_scan::{is_one_of, starts_with_caseless};

/// A date as written, and the moment that it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date {
    /// Text of the field.
    pub raw: String,
    /// Moment in UTC, as RFC 3339 with a `Z`; `None` if the text is not a date.
    pub utc: Option<String>,
    /// Seconds since 1970; `Some` if and only if `utc` is.
    pub unix: Option<i64>,
    /// Knowledge of the zone. An unknown zone is read as UTC.
    pub zone: Zone,
}

/// First day on which a message can have been sent. Clocks that are not set say 1970-01-01.
pub const FIRST_MESSAGE_DAY: &str = "1970-01-02";

/// Last plausible year of a message. It is fixed, so the output does not depend on the current day.
const LAST_MESSAGE_YEAR: u16 = 2099;

impl Date {
    /// Returns the date `unix` seconds after 1970, or `None` if no calendar has it.
    fn at(raw: &str, unix: i64, zone: Zone) -> Option<Date> {
        Some(Date {
            raw: raw.to_owned(),
            utc: Some(jiff::Timestamp::from_second(unix).ok()?.to_string()),
            unix: Some(unix),
            zone,
        })
    }

    /// Returns the year in UTC if a message can have been sent at this date: from
    /// `FIRST_MESSAGE_DAY` to the end of `LAST_MESSAGE_YEAR`.
    #[must_use]
    pub fn year(&self) -> Option<u16> {
        let day = self.utc.as_deref()?.get(..FIRST_MESSAGE_DAY.len())?;
        // A year before 0 or after 9999 has a sign.
        let year: u16 = day.split('-').next()?.parse().ok()?;
        (FIRST_MESSAGE_DAY <= day && year <= LAST_MESSAGE_YEAR).then_some(year)
    }
}

/// First day on which a message can cite an http URL: the start of the year in which the Web became
/// public.
const FIRST_HTTP_DAY: &str = "1991-01-01";

/// Length of a date in a record: `1996-07-02T13:45:00Z`.
const DATE_BYTES: usize = 20;

/// Date of a citation: the date of the message, if it can have cited the URL then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CitedDate<'d> {
    /// A date in UTC, in the form of [`Date::utc`].
    Usable(&'d str),
    /// The message's date is after the last day.
    Later,
    /// The message has no date, or a date before such URLs existed.
    Unknown,
}

impl<'d> CitedDate<'d> {
    /// Returns the date of a citation of a URL with `scheme` in a message dated `utc`. `last_day`
    /// is the day of loading, as `1996-07-02`.
    #[must_use]
    pub fn of(scheme: &str, utc: Option<&'d str>, last_day: &str) -> CitedDate<'d> {
        let first_day = match scheme {
            "http" | "https" => FIRST_HTTP_DAY,
            _ => FIRST_MESSAGE_DAY,
        };
        let Some(date) = utc.filter(|date| date.len() == DATE_BYTES) else {
            return CitedDate::Unknown;
        };
        match date.get(..FIRST_MESSAGE_DAY.len()) {
            Some(day) if last_day < day => CitedDate::Later,
            Some(day) if first_day <= day => CitedDate::Usable(date),
            _ => CitedDate::Unknown,
        }
    }
}

/// Knowledge of a date's zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// The text has an offset, or a name from the table of zones.
    Known,
    /// The text has another name, or no zone.
    Unknown,
}

/// Parses a date: RFC 5322, RFC 850, ctime, ISO 8601, years of two and three digits, zones by name.
///
/// Never fails: the result has no moment if the text is not a date.
#[must_use]
pub fn parse_date(raw: &str) -> Date {
    let common = common_moment(raw).and_then(|unix| Date::at(raw, unix, Zone::Known));
    let date = common.or_else(|| DateTokens::of(raw).moment(raw));
    date.unwrap_or_else(|| Date {
        raw: raw.to_owned(),
        utc: None,
        unix: None,
        zone: Zone::Unknown,
    })
}

/// Reads a date of RFC 5322 with an offset in digits, as nearly all mail has. Returns the seconds
/// since 1970, as [`DateTokens`] would except for blanks around the colons of a time (`10 : 00`).
/// `None` for any other form, and for years that no mail has.
fn common_moment(raw: &str) -> Option<i64> {
    const ZONE_BYTES: usize = 5;
    const PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);
    /// 1970 to 2099.
    const USUAL_YEARS: Range<i64> = 0..4_102_444_800;
    let text = raw.split('(').next()?.trim_ascii_end();
    let zone = text.get(text.len().checked_sub(ZONE_BYTES)?..)?;
    lenient_offset(Some(zone).filter(|zone| zone.starts_with(['+', '-']))?)?;
    let unix = PARSER.parse_timestamp(text).ok()?.as_second();
    USUAL_YEARS.contains(&unix).then_some(unix)
}

/// Recognised words of a date.
#[derive(Default)]
struct DateTokens {
    /// Numbers of day and year, in the order of the text.
    numbers: Vec<DateNumber>,
    month: Option<i8>,
    /// Hour, minute and second.
    time: Option<[i8; 3]>,
    /// Start of the half of the day that a time with 12 hours is in.
    half_day: Option<i8>,
    /// Minutes east of Greenwich, from digits or a name.
    offset: Option<i32>,
    /// A day in RFC 3339 form, or the error if the calendar has no such day.
    iso: Option<Result<civil::Date, jiff::Error>>,
}

#[derive(Clone, Copy)]
struct DateNumber {
    value: i32,
    /// Number of digits, leading zeros included.
    digits: usize,
}

impl DateTokens {
    /// Maximum number of words to read.
    const MAX_WORDS: usize = 16;

    /// Reads the words of a date, without its comments.
    fn of(raw: &str) -> DateTokens {
        // A comment repeats the zone by name (RFC 5322 section 3.2.2).
        let text = raw.split('(').next().unwrap_or_default();
        // A weekday in brackets may stand before the time.
        let is_chinese = text.contains('年') && !raw.contains(['(', '（']);
        let chinese = is_chinese.then(|| {
            let text = text.replace(['年', '月'], "-").replace('日', " ");
            text.replace("上午", " AM ").replace("下午", " PM ")
        });
        let text = chinese.as_deref().unwrap_or(text);
        let mut tokens = DateTokens::default();
        let words = text
            .split(|c: char| c.is_whitespace() || c == ',')
            .filter(|word| !word.is_empty());
        for word in words.take(DateTokens::MAX_WORDS) {
            let word = tokens.without_half_day(word);
            if !(tokens.take_time(word) || tokens.take_zone(word) || tokens.take_iso(word)) {
                // RFC 850 writes `02-Jul-96`.
                word.split(['-', '/', '.'])
                    .filter(|piece| !piece.is_empty())
                    .for_each(|piece| tokens.take_number_or_month(piece));
            }
        }
        if tokens.time.is_some() && tokens.offset.is_none() {
            // Apple Mail writes `21:54 (UTC+1)`, and Outlook `(GMT +01:00) Berlin`.
            let comment = raw.split(['(', ')']).nth(1).unwrap_or_default();
            for word in comment.split_whitespace().take(2) {
                if !tokens.take_zone(word) {
                    break;
                }
            }
        }
        tokens
    }

    /// Reads `PM`, or the end of `5:32PM`. Returns the rest of the word.
    fn without_half_day<'w>(&mut self, word: &'w str) -> &'w str {
        // Most words have another last byte.
        let may_end_in_name = word.ends_with(['M', 'm', '.']);
        for (start, names) in HALF_DAYS.into_iter().filter(|_| may_end_in_name) {
            let mut rests = names.iter().filter_map(|name| word.strip_suffix(name));
            // A German `am` stands before a day.
            let may_be = |rest: &&str| match *rest {
                "" => self.time.is_some() || word.starts_with(['A', 'P']),
                rest => !rest.contains(char::is_alphabetic),
            };
            if let Some(time) = rests.find(may_be) {
                self.half_day = Some(start);
                return time;
            }
        }
        word
    }

    /// Reads `13:45:10`, `13:45`, or `13.45.10` after the month. Returns `false` for any other
    /// word.
    fn take_time(&mut self, word: &str) -> bool {
        let with_dots = || time_fields(word, b'.', 3).filter(|_| self.month.is_some());
        let Some(mut time) = time_fields(word, b':', 2).or_else(with_dots) else {
            return false;
        };
        // A leap second is read as the second before it.
        time[2] = time[2].min(59);
        self.time.get_or_insert(time);
        true
    }

    /// Reads `+0200`, `-05:00`, `EST` or `GMT+2`; the `DST` of `MET DST` adds an hour. Returns
    /// `false` for any other word, and if neither a time nor two numbers precede it.
    fn take_zone(&mut self, word: &str) -> bool {
        if self.time.is_none() && self.numbers.len() < 2 {
            return false;
        }
        let (name, digits) = word.split_at(word.find(['+', '-']).unwrap_or(word.len()));
        if !digits.is_empty() && (name.is_empty() || minutes_of_zone(name.as_bytes()).is_some()) {
            let minutes = lenient_offset(digits);
            self.offset = minutes.or(self.offset);
            return minutes.is_some();
        }
        if word.eq_ignore_ascii_case("dst") && self.offset.is_some() {
            self.offset = self.offset.map(|minutes| minutes + 60);
            return true;
        }
        let minutes = minutes_of_zone(word.as_bytes());
        self.offset = self.offset.or(minutes);
        minutes.is_some()
    }

    /// Reads `1996-07-02` and `1996-07-02T13:45:10Z` (RFC 3339). Returns `false` for any other
    /// word.
    fn take_iso(&mut self, word: &str) -> bool {
        let Some((day, rest)) = word.split_at_checked(word.len().min(10)) else {
            return false;
        };
        let Some(day) = iso_day(day) else {
            return false;
        };
        self.iso = Some(day);
        if let Some(rest) = rest.strip_prefix(['T', 't']) {
            let end = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
            let without_fraction = rest[..end].split('.').next().unwrap_or_default();
            self.take_time(without_fraction);
            if !rest[end..].is_empty() {
                self.take_zone(&rest[end..]);
            }
        }
        true
    }

    /// Reads a number, or the name of a month. Another month before the year replaces March:
    /// Tuesday is `Mar` in Spanish, French and Italian, so `Mar, 5 Feb 1998` is in February.
    fn take_number_or_month(&mut self, piece: &str) {
        if let Ok(value) = piece.parse::<i32>() {
            let digits = piece.len();
            self.numbers.push(DateNumber { value, digits });
        } else if self
            .month
            .is_none_or(|month| month == 3 && self.numbers.len() < 2 && self.time.is_none())
        {
            self.month = month_of(piece.as_bytes()).or(self.month);
        }
    }

    /// Returns the date of these words, at midnight if there is no time.
    fn moment(self, raw: &str) -> Option<Date> {
        let [hour, minute, second] = self.time.unwrap_or_default();
        let half_day = self.half_day.filter(|_| hour <= 12);
        let hour = half_day.map_or(hour, |start| start + hour % 12);
        let time = civil::Time::new(hour, minute, second, 0).ok()?;
        let offset = self.offset;
        let day = match self.iso {
            Some(day) => day.ok()?,
            None => self.day()?,
        };
        let local = Offset::UTC.to_timestamp(day.to_datetime(time)).ok()?;
        // An unknown zone is read as UTC.
        let unix = local.as_second() - i64::from(offset.unwrap_or(0)) * 60;
        Date::at(raw, unix, offset.map_or(Zone::Unknown, |_| Zone::Known))
    }

    /// Returns the day from a month and two numbers. The first number of one or two digits is the
    /// day; the year is one of the others.
    fn day(self) -> Option<civil::Date> {
        let mut others = self.numbers;
        let day = others
            .iter()
            .position(|number| number.digits <= 2 && (1..=31).contains(&number.value))?;
        let day = others.remove(day);
        let year = others.iter().find(|number| number.digits == 4);
        let year = year.or_else(|| others.first())?;
        civil::Date::new(full_year(*year)?, self.month?, day.value as i8).ok()
    }
}

/// Reads hour, minute and second, numbers of one or two digits. At least `min` of them must be
/// there.
fn time_fields(word: &str, separator: u8, min: usize) -> Option<[i8; 3]> {
    let (mut time, mut count) = ([0; 3], 0);
    // Most words are no time.
    word.bytes().next().filter(u8::is_ascii_digit)?;
    for field in word.as_bytes().split(|&byte| byte == separator) {
        let is_number = field.len() <= 2 && !field.is_empty();
        let value = number_of(field.iter().copied().take(2)).filter(|_| is_number)?;
        *time.get_mut(count)? = value as i8;
        count += 1;
    }
    (min <= count).then_some(time)
}

/// Returns the value of a few digits, or `None` if other bytes are among them.
fn number_of(mut digits: impl Iterator<Item = u8>) -> Option<i32> {
    digits.try_fold(0, |value, digit| {
        let digit = char::from(digit).to_digit(10)?;
        Some(value * 10 + digit.cast_signed())
    })
}

/// Returns the day of `1996-07-02` or `1996/07/02`, or an error if the calendar has no such day.
/// Returns `None` for any other text and for years before 1000.
fn iso_day(text: &str) -> Option<Result<civil::Date, jiff::Error>> {
    memchr::memchr2(b'-', b'/', text.as_bytes())?;
    let fields: Vec<&str> = text.split(['-', '/']).collect();
    let [year, month, day] = fields[..] else {
        return None;
    };
    let (month, day) = (month.parse().ok()?, day.parse().ok()?);
    let year = year.parse().ok().filter(|year| 1000 <= *year)?;
    Some(civil::Date::new(year, month, day))
}

/// Returns the year of a number (RFC 5322 section 4.3): two digits below 50 mean this century;
/// other years of two or three digits count from 1900.
fn full_year(number: DateNumber) -> Option<i16> {
    let year = match (number.digits, number.value) {
        (..=2, value @ 0..=49) => value + 2000,
        (..=3, value) => value + 1900,
        (_, value) => value,
    };
    i16::try_from(year)
        .ok()
        .filter(|year| (1900..=9998).contains(year))
}

/// Returns a named zone's minutes east of Greenwich. Case does not matter.
fn minutes_of_zone(name: &[u8]) -> Option<i32> {
    let mut zones = ZONES.iter();
    Some(zones.find(|(_, names)| is_one_of(name, names))?.0)
}

/// Returns the minutes east of Greenwich of `+hhmm`, `+hh:mm` or `+hh`.
fn lenient_offset(text: &str) -> Option<i32> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits = text[1..].bytes().filter(|&byte| byte != b':');
    let len = digits.clone().count();
    let number = number_of(digits.take(4)).filter(|_| (1..=4).contains(&len))?;
    let number = if len <= 2 { number * 100 } else { number };
    let (hours, minutes) = (number / 100, number % 100);
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Minutes east of Greenwich and the zones with that offset: the names of RFC 822, and names seen
/// in the news and mail of its time.
const ZONES: &[(i32, &[&str])] = &[
    (0, &["ut", "utc", "gmt", "z", "wet", "dst"]),
    (60, &["west", "bst", "met", "mez", "cet", "sst"]),
    (120, &["mest", "mesz", "cest", "eet"]),
    (180, &["eest", "msk"]),
    (240, &["msd"]),
    (330, &["ist"]),
    (480, &["sgt", "hkt"]),
    (540, &["jst", "kst"]),
    (600, &["aest"]),
    (660, &["aedt"]),
    (720, &["nzst"]),
    (780, &["nzdt"]),
    (-150, &["ndt"]),
    (-180, &["adt"]),
    (-210, &["nst"]),
    (-240, &["edt", "ast"]),
    (-300, &["est", "cdt"]),
    (-360, &["cst", "mdt"]),
    (-420, &["mst", "pdt"]),
    (-480, &["pst", "akdt"]),
    (-540, &["akst"]),
    (-600, &["hst"]),
];

/// Hour at which each half of the day starts, and its names. Spanish has blanks in `p. m.`.
const HALF_DAYS: [(i8, [&str; 5]); 2] = [
    (0, ["AM", "am", "A.M.", "a.m.", "a."]),
    (12, ["PM", "pm", "P.M.", "p.m.", "p."]),
];

/// Starts of the names of each month in English, German, French, Spanish, Portuguese, Italian,
/// Dutch and Swedish; Chinese has numbers. The first row has names of Tuesday, which is not March.
const MONTHS: [&[&str]; 13] = [
    &["mardi", "martes", "marted"],
    &["jan", "jän", "ene", "gen"],
    &["feb", "fév", "fev"],
    &["mar", "mär", "mrz", "maart", "mrt"],
    &["apr", "avr", "abr"],
    &["may", "mai", "maj", "mag", "mei"],
    &["jun", "juin", "giu"],
    &["jul", "juil", "lug"],
    &["aug", "aoû", "aou", "ago"],
    &["sep", "set"],
    &["oct", "okt", "out", "ott"],
    &["nov"],
    &["dec", "déc", "dez", "dic"],
];

/// Returns the month that a word names; January is 1. Case of ASCII letters does not matter.
fn month_of(word: &[u8]) -> Option<i8> {
    let first = word.first()?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|starts| {
        let mut starts = starts.iter().map(|start| start.as_bytes());
        starts.any(|start| start[0] == first && starts_with_caseless(word, start))
    })?;
    (month != 0).then_some(month as i8)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn common_dates_agree_with_their_words(
            raw in "(Mon|mar|Xyz)?,? {0,2}[0-3]?[0-9] (Feb|SEP|Sept|mar) (19|20|0|99)?[0-9][0-9] \
                [0-2]?[0-9]:[0-6][0-9](:[0-6][0-9])?( PM)? [+-][01][0-9]:?[0-9]{1,2} \
                ?(\\(P(S|D)T\\))?"
        ) {
            if let Some(unix) = common_moment(&raw) {
                let date = DateTokens::of(&raw).moment(&raw);
                proptest::prop_assert_eq!(Date::at(&raw, unix, Zone::Known), date, "{}", raw);
            }
        }
    }

    #[test]
    fn most_dates_are_common() {
        for raw in [
            "Sun, 1 Sep 1996 01:23:45 -0700 (PDT)",
            "1 Sep 96 01:23 +0000",
        ] {
            assert!(common_moment(raw).is_some(), "{raw}");
        }
        for raw in [
            "Sun, 1 Sep 1996 01:23:45 PDT",
            "1 Sep 1996 01:23 +1500",
            "-0700",
            "",
        ] {
            assert_eq!(common_moment(raw), None, "{raw}");
        }
    }

    #[track_caller]
    fn check(raw: &str, utc: &str) {
        assert_eq!(parse_date(raw).utc.as_deref(), Some(utc), "{raw}");
    }

    #[test]
    fn a_year_is_one_in_which_mail_can_have_been_sent() {
        for (raw, year) in [
            ("Tue, 2 Jul 1996 13:45:10 +0000", Some(1996)),
            ("Wed, 31 Dec 1997 23:00:00 -0500", Some(1998)),
            ("Thu, 1 Jan 1970 23:59:59 +0000", None),
            ("Fri, 2 Jan 1970 00:00:00 +0000", Some(1970)),
            ("Thu, 31 Dec 2099 23:59:59 +0000", Some(2099)),
            ("Fri, 1 Jan 2100 00:00:00 +0000", None),
            ("no date", None),
            ("5 Jul 1996-02-30", None),
            ("1996/13/02 Jul 3 1997", None),
        ] {
            assert_eq!(parse_date(raw).year(), year, "{raw}");
        }
    }

    #[test]
    fn the_first_day_of_a_citation_depends_on_the_scheme() {
        for (scheme, date, expected) in [
            ("http", "1990-12-31T23:59:59Z", CitedDate::Unknown),
            (
                "http",
                "1991-01-01T00:00:00Z",
                CitedDate::Usable("1991-01-01T00:00:00Z"),
            ),
            (
                "ftp",
                "1989-03-12T10:00:00Z",
                CitedDate::Usable("1989-03-12T10:00:00Z"),
            ),
            ("ftp", "1970-01-01T00:00:00Z", CitedDate::Unknown),
            (
                "http",
                "2026-11-22T23:59:59Z",
                CitedDate::Usable("2026-11-22T23:59:59Z"),
            ),
            ("http", "2026-11-23T00:00:00Z", CitedDate::Later),
            ("http", "12026-11-23T00:00:00Z", CitedDate::Unknown),
            ("http", "-1996-07-02T00:00:0Z", CitedDate::Unknown),
        ] {
            let found = CitedDate::of(scheme, Some(date), "2026-11-22");
            assert_eq!(found, expected, "{scheme} {date}");
        }
        assert_eq!(
            CitedDate::of("http", None, "2026-11-22"),
            CitedDate::Unknown
        );
    }

    #[test]
    fn the_forms_of_four_decades_are_parsed() {
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
        check("3. Mai 2020 20:01 (UTC+2)", "2020-05-03T18:01:00Z");
        check("3 May 2020 20:01 (GMT -02:30)", "2020-05-03T22:31:00Z");
        check("3 May 2020 20:01 (by MET)", "2020-05-03T20:01:00Z");
        check("Mar, 5 Feb 1998 10:00 GMT", "1998-02-05T10:00:00Z");
        check("March 5, 1998 10:00 GMT", "1998-03-05T10:00:00Z");
        check("Dec 31, 1998 10:00 GMT by Mar", "1998-12-31T10:00:00Z");
        check("mar, 5 98 10:00 GMT", "1998-03-05T10:00:00Z");
    }

    /// Months in the languages of Outlook, full names and abbreviations, January to December.
    const MONTH_NAMES: &str = "\
January|February|March|April|May|June|July|August|September|October|November|December
Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec
Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember
Jan|Feb|Mrz|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez
Jänner|Feber|Mär.|Apr.|Mai|Juni|Juli|Aug.|Sept.|Okt.|Nov.|Dez.
janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre
janv.|févr.|mars|avr.|mai|juin|juil.|août|sept.|oct.|nov.|déc.
enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre
ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|setiembre|oct.|nov.|dic.
janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro
jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez
gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre
gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic
januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december
jan|feb|mrt|apr|mei|jun|jul|aug|sep|okt|nov|dec
januari|februari|mars|april|maj|juni|juli|augusti|september|oktober|november|december
jan|feb|mar|apr|maj|jun|jul|aug|sep|okt|nov|dec
1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月";

    #[test]
    fn months_are_read_in_the_languages_of_outlook() {
        for line in MONTH_NAMES.lines() {
            assert_eq!(line.split('|').count(), 12, "{line}");
            for (name, month) in line.split('|').zip(1..) {
                let utc = format!("2023-{month:02}-05T16:09:00Z");
                if name.ends_with('月') {
                    check(&format!("2023年{name}5日 16:09"), &utc);
                    check(&format!("2023年{name}5日星期二 下午4:09"), &utc);
                    continue;
                }
                for day in ["", "mar. ", "Dienstag, ", "terça-feira, ", "den "] {
                    check(&format!("{day}5 {name} 2023 16:09"), &utc);
                    check(&format!("{day}5. de {name} de 2023 16:09"), &utc);
                }
                check(&format!("{name} 5, 2023 16:09"), &utc);
            }
        }
    }

    #[test]
    fn a_weekday_is_not_a_month() {
        for weekdays in [
            "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
            "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonnabend Sonntag",
            "lundi mardi mercredi jeudi vendredi samedi dimanche lun. mer. jeu. ven. sam. dim.",
            "lunes martes miércoles jueves viernes sábado domingo mié jue vie sáb dom",
            "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado seg ter qua",
            "lunedì martedì mercoledì giovedì venerdì sabato domenica gio ven",
            "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
            "måndag tisdag onsdag torsdag fredag lördag söndag mån tis ons tors fre lör sön",
        ] {
            for weekday in weekdays.split(' ') {
                assert_eq!(month_of(weekday.as_bytes()), None, "{weekday}");
            }
        }
        for date in [
            "martes, 5 de diciembre de 2023 16:09",
            "MARDI 5 décembre 2023 16:09",
            "martedì 5 dicembre 2023 16:09",
            "mar. 5 déc. 2023 à 16:09",
            "mar dic 5 16:09:00 2023",
        ] {
            check(date, "2023-12-05T16:09:00Z");
        }
        check("5 mar 2023 16:09 by Dec", "2023-03-05T16:09:00Z");
    }

    #[test]
    fn the_half_of_the_day_is_added() {
        for (time, utc) in [
            ("12:05 AM", "00:05:00"),
            ("12:05 PM", "12:05:00"),
            ("5:32 AM", "05:32:00"),
            ("5:32\u{202f}PM", "17:32:00"),
            ("5:32pm", "17:32:00"),
            ("05:32:11 p.m.", "17:32:11"),
            ("05:32 p.\u{a0}m.", "17:32:00"),
            ("12:32 a. m.", "00:32:00"),
            ("17:32 PM", "17:32:00"),
        ] {
            check(
                &format!("Tuesday, July 4, 2023 {time}"),
                &format!("2023-07-04T{utc}Z"),
            );
        }
        check("Tue, 4 Jul 2023 05:32:11 PM +0000", "2023-07-04T17:32:11Z");
        check("am 5. Januar 2004 um 12:30", "2004-01-05T12:30:00Z");
        check("Mon Mar  2 10:11:12 NOVT 2009", "2009-03-02T10:11:12Z");
        check("Tue, 4 Jul 2023 11:32:11 PM -0500", "2023-07-05T04:32:11Z");
        check("Am 4. Juli 2023 um 12:05", "2023-07-04T12:05:00Z");
        check("July 4, 2023 at 10:05 from Siam", "2023-07-04T10:05:00Z");
    }

    #[test]
    fn an_unknown_zone_is_reported_as_unknown() {
        assert_eq!(parse_date("2 Jul 1996 13:45:10 XYZ").zone, Zone::Unknown);
        assert_eq!(parse_date("2 Jul 1996 13:45:10 JST").zone, Zone::Known);
    }

    #[test]
    fn text_that_is_no_date_is_kept() {
        for raw in ["", "yesterday", "99 Foo 1996", "31 Feb 1996 10:00", "0 0 0"] {
            assert_eq!(
                (parse_date(raw).utc, parse_date(raw).raw),
                (None, raw.to_owned())
            );
        }
    }
}

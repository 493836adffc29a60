//! The words of a date in any form, in any order.

use jiff::civil;

use super::prefix::month_of;
use super::zone::{lenient_offset, minutes_of_zone};

/// The words of a date, as far as they were recognised.
#[derive(Default)]
pub(super) struct DateTokens {
    /// Numbers of day and year, in the order of the text.
    numbers: Vec<DateNumber>,
    month: Option<i8>,
    time: Option<TimeOfDay>,
    /// Minutes east of Greenwich, from digits or a name.
    pub(super) offset: Option<i32>,
    iso: Option<CalendarDay>,
}

/// A number in a date.
#[derive(Clone, Copy)]
struct DateNumber {
    value: i32,
    /// Number of digits, with leading zeros.
    digits: usize,
}

#[derive(Clone, Copy, Default)]
struct TimeOfDay {
    hour: i8,
    minute: i8,
    second: i8,
}

#[derive(Clone, Copy)]
struct CalendarDay {
    year: i16,
    month: i8,
    day: i8,
}

impl DateTokens {
    /// Maximum number of words that are read.
    const MAX_WORDS: usize = 16;

    /// Reads the words of a date, without its comments and its weekday.
    pub(super) fn of(raw: &str) -> DateTokens {
        // A comment repeats the zone by name (RFC 5322 section 3.2.2).
        let text = raw.split('(').next().unwrap_or_default();
        // Tuesday is `Mar` in Spanish, French and Italian: in `Mar, 5 Feb 1998` it is not the month.
        let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic());
        let after_weekday = text
            .split_once(',')
            .filter(|(weekday, _)| is_word(weekday) && month_of(weekday.as_bytes()).is_some());
        let after_weekday = after_weekday
            .map(|(_, rest)| DateTokens::of_words(rest))
            .filter(|tokens| tokens.month.is_some());
        after_weekday.unwrap_or_else(|| DateTokens::of_words(text))
    }

    /// Reads words that are all part of the date.
    fn of_words(text: &str) -> DateTokens {
        let mut tokens = DateTokens::default();
        let words = text
            .split(|c: char| c.is_whitespace() || c == ',')
            .filter(|word| !word.is_empty());
        for word in words.take(DateTokens::MAX_WORDS) {
            if !(tokens.take_time(word) || tokens.take_zone(word) || tokens.take_iso(word)) {
                // RFC 850 writes `02-Jul-96`.
                word.split(['-', '/', '.'])
                    .filter(|piece| !piece.is_empty())
                    .for_each(|piece| tokens.take_number_or_month(piece));
            }
        }
        tokens
    }

    /// Reads `13:45:10`, `13:45`, or `13.45.10` after the month. Returns `false` for any other word.
    fn take_time(&mut self, word: &str) -> bool {
        let split = |by: char| {
            let fields: Vec<&str> = word.split(by).collect();
            let is_numeric = fields.iter().all(|field| {
                (1..=2).contains(&field.len()) && field.bytes().all(|b| b.is_ascii_digit())
            });
            (is_numeric && (2..=3).contains(&fields.len())).then_some(fields)
        };
        let with_dots = || split('.').filter(|fields| fields.len() == 3 && self.month.is_some());
        let Some(fields) = split(':').or_else(with_dots) else {
            return false;
        };
        let number = |index: usize| {
            fields
                .get(index)
                .and_then(|field| field.parse::<i8>().ok())
                .unwrap_or(0)
        };
        self.time.get_or_insert(TimeOfDay {
            hour: number(0),
            minute: number(1),
            // A leap second is read as the second before it.
            second: number(2).min(59),
        });
        true
    }

    /// Reads `+0200`, `-05:00`, `EST`, `GMT+2`; the `DST` of `MET DST` adds an hour. Returns `false` for any other word, and
    /// before a time or two numbers.
    fn take_zone(&mut self, word: &str) -> bool {
        if self.time.is_none() && self.numbers.len() < 2 {
            return false;
        }
        let lower = word.to_ascii_lowercase();
        let (name, digits) = lower.split_at(lower.find(['+', '-']).unwrap_or(lower.len()));
        if !digits.is_empty() && (name.is_empty() || minutes_of_zone(name.as_bytes()).is_some()) {
            let minutes = lenient_offset(digits);
            self.offset = minutes.or(self.offset);
            return minutes.is_some();
        }
        if lower == "dst" && self.offset.is_some() {
            self.offset = self.offset.map(|minutes| minutes + 60);
            return true;
        }
        let minutes = minutes_of_zone(word.as_bytes());
        self.offset = self.offset.or(minutes);
        minutes.is_some()
    }

    /// Reads `1996-07-02` and `1996-07-02T13:45:10Z` (RFC 3339). Returns `false` for any other word.
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

    fn take_number_or_month(&mut self, piece: &str) {
        if let Ok(value) = piece.parse::<i32>() {
            let digits = piece.len();
            self.numbers.push(DateNumber { value, digits });
        } else if self.month.is_none() {
            self.month = month_of(piece.as_bytes());
        }
    }

    /// The time as written, without its zone; midnight if there is no time.
    pub(super) fn local_time(&self) -> Option<civil::DateTime> {
        let CalendarDay { year, month, day } = self.iso.or_else(|| self.day())?;
        let time = self.time.unwrap_or_default();
        let time = civil::Time::new(time.hour, time.minute, time.second, 0).ok()?;
        Some(civil::Date::new(year, month, day).ok()?.to_datetime(time))
    }

    /// The day of month and two numbers: the day is the first one of one or two digits, the year is one of the others.
    fn day(&self) -> Option<CalendarDay> {
        let mut others = self.numbers.clone();
        let is_day = |number: &DateNumber| number.digits <= 2 && (1..=31).contains(&number.value);
        let day = others.remove(others.iter().position(is_day)?);
        let year = others
            .iter()
            .find(|number| number.digits == 4)
            .or_else(|| others.first())?;
        Some(CalendarDay {
            year: full_year(*year)?,
            month: self.month?,
            day: day.value as i8,
        })
    }
}

/// The day of `1996-07-02` or `1996/07/02`; `None` for years before 1000.
fn iso_day(text: &str) -> Option<CalendarDay> {
    let fields: Vec<&str> = text.split(['-', '/']).collect();
    let [year, month, day] = fields[..] else {
        return None;
    };
    let day = CalendarDay {
        year: year.parse().ok()?,
        month: month.parse().ok()?,
        day: day.parse().ok()?,
    };
    (1000 <= day.year).then_some(day)
}

/// The year of a number (RFC 5322 section 4.3): two digits below 50 are of this century, other years of two or three digits
/// count from 1900.
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

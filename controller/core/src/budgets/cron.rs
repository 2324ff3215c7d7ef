//! Schedules of disruption budgets: the standard five fields or a macro, in
//! UTC. (spec 30 §8)

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Years that are searched for a hit: 29 February may be eight years away.
const YEARS: i32 = 9;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A schedule; bit `n` of a field stands for the value `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Day of month or of week is unrestricted: both must match. Else either.
    any_day: bool,
}

/// Why a schedule cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    #[error("schedule {0:?} has {1} fields instead of 5")]
    Fields(String, usize),
    #[error("schedule {0:?} is no macro like @daily")]
    Macro(String),
    #[error("{0:?} is no {1}")]
    Part(String, &'static str),
}

impl Schedule {
    /// Reads a schedule.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let text = text.trim();
        let fields = if text.starts_with('@') {
            match text.to_ascii_lowercase().as_str() {
                "@yearly" | "@annually" => "0 0 1 1 *",
                "@monthly" => "0 0 1 * *",
                "@weekly" => "0 0 * * 0",
                "@daily" | "@midnight" => "0 0 * * *",
                "@hourly" => "0 * * * *",
                _ => return Err(CronError::Macro(text.to_owned())),
            }
        } else {
            text
        };
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(CronError::Fields(text.to_owned(), fields.len()));
        };
        let (minutes, _) = field(minute, "minute", 0, 59, &[])?;
        let (hours, _) = field(hour, "hour", 0, 23, &[])?;
        let (days, every_day) = field(day, "day of the month", 1, 31, &[])?;
        let (months, _) = field(month, "month", 1, 12, &MONTHS)?;
        let (weekdays, every_weekday) = field(weekday, "day of the week", 0, 6, &DAYS)?;
        Ok(Self { minutes, hours, days, months, weekdays, any_day: every_day || every_weekday })
    }

    /// The first hit after `time`, none within nine years.
    pub fn next_after(&self, time: Timestamp) -> Option<Timestamp> {
        // Hits lie on whole minutes.
        let start = TimeZone::UTC.to_datetime(time).checked_add(SignedDuration::from_secs(60)).ok()?;
        let mut date = start.date();
        let mut from = u32::from(start.hour().unsigned_abs()) * 60 + u32::from(start.minute().unsigned_abs());
        let last = date.year() + YEARS as i16;
        while date.year() <= last {
            if self.covers(date)
                && let Some(minute) = (from..24 * 60).find(|m| bit(self.hours, m / 60) && bit(self.minutes, m % 60))
            {
                let hit: DateTime = date.at((minute / 60) as i8, (minute % 60) as i8, 0, 0);
                return TimeZone::UTC.to_timestamp(hit).ok();
            }
            date = date.tomorrow().ok()?;
            from = 0;
        }
        None
    }

    /// Whether a window of this length is open: one that began at a hit.
    pub fn is_open(&self, now: Timestamp, length: SignedDuration) -> bool {
        let Ok(start) = now.checked_sub(length) else { return false };
        self.next_after(start).is_some_and(|hit| hit <= now)
    }

    fn covers(&self, date: Date) -> bool {
        let day = bit(self.days, date.day().unsigned_abs().into());
        let weekday = bit(self.weekdays, date.weekday().to_sunday_zero_offset().unsigned_abs().into());
        let matches = if self.any_day { day && weekday } else { day || weekday };
        matches && bit(self.months, date.month().unsigned_abs().into())
    }
}

fn bit(mask: u64, n: u32) -> bool {
    mask >> n & 1 == 1
}

/// The values of a field, and whether it is unrestricted.
fn field(text: &str, what: &'static str, low: u32, high: u32, names: &[&str]) -> Result<(u64, bool), CronError> {
    let bad = |part: &str| CronError::Part(part.to_owned(), what);
    let value = |text: &str| -> Option<u32> {
        let lower = text.to_ascii_lowercase();
        if let Some(i) = names.iter().position(|n| *n == lower) {
            return Some(i as u32 + low);
        }
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|n| digits && (low..=high).contains(n))
    };
    let mut mask = 0;
    let mut all = false;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step.parse::<u32>().ok().filter(|s| *s > 0).ok_or_else(|| bad(part))?)),
            None => (part, None),
        };
        let (first, last) = if range == "*" || range == "?" {
            all |= step.is_none_or(|s| s == 1);
            (low, high)
        } else if let Some((first, last)) = range.split_once('-') {
            (value(first).ok_or_else(|| bad(part))?, value(last).ok_or_else(|| bad(part))?)
        } else {
            let first = value(range).ok_or_else(|| bad(part))?;
            (first, if step.is_some() { high } else { first })
        };
        if first > last {
            return Err(bad(part));
        }
        (first..=last).step_by(step.unwrap_or(1) as usize).for_each(|n| mask |= 1 << n);
    }
    Ok((mask, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn next(schedule: &str, after: &str) -> Option<String> {
        Schedule::parse(schedule).unwrap().next_after(time(after)).map(|t| t.to_string())
    }

    #[test]
    fn hits() {
        for (schedule, after, want) in [
            ("@hourly", "2026-11-30T10:00:00Z", "2026-11-30T11:00:00Z"),
            ("@hourly", "2026-11-30T10:59:59.5Z", "2026-11-30T11:00:00Z"),
            ("@daily", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("@weekly", "2026-11-30T10:00:00Z", "2026-12-06T00:00:00Z"),
            ("@yearly", "2026-11-30T10:00:00Z", "2027-01-01T00:00:00Z"),
            ("*/20 3 * * *", "2026-11-30T03:20:00Z", "2026-11-30T03:40:00Z"),
            ("5/20 3 * * *", "2026-11-30T03:00:00Z", "2026-11-30T03:05:00Z"),
            ("0 9 * * MON-fri", "2026-11-27T09:00:00Z", "2026-11-30T09:00:00Z"),
            ("0 0 29 feb *", "2026-11-30T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("30 4 1,15 * ?", "2026-11-30T00:00:00Z", "2026-12-01T04:30:00Z"),
        ] {
            assert_eq!(next(schedule, after).as_deref(), Some(want), "{schedule} after {after}");
        }
        assert_eq!(next("0 0 31 2 *", "2026-11-30T00:00:00Z"), None);
    }

    #[test]
    fn dis_044_either_day_where_both_are_restricted() {
        assert_eq!(next("0 0 13 * fri", "2026-11-30T00:00:00Z").as_deref(), Some("2026-12-04T00:00:00Z"));
        assert_eq!(next("0 0 13 * fri", "2026-12-11T00:00:00Z").as_deref(), Some("2026-12-13T00:00:00Z"));
        // A step restricts, though it is written with a star.
        assert_eq!(next("0 0 */30 * fri", "2026-12-04T00:00:00Z").as_deref(), Some("2026-12-11T00:00:00Z"));
        assert_eq!(next("0 0 13 * *", "2026-11-30T00:00:00Z").as_deref(), Some("2026-12-13T00:00:00Z"));
    }

    #[test]
    fn what_is_no_schedule() {
        for bad in [
            "",
            "* * * *",
            "* * * * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * 32 * *",
            "* * * 13 *",
            "* * * * 7",
            "* * * * tue-mon",
            "*/0 * * * *",
            "1,,2 * * * *",
            "a * * * *",
            "-1 * * * *",
            "+1 * * * *",
            "@every 1h",
            "@reboot",
            "jan * * * *",
        ] {
            assert!(Schedule::parse(bad).is_err(), "{bad:?}");
        }
    }

    /// Minute by minute, from the words of the definition.
    fn naive(fields: (&str, &str), after: Timestamp) -> Option<Timestamp> {
        let schedule = Schedule::parse(&format!("30 6 {} * {}", fields.0, fields.1)).unwrap();
        let days: Vec<i8> = fields.0.split(',').filter_map(|d| d.parse().ok()).collect();
        let weekdays: Vec<i8> = fields.1.split(',').filter_map(|d| d.parse().ok()).collect();
        let found = (0..400).find_map(|d| {
            let date = TimeZone::UTC.to_datetime(after).date().checked_add(jiff::Span::new().days(d)).unwrap();
            let (day, weekday) = (date.day(), date.weekday().to_sunday_zero_offset());
            let matches = match (days.is_empty(), weekdays.is_empty()) {
                (true, true) => true,
                (true, false) => weekdays.contains(&weekday),
                (false, true) => days.contains(&day),
                (false, false) => days.contains(&day) || weekdays.contains(&weekday),
            };
            let hit = TimeZone::UTC.to_timestamp(date.at(6, 30, 0, 0)).unwrap();
            (matches && hit > after).then_some(hit)
        });
        assert_eq!(schedule.next_after(after), found, "{fields:?} after {after}");
        found
    }

    #[test]
    fn days_agree_with_the_naive_search() {
        let start = time("2026-01-01T06:30:00Z");
        for i in 0..200 {
            let after = start.checked_add(SignedDuration::from_hours(i * 37)).unwrap();
            for fields in [("*", "*"), ("13", "*"), ("*", "5"), ("13,30", "5"), ("31", "0,3")] {
                assert!(naive(fields, after).is_some());
            }
        }
    }
}

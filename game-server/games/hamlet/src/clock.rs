//! Day and night: a day of the hamlet has 20 minutes of the calendar; the first 5 are night.

use ambit::Calendar;
use ambit::prelude::*;

const DAY_S: i64 = 1_200;
const NIGHT_S: i64 = 300;

/// Whether it is night, and how long it stays so: at least a second.
pub(crate) fn night(calendar: Calendar) -> (bool, Duration) {
    let second = calendar.unix_seconds().rem_euclid(DAY_S);
    let is_night = second < NIGHT_S;
    let end = if is_night { NIGHT_S } else { DAY_S };
    (is_night, Duration::from_secs((end - second).unsigned_abs()))
}

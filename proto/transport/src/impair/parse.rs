//! The text form of an impairment:
//! `loss=13,delay=50ms,jitter=20ms,duplicate=1,reorder=2,rate=256kbit,seed=7`. Further keys are
//! `tail=50ms`, `throttle=300ms`, `every=2s` beside it, `burst=200ms` beside `loss`, and
//! `queue=100ms` beside `rate`.
//!
//! Each key at most once, in any order; `none` (or nothing) for a perfect path. A value that was
//! parsed prints to a text that parses to the same value, durations to the microsecond. An error
//! names the key, the value and what is allowed.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Impairment;
use super::bursts::MIN_BURST;

const KEYS: &str = "loss, burst, duplicate, reorder, delay, jitter, tail, throttle, every, rate, \
                    queue, seed";
/// Keys that change what another key does, and have no effect without it.
const COMPANIONS: [(&str, &str); 3] = [("burst", "loss"), ("queue", "rate"), ("every", "throttle")];
const PER_CENT_SYNTAX: &str = "a number from 0 to 100, in per cent";
const DURATION_SYNTAX: &str = "a number followed by ms or s, such as 50ms, at most 60s";
const LENGTH_SYNTAX: &str = "a number followed by ms or s, such as 200ms, from 1ms to 60s";
const RATE_SYNTAX: &str =
    "a number followed by kbit or mbit, such as 256kbit, from 1kbit to 10000mbit";
const SEED_SYNTAX: &str = "a whole number from 0 to 18446744073709551615";

/// Longer delays are typing errors, and delayed packets take memory.
const MAX_DURATION: Duration = Duration::from_mins(1);
/// Of `burst` and `queue`: zero would not be a short one, but the default.
const MIN_LENGTH: Duration = MIN_BURST;
/// In bits a second.
const RATE_RANGE: std::ops::RangeInclusive<f64> = 1e3..=1e10;

/// Why a text is not an impairment.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
pub enum ImpairmentError {
    /// A part without `=`.
    #[error("`{part}` is not of the form key=value; keys are {KEYS}")]
    NoValue { part: String },
    #[error("unknown key `{key}` (with the value `{value}`); keys are {KEYS}")]
    UnknownKey { key: String, value: String },
    #[error("`{key}` is given twice, again as `{value}`; once is allowed")]
    Repeated {
        key: String,
        /// The second value.
        value: String,
    },
    /// A key without the one that it belongs to.
    #[error("`{key}` has no effect without `{needed}`, which is missing")]
    Alone { key: &'static str, needed: &'static str },
    /// A value that the key does not allow.
    #[error("{key}: `{value}` is not {allowed}")]
    BadValue {
        key: String,
        value: String,
        /// Description of the allowed values.
        allowed: &'static str,
    },
}

impl FromStr for Impairment {
    type Err = ImpairmentError;

    fn from_str(text: &str) -> Result<Self, ImpairmentError> {
        let mut impairment = Self::default();
        let text = text.trim();
        if text.is_empty() || text == "none" {
            return Ok(impairment);
        }
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim) {
            let Some((key, value)) =
                part.split_once('=').map(|(key, value)| (key.trim(), value.trim()))
            else {
                return Err(ImpairmentError::NoValue { part: part.into() });
            };
            impairment.set(key, value)?;
            if seen.contains(&key) {
                return Err(ImpairmentError::Repeated { key: key.into(), value: value.into() });
            }
            seen.push(key);
        }
        for (key, needed) in COMPANIONS {
            if seen.contains(&key) && !seen.contains(&needed) {
                return Err(ImpairmentError::Alone { key, needed });
            }
        }
        Ok(impairment)
    }
}

impl Impairment {
    fn set(&mut self, key: &str, value: &str) -> Result<(), ImpairmentError> {
        let allowed = match key {
            "loss" => parse_per_cent(value).map(|it| self.loss = it).ok_or(PER_CENT_SYNTAX),
            "duplicate" => {
                parse_per_cent(value).map(|it| self.duplicate = it).ok_or(PER_CENT_SYNTAX)
            }
            "reorder" => parse_per_cent(value).map(|it| self.reorder = it).ok_or(PER_CENT_SYNTAX),
            "delay" => parse_duration(value).map(|it| self.delay = it).ok_or(DURATION_SYNTAX),
            "jitter" => parse_duration(value).map(|it| self.jitter = it).ok_or(DURATION_SYNTAX),
            "burst" => parse_length(value).map(|it| self.burst = it).ok_or(LENGTH_SYNTAX),
            "tail" => parse_duration(value).map(|it| self.tail = it).ok_or(DURATION_SYNTAX),
            "queue" => parse_length(value).map(|it| self.queue = Some(it)).ok_or(LENGTH_SYNTAX),
            "throttle" => parse_duration(value).map(|it| self.throttle = it).ok_or(DURATION_SYNTAX),
            "every" => parse_length(value).map(|it| self.every = Some(it)).ok_or(LENGTH_SYNTAX),
            "rate" => parse_rate(value).map(|it| self.rate = Some(it)).ok_or(RATE_SYNTAX),
            "seed" => value.parse().map(|it| self.seed = it).map_err(|_| SEED_SYNTAX),
            _ => {
                return Err(ImpairmentError::UnknownKey { key: key.into(), value: value.into() });
            }
        };
        allowed.map_err(|allowed| ImpairmentError::BadValue {
            key: key.into(),
            value: value.into(),
            allowed,
        })
    }
}

fn parse_per_cent(value: &str) -> Option<f32> {
    value.parse().ok().filter(|parse_per_cent| (0.0..=100.0).contains(parse_per_cent))
}

fn parse_duration(value: &str) -> Option<Duration> {
    let micros = parse_with_unit(value, &[("ms", 1e3), ("s", 1e6)])?;
    (0.0..=MAX_DURATION.as_micros() as f64)
        .contains(&micros)
        .then(|| Duration::from_micros(micros.round() as u64))
}

fn parse_length(value: &str) -> Option<Duration> {
    parse_duration(value).filter(|length| *length >= MIN_LENGTH)
}

fn parse_rate(value: &str) -> Option<u64> {
    let bits = parse_with_unit(value, &[("kbit", 1e3), ("mbit", 1e6)])?;
    RATE_RANGE.contains(&bits).then(|| bits.round() as u64)
}

/// Parses a number followed by one of `units`, given as (suffix, factor).
fn parse_with_unit(value: &str, units: &[(&str, f64)]) -> Option<f64> {
    let number = |(unit, factor): &(&str, f64)| {
        let number: f64 = value.strip_suffix(unit)?.trim_end().parse().ok()?;
        Some(number * factor)
    };
    units.iter().find_map(number)
}

/// The differences from a perfect path, in the form that `from_str` parses.
impl fmt::Display for Impairment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return f.write_str("none");
        }
        let mut separator = "";
        let mut part = |set: bool, key: &str, value: fmt::Arguments<'_>| {
            if !set {
                return Ok(());
            }
            write!(f, "{separator}{key}={value}")?;
            separator = ",";
            Ok(())
        };
        let millis = |duration: Duration| duration.as_micros() as f64 / 1e3;
        let in_bursts = !self.burst.is_zero();
        part(self.loss != 0.0 || in_bursts, "loss", format_args!("{}", self.loss))?;
        part(in_bursts, "burst", format_args!("{}ms", millis(self.burst)))?;
        part(!self.delay.is_zero(), "delay", format_args!("{}ms", millis(self.delay)))?;
        part(!self.jitter.is_zero(), "jitter", format_args!("{}ms", millis(self.jitter)))?;
        part(!self.tail.is_zero(), "tail", format_args!("{}ms", millis(self.tail)))?;
        let stops = !self.throttle.is_zero() || self.every.is_some();
        part(stops, "throttle", format_args!("{}ms", millis(self.throttle)))?;
        if let Some(every) = self.every {
            part(true, "every", format_args!("{}ms", millis(every)))?;
        }
        part(self.duplicate != 0.0, "duplicate", format_args!("{}", self.duplicate))?;
        part(self.reorder != 0.0, "reorder", format_args!("{}", self.reorder))?;
        if let Some(rate) = self.rate {
            part(true, "rate", format_args!("{}kbit", rate as f64 / 1e3))?;
            if let Some(queue) = self.queue {
                part(true, "queue", format_args!("{}ms", millis(queue)))?;
            }
        }
        part(self.seed != 0, "seed", format_args!("{}", self.seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example_is_parsed() {
        let text = "loss=13,delay=50ms,jitter=20ms,duplicate=1,reorder=2,rate=256kbit,seed=7";
        let expected = Impairment {
            loss: 13.0,
            duplicate: 1.0,
            reorder: 2.0,
            delay: Duration::from_millis(50),
            jitter: Duration::from_millis(20),
            rate: Some(256_000),
            seed: 7,
            ..Impairment::default()
        };
        assert_eq!(text.parse(), Ok(expected));
        assert_eq!(expected.to_string(), text);
    }

    #[test]
    fn bursts_tail_and_queue_are_parsed() {
        let text =
            "loss=5,burst=200ms,tail=50ms,throttle=300ms,every=4000ms,rate=256kbit,queue=100ms";
        let expected = Impairment {
            loss: 5.0,
            burst: Duration::from_millis(200),
            tail: Duration::from_millis(50),
            throttle: Duration::from_millis(300),
            every: Some(Duration::from_secs(4)),
            rate: Some(256_000),
            queue: Some(Duration::from_millis(100)),
            ..Impairment::default()
        };
        assert_eq!(text.parse(), Ok(expected));
        assert_eq!(expected.to_string(), text);
        // A script may count the loss up from zero.
        let lossless: Impairment = "burst=0.2s,loss=0".parse().expect("valid");
        assert_eq!(lossless.to_string(), "loss=0,burst=200ms");
    }

    #[test]
    fn units_spaces_fractions_and_any_order_are_allowed() {
        let parsed: Impairment =
            " rate=1.5mbit , delay=0.25s,jitter=0.5ms,loss=0.1 ".parse().expect("valid");
        assert_eq!(parsed.rate, Some(1_500_000));
        assert_eq!(
            (parsed.delay, parsed.jitter),
            (Duration::from_millis(250), Duration::from_micros(500))
        );
        assert_eq!(parsed.loss, 0.1);
        assert_eq!("none".parse(), Ok(Impairment::default()));
        assert_eq!("".parse(), Ok(Impairment::default()));
    }

    #[test]
    fn a_printed_impairment_parses_to_the_same_value() {
        for seed in 0..500 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let rate = rng.bool().then(|| rng.u64(1_000..=10_000_000_000));
            let mut length =
                || rng.bool().then(|| Duration::from_micros(rng.u64(1_000..=60_000_000)));
            let burst = length().unwrap_or_default();
            let queue = rate.and_then(|_| length());
            let throttle = length().unwrap_or_default();
            let every = length();
            let impairment = Impairment {
                burst,
                queue,
                throttle,
                every,
                tail: if rng.bool() {
                    Duration::from_micros(rng.u64(..60_000))
                } else {
                    Duration::ZERO
                },
                loss: if rng.bool() { rng.f32() * 100.0 } else { 0.0 },
                duplicate: rng.f32() * 100.0,
                reorder: if rng.bool() { 100.0 } else { 0.0 },
                delay: Duration::from_micros(rng.u64(..=60_000_000)),
                jitter: Duration::from_micros(rng.u64(..1_000)),
                rate,
                seed: rng.u64(..),
            };
            let text = impairment.to_string();
            assert_eq!(text.parse(), Ok(impairment), "seed {seed}: {text}");
        }
        assert_eq!(Impairment::default().to_string(), "none");
    }

    #[test]
    fn an_error_names_the_key_the_value_and_what_is_allowed() {
        for (text, message) in [
            ("loss=101", "loss: `101` is not a number from 0 to 100, in per cent"),
            ("loss=-1", "loss: `-1` is not a number from 0 to 100, in per cent"),
            ("reorder=nan", "reorder: `nan` is not a number from 0 to 100, in per cent"),
            (
                "delay=50",
                "delay: `50` is not a number followed by ms or s, such as 50ms, at most 60s",
            ),
            (
                "jitter=-5ms",
                "jitter: `-5ms` is not a number followed by ms or s, such as 50ms, at most 60s",
            ),
            (
                "delay=61s",
                "delay: `61s` is not a number followed by ms or s, such as 50ms, at most 60s",
            ),
            (
                "delay=infs",
                "delay: `infs` is not a number followed by ms or s, such as 50ms, at most 60s",
            ),
            ("seed=x", "seed: `x` is not a whole number from 0 to 18446744073709551615"),
            ("loss=1,loss=2", "`loss` is given twice, again as `2`; once is allowed"),
            (
                "loss",
                "`loss` is not of the form key=value; keys are loss, burst, duplicate, reorder, \
                 delay, jitter, tail, throttle, every, rate, queue, seed",
            ),
            (
                "loss=5,burst=0ms",
                "burst: `0ms` is not a number followed by ms or s, such as 200ms, from 1ms to 60s",
            ),
            (
                "rate=1mbit,queue=0.9ms",
                "queue: `0.9ms` is not a number followed by ms or s, such as 200ms, from 1ms to \
                 60s",
            ),
            ("tail=5", "tail: `5` is not a number followed by ms or s, such as 50ms, at most 60s"),
            ("burst=200ms,delay=5ms", "`burst` has no effect without `loss`, which is missing"),
            ("queue=200ms", "`queue` has no effect without `rate`, which is missing"),
            ("every=2s", "`every` has no effect without `throttle`, which is missing"),
        ] {
            let error = text.parse::<Impairment>().expect_err(text);
            assert_eq!(error.to_string(), message);
        }
        for text in ["rate=0kbit", "rate=256", "rate=kbit", "rate=99999mbit", "rate=nanmbit"] {
            let error = text.parse::<Impairment>().expect_err(text).to_string();
            assert!(error.starts_with("rate: `") && error.ends_with(RATE_SYNTAX), "{error}");
        }
        let unknown = "los=3".parse::<Impairment>().expect_err("the key is unknown").to_string();
        assert!(
            unknown.contains("`los`") && unknown.contains("`3`") && unknown.contains("loss, burst"),
            "{unknown}"
        );
        assert!("loss=1,".parse::<Impairment>().is_err());
    }
}

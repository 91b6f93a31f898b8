// Numbers, amounts and times as people read them.

import { words } from "./words.js";

const whole = new Intl.NumberFormat(words.language, { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat(words.language, { maximumFractionDigits: 1 });
const hundredths = new Intl.NumberFormat(words.language, { maximumFractionDigits: 2 });
const clock = new Intl.DateTimeFormat(words.language, { timeStyle: "medium", hourCycle: "h23" });
const moment = new Intl.DateTimeFormat(words.language, {
  dateStyle: "medium",
  timeStyle: "medium",
  hourCycle: "h23",
});

/** Seconds since 1970. */
export function now() {
  return Date.now() / 1_000;
}

/** With as many digits as one reads. */
export function amount(value) {
  if (value === undefined || value === null) return words.unknown;
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return whole.format(value);
  return (Math.abs(value) >= 10 ? tenths : hundredths).format(value);
}

export function milliseconds(value) {
  return value === undefined || value === null ? words.unknown : words.milliseconds(amount(value));
}

/** A share from 0 to 1. */
export function percent(share) {
  if (share === undefined || share === null) return words.unknown;
  const value = 100 * share;
  return words.percent(value > 0 && value < 0.1 ? `<${tenths.format(0.1)}` : tenths.format(value));
}

export function bytesPerSecond(bytes) {
  if (bytes === undefined) return words.unknown;
  const steps = words.bytesPerSecond;
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), steps.length - 1);
  return `${amount(bytes / 1_000 ** step)} ${steps[step]}`;
}

/** In the two largest units. */
export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  const { days, hours, minutes, seconds: short } = words.units;
  const two = (first, unit, rest, small) => `${first} ${unit}${rest ? ` ${rest} ${small}` : ""}`;
  if (s < 60) return `${s} ${short}`;
  if (s < 3_600) return `${Math.floor(s / 60)} ${minutes}`;
  if (s < 86_400) return two(Math.floor(s / 3_600), hours, Math.floor((s % 3_600) / 60), minutes);
  return two(Math.floor(s / 86_400), days, Math.floor((s % 86_400) / 3_600), hours);
}

/** For a countdown: `9:05`. */
export function countdown(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  const two = (value) => String(value).padStart(2, "0");
  const rest = `${two(Math.floor((s % 3_600) / 60))}:${two(s % 60)}`;
  return s >= 3_600 ? `${Math.floor(s / 3_600)}:${rest}` : rest.replace(/^0/, "");
}

/** How long ago, or in how long, a time is. */
export function relative(unix) {
  const seconds = now() - unix;
  if (seconds < -2) return words.inTime(duration(-seconds));
  return seconds < 2 ? words.justNow : words.ago(duration(seconds));
}

export function absolute(unix) {
  return moment.format(unix * 1_000);
}

export function timeOfDay(unix) {
  return clock.format(unix * 1_000);
}

// Numbers as people read them on charts: Latin digits, a true minus, three figures or so.

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 0.0025, 3.21, 45.7, 1,280, 57k, 1.28M. */
export function figures(value) {
  const size = Math.abs(value);
  if (size >= 9_995_000) return `${trimmed(value / 1e6, 1)}M`;
  if (size >= 999_500) return `${trimmed(value / 1e6, 2)}M`;
  if (size >= 9_999.5) return `${trimmed(value / 1e3, size < 99_950 ? 1 : 0)}k`;
  if (size >= 999.5) return minus(grouped.format(value));
  if (size >= 99.95) return trimmed(value, 0);
  if (size >= 9.995) return trimmed(value, 1);
  if (size >= 0.1 || size === 0) return trimmed(value, 2);
  if (size >= 0.0001) return minus(String(Number(value.toPrecision(2))));
  return minus(Number(value.toPrecision(2)).toExponential());
}

/** All digits, in groups: 31,204. */
export function whole(value) {
  return minus(grouped.format(value));
}

/** A share of one as a percentage. */
export function percentage(share, digits = 0) {
  return `${(100 * share).toFixed(digits)}%`;
}

/** Minutes as a clock: 0:07, 12:30, 3:05:00. */
export function clock(minutes) {
  const seconds = Math.max(0, Math.round(minutes * 60));
  const two = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours ? `${hours}:${rest}` : rest.replace(/^0(\d)/, "$1");
}

function trimmed(value, digits) {
  return minus(String(Number(value.toFixed(digits))));
}

function minus(text) {
  return text.replace("-", "−");
}

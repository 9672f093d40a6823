// Axis scales of charts: from values to positions, with round numbers at the grid lines.

const MINUTES = [0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];

function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.8);
}

/** Multiples of 1, 2 or 5 times a power of ten, about `count` of them from `low` to `high`. */
export function roundSteps(low, high, count, timed = false) {
  const rough = (high - low) / Math.max(1, count);
  const step = (timed && MINUTES.find((size) => size >= rough)) || roundStep(rough);
  const steps = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    steps.push(Number((k * step).toPrecision(12)));
  }
  return steps;
}

/**
 * A scale over values. `kind`: "zero" begins at 0, "share" runs from 0 to 1, "range" takes what
 * there is, "loss" too, but by factors where the values span more than one and a half decades.
 * Returns {place(value): 0..1, ticks}.
 */
export function scaleOf(values, kind, count) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (!values.length) [low, high] = [0, 1];
  if (kind === "share") [low, high] = [0, 1];
  if (kind === "loss" && low > 0 && high / low > 30) return byFactors(low, high, count);
  if (kind === "zero") low = Math.min(0, low);
  if (high - low < 1e-12) {
    const room = Math.abs(high) * 0.1 || 1;
    [low, high] = [kind === "zero" ? low : low - room, high + room];
  } else if (kind !== "share") {
    const room = (high - low) * 0.06;
    [low, high] = [kind === "zero" && low === 0 ? 0 : low - room, high + room];
  }
  return { place: (value) => (value - low) / (high - low), ticks: roundSteps(low, high, count) };
}

function byFactors(low, high, count) {
  const [from, to] = [Math.log10(low) - 0.05, Math.log10(high) + 0.05];
  const every = Math.max(1, Math.ceil((to - from) / count));
  const ticks = [];
  for (let power = Math.ceil(from); power <= to; power += every) ticks.push(10 ** power);
  return { place: (value) => (Math.log10(Math.max(value, 1e-300)) - from) / (to - from), ticks };
}

/** A scale from the first to the last of growing values, which may be minutes. */
export function progressScale(values, count, timed) {
  const low = values.length ? values[0] : 0;
  const high = values.length ? values[values.length - 1] : 1;
  if (high <= low) return { place: () => 0.5, ticks: values.length ? [low] : [] };
  return { place: (value) => (value - low) / (high - low), ticks: roundSteps(low, high, count, timed) };
}

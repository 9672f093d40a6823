// Clock times at this moment: counted on from the server's last message.

function face(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const minutes = Math.floor(whole / 60);
  const hours = Math.floor(minutes / 60);
  const two = (n) => String(n).padStart(2, "0");
  const tail = `${hours ? two(minutes % 60) : minutes}:${two(whole % 60)}`;
  return hours ? `${hours}:${tail}` : tail;
}

/** One side's clock after `elapsed` seconds of its own time: {text, urgent}. */
export function clockFace({ main, period, periods }, elapsed) {
  const left = main - elapsed;
  if (left > 0) return { text: face(left), urgent: left < 10 && !periods };
  if (!periods) return { text: face(0), urgent: true };
  const rest = Math.max(0, period + left);
  return { text: `${face(rest)} × ${periods}`, urgent: rest < 6 };
}

/** Seconds since the last position message, for the side whose clock runs; else 0. */
export function elapsedFor(state, colour) {
  const running = state.position?.clock?.running;
  if (running !== colour || state.connection !== "open") return 0;
  return (performance.now() - state.heardAt) / 1000;
}

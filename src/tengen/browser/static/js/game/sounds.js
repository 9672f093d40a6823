// The click of a stone and the rattle of captures, synthesised with WebAudio.

let audio = null;

function ready() {
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
  return audio;
}

function burst(when, { seconds, pitch, sharp, loud }) {
  const context = ready();
  const length = Math.ceil(context.sampleRate * seconds);
  const buffer = context.createBuffer(1, length, context.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let i = 0; i < length; i += 1) samples[i] = (Math.random() * 2 - 1) * (1 - i / length) ** sharp;
  const source = context.createBufferSource();
  source.buffer = buffer;
  const filter = context.createBiquadFilter();
  filter.type = "bandpass";
  filter.frequency.value = pitch;
  filter.Q.value = 1.4;
  const gain = context.createGain();
  gain.gain.value = loud;
  source.connect(filter).connect(gain).connect(context.destination);
  source.start(when);
}

function stone(when) {
  burst(when, { seconds: 0.05, pitch: 2400, sharp: 5, loud: 0.5 });
  burst(when, { seconds: 0.12, pitch: 320, sharp: 4, loud: 0.7 });
}

function rattle(when) {
  for (let i = 0; i < 4; i += 1) burst(when + 0.05 * i + Math.random() * 0.03, { seconds: 0.04, pitch: 3000 + 400 * i, sharp: 4, loud: 0.25 });
}

/** Sound each new stone, once the page has been clicked: browsers allow no sound before. */
export function soundMoves(store) {
  let before = null;
  store.watch(["position"], (state) => {
    const { position, tree } = state;
    const earlier = before;
    before = position;
    if (!earlier || !position || !state.sound || !navigator.userActivation?.hasBeenActive) return;
    if (position.node === earlier.node || !position.last || position.last === "pass") return;
    if (tree.byId.get(position.node)?.parent !== earlier.node) return;
    const now = ready().currentTime;
    stone(now);
    const taken = position.captures.black + position.captures.white - earlier.captures.black - earlier.captures.white;
    if (taken > 0) rattle(now + 0.08);
  });
}

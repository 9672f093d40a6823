// Animated PNG: joins the PNG files of frames, of which later ones may cover a part of the picture only.

const SIGNATURE = [137, 80, 78, 71, 13, 10, 26, 10];

const TABLE = Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function checksum(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** A chunk: length, name, content, checksum. */
function chunk(name, content) {
  const bytes = new Uint8Array(12 + content.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length);
  bytes.set([...name].map((letter) => letter.charCodeAt(0)), 4);
  bytes.set(content, 8);
  view.setUint32(8 + content.length, checksum(bytes.subarray(4, 8 + content.length)));
  return bytes;
}

function numbers(...values) {
  const bytes = new Uint8Array(values.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of values) {
    if (size === 4) view.setUint32(at, value);
    else if (size === 2) view.setUint16(at, value);
    else view.setUint8(at, value);
    at += size;
  }
  return bytes;
}

/** The header and the image data of a PNG file. */
function partsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const parts = { header: null, data: [] };
  for (let at = SIGNATURE.length; at < bytes.length; ) {
    const length = view.getUint32(at);
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const content = bytes.subarray(at + 8, at + 8 + length);
    if (name === "IHDR") parts.header = content;
    if (name === "IDAT") parts.data.push(content);
    at += 12 + length;
  }
  return parts;
}

const joined = (arrays) => {
  const bytes = new Uint8Array(arrays.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of arrays) {
    bytes.set(one, at);
    at += one.length;
  }
  return bytes;
};

/**
 * One picture that moves, from `frames`: [{blob, x, y, milliseconds}], PNG files; the first is the whole
 * picture, others lie on what is there. It is repeated for ever.
 */
export async function animatedPng(frames) {
  const files = await Promise.all(frames.map(async ({ blob }) => partsOf(new Uint8Array(await blob.arrayBuffer()))));
  const chunks = [Uint8Array.from(SIGNATURE), chunk("IHDR", files[0].header), chunk("acTL", numbers([4, frames.length], [4, 0]))];
  let sequence = 0;
  frames.forEach(({ x, y, milliseconds }, i) => {
    const size = new DataView(files[i].header.buffer, files[i].header.byteOffset);
    chunks.push(chunk("fcTL", numbers(
      [4, sequence], [4, size.getUint32(0)], [4, size.getUint32(4)], [4, x], [4, y], [2, milliseconds], [2, 1000], [1, 0], [1, 0],
    )));
    sequence += 1;
    for (const data of files[i].data) {
      if (i === 0) chunks.push(chunk("IDAT", data));
      else {
        chunks.push(chunk("fdAT", joined([numbers([4, sequence]), data])));
        sequence += 1;
      }
    }
  });
  chunks.push(chunk("IEND", new Uint8Array(0)));
  return new Blob(chunks, { type: "image/png" });
}

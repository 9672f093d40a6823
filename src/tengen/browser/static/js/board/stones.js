// Sprites of stones, drawn once for each size and stamped onto the board many times.

function sprite(side) {
  const canvas = document.createElement("canvas");
  canvas.width = side;
  canvas.height = side;
  return { canvas, context: canvas.getContext("2d") };
}

function disc(context, middle, radius) {
  context.beginPath();
  context.arc(middle, middle, radius, 0, 2 * Math.PI);
}

/** A disc lit from above left. `gleam` is a share of the radius; `tones` go outwards. */
function litStone(side, radius, gleam, tones) {
  const { canvas, context } = sprite(side);
  const middle = side / 2;
  const light = context.createRadialGradient(
    middle - radius * 0.35, middle - radius * 0.42, radius * gleam, middle, middle, radius,
  );
  for (const [place, tone] of tones) light.addColorStop(place, tone);
  context.fillStyle = light;
  disc(context, middle, radius);
  context.fill();
  return { canvas, context, middle };
}

function blackStone(side, radius) {
  const slate = [[0, "#6d6e74"], [0.32, "#37383c"], [0.75, "#1b1b1e"], [1, "#0c0c0e"]];
  return litStone(side, radius, 0.05, slate).canvas;
}

function whiteStone(side, radius) {
  const shell = [[0, "#ffffff"], [0.6, "#f7f5f0"], [0.9, "#e2ddd3"], [1, "#c9c2b4"]];
  const { canvas, context, middle } = litStone(side, radius, 0.1, shell);
  context.save();
  context.clip();
  context.strokeStyle = "rgba(150, 138, 112, 0.12)";
  context.lineWidth = Math.max(0.6, radius * 0.025);
  for (let i = 1; i < 13; i += 1) {
    context.beginPath();
    context.arc(middle - radius * 1.6, middle + radius * 2.4, radius * (1.5 + i * 0.2), 0, 2 * Math.PI);
    context.stroke();
  }
  context.restore();
  return canvas;
}

function shadow(side, radius) {
  const { canvas, context } = sprite(side);
  const middle = side / 2;
  const soft = context.createRadialGradient(middle, middle, radius * 0.72, middle, middle, radius * 1.16);
  soft.addColorStop(0, "rgba(38, 20, 0, 0.5)");
  soft.addColorStop(1, "rgba(38, 20, 0, 0)");
  context.fillStyle = soft;
  disc(context, middle, radius * 1.16);
  context.fill();
  return canvas;
}

/** Sprites for cells of this many device pixels: {X, O, shadow, side, radius}. */
export function stoneSprites(cell) {
  const radius = cell * 0.478;
  const side = Math.ceil(cell * 1.2);
  return {
    X: blackStone(side, radius),
    O: whiteStone(side, radius),
    shadow: shadow(side, radius),
    side,
    radius,
  };
}

// Pictures of stones, drawn once for each size and stamped onto the board many times.

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

function blackStone(side, radius) {
  const { canvas, context } = sprite(side);
  const middle = side / 2;
  const slate = context.createRadialGradient(
    middle - radius * 0.35, middle - radius * 0.42, radius * 0.05, middle, middle, radius,
  );
  slate.addColorStop(0, "#6d6e74");
  slate.addColorStop(0.32, "#37383c");
  slate.addColorStop(0.75, "#1b1b1e");
  slate.addColorStop(1, "#0c0c0e");
  context.fillStyle = slate;
  disc(context, middle, radius);
  context.fill();
  return canvas;
}

function whiteStone(side, radius) {
  const { canvas, context } = sprite(side);
  const middle = side / 2;
  const shell = context.createRadialGradient(
    middle - radius * 0.35, middle - radius * 0.42, radius * 0.1, middle, middle, radius,
  );
  shell.addColorStop(0, "#ffffff");
  shell.addColorStop(0.6, "#f7f5f0");
  shell.addColorStop(0.9, "#e2ddd3");
  shell.addColorStop(1, "#c9c2b4");
  context.fillStyle = shell;
  disc(context, middle, radius);
  context.fill();
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

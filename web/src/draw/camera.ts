// What part of a plane is seen: the point in the middle and the pixels of one unit on each axis.

export interface Camera {
  x: number;
  y: number;
  sx: number;
  sy: number;
}

export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export interface Size {
  width: number;
  height: number;
}

/** Shows all of a box, with a margin in pixels. */
export function fit(box: Box, size: Size, margin: number, largest: number, equal = true): Camera {
  const width = Math.max(box.x1 - box.x0, 1e-9);
  const height = Math.max(box.y1 - box.y0, 1e-9);
  let sx = Math.min(largest, Math.max(1, size.width - 2 * margin) / width);
  let sy = Math.min(largest, Math.max(1, size.height - 2 * margin) / height);
  if (equal) sx = sy = Math.min(sx, sy);
  return { x: (box.x0 + box.x1) / 2, y: (box.y0 + box.y1) / 2, sx, sy };
}

export function toScreen(camera: Camera, size: Size, x: number, y: number): [number, number] {
  return [(x - camera.x) * camera.sx + size.width / 2, (y - camera.y) * camera.sy + size.height / 2];
}

export function toWorld(camera: Camera, size: Size, px: number, py: number): [number, number] {
  return [(px - size.width / 2) / camera.sx + camera.x, (py - size.height / 2) / camera.sy + camera.y];
}

/** Moves what is seen by pixels. */
export function pan(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x - dx / camera.sx, y: camera.y - dy / camera.sy };
}

/** Zooms so that the point under a pixel stays there. */
export function zoom(camera: Camera, size: Size, px: number, py: number, factor: number, least: number, most: number): Camera {
  const bound = Math.min(most / camera.sx, Math.max(least / camera.sx, factor));
  const [x, y] = toWorld(camera, size, px, py);
  const next = { ...camera, sx: camera.sx * bound, sy: camera.sy * bound };
  next.x = x - (px - size.width / 2) / next.sx;
  next.y = y - (py - size.height / 2) / next.sy;
  return next;
}

export function seen(camera: Camera, size: Size): Box {
  const [x0, y0] = toWorld(camera, size, 0, 0);
  const [x1, y1] = toWorld(camera, size, size.width, size.height);
  return { x0, y0, x1, y1 };
}

/** Keeps a point in sight, with room around it. */
export function reveal(camera: Camera, size: Size, x: number, y: number, room: number): Camera {
  const [px, py] = toScreen(camera, size, x, y);
  const roomX = Math.min(room, size.width / 3);
  const roomY = Math.min(room, size.height / 3);
  const dx = px < roomX ? roomX - px : px > size.width - roomX ? size.width - roomX - px : 0;
  const dy = py < roomY ? roomY - py : py > size.height - roomY ? size.height - roomY - py : 0;
  return dx || dy ? pan(camera, dx, dy) : camera;
}

/** Round distances for a scale: 1, 2 or 5 times a power of ten, at least `least` apart. */
export function step(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const times of [1, 2, 5]) if (power * times >= least) return power * times;
  return power * 10;
}

/** A camera for the address; one scale is written when both axes share it. */
export function write(camera: Camera): string {
  const parts = [camera.x, camera.y, camera.sx, ...(camera.sy === camera.sx ? [] : [camera.sy])];
  return parts.map(n => String(Number(n.toPrecision(6)))).join(",");
}

export function read(text: string | undefined): Camera | null {
  const parts = (text ?? "").split(",").map(Number);
  const [x, y, sx, sy = sx] = parts;
  if (parts.length < 3 || parts.length > 4 || !parts.every(Number.isFinite) || !(sx > 0) || !(sy > 0)) return null;
  return { x, y, sx, sy };
}

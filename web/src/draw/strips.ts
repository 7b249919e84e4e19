// Rows of pixels that are painted one by one and then drawn as tall as a track. Of several slices in one pixel the
// last is seen.

import { colour } from "../shell/theme.ts";

export class Strips {
  private readonly canvas = document.createElement("canvas");
  private readonly pen = this.canvas.getContext("2d")!;
  private pixels = new Uint32Array(0);
  private tops: number[] = [];
  private wide = 1;
  private ratio = 1;
  private readonly words = new Map<string, number>();

  begin(width: number, ratio: number): void {
    this.ratio = ratio;
    this.wide = Math.max(1, Math.ceil(width * ratio));
    this.tops = [];
    this.pixels.fill(0);
    this.words.clear();
  }

  /** A new strip, to be drawn at a height; its number. */
  row(top: number): number {
    const need = (this.tops.length + 1) * this.wide;
    if (this.pixels.length < need) {
      const larger = new Uint32Array(2 * need);
      larger.set(this.pixels);
      this.pixels = larger;
    }
    return this.tops.push(top) - 1;
  }

  paint(row: number, x: number, width: number, name: string, alpha: number): void {
    const from = Math.max(0, Math.floor(x * this.ratio));
    const to = Math.min(this.wide, Math.max(from + 1, Math.round((x + width) * this.ratio)));
    if (from < to) this.pixels.fill(this.word(name, alpha), row * this.wide + from, row * this.wide + to);
  }

  draw(pen: CanvasRenderingContext2D, left: number, height: number): void {
    const rows = this.tops.length;
    if (!rows) return;
    if (this.canvas.width !== this.wide || this.canvas.height !== rows) [this.canvas.width, this.canvas.height] = [this.wide, rows];
    const bytes = new Uint8ClampedArray(this.pixels.buffer, 0, 4 * this.wide * rows);
    this.pen.putImageData(new ImageData(bytes, this.wide, rows), 0, 0);
    pen.imageSmoothingEnabled = false;
    this.tops.forEach((top, row) => pen.drawImage(this.canvas, 0, row, this.wide, 1, left, top, this.wide / this.ratio, height));
  }

  /** A colour as the four bytes of a pixel. */
  private word(name: string, alpha: number): number {
    const key = `${name} ${alpha}`;
    const known = this.words.get(key);
    if (known !== undefined) return known;
    const [r, g, b] = colour(name);
    const word = ((Math.round(alpha * 255) << 24) | (b << 16) | (g << 8) | r) >>> 0;
    this.words.set(key, word);
    return word;
  }
}

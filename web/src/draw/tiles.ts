// Tiles on their way from the server to the GPU. What is seen now is asked for first; what was seen long ago is
// let go of.

import { createTexture } from "twgl.js";
import { api } from "../wire/api.ts";
import type { Tile } from "../wire/decode.ts";

export interface TileKey {
  dump: number;
  record: number;
  of: string;
  plane: number;
  level: number;
  row: number;
  col: number;
}

export interface Ready {
  tile: Tile;
  texture: WebGLTexture;
}

const AT_ONCE = 6;
const KEPT = 120;

export class Tiles {
  private readonly ready = new Map<string, Ready>();
  private readonly failed = new Map<string, Error>();
  private readonly flying = new Map<string, AbortController>();
  private wanted: [string, TileKey][] = [];

  constructor(private readonly gl: WebGL2RenderingContext, private readonly arrived: () => void) {}

  get(key: TileKey): Ready | undefined {
    const name = nameOf(key);
    const found = this.ready.get(name);
    if (found) {
      this.ready.delete(name);
      this.ready.set(name, found);
    }
    return found;
  }

  error(key: TileKey): Error | undefined {
    return this.failed.get(nameOf(key));
  }

  get busy(): boolean {
    return this.flying.size > 0 || this.wanted.some(([name]) => !this.ready.has(name) && !this.failed.has(name));
  }

  /** Everything that is needed now, the most important first. */
  want(keys: TileKey[]): void {
    this.wanted = keys.map(key => [nameOf(key), key]);
    const names = new Set(this.wanted.map(([name]) => name));
    for (const [name, flight] of this.flying) if (!names.has(name)) flight.abort();
    this.pump();
  }

  close(): void {
    this.wanted = [];
    for (const flight of this.flying.values()) flight.abort();
  }

  private pump(): void {
    for (const [name, key] of this.wanted) {
      if (this.flying.size >= AT_ONCE) return;
      if (this.ready.has(name) || this.failed.has(name) || this.flying.has(name)) continue;
      const flight = new AbortController();
      this.flying.set(name, flight);
      void api
        .tile(key.dump, key.record, key.plane, key.level, key.row, key.col, key.of, flight.signal)
        .then(
          tile => this.ready.set(name, { tile, texture: this.upload(tile) }),
          (error: unknown) => {
            if (!flight.signal.aborted) this.failed.set(name, error instanceof Error ? error : new Error(String(error)));
          },
        )
        .then(() => {
          this.flying.delete(name);
          this.trim();
          this.pump();
          this.arrived();
        });
    }
  }

  private trim(): void {
    const needed = new Set(this.wanted.map(([name]) => name));
    for (const [name, { texture }] of this.ready) {
      if (this.ready.size <= KEPT) return;
      if (needed.has(name)) continue;
      this.gl.deleteTexture(texture);
      this.ready.delete(name);
    }
  }

  /** Mean, least, most, and what is odd: 1 for NaN and infinities, 2 for elements that were never written. */
  private upload(tile: Tile): WebGLTexture {
    const { gl } = this;
    const n = tile.rows * tile.cols;
    const texels = new Float32Array(4 * n);
    for (let i = 0; i < n; i++) {
      texels[4 * i] = tile.mean[i];
      texels[4 * i + 1] = tile.min[i];
      texels[4 * i + 2] = tile.max[i];
      texels[4 * i + 3] = ((tile.odd[i] & 0xffff) > 0 ? 1 : 0) + (tile.odd[i] >>> 16 > 0 ? 2 : 0);
    }
    return createTexture(gl, {
      width: tile.cols,
      height: tile.rows,
      internalFormat: gl.RGBA32F,
      format: gl.RGBA,
      type: gl.FLOAT,
      minMag: gl.NEAREST,
      wrap: gl.CLAMP_TO_EDGE,
      auto: false,
      src: texels,
    });
  }
}

function nameOf(key: TileKey): string {
  return `${key.dump}/${key.record}/${key.of}/${key.plane}/${key.level}/${key.row}/${key.col}`;
}

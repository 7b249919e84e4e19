// Cells of a tensor coloured on the GPU.

import { createBufferInfoFromArrays, createProgramInfo, drawBufferInfo, setBuffersAndAttributes, setUniforms } from "twgl.js";
import type { BufferInfo, ProgramInfo } from "twgl.js";
import { colour } from "../shell/theme.ts";
import type { Box, Camera, Size } from "./camera.ts";
import type { Ready } from "./tiles.ts";

/** Which number of a cell is shown. */
export const CHANNELS = ["mean", "min", "max", "largest"] as const;
export type Channel = (typeof CHANNELS)[number];

export interface Scale {
  low: number;
  high: number;
  /** "errors" paints zero as nothing and the rest by its decade. */
  kind: "values" | "signed" | "errors";
  log: boolean;
}

const CELLS = [
  `#version 300 es
  uniform vec4 camera; uniform vec2 size; uniform vec4 rect; uniform vec2 cells;
  in vec2 corner; out vec2 cell;
  void main() {
    vec2 p = mix(rect.xy, rect.zw, corner);
    vec2 at = (p - camera.xy) * camera.zw / size * 2.0;
    gl_Position = vec4(at.x, -at.y, 0.0, 1.0);
    cell = corner * cells;
  }`,
  `#version 300 es
  precision highp float; precision highp sampler2D;
  uniform sampler2D tile; uniform vec2 cells; uniform float low, high; uniform int channel, kind; uniform bool logarithmic;
  uniform vec3 stops[5]; uniform vec3 odd, unwritten, nothing, paper; uniform float pale;
  in vec2 cell; out vec4 result;
  float symlog(float v) { return sign(v) * log(1.0 + abs(v) / max(max(abs(low), abs(high)) * 1e-4, 1e-37)); }
  void main() {
    ivec2 at = ivec2(min(cell, cells - 1.0));
    vec4 t = texelFetch(tile, at, 0);
    float v = channel == 0 ? t.x : channel == 1 ? t.y : channel == 2 ? t.z : max(abs(t.y), abs(t.z));
    int flags = int(t.w + 0.5);
    vec3 paint;
    if ((flags & 1) == 1) paint = odd;
    else if ((flags & 2) == 2) { float stripe = mod(gl_FragCoord.x + gl_FragCoord.y, 8.0); paint = stripe < 4.0 ? unwritten : mix(unwritten, nothing, 0.6); }
    else {
      float place;
      if (kind == 2) {
        float size = abs(v);
        if (size == 0.0) { result = vec4(mix(nothing, paper, pale), 1.0); return; }
        place = 0.12 + 0.88 * clamp(1.0 + log(size / max(high, 1e-37)) / log(10.0) / 6.0, 0.0, 1.0);
      } else if (logarithmic) place = (symlog(v) - symlog(low)) / max(symlog(high) - symlog(low), 1e-30);
      else place = (v - low) / max(high - low, 1e-37);
      place = clamp(place, 0.0, 0.9999) * 4.0;
      int i = int(place);
      paint = mix(stops[i], stops[i + 1], place - float(i));
    }
    result = vec4(mix(paint, paper, pale), 1.0);
  }`,
];

export class TensorGl {
  private readonly program: ProgramInfo;
  private readonly corners: BufferInfo;

  constructor(private readonly gl: WebGL2RenderingContext) {
    this.program = createProgramInfo(gl, CELLS);
    this.corners = createBufferInfoFromArrays(gl, { corner: { numComponents: 2, data: new Float32Array([0, 0, 1, 0, 0, 1, 1, 1]) } });
  }

  clear(ratio: number, size: Size): void {
    const { gl } = this;
    gl.disable(gl.SCISSOR_TEST);
    gl.viewport(0, 0, Math.round(size.width * ratio), Math.round(size.height * ratio));
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }

  /** All that follows goes into a part of the canvas. */
  pane(ratio: number, whole: Size, pane: Box): void {
    const { gl } = this;
    const at = [pane.x0, whole.height - pane.y1, pane.x1 - pane.x0, pane.y1 - pane.y0].map(n => Math.round(n * ratio)) as [number, number, number, number];
    gl.viewport(...at);
    gl.scissor(...at);
    gl.enable(gl.SCISSOR_TEST);
    gl.useProgram(this.program.program);
    setBuffersAndAttributes(gl, this.program, this.corners);
  }

  /** Colours of what follows; pale ones let the words above them be read. */
  scale(camera: Camera, size: Size, scale: Scale, channel: Channel, pale: boolean): void {
    const kinds = { values: ["values-0", "values-1", "values-2", "values-3", "values-4"], signed: ["signed-0", "signed-1", "signed-2", "signed-3", "signed-4"], errors: ["cold", "cold", "warm", "hot", "hot"] };
    setUniforms(this.program, {
      camera: [camera.x, camera.y, camera.sx, camera.sy],
      size: [size.width, size.height],
      low: scale.low,
      high: scale.high,
      channel: CHANNELS.indexOf(channel),
      kind: scale.kind === "errors" ? 2 : 0,
      logarithmic: scale.log,
      stops: kinds[scale.kind].flatMap(unit),
      odd: unit("odd"),
      unwritten: unit("unwritten"),
      nothing: unit("cell"),
      paper: unit("paper"),
      pale: pale ? 0.55 : 0,
    });
  }

  tile(ready: Ready, rect: Box): void {
    setUniforms(this.program, { tile: ready.texture, cells: [ready.tile.cols, ready.tile.rows], rect: [rect.x0, rect.y0, rect.x1, rect.y1] });
    drawBufferInfo(this.gl, this.corners, this.gl.TRIANGLE_STRIP);
  }
}

function unit(name: string): number[] {
  return colour(name).map(part => part / 255);
}

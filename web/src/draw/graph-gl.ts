// The graph on the GPU: squares for many tasks, boxes for few, lines between them.

import { createBufferInfoFromArrays, createProgramInfo, createVertexArrayInfo, drawBufferInfo, setAttribInfoBufferFromArray, setBuffersAndAttributes, setUniforms } from "twgl.js";
import type { BufferInfo, ProgramInfo, VertexArrayInfo } from "twgl.js";
import type { Camera, Size } from "./camera.ts";

const SEE = `uniform vec4 camera; uniform vec2 size;
vec4 see(vec2 p) { vec2 at = (p - camera.xy) * camera.zw / size * 2.0; return vec4(at.x, -at.y, 0.0, 1.0); }`;

const POINTS = [
  `#version 300 es
  ${SEE}
  uniform float side;
  in vec2 place; in vec4 colour; out vec4 paint;
  void main() { gl_Position = see(place); gl_PointSize = side; paint = colour; }`,
  `#version 300 es
  precision mediump float; in vec4 paint; out vec4 result;
  void main() { result = vec4(paint.rgb * paint.a, paint.a); }`,
];

const BOXES = [
  `#version 300 es
  ${SEE}
  in vec2 corner; in vec4 rect; in vec4 colour; out vec4 paint;
  void main() { gl_Position = see(mix(rect.xy, rect.zw, corner)); paint = colour; }`,
  POINTS[1],
];

const LINES = [
  `#version 300 es
  ${SEE}
  in vec2 place; in vec4 colour; out vec4 paint;
  void main() { gl_Position = see(place); paint = colour; }`,
  POINTS[1],
];

/** A buffer that grows. */
class Growing {
  floats: Float32Array;
  bytes: Uint8Array;
  n = 0;

  constructor(private readonly width: number, room: number) {
    this.floats = new Float32Array(width * room);
    this.bytes = new Uint8Array(4 * room);
  }

  push(at: readonly number[], colour: ArrayLike<number>, alpha: number): void {
    if (this.bytes.length < 4 * (this.n + 1)) {
      const [floats, bytes] = [this.floats, this.bytes];
      this.floats = new Float32Array(2 * floats.length);
      this.bytes = new Uint8Array(2 * bytes.length);
      this.floats.set(floats);
      this.bytes.set(bytes);
    }
    for (let i = 0; i < this.width; i++) this.floats[this.width * this.n + i] = at[i];
    this.bytes[4 * this.n] = colour[0];
    this.bytes[4 * this.n + 1] = colour[1];
    this.bytes[4 * this.n + 2] = colour[2];
    this.bytes[4 * this.n + 3] = alpha;
    this.n++;
  }
}

export class GraphGl {
  private readonly points: ProgramInfo;
  private readonly boxes: ProgramInfo;
  private readonly lines: ProgramInfo;
  private all: { buffers: BufferInfo; array: VertexArrayInfo } | null = null;
  private readonly boxBuffers: BufferInfo;
  private readonly lineBuffers: BufferInfo;
  private readonly box = new Growing(4, 256);
  private readonly line = new Growing(2, 1024);

  constructor(private readonly gl: WebGL2RenderingContext) {
    this.points = createProgramInfo(gl, POINTS);
    this.boxes = createProgramInfo(gl, BOXES);
    this.lines = createProgramInfo(gl, LINES);
    this.boxBuffers = createBufferInfoFromArrays(gl, {
      corner: { numComponents: 2, data: new Float32Array([0, 0, 1, 0, 0, 1, 1, 1]) },
      rect: { numComponents: 4, data: new Float32Array(4), divisor: 1, drawType: gl.DYNAMIC_DRAW },
      colour: { numComponents: 4, data: new Uint8Array(4), normalize: true, divisor: 1, drawType: gl.DYNAMIC_DRAW },
    });
    this.lineBuffers = createBufferInfoFromArrays(gl, {
      place: { numComponents: 2, data: new Float32Array(2), drawType: gl.DYNAMIC_DRAW },
      colour: { numComponents: 4, data: new Uint8Array(4), normalize: true, drawType: gl.DYNAMIC_DRAW },
    });
  }

  /** All tasks, in the order in which they are drawn. */
  setTasks(place: Float32Array, colour: Uint8Array): void {
    const { gl } = this;
    if (this.all && this.all.buffers.numElements === place.length / 2) {
      setAttribInfoBufferFromArray(gl, this.all.buffers.attribs!["place"], place);
      setAttribInfoBufferFromArray(gl, this.all.buffers.attribs!["colour"], colour);
      return;
    }
    const buffers = createBufferInfoFromArrays(gl, {
      place: { numComponents: 2, data: place },
      colour: { numComponents: 4, data: colour, normalize: true },
    });
    this.all = { buffers, array: createVertexArrayInfo(gl, this.points, buffers) };
  }

  begin(ratio: number, size: Size): void {
    const { gl } = this;
    gl.viewport(0, 0, Math.round(size.width * ratio), Math.round(size.height * ratio));
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.box.n = 0;
    this.line.n = 0;
  }

  /** Squares for the tasks at [first, first + n) of the order. */
  drawPoints(camera: Camera, size: Size, side: number, first: number, n: number): void {
    if (!this.all || n <= 0) return;
    this.gl.useProgram(this.points.program);
    setBuffersAndAttributes(this.gl, this.points, this.all.array);
    setUniforms(this.points, { ...uniforms(camera, size), side });
    this.gl.disable(this.gl.BLEND);
    drawBufferInfo(this.gl, this.all.array, this.gl.POINTS, n, first);
    this.gl.enable(this.gl.BLEND);
    this.gl.bindVertexArray(null);
  }

  addBox(x0: number, y0: number, x1: number, y1: number, colour: ArrayLike<number>, alpha = 255): void {
    this.box.push([x0, y0, x1, y1], colour, alpha);
  }

  drawBoxes(camera: Camera, size: Size): void {
    const { gl, box, boxBuffers: buffers } = this;
    if (!box.n) return;
    gl.useProgram(this.boxes.program);
    setAttribInfoBufferFromArray(gl, buffers.attribs!["rect"], box.floats.subarray(0, 4 * box.n));
    setAttribInfoBufferFromArray(gl, buffers.attribs!["colour"], box.bytes.subarray(0, 4 * box.n));
    setBuffersAndAttributes(gl, this.boxes, buffers);
    setUniforms(this.boxes, uniforms(camera, size));
    drawBufferInfo(gl, buffers, gl.TRIANGLE_STRIP, 4, 0, box.n);
    // The same attribute slots serve lines, which are not drawn by instance.
    for (let i = 0; i < 3; i++) gl.vertexAttribDivisor(i, 0);
    box.n = 0;
  }

  /** A curve that leaves to the right and comes in from the left. */
  addCurve(x0: number, y0: number, x1: number, y1: number, parts: number, colour: ArrayLike<number>, alpha: number): void {
    const bend = Math.max(0.4, Math.abs(x1 - x0) * 0.45);
    let [px, py] = [x0, y0];
    for (let i = 1; i <= parts; i++) {
      const t = i / parts;
      const s = 1 - t;
      const [a, b, c, d] = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
      const x = a * x0 + b * (x0 + bend) + c * (x1 - bend) + d * x1;
      const y = (a + b) * y0 + (c + d) * y1;
      this.line.push([px, py], colour, alpha);
      this.line.push([x, y], colour, alpha);
      [px, py] = [x, y];
    }
  }

  drawLines(camera: Camera, size: Size): void {
    const { gl, line, lineBuffers: buffers } = this;
    if (!line.n) return;
    gl.useProgram(this.lines.program);
    setAttribInfoBufferFromArray(gl, buffers.attribs!["place"], line.floats.subarray(0, 2 * line.n));
    setAttribInfoBufferFromArray(gl, buffers.attribs!["colour"], line.bytes.subarray(0, 4 * line.n));
    setBuffersAndAttributes(gl, this.lines, buffers);
    setUniforms(this.lines, uniforms(camera, size));
    drawBufferInfo(gl, buffers, gl.LINES, line.n);
    line.n = 0;
  }
}

function uniforms(camera: Camera, size: Size): { camera: number[]; size: number[] } {
  return { camera: [camera.x, camera.y, camera.sx, camera.sy], size: [size.width, size.height] };
}

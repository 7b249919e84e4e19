// What a colour means, the same in every view.

import { VERDICTS } from "../wire/decode.ts";
import type { Tasks } from "../wire/decode.ts";
import { NONE } from "../wire/decode.ts";
import { colour } from "../shell/theme.ts";

export type ColourBy = "verdict" | "kernel" | "time" | "memory";
export const COLOUR_BY: readonly ColourBy[] = ["verdict", "kernel", "time", "memory"];

/** Colours of the style sheet that tell kernels apart; more kernels share them. */
export const KERNEL_COLOURS = 10;

export function kernelColour(kernel: number): string {
  return kernel === NONE ? "unknown" : `kernel-${kernel % KERNEL_COLOURS}`;
}

export function verdictName(verdict: number): string {
  return VERDICTS[verdict] ?? "unknown";
}

export function isWrong(verdict: number): boolean {
  return verdict === 2 || verdict === 4 || verdict === 5;
}

/** Where a number stands between the least and the most, on a logarithmic scale: sizes and times span decades. */
export function place(value: number, least: number, most: number): number {
  if (!(value > 0) || !(most > least)) return value > 0 ? 1 : 0;
  return Math.log(Math.max(value, least) / least) / Math.log(most / least);
}

export function span(values: ArrayLike<number>): [number, number] {
  let least = Infinity;
  let most = 0;
  for (let i = 0; i < values.length; i++) {
    const v = values[i];
    if (v > 0) {
      if (v < least) least = v;
      if (v > most) most = v;
    }
  }
  return most > 0 ? [least, most] : [1, 1];
}

export function durations(tasks: Tasks): Float64Array {
  const lasted = new Float64Array(tasks.n);
  for (let t = 0; t < tasks.n; t++) {
    const d = tasks.end[t] - tasks.begin[t];
    lasted[t] = d > 0 ? d : 0;
  }
  return lasted;
}

/** Four bytes a task. */
export function taskColours(tasks: Tasks, by: ColourBy): Uint8Array {
  const out = new Uint8Array(4 * tasks.n);
  const put = (t: number, [r, g, b]: [number, number, number]) => {
    out[4 * t] = r;
    out[4 * t + 1] = g;
    out[4 * t + 2] = b;
    out[4 * t + 3] = 255;
  };
  if (by === "verdict") {
    const of = VERDICTS.map(name => colour(name));
    for (let t = 0; t < tasks.n; t++) put(t, of[tasks.verdict[t]]);
  } else if (by === "kernel") {
    const none = colour("unknown");
    const of = tasks.kernels.map((_, k) => colour(kernelColour(k)));
    for (let t = 0; t < tasks.n; t++) put(t, tasks.kernel[t] === NONE ? none : of[tasks.kernel[t]]);
  } else {
    const values = by === "time" ? durations(tasks) : tasks.bytes;
    const [least, most] = span(values);
    const none = colour("unknown");
    for (let t = 0; t < tasks.n; t++) put(t, values[t] > 0 ? heat(place(values[t], least, most)) : none);
  }
  return out;
}

/** From few to much. */
export function heat(at: number): [number, number, number] {
  const stops = [colour("heat-0"), colour("heat-1"), colour("heat-2"), colour("heat-3")];
  const where = Math.min(0.9999, Math.max(0, at)) * (stops.length - 1);
  const i = Math.floor(where);
  const f = where - i;
  return [0, 1, 2].map(c => Math.round(stops[i][c] * (1 - f) + stops[i + 1][c] * f)) as [number, number, number];
}

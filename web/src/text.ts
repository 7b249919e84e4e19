// Numbers as people read them.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytes(n: number | null | undefined): string {
  if (n == null) return "unknown";
  let unit = 0;
  while (n >= 1024 && unit < UNITS.length - 1) {
    n /= 1024;
    unit++;
  }
  return `${unit === 0 || n >= 100 ? Math.round(n) : n.toPrecision(3)} ${UNITS[unit]}`;
}

export function count(n: number | null | undefined): string {
  return n == null ? "unknown" : n.toLocaleString("en-US");
}

/** A count where there is little room: 16.6k. */
export function short(n: number): string {
  if (n < 10000) return String(n);
  return n < 1e6 ? `${trim((n / 1e3).toFixed(1))}k` : `${trim((n / 1e6).toFixed(1))}M`;
}

/** A time in microseconds. */
export function time(us: number | null | undefined): string {
  if (us == null || Number.isNaN(us)) return "unknown";
  const size = Math.abs(us);
  if (size === 0) return "0";
  if (size < 1) return `${trim((us * 1e3).toPrecision(3))} ns`;
  if (size < 1e3) return `${trim(us.toPrecision(3))} µs`;
  if (size < 1e6) return `${trim((us / 1e3).toPrecision(3))} ms`;
  return `${trim((us / 1e6).toPrecision(4))} s`;
}

/** A value of a tensor; JSON spells what is not finite as a string. */
export function value(v: number | string | null | undefined, digits = 6): string {
  if (v == null) return "-";
  if (typeof v === "string") return v;
  if (Number.isNaN(v)) return "NaN";
  if (!Number.isFinite(v)) return v > 0 ? "inf" : "-inf";
  if (v === 0) return Object.is(v, -0) ? "-0" : "0";
  const size = Math.abs(v);
  if (size >= 1e-4 && size < 10 ** digits) return trim(v.toPrecision(digits));
  return v.toExponential(Math.max(0, digits - 3)).replace(/\.?0+e/, "e").replace("e+", "e");
}

function trim(text: string): string {
  return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
}

export function taskId(id: bigint): string {
  return `0x${id.toString(16).padStart(16, "0")}`;
}

/** A task's id without the zeros in front; rings and scopes sit in the upper half. */
export function shortId(id: bigint): string {
  return `0x${id.toString(16)}`;
}

export function shape(dims: readonly number[] | null | undefined): string {
  return dims ? (dims.length ? dims.join(" × ") : "scalar") : "unknown";
}

export const WORDS: Record<string, string> = {
  unknown: "not judged",
  clean: "clean",
  introduced: "introduced the error",
  inherited: "inherited the error",
  here_or_upstream: "here or upstream",
  damaged: "damaged",
};

// Which bytes of a buffer a view touches.

export interface View {
  offset: number;
  shape: readonly number[];
  strides: readonly number[];
  size: number;
}

/** Bytes of an element of a dtype, as dumps name them; null when the name says nothing. */
export function elementBytes(dtype: string | undefined): number | null {
  const bits = /(\d+)/.exec(dtype ?? "");
  if (bits) return Math.max(1, Number(bits[1]) / 8);
  return dtype === "BOOL" ? 1 : null;
}

/** The ranges of bytes a view touches, at most `most`: where there are more, neighbours are joined. */
export function ranges(view: View, most: number): [number, number][] {
  if (view.shape.some(n => n === 0)) return [];
  // Inner dimensions without gaps are one run.
  const dims = view.shape
    .map((n, i) => ({ n, stride: Math.abs(view.strides[i] ?? 0) * view.size }))
    .filter(dim => dim.n > 1)
    .sort((a, b) => a.stride - b.stride);
  let run = view.size;
  while (dims.length && dims[0].stride <= run) run = Math.max(run, dims[0].stride * (dims[0].n - 1) + run), dims.shift();
  let outer = dims.reverse();
  // Too many ranges to draw: the innermost loops are drawn as one span.
  while (outer.length && outer.reduce((times, dim) => times * dim.n, 1) > most) {
    const inner = outer[outer.length - 1];
    run += inner.stride * (inner.n - 1);
    outer = outer.slice(0, -1);
  }
  const found: [number, number][] = [];
  const walk = (level: number, at: number) => {
    if (level === outer.length) {
      found.push([at, at + run]);
      return;
    }
    for (let i = 0; i < outer[level].n; i++) walk(level + 1, at + i * outer[level].stride);
  };
  walk(0, view.offset);
  return found;
}

// A wrong output looked at closely: where it is wrong and by how much, its worst elements, what it looks like.

import type { ComponentChildren } from "preact";
import { colour, useTheme } from "../shell/theme.ts";
import { Link } from "../shell/parts.tsx";
import { count, short, value } from "../text.ts";
import type { Closer, ErrorMap, Metrics } from "../wire/api.ts";

export function Closely(props: { dump: number; closer: Closer; metrics: Metrics | null }) {
  const { closer, dump, metrics } = props;
  const { map } = closer;
  return (
    <div class="closely">
      <div>
        {map && map.rows * map.columns > 0 && <ErrorPicture closer={closer} map={map} />}
        {metrics?.histogram && <ErrorBars metrics={metrics} />}
      </div>
      <div>
        {closer.looks_like?.map((like, i) => <p key={i}>looks like <b>{like.text ?? like.evidence}</b></p>)}
        <table class="worst">
          <thead><tr><th>worst elements</th><th class="n">actual</th><th class="n">expected</th></tr></thead>
          <tbody>
            {closer.worst.slice(0, 6).map(w => (
              <tr key={w.index}>
                <td class="mono"><Link to={{ view: "tensor", dump, item: closer.record, query: { element: String(w.index) } }}>[{w.at.join(", ")}]</Link></td>
                <td class="n mono">{value(w.actual)}</td>
                <td class="n mono">{value(w.expected)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

const WIDE = 640;

/** The largest error of each cell; errors that the tolerance allows have the colour of what is clean. */
function ErrorPicture(props: { closer: Closer; map: ErrorMap }) {
  useTheme();
  const { closer, map } = props;
  const [left, top] = [44, 16];
  const wide = Math.min(22, (WIDE - left) / map.columns);
  const high = map.rows > 1 ? Math.max(5, Math.min(wide, 300 / map.rows)) : 24;
  const right = left + map.columns * wide;
  const errors = map.largest.filter((error, at): error is number => typeof error === "number" && map.beyond[at] > 0);
  const [least, most] = [Math.log10(Math.min(...errors)), Math.log10(Math.max(...errors))];
  const [cold, hot] = [colour("cold"), colour("hot")];
  const warmth = (error: number) => {
    const part = most > least ? (Math.log10(error) - least) / (most - least) : 1;
    return `rgb(${cold.map((c, i) => Math.round(c + (hot[i] - c) * part)).join(" ")})`;
  };
  const row = (cell: number) => Math.ceil((cell * map.tensor[0]) / map.rows);
  const column = (cell: number) => Math.ceil((cell * map.tensor[1]) / map.columns);
  const every = (pixels: number, room: number) => Math.max(1, 2 ** Math.ceil(Math.log2(room / pixels)));
  const cells = map.largest.flatMap((error, at) => {
    if (error === 0) return [];
    const [r, c] = [Math.floor(at / map.columns), at % map.columns];
    const finite = typeof error === "number";
    const kind = finite ? (map.beyond[at] ? {} : { class: "fill-clean" }) : { class: "fill-odd" };
    return [
      <rect key={at} x={left + c * wide} y={top + r * high} width={wide} height={high} {...kind} {...(finite && map.beyond[at] ? { fill: warmth(error) } : {})}>
        <title>{`row ${row(r)}, column ${column(c)}: ${count(map.beyond[at])} out of tolerance, largest error ${finite ? value(error, 3) : "not finite"}`}</title>
      </rect>,
    ];
  });
  const marks: ComponentChildren[] = [];
  for (let c = 0; c < map.columns; c += every(wide, 44)) marks.push(<text key={`c${c}`} x={left + (c + 0.5) * wide} y={top - 5} text-anchor="middle">{column(c)}</text>);
  for (let r = 0; r < map.rows; r += every(high, 16)) marks.push(<text key={`r${r}`} x={left - 5} y={top + (r + 0.5) * high + 4} text-anchor="end">{row(r)}</text>);
  const odd = map.largest.some(error => typeof error !== "number");
  return (
    <figure>
      <figcaption class="dim small">
        output {closer.arg_index}, largest error by place: {count(map.tensor[0])} × {count(map.tensor[1])}
        {map.cell > 1 && `, a cell is up to ${count(map.cell)} elements`}
        {closer.shape.length > 2 && "; a row is all but the last dimension, counted through"}
      </figcaption>
      <svg class="map" viewBox={`0 0 ${WIDE} ${top + map.rows * high}`} role="img" aria-label="errors by row and column">
        <rect class="fill-cell" x={left} y={top} width={right - left} height={map.rows * high} />
        {cells}
        {marks}
      </svg>
      <div class="key small">
        <span><i class="tag cell" />no error</span>
        <span><i class="tag clean" />within the tolerance</span>
        {errors.length > 0 && <span>out of tolerance {most > least ? <>{value(10 ** least, 2)}<i class="scale wrong" /></> : <i class="tag hot" />}{value(10 ** most, 2)}</span>}
        {odd && <span><i class="tag odd" />NaN or infinity</span>}
      </div>
    </figure>
  );
}

/** How many elements are off by how much: every element has a place. */
function ErrorBars(props: { metrics: Metrics }) {
  const { metrics } = props;
  const same = metrics.nan_both + metrics.inf_both;
  const notFinite = Math.max(0, metrics.elements - metrics.finite - same);
  const decades = new Map(metrics.histogram.decades.map(decade => [decade.exponent, decade.count]));
  const bars: { name: string; n: number; kind: string }[] = [{ name: "0", n: metrics.histogram.zero + same, kind: "cell" }];
  const exponents = [...decades.keys()];
  for (let e = Math.min(...exponents); e <= Math.max(...exponents); e++) bars.push({ name: `1e${e}`, n: decades.get(e) ?? 0, kind: "inherited" });
  if (notFinite) bars.push({ name: "NaN, inf", n: notFinite, kind: "odd" });
  const [top, high] = [14, 84];
  const wide = Math.min(72, WIDE / bars.length);
  const most = Math.log10(1 + Math.max(...bars.map(bar => bar.n)));
  const labelled = Math.ceil(46 / wide);
  return (
    <figure>
      <figcaption class="dim small">elements (logarithmic) by absolute error; 1e-3 stands for 1e-3 up to 1e-2</figcaption>
      <svg class="map" viewBox={`0 0 ${WIDE} ${top + high + 18}`} role="img" aria-label="elements by absolute error">
        {bars.map(({ name, n, kind }, i) => {
          const tall = n ? Math.max(2, (high * Math.log10(1 + n)) / most) : 0;
          return (
            <g key={name}>
              {n > 0 && <rect class={`fill-${kind}`} x={i * wide + 1} y={top + high - tall} width={wide - 2} height={tall}><title>{`${name}: ${count(n)} elements`}</title></rect>}
              {n > 0 && wide >= 36 && <text x={(i + 0.5) * wide} y={top + high - tall - 3} text-anchor="middle">{short(n)}</text>}
              {(i % labelled === 0 || i === bars.length - 1) && <text x={(i + 0.5) * wide} y={top + high + 13} text-anchor="middle">{name}</text>}
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

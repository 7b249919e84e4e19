// How often values of a tensor occur.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { css, useTheme } from "../shell/theme.ts";
import { count, value } from "../text.ts";
import type { Num } from "../wire/api.ts";

export function Histogram(props: { edges: Num[]; counts: number[]; mark: number | null }) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const mark = useRef(props.mark);
  mark.current = props.mark;
  const theme = useTheme();
  useEffect(() => {
    const edges = props.edges.map(Number);
    const middles = props.counts.map((_, i) => (edges[i] + edges[i + 1]) / 2);
    const log = Math.max(...props.counts) > 50 * Math.max(1, Math.min(...props.counts.filter(n => n > 0)));
    const heights = props.counts.map(n => (log ? Math.log10(1 + n) : n));
    const axis = { stroke: css("dim"), grid: { show: false }, ticks: { show: false }, font: "10px system-ui, sans-serif" };
    const made = new uPlot(
      {
        width: host.current!.clientWidth || 240,
        height: 120,
        padding: [6, 8, 0, 4],
        cursor: { y: false, points: { show: false } },
        legend: { show: false },
        scales: { x: { time: false, range: [edges[0], edges[edges.length - 1]] }, y: { range: (_, __, most) => [0, most || 1] } },
        axes: [
          { ...axis, size: 20, space: 70, values: (_, splits) => splits.map(v => value(v, 3)) },
          { ...axis, size: 38, space: 40, values: (_, splits) => splits.map(v => (log ? short10(v) : value(v, 3))) },
        ],
        series: [{}, { paths: uPlot.paths.bars!({ size: [0.98, 100], gap: 0 }), fill: css("values-2"), stroke: "transparent", width: 0, points: { show: false } }],
        hooks: {
          draw: [
            u => {
              if (mark.current === null || !Number.isFinite(mark.current)) return;
              const x = u.valToPos(mark.current, "x", true);
              u.ctx.fillStyle = css("accent");
              u.ctx.fillRect(x - 1, u.bbox.top, 2, u.bbox.height);
            },
          ],
        },
      },
      [middles, heights],
      host.current!,
    );
    plot.current = made;
    return () => made.destroy();
  }, [props.edges, props.counts, theme]);
  useEffect(() => plot.current?.redraw(false), [props.mark]);
  const total = props.counts.reduce((sum, n) => sum + n, 0);
  return <div class="histogram" ref={host} role="img" aria-label={`histogram of ${count(total)} values`} />;
}

/** Ticks of a logarithmic axis, at powers of ten alone. */
function short10(v: number): string {
  return Number.isInteger(v) ? `1e${v}` : "";
}

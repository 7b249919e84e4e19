// Slices on tracks, by time: of a run, and of one traced task.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { step } from "../draw/camera.ts";
import { clip } from "../draw/graph-scene.ts";
import { Surface } from "../draw/surface.ts";
import { Strips } from "../draw/strips.ts";
import { across, lowerBound, neighbour, rows, stillGoing } from "../draw/timeline-model.ts";
import type { Binding } from "../shell/keys.ts";
import { useKeys } from "../shell/keys.ts";
import { css, useTheme } from "../shell/theme.ts";
import { time } from "../text.ts";
import { NONE } from "../wire/decode.ts";
import type { Timeline } from "../wire/decode.ts";

interface Props {
  timeline: Timeline;
  /** The colour of a slice, a name of the style sheet. */
  paint: (slice: number) => string;
  chosen: number | null;
  pick: (slice: number | null) => void;
  open?: (slice: number) => void;
  arrows: boolean;
  critical: boolean;
  /** What is seen, as begin and end in microseconds. */
  range: [number, number] | null;
  look: (range: [number, number] | null) => void;
  name: string;
  /** The heading of its keys, and more of them; null where another view has the keyboard. */
  keys: { title: string; more: Binding[] } | null;
}

const AXIS = 26;
const ROW = 19;
const GAP = 5;
// Slices of fewer pixels are painted as pixels of a strip: there may be a hundred thousand of them.
const THIN = 4;

export function TimelinePicture(props: Props) {
  const { timeline } = props;
  const theme = useTheme();
  const all = useMemo(() => rows(timeline), [timeline]);
  const tops = useMemo(() => {
    let at = 0;
    return all.deep.map((deep, i) => {
      // Control threads and cores stand apart.
      if (i > 0 && timeline.tracks[i].kind !== timeline.tracks[i - 1].kind) at += 10;
      const top = at;
      at += deep * ROW + GAP;
      return top;
    });
  }, [all, timeline]);
  const tall = tops.length ? tops[tops.length - 1] + all.deep[all.deep.length - 1] * ROW + GAP : 0;
  const host = useRef<HTMLDivElement>(null);
  const surface = useRef<Surface | null>(null);
  const range = useRef<[number, number]>(props.range ?? [all.begin, all.end]);
  const top = useRef(0);
  const settle = useRef(0);
  const [hover, setHover] = useState<{ slice: number; x: number; y: number } | null>(null);
  const now = useRef({ props, all, tops, tall });
  now.current = { props, all, tops, tall };
  const onPath = useMemo(() => new Set(timeline.critical), [timeline]);
  const path = useRef(onPath);
  const strips = useRef<Strips | null>(null);
  path.current = onPath;

  const gutter = () => Math.min(190, surface.current!.size.width * 0.24);
  const scale = () => (surface.current!.size.width - gutter()) / (range.current[1] - range.current[0]);
  const usOf = (px: number) => range.current[0] + (px - gutter()) / scale();

  const look = (from: number, to: number) => {
    const { all } = now.current;
    const whole = all.end - all.begin;
    const width = Math.min(Math.max(to - from, whole * 1e-6), whole * 1.2);
    const middle = (from + to) / 2;
    let begin = middle - width / 2;
    begin = Math.min(Math.max(begin, all.begin - whole * 0.1), all.end + whole * 0.1 - width);
    range.current = [begin, begin + width];
    surface.current?.ask();
    clearTimeout(settle.current);
    settle.current = window.setTimeout(() => now.current.props.look(range.current), 250);
  };
  const scroll = (dy: number) => {
    const room = surface.current!.size.height - AXIS;
    top.current = Math.max(0, Math.min(now.current.tall - room, top.current + dy));
    surface.current!.ask();
  };
  const zoomAt = (px: number, factor: number) => {
    const at = usOf(Math.max(px, gutter()));
    look(at - (at - range.current[0]) / factor, at + (range.current[1] - at) / factor);
  };
  const under = (px: number, py: number): number | null => {
    const { all, tops, props } = now.current;
    const y = py - AXIS + top.current;
    if (py < AXIS || px < gutter()) return null;
    const track = tops.findIndex((at, i) => y >= at && y < at + all.deep[i] * ROW);
    if (track < 0) return null;
    const row = Math.floor((y - tops[track]) / ROW);
    const list = all.of[track];
    const [from, to] = [usOf(px - 2), usOf(px + 2)];
    for (let i = lowerBound(list, props.timeline.begin, to) - 1; i >= 0 && all.reach[track][i] >= from; i--) {
      if (all.depth[list[i]] === row && props.timeline.end[list[i]] >= from) return list[i];
    }
    return null;
  };

  const draw = (s: Surface) => {
    const { props: p, all, tops } = now.current;
    const { timeline: t } = p;
    const { pen, size } = s;
    const left = gutter();
    const px = scale();
    pen.save();
    pen.beginPath();
    pen.rect(left, AXIS, size.width - left, size.height - AXIS);
    pen.clip();
    pen.translate(0, AXIS - top.current);
    pen.textBaseline = "middle";
    pen.font = "11px system-ui, sans-serif";
    const [from, to] = range.current;
    const dimmed = p.critical && path.current.size > 0;
    const names: [number, number, number, number][] = [];
    const thin = strips.current ??= new Strips();
    thin.begin(size.width - left, s.ratio);
    for (let track = 0; track < tops.length; track++) {
      const y = tops[track];
      if (y + all.deep[track] * ROW < top.current || y > top.current + size.height) continue;
      const list = all.of[track];
      pen.fillStyle = css("rule", 0.5);
      pen.fillRect(left, y, size.width, all.deep[track] * ROW - 1);
      const strip = all.deep[track] > 1 ? null : thin.row(y);
      const end = lowerBound(list, t.begin, to);
      for (let i = stillGoing(all.reach[track], from); i < end; i++) {
        const slice = list[i];
        if (t.end[slice] < from) continue;
        const row = all.depth[slice];
        const x0 = Math.max(left - 2, left + (t.begin[slice] - from) * px);
        const x1 = Math.min(size.width + 2, left + (t.end[slice] - from) * px);
        const wide = Math.max(1, x1 - x0);
        const off = dimmed && !path.current.has(slice);
        if (wide < THIN && strip !== null) {
          thin.paint(strip, x0 - left, wide, p.paint(slice), off ? 0.28 : 1);
          continue;
        }
        pen.fillStyle = css(p.paint(slice), off ? 0.28 : 1);
        pen.fillRect(x0, y + row * ROW, wide > 3 ? wide - 0.5 : wide, ROW - 1);
        if (wide > 26) names.push([slice, x0, y + row * ROW, wide]);
      }
    }
    thin.draw(pen, left, ROW - 1);
    for (const [slice, x, y, wide] of names) {
      const text = t.labels[t.label[slice]];
      pen.fillStyle = ink(p.paint(slice), dimmed && !path.current.has(slice));
      pen.fillText(clip(pen, text, wide - 8), Math.max(x, left) + 4, y + ROW / 2);
    }
    const edge = (slice: number, atEnd: boolean): [number, number] => [
      left + ((atEnd ? t.end[slice] : t.begin[slice]) - from) * px,
      tops[t.track[slice]] + all.depth[slice] * ROW + ROW / 2,
    ];
    if (p.arrows || p.chosen !== null) {
      pen.beginPath();
      let drawn = 0;
      for (let a = 0; a < t.arrowFrom.length && drawn < 1500; a++) {
        const [source, target] = [t.arrowFrom[a], t.arrowTo[a]];
        const own = source === p.chosen || target === p.chosen;
        if (!own && !p.arrows) continue;
        if (t.end[source] > to || t.begin[target] < from) continue;
        const [x0, y0] = edge(source, true);
        const [x1, y1] = edge(target, false);
        if (!own && x1 - x0 > size.width * 3) continue;
        arrow(pen, x0, y0, x1, y1);
        drawn++;
      }
      pen.strokeStyle = css("ink", p.arrows && p.chosen === null ? 0.35 : 0.7);
      pen.lineWidth = 1;
      pen.stroke();
    }
    if (p.critical && path.current.size) {
      pen.beginPath();
      for (let c = 1; c < t.critical.length; c++) {
        const [before, after] = [t.critical[c - 1], t.critical[c]];
        if (t.begin[after] < from || t.end[before] > to) continue;
        arrow(pen, ...edge(before, true), ...edge(after, false));
      }
      pen.strokeStyle = css("accent", 0.8);
      pen.lineWidth = 1.5;
      pen.stroke();
    }
    if (p.chosen !== null) {
      const [x0, y] = edge(p.chosen, false);
      const [x1] = edge(p.chosen, true);
      pen.strokeStyle = css("accent");
      pen.lineWidth = 2.5;
      pen.strokeRect(x0 - 1.5, y - ROW / 2 - 1.5, Math.max(3, x1 - x0 + 3), ROW + 2);
    }
    pen.restore();
    axis(pen, size.width, size.height, left, range.current, px, all.begin);
    pen.save();
    pen.beginPath();
    pen.rect(0, AXIS, left, size.height - AXIS);
    pen.clip();
    pen.translate(0, AXIS - top.current);
    pen.fillStyle = css("dim");
    pen.font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
    pen.textBaseline = "middle";
    tops.forEach((y, track) => {
      if (y + ROW < top.current || y > top.current + size.height) return;
      pen.fillText(clip(pen, t.tracks[track].name, left - 14), 10, y + ROW / 2);
    });
    pen.restore();
  };
  const paintNow = useRef(draw);
  paintNow.current = draw;

  useEffect(() => {
    const made = new Surface(host.current!, s => paintNow.current(s), {
      drag: (dx, dy) => {
        const us = dx / scale();
        look(range.current[0] - us, range.current[1] - us);
        scroll(-dy);
      },
      scroll: dx => look(range.current[0] + dx / scale(), range.current[1] + dx / scale()),
      zoom: (px, _, factor, event) => (px < gutter() && event ? scroll(event.deltaY) : zoomAt(px, factor)),
      click: (px, py) => now.current.props.pick(under(px, py)),
      open: (px, py) => {
        const slice = under(px, py);
        if (slice !== null) now.current.props.open?.(slice);
      },
      hover: (px, py) => {
        const slice = px === null || py === null ? null : under(px, py);
        setHover(known => (slice === null ? null : known?.slice === slice ? known : { slice, x: px!, y: py! }));
      },
    }, false);
    surface.current = made;
    return () => {
      clearTimeout(settle.current);
      made.close();
    };
  }, []);

  useEffect(() => {
    // All of a run that is still going stays in sight until the user zooms in.
    if (!props.range) range.current = [all.begin - (all.end - all.begin) * 0.01, all.end + (all.end - all.begin) * 0.01];
    host.current!.dataset["slices"] = String(timeline.n);
    surface.current?.ask();
  }, [timeline, theme, props.arrows, props.critical, props.chosen, props.paint]);

  const { chosen } = props;
  useEffect(() => {
    if (chosen === null || !surface.current) return;
    const [from, to] = range.current;
    const [begin, end] = [timeline.begin[chosen], timeline.end[chosen]];
    const wide = Math.max(Math.min(to - from, Math.max((end - begin) * 60, 1e-3)), (end - begin) * 1.6);
    if (begin < from || end > to || (end - begin) * scale() < 2) look((begin + end) / 2 - wide / 2, (begin + end) / 2 + wide / 2);
    const y = tops[timeline.track[chosen]];
    const room = surface.current.size.height - AXIS;
    if (y < top.current) scroll(y - top.current - ROW);
    if (y + 2 * ROW > top.current + room) scroll(y + 2 * ROW - top.current - room);
  }, [chosen]);

  const shift = (by: number) => look(range.current[0] + by * (range.current[1] - range.current[0]), range.current[1] + by * (range.current[1] - range.current[0]));
  const first = () => timeline.critical[0] ?? all.of.find(list => list.length)?.[0] ?? null;
  const step1 = (next: (from: number) => number | null) => props.pick(chosen === null ? first() : next(chosen) ?? chosen);
  useKeys(props.keys?.title ?? "", props.keys === null ? [] : [
    { keys: ["h", "ArrowLeft"], about: "slice before", run: () => step1(s => neighbour(all, timeline, s, -1)) },
    { keys: ["l", "ArrowRight"], about: "slice after", run: () => step1(s => neighbour(all, timeline, s, 1)) },
    { keys: ["k", "ArrowUp"], about: "track above", run: () => step1(s => across(all, timeline, s, -1)) },
    { keys: ["j", "ArrowDown"], about: "track below", run: () => step1(s => across(all, timeline, s, 1)) },
    { keys: ["a", "Shift+ArrowLeft"], about: "earlier", run: () => shift(-0.25) },
    { keys: ["d", "Shift+ArrowRight"], about: "later", run: () => shift(0.25) },
    { keys: ["+", "="], about: "nearer", run: () => zoomAt((gutter() + surface.current!.size.width) / 2, 1.6) },
    { keys: ["-"], about: "farther", run: () => zoomAt((gutter() + surface.current!.size.width) / 2, 1 / 1.6) },
    {
      keys: ["f"],
      about: "show all",
      run: () => {
        look(all.begin - (all.end - all.begin) * 0.01, all.end + (all.end - all.begin) * 0.01);
        clearTimeout(settle.current);
        props.look(null);
      },
    },
    ...props.keys.more,
  ]);

  return (
    <div class="picture timeline" ref={host} data-ready={props.name} tabIndex={-1}>
      {hover && hover.slice < timeline.n && <SliceTip timeline={timeline} slice={hover.slice} x={hover.x} y={hover.y} />}
    </div>
  );
}

function ink(name: string, off: boolean): string {
  if (off) return css("ink", 0.5);
  const [r, g, b] = css(name).match(/\d+/g)!.map(Number);
  return 0.3 * r + 0.59 * g + 0.11 * b > 140 ? "#14181c" : "#fdfcf9";
}

function arrow(pen: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  const bend = Math.max(8, Math.abs(x1 - x0) * 0.4);
  pen.moveTo(x0, y0);
  pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  pen.moveTo(x1 - 5, y1 - 3);
  pen.lineTo(x1, y1);
  pen.lineTo(x1 - 5, y1 + 3);
}

function axis(pen: CanvasRenderingContext2D, width: number, height: number, left: number, range: [number, number], px: number, zero: number): void {
  const apart = step(90 / px);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.fillStyle = css("card");
  pen.fillRect(0, 0, width, AXIS);
  pen.strokeStyle = css("rule");
  pen.lineWidth = 1;
  pen.beginPath();
  pen.fillStyle = css("dim");
  for (let at = Math.ceil((range[0] - zero) / apart) * apart; at <= range[1] - zero; at += apart) {
    const x = Math.round(left + (at + zero - range[0]) * px) + 0.5;
    if (x < left) continue;
    pen.moveTo(x, AXIS - 6);
    pen.lineTo(x, height);
    pen.fillText(time(Math.abs(at) < apart / 1e3 ? 0 : at), x + 4, AXIS / 2);
  }
  pen.moveTo(0, AXIS - 0.5);
  pen.lineTo(width, AXIS - 0.5);
  pen.globalAlpha = 0.6;
  pen.stroke();
  pen.globalAlpha = 1;
}

function SliceTip(props: { timeline: Timeline; slice: number; x: number; y: number }) {
  const { timeline, slice } = props;
  const tip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!tip.current) return;
    const room = tip.current.parentElement?.clientWidth ?? 0;
    tip.current.style.left = `${Math.min(props.x + 14, Math.max(0, room - tip.current.offsetWidth - 8))}px`;
    tip.current.style.top = `${props.y + 14}px`;
  }, [props.x, props.y]);
  return (
    <div class="tip" ref={tip}>
      <b class="mono">{timeline.labels[timeline.label[slice]]}</b>
      <div class="dim">{timeline.tracks[timeline.track[slice]].name}, {time(timeline.end[slice] - timeline.begin[slice])}</div>
    </div>
  );
}

/** The slice of a task; of one with several, the first. */
export function sliceOf(timeline: Timeline, task: number | null): number | null {
  if (task === null || task === NONE) return null;
  const at = timeline.task.indexOf(task);
  return at < 0 ? null : at;
}


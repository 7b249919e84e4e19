// The graph of a run: every task in its place, what it waits for, and the way an error took.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { amend, go } from "../address.ts";
import type { Camera } from "../draw/camera.ts";
import { fit, pan, read, reveal, toWorld, write, zoom } from "../draw/camera.ts";
import type { ColourBy } from "../draw/colours.ts";
import { COLOUR_BY, durations, isWrong, kernelColour, span, verdictName } from "../draw/colours.ts";
import { beside, closest, consumers, model, nearest, producers } from "../draw/graph-model.ts";
import { GraphScene } from "../draw/graph-scene.ts";
import { Surface } from "../draw/surface.ts";
import { wayOf } from "../draw/way.ts";
import { useGraph, useShell, useTasks } from "../shell/context.ts";
import { useKeys } from "../shell/keys.ts";
import { Choice, Facts, Failure, Link, VerdictTag, Waiting } from "../shell/parts.tsx";
import { useTheme } from "../shell/theme.ts";
import { bytes, count, shortId, taskId, time } from "../text.ts";
import { NONE, STATES } from "../wire/decode.ts";
import type { Graph, Tasks } from "../wire/decode.ts";

interface Props {
  dump: number;
  query: Record<string, string>;
}

export function GraphView(props: Props) {
  const tasks = useTasks(props.dump);
  const graph = useGraph(props.dump);
  const error = tasks.error ?? graph.error;
  if (error && !(tasks.value && graph.value)) return <Failure error={error} />;
  if (!tasks.value || !graph.value) return <Waiting for="laying out the graph" />;
  // A run that is still going may answer one question later than the other.
  if (tasks.value.n < graph.value.n) return <Waiting for="laying out the graph" />;
  return <Shown {...props} tasks={tasks.value} graph={graph.value} />;
}

function Shown(props: Props & { tasks: Tasks; graph: Graph }) {
  const { dump, query, tasks, graph } = props;
  const shell = useShell();
  const theme = useTheme();
  const laid = useMemo(() => model(graph), [graph]);
  const by: ColourBy = COLOUR_BY.find(name => name === query["color"]) ?? "verdict";
  const chosen = numberIn(query["task"], laid.n);
  const onlyKernel = numberIn(query["kernel"], tasks.kernels.length);
  const wrongWay = query["way"] !== "0";
  const way = useMemo(() => (chosen !== null && wrongWay ? wayOf(graph, tasks.verdict, chosen) : null), [graph, tasks, chosen, wrongWay]);

  const host = useRef<HTMLDivElement>(null);
  const surface = useRef<Surface | null>(null);
  const scene = useRef<GraphScene | null>(null);
  const camera = useRef<Camera>({ x: 0, y: 0, sx: 1, sy: 1 });
  const moved = useRef(false);
  const settle = useRef(0);
  const [hover, setHover] = useState<{ task: number; x: number; y: number } | null>(null);
  const [noGl, setNoGl] = useState(false);
  const live = useRef({ laid, tasks });
  live.current = { laid, tasks };

  /** Draws, and writes where one looks into the address when it has come to rest. */
  const look = (next: Camera) => {
    camera.current = next;
    moved.current = true;
    surface.current?.ask();
    clearTimeout(settle.current);
    settle.current = window.setTimeout(() => amend({ at: write(camera.current) }), 250);
  };
  const limits = (): [number, number] => [fit(live.current.laid.box, surface.current!.size, 24, 60).sx / 2, 220];
  const pick = (t: number | null) => amend({ task: t === null ? "" : String(t) });
  const under = (px: number, py: number) => {
    const { laid } = live.current;
    const [x, y] = toWorld(camera.current, surface.current!.size, px, py);
    return nearest(laid, x, y, 4 / camera.current.sx);
  };
  const fitAll = () => {
    if (!surface.current) return;
    camera.current = fit(live.current.laid.box, surface.current.size, 24, 60);
    moved.current = false;
    clearTimeout(settle.current);
    surface.current.ask();
    amend({ at: "" });
  };

  useEffect(() => {
    const made = new Surface(host.current!, s => scene.current?.draw(s, camera.current), {
      drag: (dx, dy) => look(pan(camera.current, dx, dy)),
      scroll: (dx, dy) => look(pan(camera.current, -dx, -dy)),
      zoom: (px, py, factor) => look(zoom(camera.current, made.size, px, py, factor, ...limits())),
      click: (px, py) => pick(under(px, py)),
      open: (px, py) => {
        const t = under(px, py);
        if (t !== null) go({ view: "task", dump, item: t });
      },
      hover: (px, py) => {
        const t = px === null || py === null ? null : under(px, py);
        setHover(known => (t === null ? null : known?.task === t ? known : { task: t, x: px!, y: py! }));
      },
    }, true);
    surface.current = made;
    if (!made.gl) setNoGl(true);
    else scene.current = new GraphScene(made.gl);
    const kept = read(query["at"]);
    moved.current = kept !== null;
    camera.current = kept ?? fit(laid.box, made.size, 24, 60);
    return () => {
      clearTimeout(settle.current);
      made.close();
      surface.current = null;
      scene.current = null;
    };
  }, []);

  useEffect(() => {
    if (!surface.current || !scene.current) return;
    // While a run fills in, the whole of it stays in sight until the user moves the picture.
    if (!moved.current) camera.current = fit(laid.box, surface.current.size, 24, 60);
    scene.current.show({ tasks, graph, laid, by, chosen, onlyKernel, way: way?.way ?? [], inherited: way?.inherited ?? [] });
    host.current!.dataset["tasks"] = String(laid.n);
    surface.current.ask();
  }, [tasks, graph, laid, by, chosen, onlyKernel, way, theme]);

  useEffect(() => {
    if (chosen === null || !surface.current) return;
    const near = Math.max(camera.current.sx, laid.n > 4000 && !query["at"] ? 26 : 0);
    const at = { ...camera.current, sx: near, sy: near };
    if (near !== camera.current.sx) [at.x, at.y] = [laid.x[chosen], laid.y[chosen]];
    const next = reveal(at, surface.current.size, laid.x[chosen], laid.y[chosen], 80);
    if (next !== camera.current && (next.x !== camera.current.x || next.y !== camera.current.y || next.sx !== camera.current.sx)) look(next);
  }, [chosen, laid]);

  const start = () => chosen ?? firstOf(tasks, laid.order);
  const step = (to: number | null) => {
    if (to !== null) pick(to);
    else shell.say("no task in this direction");
  };
  const along = (list: (t: number) => Uint32Array) => {
    if (chosen === null) pick(start());
    else step(closest(laid, chosen, list(chosen)));
  };
  const nextColour = () => amend({ color: COLOUR_BY[(COLOUR_BY.indexOf(by) + 1) % COLOUR_BY.length] });
  const centre = (factor: number) => {
    const size = surface.current?.size;
    if (size) look(zoom(camera.current, size, size.width / 2, size.height / 2, factor, ...limits()));
  };
  useKeys("Graph", [
    { keys: ["h", "ArrowLeft"], about: "to a task it waits for", run: () => along(t => producers(laid, t)) },
    { keys: ["l", "ArrowRight"], about: "to a task that waits for it", run: () => along(t => consumers(laid, t)) },
    { keys: ["j", "ArrowDown"], about: "to the task below", run: () => (chosen === null ? pick(start()) : step(beside(laid, chosen, 1))) },
    { keys: ["k", "ArrowUp"], about: "to the task above", run: () => (chosen === null ? pick(start()) : step(beside(laid, chosen, -1))) },
    { keys: ["Enter"], about: "open the task", run: () => (chosen === null ? pick(start()) : go({ view: "task", dump, item: chosen })) },
    { keys: ["Escape"], about: "let go of the task, then the overview", run: () => (chosen !== null || onlyKernel !== null ? amend({ task: "", kernel: "" }) : go({ view: "overview", dump })) },
    { keys: ["c"], about: "next colouring: verdict, kernel, time, memory", run: nextColour },
    { keys: ["p"], about: "show or hide the way of the error", run: () => amend({ way: wrongWay ? "0" : "" }) },
    { keys: ["f"], about: "show all", run: fitAll },
    { keys: ["z"], about: "go near the task", run: () => chosen !== null && look({ x: laid.x[chosen], y: laid.y[chosen], sx: 60, sy: 60 }) },
    { keys: ["+", "="], about: "nearer", run: () => centre(1.4) },
    { keys: ["-"], about: "farther", run: () => centre(1 / 1.4) },
  ]);

  return (
    <div class="stage">
      <div class="bar">
        <Choice label="colour by" of={COLOUR_BY} value={by} pick={name => amend({ color: name })} />
        <Legend tasks={tasks} by={by} only={onlyKernel} />
        <span class="grow" />
        <span class="dim">{count(laid.n)} tasks · {count(graph.m)} edges · {count(graph.layers)} layers</span>
        <button type="button" class="quiet" onClick={fitAll}>fit <kbd>f</kbd></button>
      </div>
      <div class="split">
        <div class="picture" ref={host} data-ready="graph" tabIndex={-1}>
          {noGl && <div class="failure" role="alert"><b>This browser has no WebGL2</b><p>The graph is drawn with it. Tasks can still be found with /.</p></div>}
          {hover && hover.task < tasks.n && <Hover tasks={tasks} task={hover.task} x={hover.x} y={hover.y} />}
        </div>
        {chosen !== null && <Inspector dump={dump} tasks={tasks} task={chosen} ins={producers(laid, chosen)} outs={consumers(laid, chosen)} way={way?.way ?? null} />}
      </div>
    </div>
  );
}

function numberIn(text: string | undefined, limit: number): number | null {
  const n = text !== undefined && /^\d+$/.test(text) ? Number(text) : -1;
  return n >= 0 && n < limit ? n : null;
}

/** Where the keyboard starts: the first wrong task, or the first of all. */
function firstOf(tasks: Tasks, order: Uint32Array): number | null {
  for (const t of order) if (isWrong(tasks.verdict[t])) return t;
  return order[0] ?? null;
}

function Legend(props: { tasks: Tasks; by: ColourBy; only: number | null }) {
  const { tasks, by } = props;
  const marks = useMemo(() => {
    if (by === "verdict") {
      const seen = new Set(tasks.verdict);
      return [...seen].sort().map(v => ({ key: String(v), tag: verdictName(v), text: null }));
    }
    if (by === "kernel") return tasks.kernels.slice(0, 14).map((name, k) => ({ key: String(k), tag: kernelColour(k), text: name }));
    return [];
  }, [tasks, by]);
  if (by === "time" || by === "memory") {
    const [least, most] = span(by === "time" ? durations(tasks) : tasks.bytes);
    const text = by === "time" ? time : bytes;
    return most > 1 || least < 1 ? <span class="key dim">{text(least)}<i class="scale" />{text(most)}</span> : <span class="key dim">{by === "time" ? "no times are known" : "nothing was captured"}</span>;
  }
  return (
    <span class="key">
      {marks.map(mark => (mark.text === null ? <VerdictTag key={mark.key} name={mark.tag} /> : (
        <button key={mark.key} type="button" class={props.only !== null && String(props.only) !== mark.key ? "plain mono off" : "plain mono"} onClick={() => amend({ kernel: String(props.only) === mark.key ? "" : mark.key })}>
          <i class={`tag ${mark.tag}`} />{mark.text}
        </button>
      )))}
      {by === "kernel" && tasks.kernels.length > marks.length && <span class="dim">and {tasks.kernels.length - marks.length} more</span>}
    </span>
  );
}

function Hover(props: { tasks: Tasks; task: number; x: number; y: number }) {
  const { tasks, task } = props;
  const tip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const room = tip.current?.parentElement?.clientWidth ?? 0;
    if (!tip.current) return;
    tip.current.style.left = `${Math.min(props.x + 14, Math.max(0, room - tip.current.offsetWidth - 8))}px`;
    tip.current.style.top = `${props.y + 14}px`;
  }, [props.x, props.y]);
  return (
    <div class="tip" ref={tip}>
      <b class="mono">{kernelName(tasks, task)}</b> <span class="mono dim">{shortId(tasks.id[task])}</span>
      <div><VerdictTag name={verdictName(tasks.verdict[task])} /></div>
    </div>
  );
}

export function kernelName(tasks: Tasks, t: number): string {
  return tasks.kernel[t] === NONE ? "no kernel" : tasks.kernels[tasks.kernel[t]];
}

function Inspector(props: { dump: number; tasks: Tasks; task: number; ins: Uint32Array; outs: Uint32Array; way: number[] | null }) {
  const { dump, tasks, task } = props;
  const { views } = useShell();
  const lasted = tasks.end[task] - tasks.begin[task];
  return (
    <aside class="inspector" aria-label="task">
      <div class="head"><b class="mono">{kernelName(tasks, task)}</b></div>
      <div class="mono dim">{taskId(tasks.id[task])}</div>
      <p><VerdictTag name={verdictName(tasks.verdict[task])} /></p>
      <div class="links">
        <Link to={{ view: "task", dump, item: task }}>open <kbd>enter</kbd></Link>
        {views.timeline && <Link to={{ view: "timeline", dump, query: { task: String(task) } }}>in the timeline</Link>}
      </div>
      <Facts rows={[
        ["state", STATES[tasks.state[task]]],
        ["blocks", count(tasks.blocks[task])],
        ["took", Number.isNaN(lasted) ? "unknown" : time(lasted)],
        ["captured", bytes(tasks.bytes[task])],
      ]} />
      {props.way && props.way.length > 1 && <Neighbours title="way of the error" dump={dump} tasks={tasks} list={props.way} />}
      <Neighbours title="waits for" dump={dump} tasks={tasks} list={props.ins} />
      <Neighbours title="is waited for by" dump={dump} tasks={tasks} list={props.outs} />
    </aside>
  );
}

const LISTED = 12;

function Neighbours(props: { title: string; dump: number; tasks: Tasks; list: ArrayLike<number> }) {
  const { tasks, list } = props;
  return (
    <section>
      <h3>{props.title} <span class="dim">{count(list.length)}</span></h3>
      <ul class="neighbours">
        {Array.from(list).slice(0, LISTED).map(t => (
          <li key={t}>
            <button type="button" class="plain mono" onClick={() => amend({ task: String(t) })}>
              <i class={`tag ${verdictName(tasks.verdict[t])}`} />{kernelName(tasks, t)} <span class="dim">{shortId(tasks.id[t])}</span>
            </button>
          </li>
        ))}
      </ul>
      {list.length > LISTED && <div class="dim small">and {count(list.length - LISTED)} more</div>}
    </section>
  );
}

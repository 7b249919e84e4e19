// One task: what it was given, what it made of it, and how to run it again alone.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { amend, go } from "../address.ts";
import { elementBytes, ranges } from "../draw/strides.ts";
import { useShell } from "../shell/context.ts";
import { useKeys } from "../shell/keys.ts";
import { Command, Facts, Failure, Link, VerdictTag, Waiting } from "../shell/parts.tsx";
import { bytes, count, shape, time, value, WORDS } from "../text.ts";
import type { Closer, Compared, RecordInfo, TaskInfo } from "../wire/api.ts";
import { api } from "../wire/api.ts";
import { VERDICTS } from "../wire/decode.ts";
import { useLoad } from "../wire/load.ts";
import { Closely } from "./closely.tsx";

interface Argument {
  index: number;
  before: RecordInfo | null;
  after: RecordInfo | null;
  compared: Compared | null;
  closer: Closer | null;
}

export function TaskView(props: { dump: number; task: number; query: Record<string, string> }) {
  const { dump, task, query } = props;
  const shell = useShell();
  const Trace = shell.parts.trace;
  const loaded = useLoad(`${dump}/task/${task}`, shell.generation(dump), () => api.task(dump, task));
  const info = loaded.value;
  const rows = useMemo(() => (info ? argumentsOf(info) : []), [info]);
  const wanted = query["arg"] === undefined ? null : Number(query["arg"]);
  const chosen = Math.max(0, wanted === null ? rows.findIndex(row => row.compared?.agreement === "beyond" || row.closer) : rows.findIndex(row => row.index === wanted));
  const choose = (at: number) => rows[at] && amend({ arg: String(rows[at].index) });
  const traced = query["trace"] === "1";

  const enter = () => {
    const row = rows[chosen];
    const record = row && (row.after ?? row.before);
    if (!record) return;
    go({ view: "tensor", dump, item: record.index, query: row.closer?.worst[0] ? { element: String(row.closer.worst[0].index) } : {} });
  };
  const beside = (to: number | null | undefined) => (to == null ? shell.say("no task in this direction") : go({ view: "task", dump, item: to }));
  useKeys("Task", [
    { keys: ["j", "ArrowDown"], about: "next argument", run: () => choose(Math.min(rows.length - 1, chosen + 1)) },
    { keys: ["k", "ArrowUp"], about: "previous argument", run: () => choose(Math.max(0, chosen - 1)) },
    { keys: ["Enter"], about: "open the argument's tensor, at its worst element", run: enter },
    { keys: ["l", "ArrowRight", "]"], about: "next task of the dump", run: () => beside(info?.next) },
    { keys: ["h", "ArrowLeft", "["], about: "previous task", run: () => beside(info?.previous) },
    ...(Trace ? [{ keys: ["i"], about: "instructions: model this task's timeline", run: () => amend({ trace: traced ? "" : "1" }) }] : []),
    { keys: ["Escape"], about: "back to the graph", run: () => go({ view: "graph", dump, query: { task: String(task) } }) },
  ]);

  if (loaded.error && !info) return <Failure error={loaded.error} />;
  if (!info) return <Waiting for="reading the task" />;
  const verdict = typeof info.verdict === "number" ? VERDICTS[info.verdict] : info.verdict ?? "unknown";
  const times = info.times ?? {};
  return (
    <div class="task column" data-ready="task">
      <div class="title">
        <h1 class="mono">{info.kernel ?? "no kernel"}</h1>
        <span class="mono dim">{info.task_id}</span>
        <VerdictTag name={verdict} words={WORDS[verdict] ?? info.verdict_text} />
        <span class="grow" />
        <span class="links">
          <Link to={{ view: "graph", dump, query: { task: String(task) } }}>graph</Link>
          {shell.views.timeline && <Link to={{ view: "timeline", dump, query: { task: String(task) } }}>timeline</Link>}
        </span>
      </div>
      <Facts rows={[
        ["state", info.state],
        ["kernels", info.kernels.map(kernel => (typeof kernel === "string" ? kernel : kernel.name)).join(" + ") || "unknown"],
        ["blocks", info.blocks === null ? "unknown" : count(info.blocks)],
        ["cores", coresText(info.cores)],
        ...Object.entries(times).filter(([, v]) => v !== null).map(([key, v]): [string, string] => timeFact(key, v!)),
      ]} />
      {info.why?.map(line => <p key={line}>{line}</p>)}
      <section>
        <h2>Arguments</h2>
        <div class="scroll">
          <table class="arguments">
            <thead><tr><th class="n">arg</th><th>role</th><th>tensor</th><th>before</th><th>after</th><th>compared</th></tr></thead>
            <tbody>
              {rows.map((row, i) => <ArgumentRow key={row.index} dump={dump} row={row} chosen={i === chosen} choose={() => choose(i)} />)}
            </tbody>
          </table>
        </div>
        {rows.length === 0 && <p class="dim">No argument of this task was captured.</p>}
        {rows[chosen]?.closer && <Closely dump={dump} closer={rows[chosen].closer!} metrics={rows[chosen].compared?.metrics ?? null} />}
      </section>
      {info.scalars.length > 0 && <Scalars info={info} />}
      {info.buffers.length > 0 && <Buffers dump={dump} info={info} />}
      <section>
        <h2>Replay</h2>
        {Object.entries(info.commands).map(([key, text]) => text && <Command key={key} text={text} />)}
      </section>
      {Trace && <Trace dump={dump} task={task} shown={traced} />}
      {info.sources.length > 0 && (
        <section>
          <h2>Sources</h2>
          {info.sources.map(source => (
            <details key={`${source.name}:${source.line}`} open={info.sources.length === 1 && (source.text?.length ?? 0) < 4000}>
              <summary class="mono">{source.name}{source.line ? `:${source.line}` : ""}</summary>
              {source.text ? <pre>{source.text}</pre> : <p class="dim">The text is not at hand.</p>}
            </details>
          ))}
        </section>
      )}
      {info.notes && info.notes.length > 0 && <ul class="notes">{info.notes.map(note => <li key={note}>{note}</li>)}</ul>}
    </div>
  );
}

function coresText(cores: unknown): string {
  if (cores == null) return "unknown";
  if (Array.isArray(cores)) return cores.length > 12 ? `${cores.slice(0, 12).join(", ")} and ${cores.length - 12} more` : cores.join(", ") || "none";
  return String(cores);
}

function timeFact(key: string, v: number | string): [string, string] {
  const name = key.replace(/_(us|ns)$/, "").replaceAll("_", " ");
  if (typeof v === "string") return [name, v];
  return [name, key.endsWith("_ns") ? time(v / 1000) : time(v)];
}

function argumentsOf(info: TaskInfo): Argument[] {
  const byIndex = new Map<number, Argument>();
  const at = (index: number) => {
    const known = byIndex.get(index) ?? { index, before: null, after: null, compared: null, closer: null };
    byIndex.set(index, known);
    return known;
  };
  for (const record of info.before) if (record.kind !== "scalar") at(record.arg_index).before = record;
  for (const record of info.after) if (record.kind !== "scalar") at(record.arg_index).after = record;
  for (const compared of [...(info.compared?.inputs ?? []), ...(info.compared?.outputs ?? [])]) {
    const known = byIndex.get(compared.arg_index);
    // What an output is compared with says more than what it was before.
    if (known) known.compared = compared;
  }
  for (const closer of info.closer ?? []) {
    const known = byIndex.get(closer.arg_index);
    if (known) known.closer = closer;
  }
  return [...byIndex.values()].sort((a, b) => a.index - b.index);
}

function ArgumentRow(props: { dump: number; row: Argument; chosen: boolean; choose: () => void }) {
  const { row, dump } = props;
  const record = (row.after ?? row.before)!;
  const mark = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (props.chosen) mark.current?.scrollIntoView({ block: "nearest" });
  }, [props.chosen]);
  return (
    <tr ref={mark} class={props.chosen ? "chosen" : ""} aria-selected={props.chosen} onClick={props.choose}>
      <td class="n mono">{row.index}</td>
      <td>{record.role ?? "unknown"}</td>
      <td class="mono">
        {record.dtype} {shape(record.shape)}
        {record.is_contiguous === false && record.strides && <div class="dim small">strides {record.strides.join(", ")}</div>}
      </td>
      <td><Stage dump={dump} record={row.before} /></td>
      <td><Stage dump={dump} record={row.after} /></td>
      <td><ComparedText compared={row.compared} /></td>
    </tr>
  );
}

function Stage(props: { dump: number; record: RecordInfo | null }) {
  const { record } = props;
  if (!record) return <span class="dim">-</span>;
  const s = record.statistics;
  const odd = s ? [s.nan ? `${count(s.nan)} NaN` : "", s.inf ? `${count(s.inf)} inf` : "", s.unwritten ? `${count(s.unwritten)} unwritten` : ""].filter(Boolean).join(", ") : "";
  return (
    <Link to={{ view: "tensor", dump: props.dump, item: record.index }} class="stage-link">
      {s ? <span class="mono">{value(s.min, 4)} … {value(s.max, 4)}</span> : <span class="dim">{record.note ?? record.payload ?? "no values"}</span>}
      {s && <div class="dim small">mean {value(s.mean, 4)}</div>}
      {odd && <div class="bad small">{odd}</div>}
    </Link>
  );
}

function ComparedText(props: { compared: Compared | null }) {
  const { compared } = props;
  if (!compared) return <span class="dim">-</span>;
  const wrong = compared.agreement === "beyond";
  return (
    <>
      <span class={wrong ? "bad" : ""}>{wrong ? `${count(compared.beyond)} out of tolerance` : compared.agreement}</span>
      {wrong && compared.max_abs !== null && compared.max_abs !== 0 && <div class="dim small">largest error {value(compared.max_abs, 4)}</div>}
      {compared.with && <div class="dim small">{compared.with}</div>}
    </>
  );
}

function Scalars(props: { info: TaskInfo }) {
  return (
    <section>
      <h2>Scalars</h2>
      <div class="scroll">
        <table>
          <thead><tr><th class="n">arg</th><th>type</th><th>bits</th><th>as</th></tr></thead>
          <tbody>
            {props.info.scalars.map(scalar => (
              <tr key={scalar.arg_index}>
                <td class="n mono">{scalar.arg_index}</td>
                <td class="mono">{scalar.dtype ?? "unknown"}</td>
                <td class="mono dim">{scalar.raw}</td>
                <td class="mono">{scalar.text && <b class="meaning">{scalar.text}</b>}{Object.entries(scalar.as).map(([name, v]) => <span key={name} class="meaning"><span class="dim">{name}</span> {value(v)}</span>)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const WIDE = 1000;

/** Each buffer as a bar, and on it the bytes that each argument sees. */
function Buffers(props: { dump: number; info: TaskInfo }) {
  return (
    <section>
      <h2>Memory</h2>
      {props.info.buffers.map(buffer => {
        const uses = buffer.uses.filter((use, i) => buffer.uses.findIndex(u => u.arg_index === use.arg_index) === i);
        return (
          <figure key={buffer.address} class="buffer">
            <figcaption class="small"><span class="mono">{buffer.address}</span> <span class="dim">{bytes(buffer.bytes)}</span></figcaption>
            {uses.map(use => {
              const size = elementBytes(use.dtype ?? dtypeOf(props.info, use.record)) ?? 1;
              return (
                <div class="use" key={use.arg_index}>
                  <span class="small mono">arg {use.arg_index}</span>
                  <svg viewBox={`0 0 ${WIDE} 12`} preserveAspectRatio="none" role="img" aria-label={`bytes of argument ${use.arg_index}`}>
                    <rect class="fill-cell" x={0} y={0} width={WIDE} height={12} />
                    {ranges({ offset: use.offset, shape: use.shape, strides: use.strides, size }, 256).map(([from, to], i) => (
                      <rect key={i} class={`fill-kernel-${use.arg_index % 10}`} x={(WIDE * from) / buffer.bytes} y={0} width={Math.max(1, (WIDE * (to - from)) / buffer.bytes)} height={12} />
                    ))}
                  </svg>
                  <span class="small dim mono">{shape(use.shape)}{use.offset ? ` at +${bytes(use.offset)}` : ""}, strides {use.strides.join(", ") || "none"}</span>
                </div>
              );
            })}
          </figure>
        );
      })}
    </section>
  );
}

function dtypeOf(info: TaskInfo, record: number): string | undefined {
  return [...info.before, ...info.after].find(r => r.index === record)?.dtype;
}

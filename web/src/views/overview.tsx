// What ran, what was found, what was kept of it, and what to do next.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { go } from "../address.ts";
import { kernelColour } from "../draw/colours.ts";
import { useDump, useShell, useTasks } from "../shell/context.ts";
import { useKeys } from "../shell/keys.ts";
import { Command, Facts, Failure, Link, Pill, VerdictTag, Waiting } from "../shell/parts.tsx";
import { bytes, count, shape, time, value, WORDS } from "../text.ts";
import type { FirstWrong, KernelRow, Overview, Race, Report } from "../wire/api.ts";
import { api } from "../wire/api.ts";
import { useLoad } from "../wire/load.ts";
import { TaskList } from "./task-list.tsx";

export function OverviewView(props: { dump: number }) {
  const { dump } = props;
  const shell = useShell();
  const info = useDump(dump)!;
  const loaded = useLoad(`${dump}/overview`, shell.generation(dump), () => api.overview(dump));
  const overview = loaded.value;
  const tasks = useTasks(dump);
  const [row, setRow] = useState(0);

  // Statistics of large dumps come later than the rest; the dump then counts as grown.
  const counting = overview?.statistics === "pending";
  const wrong = overview?.verdict?.first_wrong ?? [];
  const openWrong = (first: FirstWrong | undefined) => {
    if (first?.index !== undefined) go({ view: "task", dump, item: first.index });
  };
  useKeys("Overview", [
    { keys: ["j", "ArrowDown"], about: "next wrong task of the list", run: () => setRow(n => Math.min(wrong.length - 1, n + 1)) },
    { keys: ["k", "ArrowUp"], about: "previous one", run: () => setRow(n => Math.max(0, n - 1)) },
    { keys: ["Enter", "l", "ArrowRight"], about: "open the task, or the graph when none is wrong", run: () => (wrong.length ? openWrong(wrong[row]) : go({ view: "graph", dump })) },
  ]);

  if (loaded.error && !overview) return <Failure error={loaded.error} />;
  if (!overview) return <Waiting for="reading the dump" />;
  const facts: [string, string | null | undefined][] = [
    ["scene", info.scene], ["case", info.case], ["platform", info.platform], ["runtime", info.runtime],
    ["format", info.format_version], ["ending", info.ending], ["tasks", count(info.tasks)], ["records", count(info.records)],
    ["edges", count(info.edges)], ["payload", bytes(info.payload_bytes)],
  ];
  return (
    <div class="overview column" data-ready="overview">
      <div class="title">
        <h1>{info.scene ?? info.name}{info.case && <span class="dim"> / {info.case}</span>}</h1>
        {overview.verdict && <Pill word={overview.verdict.verdict} />}
        {info.live && <span class="live"><i />the run is still going</span>}
      </div>
      <p class="dim mono path">{info.directory}</p>
      <Facts rows={facts.filter((fact): fact is [string, string] => Boolean(fact[1]))} />
      <div class="two">
        <div>
          <VerdictPart dump={dump} overview={overview} row={row} open={openWrong} live={info.live === true} />
        </div>
        <div>
          {overview.next.length > 0 && (
            <section>
              <h2>Next</h2>
              {overview.next.map(next => (
                typeof next === "string" ? <Command key={next} text={next} /> : <Command key={next.command} text={next.command} why={next.why} />
              ))}
            </section>
          )}
          <Ledger overview={overview} />
        </div>
      </div>
      <Kernels dump={dump} rows={overview.kernels} counting={counting} names={tasks.value?.kernels ?? []} />
      {tasks.value && <TaskList dump={dump} tasks={tasks.value} said={overview.said ?? []} />}
      <Notes notes={[...new Set([...(info.notes ?? []), ...overview.notes])]} />
      <RunFacts run={overview.run} />
    </div>
  );
}

function VerdictPart(props: { dump: number; overview: Overview; row: number; open: (first: FirstWrong) => void; live: boolean }) {
  const { verdict: report, judging, judging_why: why, last_verdict: last } = props.overview;
  if (!report) {
    return (
      <section>
        <h2>Verdict</h2>
        {last && <p><Pill word={last.verdict ?? "unknown"} /> {last.text ?? [last.kernel, last.task_id].filter(Boolean).join(" ")} <span class="dim">{last.command && `said by ${last.command}`}</span></p>}
        <p>{judging === "pending" ? "Tasks are being judged …" : props.live ? "The run is still going; it can be judged when it has ended." : why ?? "This dump has not been judged yet."} <Link to={{ view: "graph", dump: props.dump }}>Look at the graph</Link></p>
      </section>
    );
  }
  const counts = Object.entries(report.counts ?? {}).filter(([, n]) => n > 0);
  const total = counts.reduce((sum, [, n]) => sum + n, 0);
  return (
    <section>
      <h2>Verdict</h2>
      <p>
        <b>{sentence(report)}</b>{" "}
        <span class="dim">
          {report.judged !== undefined && `${count(report.judged)} of ${count(report.judgeable)} tasks judged`}
          {report.compared_with && ` against ${report.compared_with}`}
          {report.end_result && `; the end result is ${report.end_result}`}
        </span>
      </p>
      {total > 0 && (
        <svg class="shares" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="tasks by verdict">
          {counts.map(([name, n], i) => {
            const before = counts.slice(0, i).reduce((sum, [, m]) => sum + m, 0);
            return <rect key={name} class={`fill-${name}`} x={(1000 * before) / total} y={0} width={Math.max(3, (1000 * n) / total)} height={10} />;
          })}
        </svg>
      )}
      <div class="key">
        {counts.map(([name, n]) => <span key={name}><VerdictTag name={name} /> <b>{count(n)}</b></span>)}
      </div>
      {(report.first_wrong ?? []).length > 0 && <h3>First wrong</h3>}
      <div class="list" role="list">
        {(report.first_wrong ?? []).map((first, i) => (
          <div key={first.task_id} role="listitem" class={i === props.row ? "row chosen" : "row"} onClick={() => props.open(first)}>
            <div class="head">
              <i class={`tag ${first.verdict}`} />
              <b class="mono">{first.kernel}</b>
              <span class="mono dim">{first.task_id}</span>
              <span class="grow" />
              <span class="dim">{first.downstream ? `${count(first.downstream)} downstream` : "nothing downstream"}</span>
            </div>
            {first.why && <div class="small">It may have been made upstream: {first.why}.</div>}
            {first.outputs.map(output => (
              <div key={output.record} class="dim small">
                output {output.arg_index}, {output.dtype} {shape(output.shape)}
                {output.worst[0] && <>: <span class="mono">[{output.worst[0].at.join(", ")}]</span> is <b class="mono">{value(output.worst[0].actual)}</b>, expected <b class="mono">{value(output.worst[0].expected)}</b></>}
                {output.looks_like?.[0] && <div>{output.looks_like[0].text ?? output.looks_like[0].evidence}</div>}
              </div>
            ))}
            {first.index !== undefined && (
              <div class="links">
                <Link to={{ view: "task", dump: props.dump, item: first.index }}>task</Link>
                <Link to={{ view: "graph", dump: props.dump, query: { task: String(first.index) } }}>in the graph</Link>
                {first.outputs[0] && <Link to={{ view: "tensor", dump: props.dump, item: first.outputs[0].record, query: { element: String(first.outputs[0].worst[0]?.index ?? 0) } }}>worst element</Link>}
              </div>
            )}
          </div>
        ))}
      </div>
      {(report.races ?? []).slice(0, RACES).map(race => <p key={race.tasks.join()}>{raceText(race)}</p>)}
      {(report.races ?? []).length > RACES && <p class="dim">and {count(report.races!.length - RACES)} more races</p>}
      {report.unaligned?.here.length ? <p class="small">only in this dump: {some(report.unaligned.here)}</p> : null}
      {report.unaligned?.there.length ? <p class="small">only in the other dump: {some(report.unaligned.there)}</p> : null}
      {report.tolerances?.map(line => <p key={line} class="dim small mono">{line}</p>)}
      {report.notes?.map(note => <p key={note} class="dim small">{note}</p>)}
    </section>
  );
}

const RACES = 5;

function raceText(race: Race): string {
  return `race between ${race.names?.join(" and ") ?? "two tasks"}: ${race.how}, ${count(race.bytes)} bytes`;
}

/** The first of a list of names. */
function some(names: string[]): string {
  return names.slice(0, 20).join(", ") + (names.length > 20 ? ` and ${count(names.length - 20)} more` : "");
}

function sentence(report: Report): string {
  const introduced = (report.counts?.["introduced"] ?? 0) + (report.counts?.["here_or_upstream"] ?? 0);
  switch (report.verdict) {
    case "agree":
      return "No task is wrong.";
    case "differ":
      return introduced === 1 ? "One task went wrong." : `${count(introduced)} tasks went wrong.`;
    default:
      return `${report.verdict[0].toUpperCase()}${report.verdict.slice(1)}.`;
  }
}

const LEDGER = ["entries", "arguments", "payload_bytes", "waits", "wait_ns"];

/** What the capture took in, what it waited for, and what it lost. */
function Ledger(props: { overview: Overview }) {
  const { ledger, losses } = props.overview;
  const rings = (Array.isArray(ledger?.["rings"]) ? ledger["rings"] : []) as Record<string, unknown>[];
  const told: [string, unknown][] = Object.entries(ledger ?? {}).filter(([key]) => key !== "rings" && key !== "schema");
  const sums = rings.length ? LEDGER.map((key): [string, unknown] => [key, rings.reduce((sum, ring) => sum + Number(ring[key] ?? 0), 0)]) : [];
  const rows = [...sums, ...told, ...Object.entries((losses ?? {}) as Record<string, unknown>)];
  return (
    <section>
      <h2>Ledger{rings.length > 0 && <span class="dim"> of {rings.length} capture {rings.length === 1 ? "ring" : "rings"}</span>}</h2>
      {rows.length === 0 && <p class="dim">This format says nothing about what was lost.</p>}
      <dl class="ledger">
        {rows.map(([key, n]) => (
          <div key={key}>
            <dt>{words(key.replace(/_(bytes|ns)$/, key === "wait_ns" ? " time" : " bytes"))}</dt>
            <dd class={typeof n === "number" && n > 0 && /lost|dropped|overwritten|skipped|truncated/.test(key) ? "mono bad" : "mono"}>
              {typeof n === "number" ? (key.includes("bytes") ? bytes(n) : key.endsWith("_ns") ? time(n / 1000) : count(n)) : plain(n)}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

type SortKey = "name" | "tasks" | "bytes" | "busy_ns" | "nan" | "inf" | "unwritten" | "wrong";

function Kernels(props: { dump: number; rows: KernelRow[]; counting: boolean; names: string[] }) {
  const [by, setBy] = useState<SortKey>("tasks");
  const rows = [...props.rows].sort((a, b) => (by === "name" ? (a.name < b.name ? -1 : 1) : (b[by] ?? 0) - (a[by] ?? 0)));
  const busiest = Math.max(1, ...rows.map(row => row.busy_ns ?? 0));
  const heading = (key: SortKey, text: string) => (
    <th aria-sort={by === key ? "descending" : "none"} class={key === "name" ? "" : "n"}>
      <button type="button" class="sort" onClick={() => setBy(key)}>{text}</button>
    </th>
  );
  const odd = (n: number | null) => (n === null ? <td class="n dim">{props.counting ? "…" : "-"}</td> : <td class={n ? "n bad" : "n dim"}>{count(n)}</td>);
  return (
    <section>
      <h2>Kernels{props.counting && <span class="dim small"> counting values …</span>}</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>{heading("name", "kernel")}<th>cores</th>{heading("tasks", "tasks")}{heading("bytes", "captured")}{heading("busy_ns", "busy")}{heading("nan", "NaN")}{heading("inf", "inf")}{heading("unwritten", "unwritten")}{heading("wrong", "wrong")}</tr>
          </thead>
          <tbody>
            {rows.map(row => {
              const k = props.names.indexOf(row.name);
              const name = <><i class={`tag ${k < 0 ? "unknown" : kernelColour(k)}`} />{row.name}</>;
              return (
                <tr key={row.name}>
                  <td class="mono">{k < 0 ? name : <Link to={{ view: "graph", dump: props.dump, query: { kernel: String(k), color: "kernel" } }}>{name}</Link>}</td>
                  <td class="dim">{row.core_type ?? ""}</td>
                  <td class="n">{count(row.tasks)}</td>
                  <td class="n">{bytes(row.bytes)}</td>
                  <td class="n busy">
                    {row.busy_ns === null ? <span class="dim">-</span> : <><svg viewBox="0 0 60 6" width="60" height="6" aria-hidden="true"><rect class={`fill-${k < 0 ? "unknown" : kernelColour(k)}`} x={60 - (60 * row.busy_ns) / busiest} width={(60 * row.busy_ns) / busiest} height={6} /></svg>{time(row.busy_ns / 1000)}</>}
                  </td>
                  {odd(row.nan)}{odd(row.inf)}{odd(row.unwritten)}{odd(row.wrong)}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Notes(props: { notes: string[] }) {
  if (!props.notes.length) return null;
  return (
    <section>
      <h2>Notes</h2>
      <ul class="notes">{props.notes.map(note => <li key={note}>{note}</li>)}</ul>
    </section>
  );
}

function RunFacts(props: { run: Record<string, unknown> }) {
  const inner = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);
  const rows = Object.entries(props.run ?? {})
    .flatMap(([key, v]): [string, unknown][] => (inner(v) ? Object.entries(v).map(([part, w]) => [`${key} ${part}`, w]) : [[key, v]]))
    .filter(([, v]) => v !== null && v !== "" && !(Array.isArray(v) && v.length === 0));
  if (!rows.length) return null;
  return (
    <details>
      <summary>All facts of the run</summary>
      <Facts rows={rows.map(([key, v]): [string, ComponentChildren] => [words(key), <span class="mono">{plain(v)}</span>])} />
    </details>
  );
}

function words(key: string): string {
  return WORDS[key] ?? key.replaceAll("_", " ");
}

function plain(v: unknown): string {
  if (typeof v === "number") return count(v);
  if (typeof v === "string") return v;
  return JSON.stringify(v)?.replaceAll('"', "").replaceAll(",", ", ") ?? "";
}

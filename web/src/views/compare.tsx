// Two dumps, matched task by task.

import { useMemo, useState } from "preact/hooks";
import { amend, go } from "../address.ts";
import { useShell, useTasks } from "../shell/context.ts";
import { useKeys } from "../shell/keys.ts";
import { Choice, Failure, Link, Pill, VerdictTag, Waiting } from "../shell/parts.tsx";
import { count, taskId, value } from "../text.ts";
import type { Compared } from "../wire/api.ts";
import { api } from "../wire/api.ts";
import { useLoad } from "../wire/load.ts";
import { kernelName } from "./graph.tsx";

const PAGE = 200;

export function Compare(props: { a: number; b: number; query: Record<string, string> }) {
  const { a, b, query } = props;
  const shell = useShell();
  const there = shell.session.dumps[b] !== undefined && !shell.session.dumps[b].error;
  const generation = shell.generation(a) + shell.generation(b);
  const loaded = useLoad(there ? `compare/${a}/${b}` : null, generation, () => api.compare(a, b));
  const [here, other] = [useTasks(a).value, useTasks(there ? b : null).value];
  const report = loaded.value;
  const only = query["show"] === "all" ? "all" : "differ";
  const [page, setPage] = useState(1);
  const partner = useMemo(() => new Map(report?.pairs ?? []), [report]);
  const indexOf = useMemo(() => new Map(here ? Array.from(here.id, (id, t): [string, number] => [taskId(id), t]) : []), [here]);
  const rows = useMemo(() => (report?.tasks ?? []).filter(task => only === "all" || task.verdict !== "clean"), [report, only]);
  const chosen = Math.min(rows.length - 1, Math.max(0, Number(query["row"] ?? 0) || 0));
  const open = (i: number) => {
    const t = rows[i] && indexOf.get(rows[i].task_id);
    if (t !== undefined) go({ view: "task", dump: a, item: t });
  };
  useKeys("Compare", [
    { keys: ["j", "ArrowDown"], about: "next task", run: () => amend({ row: String(Math.min(rows.length - 1, chosen + 1)) }) },
    { keys: ["k", "ArrowUp"], about: "previous task", run: () => amend({ row: String(Math.max(0, chosen - 1)) }) },
    { keys: ["Enter"], about: "open the task", run: () => open(chosen) },
    { keys: ["t"], about: "both tensors of its first output, side by side", run: () => side(rows[chosen]?.outputs?.[0]) },
    { keys: ["x"], about: "exchange the dumps", run: () => go({ view: "compare", dump: b, item: a }) },
    { keys: ["Escape"], about: "overview", run: () => go({ view: "overview", dump: a }) },
  ]);
  /** "record 17" is how the comparison names its partner. */
  const otherRecord = (compared: Compared) => /^record (\d+)$/.exec(compared.with ?? "")?.[1];
  const side = (compared: Compared | undefined) => {
    if (!compared) return;
    const found = otherRecord(compared);
    go({ view: "tensor", dump: a, item: compared.record, query: found === undefined ? {} : { with: `${b}:${found}` } });
  };

  if (!there) return <div class="failure" role="alert"><b>There is no second dump {b}</b><p>Open two dumps to compare them: argus open A B</p></div>;
  if (loaded.error && !report) return <Failure error={loaded.error} what="These dumps cannot be compared" />;
  if (!report || !here || !other) return <Waiting for="comparing the dumps" />;
  const [left, right] = [shell.session.dumps[a], shell.session.dumps[b]];
  const unaligned = report.unaligned;
  return (
    <div class="column compare" data-ready="compare">
      <div class="title">
        <h1>{left.name} <span class="dim">against</span> {right.name}</h1>
        <Pill word={report.verdict} />
        <span class="grow" />
        {shell.session.dumps.length > 2 && (
          <select aria-label="second dump" value={String(b)} onChange={event => go({ view: "compare", dump: a, item: Number(event.currentTarget.value) })}>
            {shell.session.dumps.filter(d => d.index !== a && !d.error).map(d => <option key={d.index} value={String(d.index)}>{d.name}</option>)}
          </select>
        )}
        <button type="button" onClick={() => go({ view: "compare", dump: b, item: a })}>exchange <kbd>x</kbd></button>
      </div>
      <p class="dim">{count(report.pairs.length)} tasks matched{unaligned?.by ? ` by ${unaligned.by}` : ""}; {count(unaligned?.here.length ?? 0)} only in the first, {count(unaligned?.there.length ?? 0)} only in the second</p>
      <div class="key">{Object.entries(report.counts ?? {}).filter(([, n]) => n > 0).map(([name, n]) => <span key={name}><VerdictTag name={name} /> <b>{count(n)}</b></span>)}</div>
      <div class="bar inline"><Choice label="tasks" of={["differ", "all"] as const} value={only} pick={show => amend({ show: show === "all" ? "all" : "", row: "" })} words={{ differ: "not clean", all: "all tasks" }} /></div>
      <div class="scroll">
        <table class="arguments">
          <thead><tr><th>verdict</th><th>task</th><th>in the second</th><th>outputs</th></tr></thead>
          <tbody>
            {rows.slice(0, page * PAGE).map((row, i) => {
              const t = indexOf.get(row.task_id);
              const p = t === undefined ? undefined : partner.get(t);
              return (
                <tr key={row.task_id} class={i === chosen ? "chosen" : ""} aria-selected={i === chosen} onClick={() => amend({ row: String(i) })}>
                  <td><VerdictTag name={row.verdict} /></td>
                  <td class="mono">{t === undefined ? `${row.kernel} ${row.task_id}` : <Link to={{ view: "task", dump: a, item: t }}>{row.kernel} <span class="dim">{row.task_id}</span></Link>}</td>
                  <td class="mono">{p === undefined || p >= other.n ? <span class="dim">-</span> : <Link to={{ view: "task", dump: b, item: p }}>{kernelName(other, p)} <span class="dim">{taskId(other.id[p])}</span></Link>}</td>
                  <td>
                    {(row.outputs ?? []).map(output => {
                      const found = otherRecord(output);
                      return (
                        <div key={output.arg_index}>
                          <Link to={{ view: "tensor", dump: a, item: output.record, query: found === undefined ? {} : { with: `${b}:${found}` } }}>arg {output.arg_index}</Link>{" "}
                          <span class={output.agreement === "beyond" ? "bad" : "dim"}>{output.agreement === "beyond" ? `${count(output.beyond)} out of tolerance, largest ${value(output.max_abs, 4)}` : output.agreement}</span>
                        </div>
                      );
                    })}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <p>{only === "all" ? "No task was compared." : "Every task that was compared is clean."}</p>}
      {rows.length > page * PAGE && <button type="button" onClick={() => setPage(n => n + 1)}>show more of {count(rows.length)}</button>}
      {report.notes?.map(note => <p key={note} class="dim small">{note}</p>)}
    </div>
  );
}

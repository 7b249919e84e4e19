// Every task as a row: what is wrong first, all of it by search.

import { useMemo, useState } from "preact/hooks";
import { verdictName } from "../draw/colours.ts";
import { Link, VerdictTag } from "../shell/parts.tsx";
import { count, taskId, WORDS } from "../text.ts";
import type { Tasks } from "../wire/decode.ts";
import { kernelName } from "./graph.tsx";

/** Verdicts as the columns say them, the gravest first. */
const GRAVEST = [2, 4, 3, 5, 0, 1];
const PAGE = 25;

export function TaskList(props: { dump: number; tasks: Tasks; said: [number, string][] }) {
  const { dump, tasks } = props;
  const [typed, setTyped] = useState("");
  const [pages, setPages] = useState(1);
  const said = useMemo(() => new Map(props.said), [props.said]);
  const order = useMemo(() => {
    const grave = GRAVEST.map((_, verdict) => GRAVEST.indexOf(verdict));
    return Uint32Array.from({ length: tasks.n }, (_, t) => t).sort((a, b) => grave[tasks.verdict[a]] - grave[tasks.verdict[b]] || a - b);
  }, [tasks]);
  const found = useMemo(() => {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return order;
    const verdicts = GRAVEST.map((_, v) => `${verdictName(v)} ${WORDS[verdictName(v)]}`);
    return order.filter(t => {
      const text = `${taskId(tasks.id[t])} ${kernelName(tasks, t)} ${verdicts[tasks.verdict[t]]}`.toLowerCase();
      return words.every(word => text.includes(word));
    });
  }, [tasks, order, typed]);
  const shown = Math.min(found.length, pages * PAGE);
  return (
    <section class="tasks">
      <h2>Tasks</h2>
      <p>
        <input
          type="search"
          placeholder="task id, kernel or verdict"
          aria-label="filter tasks"
          value={typed}
          onInput={event => {
            setTyped(event.currentTarget.value);
            setPages(1);
          }}
        />{" "}
        <span class="dim" role="status">{count(found.length)} tasks{shown < found.length && `, the first ${count(shown)} are shown`}</span>
      </p>
      <div class="scroll">
        <table>
          <thead><tr><th>task</th><th>kernel</th><th>verdict</th><th>why</th></tr></thead>
          <tbody>
            {Array.from(found.subarray(0, shown), t => (
              <tr key={t}>
                <td class="mono"><Link to={{ view: "task", dump, item: t }}>{taskId(tasks.id[t])}</Link></td>
                <td class="mono">{kernelName(tasks, t)}</td>
                <td><VerdictTag name={verdictName(tasks.verdict[t])} /></td>
                <td class="dim">{said.get(t) ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown < found.length && <button type="button" onClick={() => setPages(n => n * 2)}>show more</button>}
    </section>
  );
}

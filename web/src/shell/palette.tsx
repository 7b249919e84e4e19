// The palette: any view, kernel, task or command by a few letters.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { go, here } from "../address.ts";
import { NONE, VERDICTS } from "../wire/decode.ts";
import type { Tasks } from "../wire/decode.ts";
import { isWrong } from "../draw/colours.ts";
import { count, taskId, WORDS } from "../text.ts";
import { useShell, useTasks } from "./context.ts";
import { useKeys } from "./keys.ts";
import { rank, taskTyped } from "./match.ts";
import { toggle } from "./theme.ts";

interface Item {
  kind: string;
  text: string;
  about: string;
  run: () => void;
}

const SHOWN = 40;

export function Palette(props: { close: () => void; help: () => void }) {
  const shell = useShell();
  const { dump } = here();
  const tasks = useTasks(dump).value;
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);

  const fixed = useMemo((): Item[] => {
    const items: Item[] = [
      { kind: "view", text: "Overview", about: "what ran and what was found", run: () => go({ view: "overview", dump }) },
      { kind: "view", text: "Graph", about: "tasks and what they wait for", run: () => go({ view: "graph", dump }) },
      ...(shell.views.timeline ? [{ kind: "view", text: "Timeline", about: "cores and control threads over time", run: () => go({ view: "timeline", dump }) }] : []),
      { kind: "command", text: "Dark or light", about: "change the colours", run: toggle },
      { kind: "command", text: "Keys", about: "what the keyboard does here", run: props.help },
      {
        kind: "command",
        text: "Copy link",
        about: "the address of what is shown",
        run: () => void navigator.clipboard.writeText(location.href).then(() => shell.say("link copied"), () => shell.say("this browser gives no clipboard")),
      },
    ];
    for (const other of shell.session.dumps) {
      if (other.index !== dump) {
        items.push({ kind: "dump", text: other.name, about: other.directory, run: () => go({ view: "overview", dump: other.index }) });
        items.push({ kind: "view", text: `Compare with ${other.name}`, about: "two dumps side by side", run: () => go({ view: "compare", dump, item: other.index }) });
      }
    }
    if (tasks) {
      const firsts = new Map<number, number>();
      const many = new Uint32Array(tasks.kernels.length);
      for (let t = tasks.n - 1; t >= 0; t--) {
        if (tasks.kernel[t] !== NONE) {
          firsts.set(tasks.kernel[t], t);
          many[tasks.kernel[t]]++;
        }
      }
      tasks.kernels.forEach((name, k) => {
        const first = firsts.get(k);
        if (first === undefined) return;
        items.push({ kind: "kernel", text: name, about: `${count(many[k])} tasks`, run: () => go({ view: "graph", dump, query: { kernel: String(k), color: "kernel", task: String(first) } }) });
      });
    }
    return items;
  }, [tasks, dump, shell.session]);

  const items = useMemo(() => {
    const ranked = fixed
      .map(item => ({ item, at: rank(typed, item.text) ?? (typed.length > 2 && rank(typed, item.about) === 0 ? 5 : null) }))
      .filter((found): found is { item: Item; at: number } => found.at !== null)
      .sort((a, b) => a.at - b.at)
      .map(found => found.item);
    const found = tasks ? tasksFor(tasks, typed, dump) : [];
    return (taskTyped(typed) === null ? [...ranked, ...found] : [...found, ...ranked]).slice(0, SHOWN);
  }, [fixed, tasks, typed, dump]);

  const at = Math.min(chosen, items.length - 1);
  const move = (by: number) => setChosen(items.length ? (at + by + items.length) % items.length : 0);
  const run = (item: Item | undefined) => {
    if (!item) return;
    props.close();
    item.run();
  };

  useKeys("Palette", [
    { keys: ["Escape"], about: "close", run: props.close },
    { keys: ["ArrowDown"], about: "next", run: () => move(1) },
    { keys: ["ArrowUp"], about: "previous", run: () => move(-1) },
    { keys: ["Enter"], about: "go", run: () => run(items[at]) },
  ], true);
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: "nearest" }), [at]);

  return (
    <div class="curtain" onClick={props.close}>
      <div class="palette" role="dialog" aria-label="palette" onClick={event => event.stopPropagation()}>
        <input
          ref={field}
          type="text"
          placeholder="task id or number, kernel, view, command"
          aria-label="search"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={event => {
            setTyped(event.currentTarget.value);
            setChosen(0);
          }}
        />
        <ul ref={list} role="listbox">
          {items.map((item, i) => (
            <li key={`${item.kind} ${item.text} ${i}`} role="option" aria-selected={i === at} onClick={() => run(item)} onPointerMove={() => i !== at && setChosen(i)}>
              <span class="kind">{item.kind}</span>
              <span class="text">{item.text}</span>
              <span class="about dim">{item.about}</span>
            </li>
          ))}
          {items.length === 0 && <li class="dim">nothing has this name</li>}
        </ul>
      </div>
    </div>
  );
}

function tasksFor(tasks: Tasks, typed: string, dump: number): Item[] {
  const found: Item[] = [];
  const add = (t: number) => {
    const kernel = tasks.kernel[t] === NONE ? "no kernel" : tasks.kernels[tasks.kernel[t]];
    const verdict = VERDICTS[tasks.verdict[t]];
    found.push({
      kind: "task",
      text: taskId(tasks.id[t]),
      about: `${kernel}${verdict === "unknown" ? "" : `, ${WORDS[verdict]}`}`,
      run: () => go({ view: "task", dump, item: t }),
    });
  };
  const number = taskTyped(typed);
  if (number !== null) {
    for (let t = 0; t < tasks.n && found.length < 5; t++) if (tasks.id[t] === number) add(t);
    if (!found.length && number < BigInt(tasks.n)) add(Number(number));
    return found;
  }
  if (typed === "" || "wrong".startsWith(typed.toLowerCase())) {
    for (let t = 0; t < tasks.n && found.length < 12; t++) if (isWrong(tasks.verdict[t])) add(t);
    return found;
  }
  const kernels = new Set(tasks.kernels.flatMap((name, k) => (rank(typed, name) !== null ? [k] : [])));
  for (let t = 0; t < tasks.n && found.length < 12; t++) if (kernels.has(tasks.kernel[t])) add(t);
  return found;
}

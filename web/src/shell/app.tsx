// The frame around every view: where one is, what else there is, and the keys that work everywhere.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Address } from "../address.ts";
import { go, here, listen } from "../address.ts";
import { api } from "../wire/api.ts";
import { isWrong } from "../draw/colours.ts";
import { useLoad } from "../wire/load.ts";
import { count } from "../text.ts";
import type { Parts, Shell, Views } from "./context.ts";
import { ShellContext, useShell, useTasks } from "./context.ts";
import { Help } from "./help.tsx";
import { hear, useKeys } from "./keys.ts";
import { useLive } from "./live.ts";
import { Palette } from "./palette.tsx";
import { Eye, Failure, Link, Waiting } from "./parts.tsx";
import { theme, toggle, useTheme } from "./theme.ts";

export function useAddress(): Address {
  const [address, set] = useState(here());
  useEffect(() => {
    set(here());
    return listen(set);
  }, []);
  return address;
}

export function App(props: { views: Views; parts: Parts }) {
  const { views, parts } = props;
  const address = useAddress();
  const [round, setRound] = useState(0);
  const session = useLoad("session", round, api.session);
  const [said, setSaid] = useState("");
  const timer = useRef(0);
  const say = useCallback((words: string) => {
    setSaid(words);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setSaid(""), 4000);
  }, []);
  // Only what is shown: a browser opens few connections to one server, and each of these holds one.
  const shown = [address.dump, ...(address.view === "compare" && address.item !== null ? [address.item] : [])];
  const sound = shown.filter(dump => session.value?.dumps[dump] && !session.value.dumps[dump].error);
  const live = useLive(sound, () => setRound(n => n + 1));
  useEffect(() => {
    addEventListener("keydown", hear);
    return () => removeEventListener("keydown", hear);
  }, []);
  const shell = useMemo((): Shell | null => {
    if (!session.value) return null;
    return { views, parts, session: session.value, generation: dump => live[dump] ?? 0, say };
  }, [session.value, live, say]);

  if (session.error && !shell) return <Failure error={session.error} what="The run cannot be shown" />;
  if (!shell) return <Waiting for="asking the server" />;
  return (
    <ShellContext.Provider value={shell}>
      <Frame address={address} said={said} />
    </ShellContext.Provider>
  );
}

function Frame(props: { address: Address; said: string }) {
  const { address } = props;
  useTheme();
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  const close = useCallback(() => setOpen(null), []);
  const shell = useShell();
  const dump = shell.session.dumps[address.dump];
  const broken = !dump || Boolean(dump.error);
  const tasks = useTasks(broken ? null : address.dump);
  const last = useRef<{ task: number; record: number | null; dump: number } | null>(null);
  if (address.view === "task" && address.item !== null) {
    const same = last.current?.dump === address.dump && last.current.task === address.item;
    last.current = { dump: address.dump, task: address.item, record: same ? last.current!.record : null };
  }

  const wrong = (by: 1 | -1) => {
    const columns = tasks.value;
    if (!columns) return;
    const from = address.view === "task" ? address.item! : Number(address.query["task"] ?? (by > 0 ? -1 : columns.n));
    for (let i = 1; i <= columns.n; i++) {
      const t = (((from + by * i) % columns.n) + columns.n) % columns.n;
      if (isWrong(columns.verdict[t])) {
        if (address.view === "graph" || address.view === "timeline") go({ view: address.view, dump: address.dump, query: { ...address.query, task: String(t), at: "" } });
        else go({ view: "task", dump: address.dump, item: t });
        return;
      }
    }
    shell.say("no task of this dump is known to be wrong");
  };

  const at = { dump: address.dump };
  const task = last.current?.dump === address.dump ? last.current.task : null;
  const other = shell.session.dumps.find(d => d.index !== address.dump && !d.error)?.index ?? null;
  useKeys("Everywhere", [
    { keys: ["/"], about: "search tasks, kernels, views, commands", run: () => setOpen("palette") },
    { keys: ["?"], about: "these keys", run: () => setOpen("help") },
    { keys: ["1"], about: "overview", run: () => go({ ...at, view: "overview" }) },
    { keys: ["2"], about: "graph", run: () => go({ ...at, view: "graph", query: task === null ? {} : { task: String(task) } }) },
    ...(shell.views.timeline ? [{ keys: ["3"], about: "timeline", run: () => go({ ...at, view: "timeline", query: task === null ? {} : { task: String(task) } }) }] : []),
    { keys: ["4"], about: "task last seen", run: () => (task === null ? shell.say("no task was opened yet") : go({ ...at, view: "task", item: task })) },
    ...(shell.views.compare ? [{ keys: ["5"], about: "compare with another dump", run: () => (other === null ? shell.say("only one dump is open: argus open A B") : go({ ...at, view: "compare", item: other })) }] : []),
    { keys: ["w"], about: "next wrong task", run: () => wrong(1) },
    { keys: ["W"], about: "previous wrong task", run: () => wrong(-1) },
    { keys: ["D"], about: "dark or light", run: toggle },
  ]);

  const tab = (view: Address["view"], name: string, query: Record<string, string> = {}) => (
    <Link to={{ view, dump: address.dump, query }} class={address.view === view ? "tab here" : "tab"}>{name}</Link>
  );
  return (
    <div class="frame">
      <header>
        <Link to={{ view: "overview", dump: address.dump }} class="brand" title="overview">
          <Eye />
          <span>argus</span>
        </Link>
        {shell.session.dumps.length > 1 ? (
          <select
            aria-label="dump"
            value={String(address.dump)}
            onChange={event => {
              go({ view: address.view === "task" || address.view === "tensor" || address.view === "compare" ? "overview" : address.view, dump: Number(event.currentTarget.value) });
              event.currentTarget.blur();
            }}
          >
            {shell.session.dumps.map(d => <option key={d.index} value={String(d.index)}>{d.name}</option>)}
          </select>
        ) : (
          <span class="name" title={dump?.directory}>{dump?.name}</span>
        )}
        <nav>
          {tab("overview", "Overview")}
          {tab("graph", "Graph")}
          {shell.views.timeline && tab("timeline", "Timeline")}
          {address.view === "task" && <span class="tab here">Task</span>}
          {address.view === "tensor" && <span class="tab here">Tensor</span>}
          {other !== null && (
            <Link to={{ view: "compare", dump: address.dump, item: address.view === "compare" ? address.item : other }} class={address.view === "compare" ? "tab here" : "tab"}>Compare</Link>
          )}
        </nav>
        <span class="grow" />
        {dump?.live && <span class="live" title="the run is still going"><i />live<span class="wide"> · {count(dump.tasks)} tasks</span></span>}
        <button type="button" class="find" onClick={() => setOpen("palette")}><span>search</span><kbd>/</kbd></button>
        <button type="button" class="quiet" title="dark or light (D)" aria-label="dark or light" onClick={toggle}>{theme() === "dark" ? "☾" : "☀"}</button>
        <button type="button" class="quiet" title="keys (?)" aria-label="keys" onClick={() => setOpen("help")}>?</button>
      </header>
      <main class={`view-${address.view}`}>{dump ? broken ? <Broken name={dump.name} directory={dump.directory} error={dump.error ?? ""} /> : <Body address={address} /> : <NoDump n={address.dump} />}</main>
      <div class="said" role="status">{props.said}</div>
      {open === "palette" && <Palette close={close} help={() => setOpen("help")} />}
      {open === "help" && <Help close={close} />}
    </div>
  );
}

function Body(props: { address: Address }) {
  const { views } = useShell();
  const view = views[props.address.view] ?? views.overview;
  return view ? view(props.address) : null;
}

function Broken(props: { name: string; directory: string; error: string }) {
  return (
    <div class="column">
      <h1>{props.name}</h1>
      <p class="dim mono">{props.directory}</p>
      <div class="failure" role="alert">
        <b>This dump cannot be opened</b>
        <p>{props.error}</p>
      </div>
    </div>
  );
}

function NoDump(props: { n: number }) {
  return <div class="failure" role="alert"><b>There is no dump {props.n}</b><p>The address names a dump that this server does not show.</p></div>;
}

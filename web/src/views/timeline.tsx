// The run by time: control threads, cores, waits, and the critical path.

import { useCallback } from "preact/hooks";
import { amend, go } from "../address.ts";
import type { ColourBy } from "../draw/colours.ts";
import { kernelColour, verdictName } from "../draw/colours.ts";
import { useShell, useTasks } from "../shell/context.ts";
import { Choice, Facts, Failure, Link, VerdictTag, Waiting } from "../shell/parts.tsx";
import { count, taskId, time } from "../text.ts";
import { api } from "../wire/api.ts";
import { NONE } from "../wire/decode.ts";
import { useLoad } from "../wire/load.ts";
import { kernelName } from "./graph.tsx";
import { sliceOf, TimelinePicture } from "./timeline-picture.tsx";

const BY: readonly ColourBy[] = ["kernel", "verdict"];

export function TimelineView(props: { dump: number; query: Record<string, string> }) {
  const { dump, query } = props;
  const shell = useShell();
  const loaded = useLoad(`${dump}/timeline`, shell.generation(dump), () => api.timeline(dump));
  const tasks = useTasks(dump).value;
  const timeline = loaded.value;
  const by = BY.find(name => name === query["color"]) ?? "kernel";
  const task = /^\d+$/.test(query["task"] ?? "") ? Number(query["task"]) : null;
  const named = /^\d+$/.test(query["slice"] ?? "") ? Number(query["slice"]) : null;
  const chosen = !timeline ? null : named !== null && named < timeline.n ? named : sliceOf(timeline, task);
  const critical = query["critical"] === "1";
  const arrows = query["arrows"] === "1";

  const paint = useCallback((slice: number) => {
    if (!timeline || !tasks) return "unknown";
    const t = timeline.task[slice];
    if (t === NONE || t >= tasks.n) return "wait";
    return by === "verdict" ? verdictName(tasks.verdict[t]) : kernelColour(tasks.kernel[t]);
  }, [timeline, tasks, by]);

  if (loaded.error && !timeline) return <Failure error={loaded.error} />;
  if (!timeline || !tasks) return <Waiting for="reading times" />;
  if (timeline.n === 0) {
    return <div class="column" data-ready="timeline"><h1>Timeline</h1><p>This dump has no times: the run did not record when its tasks began and ended.</p></div>;
  }
  const range = (query["range"] ?? "").split(",").map(Number);
  const pick = (slice: number | null) => {
    const t = slice === null ? NONE : timeline.task[slice];
    amend({ slice: slice === null ? "" : String(slice), task: t === NONE ? "" : String(t) });
  };
  const open = (slice: number) => {
    const t = timeline.task[slice];
    if (t !== NONE && t < tasks.n) go({ view: "task", dump, item: t });
  };
  const t = chosen === null ? NONE : timeline.task[chosen];
  return (
    <div class="stage">
      <div class="bar">
        <Choice label="colour by" of={BY} value={by} pick={name => amend({ color: name })} />
        <label><input type="checkbox" checked={critical} onChange={() => amend({ critical: critical ? "" : "1" })} /> critical path <kbd>c</kbd></label>
        <label><input type="checkbox" checked={arrows} onChange={() => amend({ arrows: arrows ? "" : "1" })} /> arrows <kbd>r</kbd></label>
        <span class="grow" />
        <span class="dim">{count(timeline.n)} slices · {count(timeline.tracks.length)} tracks{timeline.critical.length > 0 && ` · ${count(timeline.critical.length)} on the critical path`}</span>
      </div>
      <div class="split">
        <TimelinePicture
          name="timeline"
          timeline={timeline}
          paint={paint}
          chosen={chosen}
          pick={pick}
          open={open}
          arrows={arrows}
          critical={critical}
          range={range.length === 2 && range.every(Number.isFinite) && range[1] > range[0] ? [range[0], range[1]] : null}
          look={seen => amend({ range: seen ? seen.map(us => String(Number(us.toPrecision(9)))).join(",") : "" })}
          keys={{
            title: "Timeline",
            more: [
              { keys: ["c"], about: "critical path", run: () => amend({ critical: critical ? "" : "1" }) },
              { keys: ["r"], about: "arrows", run: () => amend({ arrows: arrows ? "" : "1" }) },
              { keys: ["Enter"], about: "open the task", run: () => chosen !== null && open(chosen) },
              { keys: ["Escape"], about: "let go of the slice, then the overview", run: () => (chosen !== null ? amend({ slice: "", task: "" }) : go({ view: "overview", dump })) },
            ],
          }}
        />
        {chosen !== null && (
          <aside class="inspector" aria-label="slice">
            <div class="head"><b class="mono">{timeline.labels[timeline.label[chosen]]}</b></div>
            {t !== NONE && t < tasks.n && (
              <>
                <div class="mono dim">{taskId(tasks.id[t])}</div>
                <p><VerdictTag name={verdictName(tasks.verdict[t])} /></p>
                <div class="links">
                  <Link to={{ view: "task", dump, item: t }}>open <kbd>enter</kbd></Link>
                  <Link to={{ view: "graph", dump, query: { task: String(t) } }}>in the graph</Link>
                </div>
              </>
            )}
            <Facts rows={[
              ["track", timeline.tracks[timeline.track[chosen]].name],
              ["kernel", t !== NONE && t < tasks.n ? kernelName(tasks, t) : "none"],
              ["began", time(timeline.begin[chosen])],
              ["ended", time(timeline.end[chosen])],
              ["took", time(timeline.end[chosen] - timeline.begin[chosen])],
              ["critical path", timeline.critical.includes(chosen) ? "yes" : "no"],
            ]} />
          </aside>
        )}
      </div>
    </div>
  );
}


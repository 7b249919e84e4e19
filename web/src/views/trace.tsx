// The instructions of one task, as a model times them.

import { useCallback, useState } from "preact/hooks";
import { amend } from "../address.ts";
import { useShell } from "../shell/context.ts";
import { Failure, Waiting } from "../shell/parts.tsx";
import { count, time } from "../text.ts";
import { api } from "../wire/api.ts";
import { useLoad } from "../wire/load.ts";
import { TimelinePicture } from "./timeline-picture.tsx";

export function Trace(props: { dump: number; task: number; shown: boolean }) {
  const { dump, task, shown } = props;
  const shell = useShell();
  const loaded = useLoad(shown ? `${dump}/trace/${task}` : null, shell.generation(dump), () => api.trace(dump, task));
  const [chosen, setChosen] = useState<number | null>(null);
  const timeline = loaded.value;
  const paint = useCallback((slice: number) => (timeline ? `kernel-${timeline.track[slice] % 10}` : "unknown"), [timeline]);
  return (
    <section>
      <h2>Instructions</h2>
      {!shown && <p><button type="button" onClick={() => amend({ trace: "1" })}>model the timeline <kbd>i</kbd></button> <span class="dim">replays the task from its captured bytes; times are estimates of a cost table</span></p>}
      {shown && loaded.error && <Failure error={loaded.error} what="This task cannot be traced" />}
      {shown && !loaded.error && !timeline && <Waiting for="replaying the task" />}
      {shown && timeline && (
        <>
          <div class="traced">
            <TimelinePicture name="trace" timeline={timeline} paint={paint} chosen={chosen} pick={setChosen} arrows={true} critical={false} range={null} look={() => {}} keys={null} />
          </div>
          <p class="dim small">
            {chosen === null
              ? `${count(timeline.n)} instructions on ${count(timeline.tracks.length)} pipes, estimated by a static cost table`
              : `${timeline.labels[timeline.label[chosen]]} on ${timeline.tracks[timeline.track[chosen]].name}: ${time(timeline.begin[chosen])} to ${time(timeline.end[chosen])}`}
          </p>
        </>
      )}
    </section>
  );
}

// The page that a server answers: every view.

import { render } from "preact";
import { App } from "./shell/app.tsx";
import type { Views } from "./shell/context.ts";
import { Compare } from "./views/compare.tsx";
import { Histogram } from "./views/histogram.tsx";
import { TimelineView } from "./views/timeline.tsx";
import { Trace } from "./views/trace.tsx";
import { shared } from "./views.tsx";
import { server } from "./wire/server.ts";
import { answeredBy } from "./wire/source.ts";
import "uplot/dist/uPlot.min.css";
import "./app.css";

const views: Views = {
  ...shared,
  timeline: ({ dump, query }) => <TimelineView key={dump} dump={dump} query={query} />,
  compare: ({ dump, item, query }) => <Compare key={`${dump}/${item}`} a={dump} b={item ?? 1} query={query} />,
};
answeredBy(server);
render(<App views={views} parts={{ trace: Trace, histogram: Histogram }} />, document.getElementById("page")!);

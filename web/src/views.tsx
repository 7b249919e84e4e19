// The views that a page and a report have in common.

import type { Views } from "./shell/context.ts";
import { GraphView } from "./views/graph.tsx";
import { OverviewView } from "./views/overview.tsx";
import { TaskView } from "./views/task.tsx";
import { TensorView } from "./views/tensor.tsx";

export const shared: Views = {
  overview: ({ dump }) => <OverviewView key={dump} dump={dump} />,
  graph: ({ dump, query }) => <GraphView key={dump} dump={dump} query={query} />,
  task: ({ dump, item, query }) => <TaskView key={`${dump}/${item}`} dump={dump} task={item!} query={query} />,
  tensor: ({ dump, item, query }) => <TensorView key={`${dump}/${item}`} dump={dump} record={item!} query={query} />,
};

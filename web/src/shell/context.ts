// What every view knows: the session, the dump it shows, and how often that dump has grown.

import type { ComponentType, VNode } from "preact";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Address, View } from "../address.ts";
import type { DumpInfo, Num, Session } from "../wire/api.ts";
import { api } from "../wire/api.ts";
import type { Graph, Tasks } from "../wire/decode.ts";
import type { Loaded } from "../wire/load.ts";
import { useLoad } from "../wire/load.ts";

/** The views of this page. A report has fewer: what it lacks, nothing leads to. */
export type Views = { [view in View]?: (address: Address) => VNode };

/** Parts of views that only a page with a server can fill. */
export interface Parts {
  trace?: ComponentType<{ dump: number; task: number; shown: boolean }>;
  histogram?: ComponentType<{ edges: Num[]; counts: number[]; mark: number | null }>;
}

export interface Shell {
  views: Views;
  parts: Parts;
  session: Session;
  generation: (dump: number) => number;
  /** Says something short at the bottom of the page. */
  say: (words: string) => void;
}

export const ShellContext = createContext<Shell | null>(null);

export function useShell(): Shell {
  const shell = useContext(ShellContext);
  if (!shell) throw new Error("a view outside of the shell");
  return shell;
}

export function useDump(dump: number): DumpInfo | undefined {
  return useShell().session.dumps[dump];
}

/** Of a dump that cannot be opened, null, there is nothing to load. */
export function useTasks(dump: number | null): Loaded<Tasks> {
  const shell = useShell();
  return useLoad(dump === null ? null : `${dump}/tasks`, dump === null ? 0 : shell.generation(dump), () => api.tasks(dump!));
}

export function useGraph(dump: number): Loaded<Graph> {
  return useLoad(`${dump}/graph`, useShell().generation(dump), () => api.graph(dump));
}

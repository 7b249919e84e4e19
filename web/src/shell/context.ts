// What every view knows: the session, the dump it shows, and how often that dump has grown.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { DumpInfo, Session } from "../wire/api.ts";
import { api } from "../wire/api.ts";
import type { Graph, Tasks } from "../wire/decode.ts";
import type { Loaded } from "../wire/load.ts";
import { useLoad } from "../wire/load.ts";

export interface Shell {
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

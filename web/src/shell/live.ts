// Dumps that change while the page is open: a run is still going, a judgement or a count is done. The server says when there is
// more, and what is shown is asked for again.

import { useEffect, useState } from "preact/hooks";
import { api } from "../wire/api.ts";

/** How often each dump has grown, as far as it was looked at. */
export function useLive(dumps: number[], grown: () => void): Record<number, number> {
  const [generations, set] = useState<Record<number, number>>({});
  const followed = dumps.join(",");
  useEffect(() => {
    const ended = new AbortController();
    for (const dump of followed === "" ? [] : followed.split(",").map(Number)) {
      void follow(dump, generations[dump] ?? 0, ended.signal, generation => {
        set(known => ({ ...known, [dump]: generation }));
        grown();
      });
    }
    return () => ended.abort();
  }, [followed]);
  return generations;
}

async function follow(dump: number, from: number, ended: AbortSignal, grown: (generation: number) => void): Promise<void> {
  while (!ended.aborted) {
    try {
      const told = await api.live(dump, from, ended);
      if (ended.aborted) return;
      if (told.generation > from) {
        from = told.generation;
        grown(from);
      }
    } catch {
      // A server that is gone says so where one looks next.
      return;
    }
  }
}

// Answers that were had once are shown at once when one comes back; a run that is still going makes them old.

import { useEffect, useState } from "preact/hooks";

export interface Loaded<T> {
  value: T | undefined;
  error: Error | undefined;
  /** An older answer is shown while a newer one is on its way. */
  pending: boolean;
}

interface Entry {
  generation: number;
  value?: unknown;
  error?: Error;
  promise?: Promise<void>;
}

const KEPT = 200;
const entries = new Map<string, Entry>();

function fetchInto(key: string, generation: number, load: () => Promise<unknown>): Entry {
  const old = entries.get(key);
  if (old && old.generation === generation) {
    entries.delete(key);
    entries.set(key, old);
    return old;
  }
  const entry: Entry = { generation, value: old?.value };
  entry.promise = load().then(
    value => {
      entry.value = value;
      delete entry.promise;
    },
    (error: unknown) => {
      entry.error = error instanceof Error ? error : new Error(String(error));
      delete entry.promise;
    },
  );
  entries.set(key, entry);
  for (const oldest of entries.keys()) {
    if (entries.size <= KEPT) break;
    entries.delete(oldest);
  }
  return entry;
}

/** Loads what `key` names. A null key loads nothing. */
export function useLoad<T>(key: string | null, generation: number, load: () => Promise<T>): Loaded<T> {
  const [, again] = useState(0);
  const entry = key === null ? null : fetchInto(key, generation, load);
  const pending = entry?.promise !== undefined;
  useEffect(() => {
    let gone = false;
    const show = () => {
      if (!gone) again(n => n + 1);
    };
    // The answer may have come between drawing and now.
    if (entry?.promise) void entry.promise.then(show);
    else if (pending) show();
    return () => {
      gone = true;
    };
  }, [key, generation, entry]);
  return {
    value: entry?.value as T | undefined,
    error: entry?.error,
    pending,
  };
}

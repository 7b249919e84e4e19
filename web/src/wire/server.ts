// Answers of the server. All addresses are relative: the secret part of the page's own address never appears here.

import { Refused } from "./source.ts";

/** Some answers take the server a while; it then says how far it is, and is asked again. */
const AGAIN_MS = 200;

export async function server(path: string, signal?: AbortSignal): Promise<Response> {
  let answer: Response;
  for (;;) {
    try {
      answer = await fetch(path, { cache: "no-store", credentials: "omit", ...(signal ? { signal } : {}) });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Refused("the server does not answer", 0, "is `argus open` still running? Start it again and open its new address");
    }
    if (answer.status !== 202) break;
    await new Promise(done => setTimeout(done, AGAIN_MS));
    signal?.throwIfAborted();
  }
  if (answer.ok) return answer;
  let told: { message?: string; hint?: string | null } = {};
  try {
    told = (await answer.json()) as typeof told;
  } catch {
    // An answer without words: its status has to do.
  }
  throw new Refused(told.message ?? `the server answered ${answer.status}`, answer.status, told.hint ?? null);
}

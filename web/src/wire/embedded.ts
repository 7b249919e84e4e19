// Answers that lie in the page's own file: what the server would say of the dump, as far as a report has room for it.

import { inflate } from "./inflate.ts";
import { Refused, type Source } from "./source.ts";

interface Embedded {
  /** Objects by the path they answer, all in one. */
  objects: string;
  /** Columns by the path they answer. */
  columns: Record<string, string>;
  /** The command that shows all of it. */
  open: string;
}

/** Reads the answers from a script element of the page. */
export function embedded(id: string): Source {
  const { objects, columns, open } = JSON.parse(document.getElementById(id)!.textContent!) as Embedded;
  const known = new Response(inflate(objects)).json() as Promise<Record<string, unknown>>;
  return async path => {
    // What is in a file never changes.
    if (/^api\/\d+\/live/.test(path)) return new Promise<Response>(() => {});
    if (Object.hasOwn(columns, path)) return new Response(inflate(columns[path]));
    const answers = await known;
    if (Object.hasOwn(answers, path)) return new Response(JSON.stringify(answers[path]));
    throw new Refused("This is not in the report.", 404, `${await new Response(inflate(open)).text()} shows everything.`);
  };
}

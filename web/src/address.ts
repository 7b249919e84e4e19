// Where one is, as the fragment of the address: a link that is sent shows the other person the same thing.

export type View = "overview" | "graph" | "task" | "tensor" | "timeline" | "compare";

export interface Address {
  view: View;
  /** The dump; of two that are compared, the first. */
  dump: number;
  /** The task of a task view, the record of a tensor view, the second dump of a comparison. */
  item: number | null;
  query: Record<string, string>;
}

const VIEWS: readonly string[] = ["overview", "graph", "task", "tensor", "timeline", "compare"];

export function parse(fragment: string): Address {
  const text = fragment.replace(/^#?\/?/, "");
  const cut = text.indexOf("?");
  const parts = (cut < 0 ? text : text.slice(0, cut)).split("/").filter(Boolean);
  const query: Record<string, string> = {};
  if (cut >= 0) for (const [key, value] of new URLSearchParams(text.slice(cut + 1))) query[key] = value;
  if (parts[0] === "compare") {
    return { view: "compare", dump: number(parts[1]) ?? 0, item: number(parts[2]), query };
  }
  const dump = /^d\d+$/.test(parts[0] ?? "") ? Number(parts.shift()!.slice(1)) : 0;
  const view = VIEWS.includes(parts[0]) && parts[0] !== "compare" ? (parts[0] as View) : "overview";
  const item = number(parts[1]);
  // A task or a tensor without a number is nowhere.
  if ((view === "task" || view === "tensor") && item === null) return { view: "overview", dump, item: null, query: {} };
  return { view, dump, item: view === "task" || view === "tensor" ? item : null, query };
}

export function format(address: Address): string {
  const { view, dump, item } = address;
  const path = view === "compare" ? `compare/${dump}/${item ?? 1}` : `d${dump}/${view}${item === null ? "" : `/${item}`}`;
  const query = new URLSearchParams(Object.entries(address.query).filter(([, value]) => value !== "")).toString();
  // Commas and colons are allowed in a fragment and easier to read.
  return `#/${path}${query ? `?${query.replaceAll("%2C", ",").replaceAll("%3A", ":")}` : ""}`;
}

function number(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null;
}

type Listener = (address: Address) => void;
const listeners = new Set<Listener>();
let current: Address = parse(typeof location === "undefined" ? "" : location.hash);

export function here(): Address {
  return current;
}

export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener(current);
}

/** Goes somewhere else; the way back stays in the browser's history. */
export function go(to: Partial<Address>): void {
  current = { ...current, query: {}, item: null, ...to };
  history.pushState(null, "", format(current));
  tell();
}

/** Changes how the same thing is seen. An empty value removes its key. */
export function amend(query: Record<string, string>): void {
  const next = { ...current.query, ...query };
  for (const [key, value] of Object.entries(next)) if (value === "") delete next[key];
  const changed = { ...current, query: next };
  if (format(changed) === format(current)) return;
  current = changed;
  history.replaceState(null, "", format(current));
  tell();
}

if (typeof addEventListener !== "undefined") {
  addEventListener("popstate", () => {
    current = parse(location.hash);
    tell();
  });
}

// Who answers the page: the server that it came from, or the file that it is in.

/** What was said to be wrong, and what to do about it. */
export class Refused extends Error {
  constructor(message: string, readonly status: number, readonly hint: string | null) {
    super(message);
  }
}

/** Answers a question, which is a path below the page; throws `Refused`. */
export type Source = (path: string, signal?: AbortSignal) => Promise<Response>;

let source: Source = path => Promise.reject(new Refused(`there is no server to answer ${path}`, 0, null));

export function answeredBy(who: Source): void {
  source = who;
}

export function ask(path: string, signal?: AbortSignal): Promise<Response> {
  return source(path, signal);
}

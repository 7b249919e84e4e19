// What a report holds is deflated and spelled in base64.

export function inflate(text: string): ReadableStream {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
}

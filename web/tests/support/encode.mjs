// Writes the binary answers as the server does, for the unit tests of the decoders and for pages without a server.

class Writer {
  parts = [];
  at = 0;

  raw(bytes) {
    this.parts.push(bytes);
    this.at += bytes.length;
  }

  align(to) {
    const rest = this.at % to;
    if (rest) this.raw(new Uint8Array(to - rest));
  }

  column(typed) {
    this.align(typed.BYTES_PER_ELEMENT);
    this.raw(new Uint8Array(typed.buffer, typed.byteOffset, typed.byteLength));
  }

  words(...numbers) {
    this.column(Uint32Array.from(numbers));
  }

  json(value) {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    this.words(bytes.length);
    this.raw(bytes);
    this.align(8);
  }

  done() {
    const all = new Uint8Array(this.at);
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    return all.buffer;
  }
}

function begin(magic) {
  const writer = new Writer();
  writer.raw(new TextEncoder().encode(magic));
  writer.words(1);
  return writer;
}

export function encodeTasks(tasks) {
  const writer = begin("ATSK");
  writer.words(tasks.id.length);
  writer.json(tasks.kernels);
  writer.column(BigUint64Array.from(tasks.id));
  writer.column(Float64Array.from(tasks.begin));
  writer.column(Float64Array.from(tasks.end));
  writer.column(BigUint64Array.from(tasks.bytes, BigInt));
  writer.column(Uint32Array.from(tasks.kernel));
  writer.column(Uint32Array.from(tasks.scope));
  writer.column(Uint32Array.from(tasks.blocks));
  writer.column(Uint8Array.from(tasks.state));
  writer.column(Uint8Array.from(tasks.verdict));
  return writer.done();
}

export function encodeGraph(graph) {
  const writer = begin("AGRF");
  writer.words(graph.x.length, graph.from.length, graph.layers, graph.groups.length);
  writer.column(Float32Array.from(graph.x));
  writer.column(Float32Array.from(graph.y));
  writer.column(Uint32Array.from(graph.from));
  writer.column(Uint32Array.from(graph.to));
  writer.column(Uint8Array.from(graph.kind));
  writer.align(4);
  for (const group of graph.groups) {
    writer.column(Float32Array.from([group.x0, group.y0, group.x1, group.y1]));
    writer.words(group.kernel, group.tasks, group.first);
  }
  writer.words(graph.bundles.length / 3, ...graph.bundles);
  return writer.done();
}

export function encodeTile(tile) {
  const writer = begin("ATIL");
  writer.words(tile.rows, tile.cols);
  writer.column(Float32Array.from(tile.min));
  writer.column(Float32Array.from(tile.max));
  writer.column(Float32Array.from(tile.mean));
  writer.column(Uint32Array.from(tile.odd));
  if (tile.value) writer.column(Float64Array.from(tile.value));
  return writer.done();
}

export function encodeTimeline(timeline) {
  const writer = begin("ATIM");
  writer.words(timeline.tracks.length, timeline.begin.length, timeline.arrowFrom.length);
  writer.json({ tracks: timeline.tracks, labels: timeline.labels });
  writer.column(Float64Array.from(timeline.begin));
  writer.column(Float64Array.from(timeline.end));
  writer.column(Uint32Array.from(timeline.track));
  writer.column(Uint32Array.from(timeline.task));
  writer.column(Uint32Array.from(timeline.label));
  writer.column(Uint32Array.from(timeline.arrowFrom));
  writer.column(Uint32Array.from(timeline.arrowTo));
  writer.words(timeline.critical.length, ...timeline.critical);
  return writer.done();
}

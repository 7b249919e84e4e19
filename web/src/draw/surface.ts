// A picture that is drawn when something changed: a WebGL canvas for many things, a canvas above it for words, and
// one below it for smooth lines. The WebGL canvas does not smooth: software would take twice as long for it.

import type { Size } from "./camera.ts";

export interface Gestures {
  /** Moved by pixels while a button is held. */
  drag?(dx: number, dy: number, event: PointerEvent): void;
  /** Zoomed by a factor around a pixel. */
  zoom?(px: number, py: number, factor: number, event: WheelEvent | null): void;
  /** Wheel turned sideways, or turned where it does not zoom. */
  scroll?(dx: number, dy: number): void;
  click?(px: number, py: number, event: MouseEvent): void;
  open?(px: number, py: number): void;
  hover?(px: number | null, py: number | null): void;
}

export class Surface {
  readonly gl: WebGL2RenderingContext | null;
  readonly under: CanvasRenderingContext2D;
  readonly pen: CanvasRenderingContext2D;
  readonly size: Size = { width: 1, height: 1 };
  ratio = 1;
  private readonly canvases: HTMLCanvasElement[] = [];
  private readonly watch: ResizeObserver;
  private readonly ended = new AbortController();
  private waiting = 0;
  private frames = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly draw: (surface: Surface) => void,
    gestures: Gestures,
    withGl: boolean,
  ) {
    this.under = this.canvas().getContext("2d")!;
    this.gl = withGl ? this.canvas().getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true }) : null;
    this.pen = withGl ? this.canvas().getContext("2d")! : this.under;
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(host);
    this.measure();
    this.hear(gestures);
  }

  /** Asks for a picture; many asks before the next frame give one. */
  ask(): void {
    if (this.waiting || this.ended.signal.aborted) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      // A view may be gone before it is told so.
      if (!this.host.isConnected) return;
      for (const pen of [this.under, this.pen]) {
        pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        pen.clearRect(0, 0, this.size.width, this.size.height);
      }
      this.draw(this);
      this.host.dataset["frames"] = String(++this.frames);
    });
  }

  close(): void {
    this.ended.abort();
    this.watch.disconnect();
    cancelAnimationFrame(this.waiting);
    // Browsers keep only so many contexts; this one is not needed again.
    this.gl?.getExtension("WEBGL_lose_context")?.loseContext();
    for (const canvas of this.canvases) canvas.remove();
  }

  private canvas(): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    this.host.append(canvas);
    this.canvases.push(canvas);
    return canvas;
  }

  private measure(): void {
    const { width, height } = this.host.getBoundingClientRect();
    this.size.width = Math.max(1, width);
    this.size.height = Math.max(1, height);
    this.ratio = Math.min(2, devicePixelRatio || 1);
    for (const canvas of this.canvases) {
      canvas.width = Math.round(this.size.width * this.ratio);
      canvas.height = Math.round(this.size.height * this.ratio);
    }
    this.ask();
  }

  private at(event: MouseEvent): [number, number] {
    const box = this.host.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private hear(gestures: Gestures): void {
    const { host } = this;
    const options = { signal: this.ended.signal };
    const held = new Map<number, [number, number]>();
    let moved = 0;
    host.addEventListener("pointerdown", event => {
      held.set(event.pointerId, [event.clientX, event.clientY]);
      moved = 0;
      host.setPointerCapture(event.pointerId);
    }, options);
    host.addEventListener("pointermove", event => {
      const last = held.get(event.pointerId);
      if (!last) {
        gestures.hover?.(...this.at(event));
        return;
      }
      const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
      moved += Math.abs(dx) + Math.abs(dy);
      const others = [...held].filter(([id]) => id !== event.pointerId);
      if (others.length === 1) {
        const [ox, oy] = others[0][1];
        const before = Math.hypot(last[0] - ox, last[1] - oy);
        const after = Math.hypot(event.clientX - ox, event.clientY - oy);
        const box = host.getBoundingClientRect();
        if (before > 0) gestures.zoom?.((event.clientX + ox) / 2 - box.left, (event.clientY + oy) / 2 - box.top, after / before, null);
      } else if (moved > 3) {
        gestures.drag?.(dx, dy, event);
      }
      held.set(event.pointerId, [event.clientX, event.clientY]);
    }, options);
    const release = (event: PointerEvent) => void held.delete(event.pointerId);
    host.addEventListener("pointerup", release, options);
    host.addEventListener("pointercancel", release, options);
    host.addEventListener("pointerleave", () => gestures.hover?.(null, null), options);
    host.addEventListener("click", event => {
      if (moved <= 3) gestures.click?.(...this.at(event), event);
    }, options);
    host.addEventListener("dblclick", event => gestures.open?.(...this.at(event)), options);
    host.addEventListener("wheel", event => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
      const [dx, dy] = [event.deltaX * lines, event.deltaY * lines];
      if (gestures.scroll && (Math.abs(dx) > Math.abs(dy) || event.shiftKey)) {
        gestures.scroll(event.shiftKey && !dx ? dy : dx, event.shiftKey ? 0 : dy);
      } else {
        gestures.zoom?.(...this.at(event), Math.exp(-Math.max(-200, Math.min(200, dy)) * 0.003), event);
      }
    }, { ...options, passive: false });
  }
}

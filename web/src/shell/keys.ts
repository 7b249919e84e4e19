// One place that hears the keyboard. What is registered is what the help shows.

import { useLayoutEffect } from "preact/hooks";

export interface Binding {
  keys: string[];
  about: string;
  run: (event: KeyboardEvent) => void;
}

interface Layer {
  title: string;
  bindings: Binding[];
  /** A dialog keeps keys from what lies below it. */
  modal: boolean;
}

const layers: Layer[] = [];

export function useKeys(title: string, bindings: Binding[], modal = false): void {
  // Before the next key can be heard: people type faster than pictures are painted.
  useLayoutEffect(() => {
    const layer = { title, bindings, modal };
    // Dialogs stay on top of views that are drawn again below them.
    const at = modal ? layers.length : layers.findIndex(other => other.modal);
    layers.splice(at < 0 ? layers.length : at, 0, layer);
    return () => void layers.splice(layers.indexOf(layer), 1);
  });
}

/** All keys that mean something now, the nearest first. */
export function meanings(): Layer[] {
  return [...layers].reverse().filter(layer => !layer.modal && layer.bindings.length > 0);
}

/** The name of a key: what it types, or its word; a shifted arrow is named so. */
export function nameOf(event: KeyboardEvent): string {
  const plain = event.key === " " ? "Space" : event.key;
  return event.shiftKey && plain.length > 1 ? `Shift+${plain}` : plain;
}

export function hear(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const field = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
  const name = nameOf(event);
  if (field && name.length === 1) return;
  // A button or a link under the focus keeps its own Enter.
  const control = event.target instanceof HTMLElement && event.target.matches("a, button, summary");
  if (control && (name === "Enter" || name === "Space")) return;
  for (let i = layers.length - 1; i >= 0; i--) {
    const found = layers[i].bindings.find(binding => binding.keys.includes(name));
    if (found) {
      event.preventDefault();
      found.run(event);
      return;
    }
    if (layers[i].modal) return;
  }
}

/** Keys as they are written for people. */
export function written(keys: string[]): string[] {
  const words: Record<string, string> = {
    ArrowLeft: "←",
    ArrowRight: "→",
    ArrowUp: "↑",
    ArrowDown: "↓",
    Escape: "esc",
    Enter: "enter",
    PageUp: "pgup",
    PageDown: "pgdn",
    Home: "home",
    End: "end",
    "Shift+ArrowLeft": "⇧←",
    "Shift+ArrowRight": "⇧→",
    "Shift+ArrowUp": "⇧↑",
    "Shift+ArrowDown": "⇧↓",
  };
  return keys.map(key => words[key] ?? key);
}

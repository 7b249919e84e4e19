// Dark or light: as the system says, until the person says otherwise.

import { useEffect, useState } from "preact/hooks";

export type Theme = "dark" | "light";

const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let chosen: Theme | null = null;
try {
  const kept = localStorage.getItem("argus-theme");
  if (kept === "dark" || kept === "light") chosen = kept;
} catch {
  // A browser that keeps nothing follows the system.
}

export function theme(): Theme {
  return chosen ?? (system.matches ? "dark" : "light");
}

function apply(): void {
  document.documentElement.dataset["theme"] = theme();
  colours.clear();
  for (const listener of listeners) listener();
}

export function toggle(): void {
  chosen = theme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("argus-theme", chosen);
  } catch {
    // Not kept, still shown.
  }
  apply();
}

export function useTheme(): Theme {
  const [, again] = useState(0);
  useEffect(() => {
    const listener = () => again(n => n + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return theme();
}

const colours = new Map<string, [number, number, number]>();

/** A colour of the style sheet, as bytes. */
export function colour(name: string): [number, number, number] {
  const kept = colours.get(name);
  if (kept) return kept;
  const text = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const parts = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text);
  const bytes: [number, number, number] = parts
    ? [parseInt(parts[1], 16), parseInt(parts[2], 16), parseInt(parts[3], 16)]
    : [128, 128, 128];
  colours.set(name, bytes);
  return bytes;
}

export function css(name: string, alpha = 1): string {
  const [r, g, b] = colour(name);
  return alpha === 1 ? `rgb(${r} ${g} ${b})` : `rgb(${r} ${g} ${b} / ${alpha})`;
}

system.addEventListener("change", apply);
apply();

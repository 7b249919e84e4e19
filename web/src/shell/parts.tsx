// Small parts that several views show.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Address } from "../address.ts";
import { format, go } from "../address.ts";
import { Damaged } from "../wire/decode.ts";
import { Refused } from "../wire/source.ts";
import { WORDS } from "../text.ts";

/** A link inside the page: it can be copied, opened in a second tab, and followed without loading anything. */
export function Link(props: { to: Partial<Address> & Pick<Address, "view" | "dump">; children: ComponentChildren; class?: string; title?: string }) {
  const to: Address = { item: null, query: {}, ...props.to };
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={format(to)} onClick={follow} class={props.class} title={props.title}>
      {props.children}
    </a>
  );
}

export function VerdictTag(props: { name: string; words?: string | null }) {
  return (
    <span class="verdict">
      <i class={`tag ${props.name}`} />
      {props.words ?? WORDS[props.name] ?? props.name}
    </span>
  );
}

const WORST = ["differ", "damaged", "failed", "error", "fail"];
const GOOD = ["agree", "pass", "sound", "equal"];

export function Pill(props: { word: string }) {
  const tone = WORST.includes(props.word) ? "bad" : GOOD.includes(props.word) ? "good" : "plain";
  return <span class={`pill ${tone}`}>{props.word}</span>;
}

/** A command to type, and a button that copies it. */
export function Command(props: { text: string; why?: string | undefined }) {
  const [told, setTold] = useState("copy");
  const text = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      setTold("copied");
    } catch {
      // Without a clipboard the text is selected, ready to be copied by hand.
      if (text.current) getSelection()?.selectAllChildren(text.current);
      setTold("selected");
    }
  };
  return (
    <div class="command">
      {props.why && <div class="dim why">{props.why}</div>}
      <code ref={text}>{props.text}</code>
      <button type="button" class="quiet" onClick={() => void copy()}>{told}</button>
    </div>
  );
}

export function Waiting(props: { for: string }) {
  return <div class="waiting dim">{props.for} …</div>;
}

export function Failure(props: { error: Error; what?: string }) {
  const { error } = props;
  return (
    <div class="failure" role="alert">
      <b>{props.what ?? (error instanceof Damaged ? "The answer cannot be read" : "This cannot be shown")}</b>
      <p>{error.message}</p>
      {error instanceof Refused && error.hint && <p class="dim">{error.hint}</p>}
    </div>
  );
}

/** One of several, as buttons in a row. */
export function Choice<T extends string>(props: { label: string; of: readonly T[]; value: T; pick: (value: T) => void; words?: Record<string, string> }) {
  return (
    <div class="choice" role="group" aria-label={props.label}>
      {props.of.map(value => (
        <button type="button" key={value} aria-pressed={value === props.value} onClick={() => props.pick(value)}>
          {props.words?.[value] ?? value}
        </button>
      ))}
    </div>
  );
}

export function Facts(props: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {props.rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The mark of the page, as icon.svg has it. */
export function Eye() {
  return (
    <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#1b2026" />
      <path d="M4 16c4-6.500 8-9 12-9s8 2.500 12 9c-4 6.500-8 9-12 9S8 22.500 4 16z" fill="none" stroke="#e8e6e1" stroke-width="2.400" />
      <rect x="11.500" y="11.500" width="9" height="9" rx="1.500" fill="#f0473d" />
    </svg>
  );
}

// How the palette ranks what is typed.

/** How well a text fits what was typed: lower is better, null is not at all. */
export function rank(typed: string, text: string): number | null {
  const [want, have] = [typed.trim().toLowerCase(), text.toLowerCase()];
  if (want === "") return 0;
  const at = have.indexOf(want);
  if (at === 0) return 0;
  if (at > 0) return /[^a-z0-9]/.test(have[at - 1]) ? 1 : 2;
  // All words, in any order.
  const words = want.split(/\s+/);
  if (words.length > 1 && words.every(word => have.includes(word))) return 3;
  // Letters in order, close together: "pa" finds "pv_attention".
  let from = 0;
  let spread = 0;
  for (const letter of want) {
    const next = have.indexOf(letter, from);
    if (next < 0) return null;
    spread += next - from;
    from = next + 1;
  }
  return want.length > 1 && spread <= 12 ? 4 + spread / 100 : null;
}

/** A task as people type it: an id, in hexadecimal with 0x, or a number in the order of the dump. */
export function taskTyped(typed: string): bigint | null {
  const text = typed.trim().replace(/^task\s+/i, "").replace(/^#/, "");
  return /^0x[0-9a-f]{1,16}$/i.test(text) || /^\d{1,18}$/.test(text) ? BigInt(text) : null;
}

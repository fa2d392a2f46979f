/** Names as Suricata reads them, which is laxer than a resolver: pointers may lead anywhere, and a name that is too long is cut. */

/** A name, and where its message goes on. */
export interface LaxName {
  /** Labels with dots between, as they were sent: a dot or a zero within a label is not marked. Empty for the root. */
  readonly bytes: Uint8Array;
  readonly next: number;
  /** It was cut: too many bytes, or too many labels and pointers. */
  readonly isTooLong: boolean;
  readonly hasTooManyLabels: boolean;
}

/** Work that the names of one message may cost, in labels, pointers and bytes. */
export interface NameBudget {
  left: number;
}

const MAX_NAME_BYTES = 1025;
/** Labels and pointers together. */
const MAX_STEPS = 255;
const DOT = 0x2e;

/** Where a name is put together before it is copied. */
const scratch = new Uint8Array(MAX_NAME_BYTES);

/** @returns null where the message ends within the name, it is made of more than 255 labels, or the budget is spent. */
export function readLaxName(message: Uint8Array, start: number, budget: NameBudget): LaxName | null {
  let at = start;
  let next = -1;
  let length = 0;
  let isTooLong = false;
  for (let steps = 1; ; steps += 1) {
    const first = message[at];
    budget.left -= 1;
    if (first === undefined || budget.left < 0) return null;
    if (first === 0) return { bytes: scratch.slice(0, length), next: next < 0 ? at + 1 : next, isTooLong, hasTooManyLabels: false };
    if (first < 0x40) {
      const end = at + 1 + first;
      if (end > message.length) return null;
      const before = length;
      length = append(message.subarray(at + 1, end), length);
      budget.left -= length - before;
      isTooLong ||= length - before < first + (before > 0 ? 1 : 0);
      at = end;
    } else if (first >= 0xc0) {
      const low = message[at + 1];
      if (low === undefined) return null;
      const target = ((first & 0x3f) << 8) | low;
      if (target === at) return null;
      if (next < 0) next = at + 2;
      at = target;
    } else return null;
    if (steps > MAX_STEPS) return next < 0 ? null : { bytes: scratch.slice(0, length), next, isTooLong: true, hasTooManyLabels: true };
  }
}

/** @returns How many bytes of `scratch` are used now. */
function append(label: Uint8Array, at: number): number {
  let to = at;
  if (to > 0 && to < MAX_NAME_BYTES) scratch[to++] = DOT;
  const fitting = label.subarray(0, MAX_NAME_BYTES - to);
  scratch.set(fitting, to);
  return to + fitting.length;
}

/** Contents of rules, each once in a load, with their bytes in a few runs of memory. */

import { lowerCase } from "../../patterns/window-choice.ts";
import type { Amount, Content } from "../buffer-match.ts";
import { flatText } from "../text/flat-text.ts";

/** Contents that rules of one load share. */
export interface SharedContents {
  /** @returns What `read` makes of a text, in one run of memory with others, or its reason. */
  bytes(text: string, read: (text: string) => Uint8Array | string): Uint8Array | string;
  /** @returns Bytes with ASCII's letters in lower case. */
  lowerCase(bytes: Uint8Array): Uint8Array;
  content(content: Content): Content;
}

/** Of one run of memory; Emerging Threats' contents have half a megabyte. */
const RUN_BYTES = 65_536;
/** A content of more has memory of its own. */
const MAX_SHARED_BYTES = 4096;
/** Of one run of bytes: what comes later is not shared. */
const MAX_COMPARED = 16;

/** @returns Nothing is shared yet. */
export function createSharedContents(): SharedContents {
  const texts = new Map<string, Uint8Array>();
  const lowered = new Map<Uint8Array, Uint8Array>();
  const contents = new Map<Uint8Array, Content[]>();
  const placeBytes = createByteRuns();
  return {
    bytes(text, read) {
      const known = texts.get(text);
      if (known !== undefined) return known;
      const result = read(text);
      if (typeof result === "string") return result;
      const placed = placeBytes(result);
      texts.set(flatText(text), placed);
      return placed;
    },
    lowerCase(bytes) {
      let lower = lowered.get(bytes);
      if (lower === undefined) lowered.set(bytes, lower = isLower(bytes) ? bytes : placeBytes(bytes.map(lowerCase)));
      return lower;
    },
    content(one) {
      const { bytes, isNegated, ignoreCase, offset, depth, distance, within, endsWith } = one;
      let same = contents.get(bytes);
      if (same === undefined) contents.set(bytes, same = []);
      const known = same.find((other) => isSame(one, other));
      if (known !== undefined) return known;
      const made: Content = { kind: "content", bytes, isNegated, ignoreCase, offset, depth, distance, within, endsWith };
      if (same.length < MAX_COMPARED) same.push(made);
      return made;
    },
  };
}

function isSame(one: Content, other: Content): boolean {
  return one.isNegated === other.isNegated && one.ignoreCase === other.ignoreCase && one.endsWith === other.endsWith && isSameAmount(one.offset, other.offset)
    && isSameAmount(one.depth, other.depth) && isSameAmount(one.distance, other.distance) && isSameAmount(one.within, other.within);
}

/** Of two rules the same place of their variables is the same amount. */
function isSameAmount(one: Amount | null, other: Amount | null): boolean {
  return one === other || (one !== null && other !== null && typeof one === "object" && typeof other === "object" && one.variable === other.variable);
}

function isLower(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] !== lowerCase(bytes[at] as number)) return false;
  return true;
}

/** Each `Uint8Array` with memory of its own costs 200 bytes beside what it holds. */
function createByteRuns(): (bytes: Uint8Array) => Uint8Array {
  let run = new Uint8Array(0);
  let at = 0;
  return (bytes) => {
    if (bytes.length > MAX_SHARED_BYTES) return bytes.slice();
    if (at + bytes.length > run.length) [run, at] = [new Uint8Array(RUN_BYTES), 0];
    const placed = run.subarray(at, at + bytes.length);
    placed.set(bytes);
    at += bytes.length;
    return placed;
  };
}

/** Ports in rules: single ones and ranges. */

import type { PortSet } from "../port-set.ts";
import { createGroupReader } from "./groups.ts";
import type { Ranges } from "./ranges.ts";

const LAST_PORT = 65_535;

/** A set, or the reason why there is none. */
export type PortResult = { readonly ok: true; readonly set: PortSet } | { readonly ok: false; readonly reason: string };

/** @returns A function that resolves ports of headers; equal sets are one object. */
export function createPortReader(variables: Readonly<Record<string, string>>): (text: string) => PortResult {
  const read = createGroupReader({ all: [[0n, BigInt(LAST_PORT)]], readLeaf: readPorts, variables });
  const sets = new Map<string, PortSet>();
  const known = new Map<string, PortResult>();
  const resolve = (text: string): PortResult => {
    const result = read(text);
    if (!result.ok) return result;
    const ranges = result.ranges.flatMap(([first, last]) => [Number(first), Number(last)]);
    const key = ranges.join(" ");
    const set = sets.get(key) ?? { isAny: ranges.length === 2 && ranges[0] === 0 && ranges[1] === LAST_PORT, ranges };
    sets.set(key, set);
    return { ok: true, set };
  };
  return (text) => {
    const result = known.get(text) ?? resolve(text);
    known.set(text, result);
    return result;
  };
}

/** Both ends of a range may be left out: `1024:`, `:1023`. */
function readPorts(text: string): Ranges | null {
  const found = /^(\d{0,5})(:?)(\d{0,5})$/.exec(text.replace(/\s+/g, ""));
  if (!found || text === "" || text === ":") return null;
  const [, from = "", colon = "", to = ""] = found;
  const first = Number(from || 0);
  const last = colon === "" ? first : Number(to || LAST_PORT);
  return (colon === "" && to !== "") || first > last || last > LAST_PORT ? null : [[BigInt(first), BigInt(last)]];
}

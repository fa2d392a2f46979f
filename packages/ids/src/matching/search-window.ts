/** Where in a buffer a content may be. */

import type { Amount, Content } from "../rules/buffer-match.ts";
import { type GroupRun, signedOf, unsignedOf } from "./group-run.ts";
import { isRelative } from "./relative.ts";

/** From the first place where it may begin to where it must have ended. */
export interface SearchWindow {
  readonly from: number;
  readonly to: number;
}

/**
 * As Suricata counts: `depth` from the offset, or from the place and the offset; `within` from the place and the distance. A distance that
 * leads to before the beginning begins there, and an end before it is no end.
 * @param place Where the match before ended.
 * @returns Null where it cannot be.
 */
export function searchWindow(step: Content, place: number, run: GroupRun): SearchWindow | null {
  const { length } = run.buffer;
  const offset = unsignedOf(step.offset, run);
  const isVariable = isRead(step.offset) || isRead(step.depth);
  const depth = unsignedOf(step.depth, run) + (isVariable ? 0 : offset);
  let from = offset;
  let to = step.depth !== null ? depth : length;
  if (isRelative(step)) {
    const distance = signedOf(step.distance, run);
    from = Math.max(offset, place + distance, 0);
    to = step.within === null ? length : Math.min(length, place + unsignedOf(step.within, run) + distance);
    if (to < 0) to = length;
    if (step.depth !== null) to = Math.min(to, place + depth);
  }
  if (isVariable) to += from;
  to = Math.min(to, length);
  return from > to || to === 0 ? null : { from, to };
}

function isRead(amount: Amount | null): boolean {
  return typeof amount === "object" && amount !== null;
}

/** Which matches of a group count from which. */

import type { BufferMatch } from "../rules/buffer-match.ts";

/** @returns Whether a later match counts from where that of `index` ends, so that another place may help it, rather than from one between. */
export function isCountedFrom(matches: readonly BufferMatch[], index: number): boolean {
  for (let later = index + 1; later < matches.length; later += 1) {
    const match = matches[later] as BufferMatch;
    if (isRelative(match)) return true;
    if (movesPlace(match)) return false;
  }
  return false;
}

/** @returns Whether it counts from the end of the match before. */
export function isRelative(match: BufferMatch): boolean {
  if (match.kind === "content") return match.distance !== null || match.within !== null;
  return "isRelative" in match && match.isRelative;
}

function movesPlace(match: BufferMatch): boolean {
  switch (match.kind) {
    case "content":
    case "pcre":
      return !match.isNegated;
    case "byte-jump":
    case "byte-extract":
    case "byte-math":
      return true;
    case "byte-test":
    case "is-data-at":
    case "size":
    case "base64-decode":
    case "absent":
    case "entropy":
    case "dataset":
    default:
      return false;
  }
}

import * as z from "zod";

/** A list of every second port would be longer; the thousand ports of the profile `standard` take 5 KiB. */
const MAX_CHARACTERS = 8192;
const MAX_PORT = 65_535;
const SPELLING = /^(?:\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*)?$/;

/** Ranges of ports as first and last, ascending and apart from each other. */
export type PortRangeList = readonly (readonly [first: number, last: number])[];

/** Ports as `22,80,1000-1010`: numbers and ranges, ascending, none twice. Empty for none. */
export const PortRanges = z.string().max(MAX_CHARACTERS).regex(SPELLING, "must be ports and ranges as 22,80,1000-1010")
  .refine(isAscending, "must be ascending ports up to 65535, none twice");

/**
 * Reads what `PortRanges` has accepted.
 * @returns Empty for the empty text.
 */
export function readPortRanges(text: string): PortRangeList {
  if (text === "") return [];
  return text.split(",").map((part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return [first, last];
  });
}

/** Whether a port is in one of the ranges. It takes logarithmic time. */
export function holdsPort(ranges: PortRangeList, port: number): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const [first, last] = ranges[middle] as PortRangeList[number];
    if (port < first) high = middle;
    else if (port > last) low = middle + 1;
    else return true;
  }
  return false;
}

/**
 * Writes ports as `PortRanges` has them.
 * @param ports Ascending, none twice.
 */
export function formatPortRanges(ports: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const port of ports) {
    const range = ranges.at(-1);
    if (range && range[1] === port - 1) range[1] = port;
    else ranges.push([port, port]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

function isAscending(text: string): boolean {
  let before = -1;
  for (const [first, last] of readPortRanges(text)) {
    if (first <= before || last < first || last > MAX_PORT) return false;
    before = last;
  }
  return true;
}

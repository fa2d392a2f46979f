import type { PortCounts } from "@lanthorn/contract/uplink";

/** A new object at each call: the caller counts in it. */
export function noCounts(): PortCounts {
  return { open: 0, closed: 0, filtered: 0, "open|filtered": 0 };
}

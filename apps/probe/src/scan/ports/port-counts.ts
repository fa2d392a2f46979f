import type { PortCounts } from "@lanthorn/contract/uplink";

export function noCounts(): PortCounts {
  return { open: 0, closed: 0, filtered: 0, "open|filtered": 0 };
}

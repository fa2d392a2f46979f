import type { Clock } from "@lanthorn/runtime";

/** To ask the system costs as much as a dozen flows. */
const READ_EVERY_MS = 30_000;

/** The machine's own subnets, for who asks with each flow. @param read Asks the system. */
export function createOwnNetworks(read: () => readonly string[], clock: Pick<Clock, "monotonic">): () => readonly string[] {
  let [readAt, networks]: [number, readonly string[]] = [Number.NEGATIVE_INFINITY, []];
  return () => {
    if (clock.monotonic() - readAt >= READ_EVERY_MS) [readAt, networks] = [clock.monotonic(), read()];
    return networks;
  };
}

import type { Clock } from "@lanthorn/runtime";

/** What has arrived and is not committed yet. */
export interface InFlight {
  /** @returns What says that it is done, well or not. */
  begin(): () => void;
  count(): number;
  /** How long the oldest has waited; 0 when there is none. */
  oldestMs(): number;
}

/** Counts by the monotonic clock. Calling a returned function twice counts once. */
export function createInFlight({ clock }: { readonly clock: Pick<Clock, "monotonic"> }): InFlight {
  // In the order of their beginning, as sets keep it.
  const begun = new Set<{ readonly at: number }>();
  return {
    begin() {
      const one = { at: clock.monotonic() };
      begun.add(one);
      return () => void begun.delete(one);
    },
    count: () => begun.size,
    oldestMs() {
      const [oldest] = begun;
      return oldest ? clock.monotonic() - oldest.at : 0;
    },
  };
}

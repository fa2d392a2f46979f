import type { Anomaly, AnomalyKind } from "./anomaly.ts";

/** Something that a person said is normal. */
export interface Accepted {
  /** A device's key, or the name of a group of like devices. */
  readonly scope: { readonly device: string } | { readonly group: string };
  readonly kind: AnomalyKind;
  /** Seconds of packet time; null for always. */
  readonly until: number | null;
}

/** More than people say; the oldest gives way. */
const MAX_ACCEPTED = 256;

/** What people said is normal. */
export interface AcceptedList {
  readonly replace: (list: readonly Accepted[]) => void;
  readonly covers: (anomaly: Pick<Anomaly, "device" | "group" | "kind" | "at">) => boolean;
}

/** Nothing was said. */
export function createAcceptedList(): AcceptedList {
  let list: readonly Accepted[] = [];
  return {
    replace: (now) => {
      list = now.slice(-MAX_ACCEPTED);
    },
    covers: ({ device, group, kind, at }) => list.some(({ scope, kind: ofKind, until }) =>
      ofKind === kind && (until === null || at <= until) && ("device" in scope ? scope.device === device : group !== "" && scope.group === group)),
  };
}

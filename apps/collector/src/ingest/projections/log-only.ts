import type { ProbeEventType } from "@lanthorn/contract";
import type { HostRef } from "../devices/devices-draft.ts";
import type { EventOf, Projection } from "./projection.ts";

/**
 * An event that changes no device; the one that it is about is named in the log, if it is known.
 * @param subject Who that is; left out for an event that is about no host.
 */
export function logOnly<T extends ProbeEventType>(
  subject: (event: EventOf<T>) => { readonly ip?: string; readonly mac?: string } = () => ({}),
): Projection<T> {
  const refOf = (event: EventOf<T>): HostRef | null => {
    const { ip = "", mac = "" } = subject(event);
    return ip === "" && mac === "" ? null : { ip, mac };
  };
  return {
    hosts: (event) => [refOf(event) ?? []].flat(),
    apply(event, { set }) {
      const ref = refOf(event);
      return { type: event.type, deviceId: (ref && set.find(ref)?.id) ?? null, data: event.data };
    },
  };
}

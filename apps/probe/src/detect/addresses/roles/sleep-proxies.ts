import { createBoundedMap } from "../../../bounded-map.ts";
import type { GuardFrame } from "../../guard.ts";
import { sourceOf } from "../claim.ts";

/** Who answers for hosts that sleep, as Multicast DNS says. */
export interface SleepProxies {
  has(mac: number): boolean;
  onUdp(at: GuardFrame): void;
}

const MAX_PROXIES = 64;
const MDNS_PORT = 5353;
/** RFC 6762 section 17. */
const MAX_MDNS_BYTES = 9000;
const SLEEP_PROXY = "_sleep-proxy._udp";

/** At most 64; the oldest give way. */
export function createSleepProxies(): SleepProxies {
  const proxies = createBoundedMap<number, true>(MAX_PROXIES);
  return {
    has: (mac) => proxies.has(mac),
    onUdp(at) {
      if (at.frame.sourcePort !== MDNS_PORT) return;
      const { payload } = at.frame;
      if (payload.length > MAX_MDNS_BYTES) return;
      const message = at.captured.dns();
      if (message.ok && message.value.isResponse && message.value.answers.some(({ name }) => name.startsWith("_") && name.toLowerCase().startsWith(SLEEP_PROXY))) {
        proxies.put(sourceOf(at), true);
      }
    },
  };
}

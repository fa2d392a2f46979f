/** The collector may look at addresses that probes report, decoys among them: it is exempt, and only counted. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type DecoyExemption, MAX_EXEMPT_ADDRESSES } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";

/** As an exemption; none while nobody knows where it is. */
export interface CollectorExemption {
  now(): readonly DecoyExemption[];
  close(): void;
}

const LOOK_UP_MS = 600_000;

/** @param url Where the probe's uplink goes. A name is looked up at once, and again each ten minutes. */
export function createCollectorExemption(url: string, clock: Pick<Clock, "every">): CollectorExemption {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "";
  let addresses: readonly string[] = isIP(host) === 0 ? [] : [host];
  const lookUp = async () => {
    const found = await lookup(host, { all: true }).catch(() => []);
    if (found.length > 0) addresses = found.map(({ address }) => address).slice(0, MAX_EXEMPT_ADDRESSES);
  };
  let end = () => {};
  if (host !== "" && isIP(host) === 0) {
    void lookUp();
    end = clock.every(LOOK_UP_MS, () => void lookUp());
  }
  return {
    now: () => (addresses.length === 0 ? [] : [{ name: "the collector", addresses: [...addresses], ports: [] }]),
    close: () => end(),
  };
}

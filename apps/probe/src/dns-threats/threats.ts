/** Makes one event of the many findings about a client and a campaign, and publishes it when it begins, gets worse, goes on, and is over. */
import { type Clock, toInstant } from "@lanthorn/runtime";
import { createOngoingRegister } from "../ongoing/ongoing.ts";
import type { OngoingStore } from "../ongoing/ongoing-store.ts";
import type { Publisher } from "../queue/publisher.ts";
import type { DnsFinding } from "./finding.ts";
import { addToThreat, createThreat, restoreThreat, type Threat, type ThreatData, threatKey } from "./threat.ts";

/** The threats in the DNS of a site. */
export interface DnsThreats {
  /** @returns False where it begins one that could not be written down: say it again later. */
  report(finding: DnsFinding): boolean;
  counts(): { readonly findings: number; readonly leftOut: number; readonly open: number };
  close(): void;
}

/** Clients of one campaign; who forges senders makes one threat that stands for all others. */
const MAX_OF_ONE_CAMPAIGN = 64;

/**
 * @param deps.publisher Of the database that `store` is in.
 * @param deps.isInternal Whether an address is one of the site. What others ask servers of the site is not reported.
 * @param deps.macAt The MAC of a host of the site; "" where it is not known.
 */
export function createDnsThreats(deps: {
  readonly publisher: Publisher; readonly store: OngoingStore<ThreatData>; readonly macAt: (ip: string) => string; readonly isInternal: (ip: string) => boolean;
  readonly clock: Clock;
}): DnsThreats {
  const { clock } = deps;
  const open = createOngoingRegister<Threat>({
    ...deps, restore: restoreThreat, groupOf: (key) => key.slice(0, key.indexOf(" ")),
    toEvent: (data, state) => ({ type: "dns_threat", occurred_at: toInstant(Math.min(Date.parse(data.last_at), clock.now())), data: { ...data, state } }),
  });
  let findings = 0;
  return {
    report(finding) {
      if (finding.serverIp !== "" && deps.isInternal(finding.serverIp) && !deps.isInternal(finding.clientIp)) return true;
      findings += finding.times;
      const own = open.get(threatKey(finding, finding.clientIp));
      const all = own ?? open.get(threatKey(finding, ""));
      if (all) {
        addToThreat(all, finding, clock.monotonic());
        return true;
      }
      const isFlood = open.ofGroup(threatKey(finding, "").trimEnd()) >= MAX_OF_ONE_CAMPAIGN;
      const subject = isFlood ? { ...finding, clientIp: "" } : finding;
      return open.begin(() => createThreat(subject, subject.clientIp === "" ? "" : deps.macAt(subject.clientIp), clock.monotonic())) !== "unwritten";
    },
    counts: () => ({ findings, leftOut: open.leftOut, open: open.size }),
    close: () => open.close(),
  };
}

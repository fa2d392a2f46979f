import type { ProbeEvent } from "@lanthorn/contract/uplink";
import type { Log } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { createReplayClock } from "../bus/bus-clock.ts";
import { fromSuspicion } from "../dns-threats/suspicion.ts";
import { createDnsThreats } from "../dns-threats/threats.ts";
import { ThreatData } from "../dns-threats/threat.ts";
import { readFlows } from "../flows/read-flows.ts";
import { createHomeNetworks } from "../intrusions/home-networks.ts";
import { createOngoingStore } from "../ongoing/ongoing-store.ts";
import { createPublisher } from "../queue/publisher.ts";
import { createDnsWatch } from "../traffic/dns/dns-watch.ts";
import type { DnsWatchSettings } from "../traffic/dns/settings.ts";
import { NO_TIME, NOT_RANDOM, SETTLE_MS } from "./replay-world.ts";

/**
 * Runs the detectors of threats in DNS over a capture file, on the file's own time. The same file and settings give the same events.
 * @param deps.homeNetworks As the configuration names them.
 * @param deps.print Takes events as they are published.
 */
export async function replayDns(deps: {
  readonly path: string; readonly settings: DnsWatchSettings; readonly homeNetworks: readonly string[]; readonly log: Log; readonly print: (events: readonly ProbeEvent[]) => void;
}): Promise<void> {
  const db = new Database(":memory:");
  const clock = createReplayClock(NO_TIME);
  const threats = createDnsThreats({
    publisher: createPublisher({ db, outbox: { append: deps.print }, log: deps.log, what: "threats in DNS" }), store: createOngoingStore(db, "dns_threats", ThreatData), macAt: () => "",
    isInternal: createHomeNetworks(deps.homeNetworks, () => []), clock,
  });
  const watch = createDnsWatch({ settings: deps.settings, random: NOT_RANDOM, onSuspicion: (suspicion) => threats.report(fromSuspicion(suspicion, null)), onListed: (finding) => threats.report(finding) });
  await readFlows({
    paths: [deps.path], random: NOT_RANDOM, print: () => undefined,
    onMessage(flow, message) {
      clock.enter(message.at);
      watch.onMessage(flow, message);
    },
  });
  clock.advance(SETTLE_MS);
  threats.close();
  db.close();
}

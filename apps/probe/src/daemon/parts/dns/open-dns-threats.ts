import { subnetsOf } from "../../../capture/link.ts";
import { createDnsThreats, type DnsThreats } from "../../../dns-threats/threats.ts";
import { ThreatData } from "../../../dns-threats/threat.ts";
import { createHomeNetworks } from "../../../intrusions/home-networks.ts";
import { createOngoingStore } from "../../../ongoing/ongoing-store.ts";
import { createPublisher } from "../../../queue/publisher.ts";
import type { Queue } from "../open-queue.ts";
import type { Watch } from "../open-watch.ts";
import type { RoundContext } from "../round-context.ts";

/** What is found in clients' DNS. Loaded only where something can find it. */
export function openDnsThreats({ configuration, clock, log, lifecycle }: RoundContext, { db, outbox }: Queue, { discovery, lan }: Pick<Watch, "discovery" | "lan">): DnsThreats {
  const threats = createDnsThreats({
    publisher: createPublisher({ db, outbox, log, what: "threats in DNS" }), store: createOngoingStore(db, "dns_threats", ThreatData), macAt: (ip) => discovery.macAt(ip),
    isInternal: createHomeNetworks(configuration.ids.home_networks, () => subnetsOf(lan.facts())), clock,
  });
  lifecycle.onClose("threats in DNS", () => threats.close());
  return threats;
}

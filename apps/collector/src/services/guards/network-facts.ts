import { type NetworkFact, type NetworkLook, ProbeHealth } from "@lanthorn/contract";
import type { GuardedProbe, GuardsStore } from "./store.ts";

/** A server or router that a probe of a site heard, as its last report has it. */
export interface SiteNetworkFact extends Pick<NetworkFact, "what" | "name" | "macs" | "known"> {
  readonly probeId: string;
  readonly vlanId: number | null;
  /** By the probe's clock. */
  readonly seenAt: string;
  /** When the report was made, by the same clock. */
  readonly reportedAt: string;
}

/** How long a probe of a site has listened for one kind of them. Instants are by the probe's clock. */
export interface SiteNetworkLook extends Pick<NetworkLook, "what" | "since"> {
  readonly probeId: string;
  readonly lookedAt: string;
  readonly reportedAt: string;
}

/** What is known of sites' networks beside their hosts, by the last reports of their probes that are not revoked. */
export interface SiteNetworks {
  /** Empty for a site whose probes do not report them. */
  networkFactsOf(siteId: string): Promise<readonly SiteNetworkFact[]>;
  /** A kind that is missing was not listened for. */
  networkLooksOf(siteId: string): Promise<readonly SiteNetworkLook[]>;
}

/** @param store Keeps the last report of each probe. */
export function createSiteNetworks(store: Pick<GuardsStore, "probes">): SiteNetworks {
  const reports = async (siteId: string) => (await store.probes(siteId)).flatMap((probe) => reportOf(probe));
  return {
    networkFactsOf: async (siteId) => (await reports(siteId)).flatMap(({ probeId, report }) =>
      (report.network_facts ?? []).map(({ what, name, macs, known, vlan_id: vlanId, seen_at: seenAt }) =>
        ({ probeId, what, name, macs, vlanId, seenAt, known, reportedAt: report.at }))),
    networkLooksOf: async (siteId) => (await reports(siteId)).flatMap(({ probeId, report }) =>
      (report.network_looks ?? []).map(({ what, since, looked_at: lookedAt }) => ({ probeId, what, since, lookedAt, reportedAt: report.at }))),
  };
}

function reportOf({ id, health }: GuardedProbe): readonly { readonly probeId: string; readonly report: ProbeHealth }[] {
  const report = health === null ? undefined : ProbeHealth.safeParse(JSON.parse(health)).data;
  return report ? [{ probeId: id, report }] : [];
}

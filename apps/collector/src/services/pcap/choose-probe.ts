import { ProbeHealth } from "@lanthorn/contract";
import { parseJson } from "@lanthorn/runtime";
import { notFound } from "../../gateway/errors.ts";
import { badRequest } from "../../gateway/route.ts";
import { unavailable, whereIs } from "./refusals.ts";
import type { CommandedProbe, PcapCommandsStore } from "./store/commands-store.ts";

/**
 * The probe that is to record: the named one, or one of the site that is online, first one that records this interface, then one that
 * records any.
 * @throws ApiError NOT_FOUND; BAD_REQUEST where the tenant has several sites and none is named; SERVICE_UNAVAILABLE while no probe is there.
 */
export async function chooseProbe(
  store: Pick<PcapCommandsStore, "sites" | "siteExists" | "probes">, tenantId: string,
  { site_id: siteId, probe_id: probeId, interface: name = null }: {
    readonly site_id?: string | undefined; readonly probe_id?: string | undefined; readonly interface?: string | null;
  },
): Promise<CommandedProbe> {
  const probes = await store.probes(tenantId, probeId === undefined ? { siteId: await oneSite(store, tenantId, siteId) } : { probeId });
  if (probeId !== undefined && (probes.length === 0 || (siteId !== undefined && probes[0]?.site_id !== siteId))) throw notFound("probe");
  const online = probes.filter(({ state }) => state === "online").map((probe) => ({ probe, recorded: recordedBy(probe) }));
  const best = online.find(({ recorded }) => name !== null && recorded?.includes(name)) ?? online.find(({ recorded }) => recorded !== null) ?? online[0];
  if (best) return best.probe;
  throw unavailable(probes.map(whereIs).join("; ") || "the site has no probe");
}

async function oneSite(store: Pick<PcapCommandsStore, "sites" | "siteExists">, tenantId: string, siteId: string | undefined): Promise<string> {
  if (siteId !== undefined) {
    if (!(await store.siteExists(tenantId, siteId))) throw notFound("site");
    return siteId;
  }
  const [site, another] = await store.sites(tenantId);
  if (site === undefined) throw notFound("site");
  if (another !== undefined) throw badRequest([{ path: ["site_id"], message: "name the site or the probe: there are several sites" }]);
  return site;
}

/** The interfaces that a probe records; null where it reports none. */
function recordedBy({ health }: CommandedProbe): readonly string[] | null {
  const parsed = ProbeHealth.pick({ traffic: true }).safeParse(health === null ? null : parseJson(health));
  return parsed.data?.traffic?.interfaces.map(({ name }) => name) ?? null;
}

import { ProbeHealth } from "@lanthorn/contract";
import { type AddressRange, covers, parseNetwork } from "../../db/keys/address-range.ts";
import { ApiError } from "../../gateway/errors.ts";
import type { ScansStore } from "./store.ts";

type Site = NonNullable<Awaited<ReturnType<ScansStore["site"]>>>;
type ProbeRow = Awaited<ReturnType<ScansStore["probes"]>>[number];

/** A probe with the subnets that it reported to be on. */
type ScanningProbe = ProbeRow & { readonly networks: readonly string[] };

/**
 * The probe of the site that is to scan: one that is online, on the target's own link where there is such a one.
 * @throws ApiError FORBIDDEN outside the networks that may be scanned; SERVICE_UNAVAILABLE while no probe is there.
 */
export async function chooseProbe(store: Pick<ScansStore, "probes">, site: Site, target: AddressRange): Promise<ScanningProbe> {
  const probes = (await store.probes(site.id)).map((probe) => ({ ...probe, networks: networksOf(probe.health) }));
  if (probes.length === 0) throw unavailable("the site has no probe");
  const allowed = [...(JSON.parse(site.scan_networks) as string[]), ...probes.flatMap(({ networks }) => networks)];
  const online = probes.filter(({ state }) => state === "online");
  const isAllowed = allowed.some((network) => holds(network, target));
  const isUnreported = probes.some(({ health }) => health === null);
  if (!isAllowed && !isUnreported) {
    throw new ApiError("FORBIDDEN", `${target.network} is outside the networks that may be scanned at this site`, {
      details: { allowed: [...new Set(allowed)] },
    });
  }
  const probe = online.find(({ networks }) => networks.some((network) => holds(network, target))) ?? online[0];
  if (!probe) throw unavailable(probes.map(whereIs).join("; "));
  if (!isAllowed) throw unavailable("the probe has not reported its networks yet; try again in half a minute");
  return probe;
}

/** Whether a network has all addresses of a target. */
export function holds(network: string, target: AddressRange): boolean {
  const range = parseNetwork(network);
  return range !== null && covers(range, target);
}

/** SERVICE_UNAVAILABLE with the reason. @param cause Makes it an error to be logged. */
export function unavailable(reason: string, cause?: unknown): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", reason, { details: { reason }, cause, isOrdinary: cause === undefined });
}

/** The subnets that a probe said it is on; none while it has not, and from older probes. */
function networksOf(health: string | null): readonly string[] {
  const parsed = health === null ? null : ProbeHealth.safeParse(JSON.parse(health));
  return parsed?.success ? (parsed.data.interface.networks ?? []) : [];
}

function whereIs({ name, state, silent_since: since }: ProbeRow): string {
  return state === "silent" ? `the probe ${name} is silent since ${since ?? "long"}` : `the probe ${name} has never connected`;
}

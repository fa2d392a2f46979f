import { type CertificateNow, compareCertificates } from "./certificates.ts";
import { compareNeighbors, type NeighborNow } from "./neighbors.ts";
import { comparePorts, type PortsNow } from "./ports.ts";
import type { Baseline, Comparison, Found } from "./result.ts";

/** What is seen of a device now. */
export interface DeviceNow extends PortsNow {
  readonly certificates: readonly CertificateNow[];
  readonly neighbors: readonly NeighborNow[];
}

/** Compares a device with its baseline, but for when it is there. @param now Milliseconds since the epoch. */
export function compareDevice(device: DeviceNow, baseline: Baseline, now: number): Comparison {
  const all = combine([
    comparePorts(device, baseline, now), compareCertificates(device.certificates, baseline, now),
    compareNeighbors(device.neighbors, baseline, now),
  ]);
  return { ...all, differences: withReplaced(all.differences) };
}

/** Another host key and another certificate at once: it is another machine, which one of the two differences says. */
function withReplaced(differences: readonly Found[]): Found[] {
  const certificate = differences.find(({ kind, outcome }) => kind === "certificate" && outcome === "replaced");
  const hasBoth = certificate !== undefined && differences.some(({ kind }) => kind === "host_key");
  if (!hasBoth) return [...differences];
  return differences.map((one): Found => (one.kind === "host_key" && one.outcome === "changed" ? { ...one, outcome: "replaced" } : one));
}

/** Several comparisons of different kinds of facts as one. */
export function combine(parts: readonly Comparison[]): Comparison {
  return {
    differences: parts.flatMap(({ differences }) => differences), learned: parts.flatMap(({ learned }) => learned),
    forgotten: parts.flatMap(({ forgotten }) => forgotten), undecided: new Set(parts.flatMap(({ undecided }) => [...undecided])),
  };
}

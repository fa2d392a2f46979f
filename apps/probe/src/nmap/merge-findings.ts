import { readSoftware } from "@lanthorn/fingerprints";
import type { PortFinding } from "../identify/finding.ts";

/**
 * What is known of a port after nmap looked at it too: our own answer where there is one, as it was asked for more than nmap asks for; its
 * scripts' words below ours.
 */
export function mergeFindings(own: PortFinding | null, other: PortFinding): PortFinding {
  if (!own) return other;
  const saysMore = own.version === "" || (/\d/.test(other.version) && !/\d/.test(own.version));
  const banner = other.banner === "" ? own.banner : [own.banner, other.banner].filter((text) => text !== "").join("\n").slice(0, 4096);
  const isWhole = own.software !== undefined && own.software !== null && own.software.version !== "";
  const software = isWhole ? own.software : readSoftware([...own.claims ?? [], ...other.claims ?? []]);
  return { service: own.service || other.service, version: saysMore && other.version !== "" ? other.version : own.version, banner, software };
}

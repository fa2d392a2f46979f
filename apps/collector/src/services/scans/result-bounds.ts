import { SCAN_PROFILES, type ScanProfileName, type ScanRemarkCode } from "@lanthorn/contract";
import { parseNetwork } from "../../db/keys/address-range.ts";

/** Of a link's IPv6 network, which is larger than anybody can ask, no more hosts show themselves. */
const MAX_HOST_BITS = 16;
/** However large the target and many the ports: a million open ports are no network, and fill a disk. */
const MAX_ROWS = 2_000_000;
/** Each host is reported when it answers and when its ports were scanned, each port when it is open and when its service is known. */
const TIMES_TOLD = 2;
/** Where the target is one host and the profile asks for no ports. */
const MIN_ROWS = 100;
const LINK_LOCAL = "fe80:";

interface Bounded {
  readonly target: string;
  readonly target_first: string;
  readonly target_last: string;
  readonly profile: string;
  readonly stored_rows: number;
}

/**
 * @param key The address as `addressKey` spells it.
 * @returns Why a probe cannot have found this host, or one more port, by its scan; null where it can.
 */
export function refuseResult(scan: Bounded, ip: string, key: string): { readonly code: ScanRemarkCode; readonly message: string } | null {
  const isInside = key >= scan.target_first && key <= scan.target_last;
  // A host on the link answers by whichever of its addresses it likes.
  const isOnLink = scan.target.includes(":") && ip.startsWith(LINK_LOCAL);
  if (!isInside && !isOnLink) return { code: "outside-target", message: "the probe sent results for addresses outside the target; they were dropped" };
  if (scan.stored_rows < maxRows(scan)) return null;
  return { code: "too-many-results", message: "the probe sent more results than this scan can have; the rest was dropped" };
}

function maxRows({ target, profile }: Bounded): number {
  const hosts = 2 ** Math.min(parseNetwork(target)?.hostBits ?? 0, MAX_HOST_BITS);
  const asked = SCAN_PROFILES[profile as ScanProfileName] as (typeof SCAN_PROFILES)[ScanProfileName] | undefined;
  const ports = (asked?.tcp_ports ?? 0) + (asked?.udp_ports ?? 0);
  return Math.min(MAX_ROWS, Math.max(MIN_ROWS, hosts * (1 + ports) * TIMES_TOLD));
}

import { readSsdp } from "@lanthorn/fingerprints";
import type { Observer } from "../hosts/observer.ts";

/** Longer announcements say no more of what their sender is. */
const MAX_BYTES = 1472;

/** Reads what a device announces of itself to all, every few minutes. @see UPnP Device Architecture 2.0 section 1.2 */
export function observeSsdp(payload: Uint8Array, sender: number, observer: Observer): void {
  // Searches are most of it, and say nothing of who searches.
  if (payload[0] !== 0x4e) return;
  const claims = readSsdp(Buffer.from(payload.buffer, payload.byteOffset, Math.min(payload.length, MAX_BYTES)).toString("latin1"));
  if (claims.length > 0) observer.facts({ mac: sender }, claims);
}

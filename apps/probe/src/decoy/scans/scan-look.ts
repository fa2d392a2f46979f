/** What frames show of a scan at a decoy's address that opens no connection, so that the decoys' process sees nothing of it. */
import { IpAddress, Port } from "@lanthorn/contract/uplink";
import * as z from "zod";

/**
 * How somebody looked. `odd-flags-scan`: flags that no system sends; `fragment-scan`: a segment in fragments too small to be read; `ping`: also
 * questions for the time and the netmask. They stand where services do.
 */
export const SCAN_KINDS = ["syn-scan", "null-scan", "fin-scan", "xmas-scan", "odd-flags-scan", "ack-scan", "fragment-scan", "udp-scan", "ping"] as const;
/** One of `SCAN_KINDS`. */
export type ScanKind = (typeof SCAN_KINDS)[number];

/** Ports of a look that are named; more are only counted. */
export const MAX_LOOK_PORTS = 32;
/** Looks of one message. */
export const MAX_LOOKS = 64;

/** What one source did at one decoy's address in one way since it was last said. */
export const ScanLook = z.object({
  kind: z.enum(SCAN_KINDS), source: IpAddress, address: IpAddress,
  /** Of the first packet; 0 for a ping. */
  source_port: Port,
  /** The first ones, without repetitions; 0 for a ping. */
  ports: z.array(Port).min(1).max(MAX_LOOK_PORTS),
  /** Different ports in all, as far as they were counted. */
  port_count: z.int().min(1).max(65_536),
  at: z.number().min(0).max(8_640_000_000_000_000),
});
export type ScanLook = z.infer<typeof ScanLook>;

const NAMES: Readonly<Record<ScanKind, string>> = {
  "syn-scan": "SYN scan", "null-scan": "NULL scan", "fin-scan": "FIN scan", "xmas-scan": "Xmas scan", "odd-flags-scan": "scan with odd flags", "ack-scan": "ACK scan",
  "fragment-scan": "scan in fragments", "udp-scan": "UDP scan", ping: "ping",
};
const MAX_SHOWN = 8;

/** Whether what stands for a service is a scan. */
export function isScanKind(service: string): service is ScanKind {
  return Object.hasOwn(NAMES, service);
}

/** @param ports Those that count. @param more Beyond them. @returns In a few words, as `SYN scan of port 22, 80 and 98 others`. */
export function describeLook(kind: ScanKind, ports: readonly number[], more: number): string {
  if (kind === "ping") return NAMES.ping;
  const others = ports.length - Math.min(ports.length, MAX_SHOWN) + more;
  return `${NAMES[kind]} of port ${ports.slice(0, MAX_SHOWN).join(", ")}${others > 0 ? ` and ${others} others` : ""}`;
}

/**
 * Records of Suricata's EVE output: alerts, and how much it dropped. All others are passed over unread.
 * @see https://docs.suricata.io/en/latest/output/eve/eve-json-format.html
 */
import { severityOf, techniquesOf } from "@lanthorn/ids";
import { parseJson } from "@lanthorn/runtime";
import * as z from "zod";
import type { Finding } from "../intrusions/finding.ts";

/** What a line says. */
export type EveRecord =
  | { readonly kind: "alert"; readonly finding: Finding }
  | { readonly kind: "anomaly"; readonly type: string; readonly event: string }
  | { readonly kind: "drops"; readonly drops: EveDrops }
  /** Another type of event: nothing to do. */
  | { readonly kind: "other" }
  | { readonly kind: "malformed" };

/** Sums since that Suricata was started. */
export interface EveDrops {
  /** Packets that reached it. */
  readonly packets: number;
  /** Packets that the kernel, or the ring, dropped before. */
  readonly kernelDropped: number;
  /** Segments that its reassembly had no memory for. */
  readonly memoryDropped: number;
}

const text = (longest: number) => z.string().transform((value) => value.slice(0, longest));
const count = z.int().min(0).catch(0);
const port = z.int().min(0).max(65_535).optional().catch(undefined);
const address = z.union([z.ipv4(), z.ipv6()]).optional().catch(undefined);
const Metadata = z.record(z.string(), z.array(z.string().max(256)).max(64).catch([])).catch({}).default({});

const Alert = z.object({
  event_type: z.literal("alert"),
  timestamp: z.string().max(64),
  src_ip: address, src_port: port, dest_ip: address, dest_port: port,
  proto: text(16).optional().catch(undefined),
  app_proto: text(32).optional().catch(undefined),
  direction: z.enum(["to_server", "to_client"]).optional().catch(undefined),
  alert: z.object({
    action: z.string().optional().catch(undefined),
    gid: z.int().min(0).default(1), signature_id: z.int().min(0).max(0xffff_ffff), rev: z.int().min(0).max(0xffff_ffff).default(0),
    signature: text(512).default(""), category: text(128).default(""), severity: z.int().min(0).max(255).default(3),
    metadata: Metadata,
    source: z.object({ ip: z.string() }).optional().catch(undefined),
    target: z.object({ ip: z.string() }).optional().catch(undefined),
  }),
  http: z.record(z.string(), z.unknown()).optional().catch(undefined),
  tls: z.record(z.string(), z.unknown()).optional().catch(undefined),
  dns: z.record(z.string(), z.unknown()).optional().catch(undefined),
  packet: z.base64().optional().catch(undefined),
  packet_info: z.object({ linktype: z.int() }).optional().catch(undefined),
});

const Stats = z.object({
  event_type: z.literal("stats"),
  stats: z.object({
    capture: z.object({ kernel_packets: count, kernel_drops: count }).partial().optional().catch(undefined),
    decoder: z.object({ pkts: count }).partial().optional().catch(undefined),
    tcp: z.object({ segment_memcap_drop: count, ssn_memcap_drop: count, reassembly_memcap_drop: count }).partial().optional().catch(undefined),
  }),
});

const Anomaly = z.object({
  event_type: z.literal("anomaly"), anomaly: z.object({ type: text(32), event: text(128).default("") }),
});

/** Types that are read. The name stands near the front of a line, before anything that a host on the network can write. */
const TYPE = /^\{[^{}[\]]{0,400}"event_type": ?"([a-z_]{1,32})"/;
const TYPE_BYTES = 512;
const CLOSING_BRACE = 0x7d;

/** @param line One line, without its end. Never throws. */
export function parseEveLine(line: Buffer): EveRecord {
  const type = TYPE.exec(line.toString("latin1", 0, TYPE_BYTES))?.[1];
  if (type === undefined || (line.at(-1) !== CLOSING_BRACE && line.at(-2) !== CLOSING_BRACE)) return { kind: "malformed" };
  return READERS.get(type)?.(line) ?? { kind: "other" };
}

const READERS: ReadonlyMap<string, (line: Buffer) => EveRecord> = new Map([["alert", readAlert], ["stats", readStats], ["anomaly", readAnomaly]]);

function readAlert(line: Buffer): EveRecord {
  const read = Alert.safeParse(valueOf(line));
  const finding = read.success ? toFinding(read.data) : null;
  return finding ? { kind: "alert", finding } : { kind: "malformed" };
}

function readStats(line: Buffer): EveRecord {
  const read = Stats.safeParse(valueOf(line));
  return read.success ? { kind: "drops", drops: toDrops(read.data.stats) } : { kind: "malformed" };
}

function readAnomaly(line: Buffer): EveRecord {
  const read = Anomaly.safeParse(valueOf(line));
  return read.success ? { kind: "anomaly", ...read.data.anomaly } : { kind: "malformed" };
}

function valueOf(line: Buffer): unknown {
  return parseJson(line.toString("utf8"));
}

function toDrops({ capture, decoder, tcp }: z.infer<typeof Stats>["stats"]): EveDrops {
  return {
    packets: capture?.kernel_packets ?? decoder?.pkts ?? 0, kernelDropped: capture?.kernel_drops ?? 0,
    memoryDropped: (tcp?.segment_memcap_drop ?? 0) + (tcp?.ssn_memcap_drop ?? 0) + (tcp?.reassembly_memcap_drop ?? 0),
  };
}

const ETHERNET = 1;
const MAX_PACKET_BYTES = 2048;

function toFinding(record: z.infer<typeof Alert>): Finding | null {
  const { alert } = record;
  const at = toMilliseconds(record.timestamp);
  if (at === null) return null;
  const metadata = Object.entries(alert.metadata).flatMap(([key, values]) => values.map((value) => [key, value] as const));
  const source = { ip: record.src_ip ?? "", port: record.src_port ?? 0 };
  const target = alert.target?.ip;
  return {
    engine: "suricata", times: 1, at,
    rule: {
      gid: alert.gid, id: alert.signature_id, revision: alert.rev, message: alert.signature, category: alert.category, className: "", priority: alert.severity,
      severity: severityOf(metadata, alert.severity), techniques: techniquesOf(metadata),
    },
    source, destination: { ip: record.dest_ip ?? "", port: record.dest_port ?? 0 },
    protocol: record.proto?.toLowerCase() ?? "", application: record.app_proto === undefined || record.app_proto === "failed" ? "" : record.app_proto,
    direction: record.direction === undefined ? null : record.direction === "to_server" ? "to-server" : "to-client",
    wouldBlock: alert.action === "blocked", target: target === undefined ? null : target === source.ip ? "source" : "destination",
    matched: [], fields: fieldsOf(record),
    packet: record.packet !== undefined && record.packet_info?.linktype === ETHERNET ? Buffer.from(record.packet, "base64").subarray(0, MAX_PACKET_BYTES) : null,
  };
}

/** `2016-01-02T19:08:01.309112+0000`, which `Date` reads with a colon only. */
function toMilliseconds(timestamp: string): number | null {
  const at = Date.parse(timestamp.replace(/([+-]\d{2})(\d{2})$/, "$1:$2"));
  return Number.isNaN(at) ? null : at;
}

/** Ours → where Suricata has it. */
const FIELDS: readonly (readonly [name: string, part: "http" | "tls", key: string])[] = [
  ["hostname", "http", "hostname"], ["url", "http", "url"], ["method", "http", "http_method"], ["status", "http", "status"],
  ["user_agent", "http", "http_user_agent"], ["sni", "tls", "sni"], ["subject", "tls", "subject"], ["issuer", "tls", "issuerdn"],
  ["fingerprint", "tls", "fingerprint"],
];
const MAX_FIELD = 512;

function fieldsOf(record: z.infer<typeof Alert>): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, part, key] of FIELDS) {
    const value = record[part]?.[key];
    if (typeof value === "string" || typeof value === "number") fields[name] = String(value).slice(0, MAX_FIELD);
  }
  const query = queryOf(record.dns);
  if (query !== null) fields["query"] = query.slice(0, MAX_FIELD);
  return fields;
}

/** Suricata 7 has a list of questions under `query`; others have the name under `rrname`, or `queries`. */
function queryOf(dns: Readonly<Record<string, unknown>> | undefined): string | null {
  for (const one of [dns, ...[dns?.["query"], dns?.["queries"]].map((list) => (Array.isArray(list) ? (list[0] as unknown) : undefined))]) {
    if (typeof one !== "object" || one === null || !("rrname" in one) || typeof one.rrname !== "string") continue;
    return one.rrname;
  }
  return null;
}

import { createHash } from "node:crypto";
import { request } from "node:https";
import { createRestClient, type Fetch } from "@lanthorn/client";
import { type Command, type CommandData, type CommandType, MESSAGE_VERSION, type PcapRecorded, type ProbeEvent, type ProbeHealth } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { SimulatedProbe } from "../system/simulated-probe.ts";
import { createLearned } from "./learned.ts";

/** The subnet that the probe says it is on. */
export const LAN = "10.9.0.0/24";
/** A pcapng file of a section header alone. @see draft-ietf-opsawg-pcapng section 4.1 */
const FILE = Buffer.from("0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000", "hex");
/** What it knows. */
const HOST = { ip: "10.9.0.66", mac: "02:00:5e:10:00:66" };
const NO_COUNTS = { received: 0, dropped_by_kernel: 0, dropped_by_probe: 0, left_out: 0 };

/** What a probe needs to send files up. */
export interface Uploader {
  readonly httpsUrl: string;
  readonly ca: string;
  readonly key: string;
  readonly certificate: string;
}

/**
 * Does what a probe is commanded: scans end at once with one host, whose ports differ from one scan to the next; a capture runs until it
 * is stopped, and its file goes up when it is fetched.
 */
export function createWorkingProbe(uploader: Uploader): {
  readonly health: () => ProbeHealth;
  readonly onCommand: (probe: SimulatedProbe, command: Command) => Readonly<Record<string, unknown>>;
} {
  let scans = 0;
  const filters = new Map<string, string>();
  const recorded = (pcapId: string, state: PcapRecorded["state"]): ProbeEvent => {
    const now = toInstant(Date.now());
    const isWhole = state === "whole";
    return { type: "pcap_recorded", occurred_at: now, data: {
      pcap_id: pcapId, trigger: "request", state, detail: "", file_name: isWhole ? "evidence.pcapng" : "", size_bytes: isWhole ? FILE.length : 0,
      sha256: isWhole ? sha256(FILE) : "", packets: 3, started_at: now, finished_at: isWhole ? now : null, interfaces: ["eth1"], filter: filters.get(pcapId) ?? "",
      snap_length: 262_144, headers_only: false, counters: NO_COUNTS, alert_ids: [], macs: [], ips: [], summary: isWhole ? {
        protocols: [{ name: "<b>dns</b>", packets: 3, bytes: 270 }], talkers: [{ address: "10.9.0.66", packets: 3, bytes: 270 }],
        flows: [{ protocol: "udp", source: "10.9.0.66", source_port: 4000, destination: "10.9.0.1", destination_port: 53, packets: 3, bytes: 270 }], flows_total: 1,
        timeline: { from: now, step_ms: 1000, packets: [1, 0, 2] },
      } : null,
    } };
  };
  const handlers: { readonly [type in CommandType]?: (probe: SimulatedProbe, data: CommandData<type>) => Readonly<Record<string, unknown>> } = {
    scan_start(probe, order) {
      scans += 1;
      for (const event of scanEvents(order, scans)) probe.say(event);
      return { hosts_total: 256 };
    },
    pcap_start(probe, { pcap_id: id, filter, seconds, packets, bytes }) {
      filters.set(id, filter);
      probe.say(recorded(id, "recording"));
      return { seconds, packets, bytes };
    },
    pcap_stop(probe, { pcap_id: id }) {
      probe.say(recorded(id, "whole"));
      void upload(uploader, id);
      return { running: true };
    },
    ...createLearned(HOST.mac),
  };
  return {
    health: healthOf,
    onCommand(probe, { type, data }) {
      const handle = handlers[type] as ((probe: SimulatedProbe, data: unknown) => Readonly<Record<string, unknown>>) | undefined;
      return handle?.(probe, data) ?? { deleted: true };
    },
  };
}

function scanEvents({ scan_id, target, profile }: CommandData<"scan_start">, count: number): readonly ProbeEvent[] {
  const occurred_at = toInstant(Date.now());
  const scan = { scan_id, target, profile };
  const port = (number: number): ProbeEvent => ({ type: "port_found", occurred_at, data: {
    ...HOST, port: number, protocol: "tcp", state: "open", service: "<i>ssh</i>", version: "<img src=x>\u202E", banner: "", scan_id,
  } });
  return [
    { type: "scan_started", occurred_at, data: { ...scan, hosts_total: 256 } },
    { type: "scan_results", occurred_at, data: { scan_id, hosts: [HOST] } },
    port(22), port(8000 + count),
    { type: "scan_complete", occurred_at, data: { ...scan, hosts_total: 256, hosts_up: 1, ports_open: 2, duration_seconds: 1.5 } },
  ];
}

function healthOf(): ProbeHealth {
  return {
    v: MESSAGE_VERSION, at: toInstant(Date.now()), version: "simulated", uptime_seconds: 60, cpu_percent: 3, load_1m: 0.1,
    memory: { rss_bytes: 9e7, available_bytes: 2e9, total_bytes: 4e9 }, disk: { free_bytes: 2e10, total_bytes: 3e10 }, temperature_celsius: null,
    capture: { frames: 1000, dropped: 0 }, queue: { events: 0, bytes: 0, oldest_at: null, dropped: 0 }, clock_offset_ms: 0,
    interface: { name: "eth0", up: true, networks: [LAN] }, hosts: { online: 1, known: 1 },
  };
}

async function upload({ httpsUrl, ca, key, certificate }: Uploader, id: string): Promise<void> {
  const fetchAsProbe: Fetch = (url, { method, headers, body }) => new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, ca, key, cert: certificate, checkServerIdentity: () => undefined }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => resolve({
        status: answer.statusCode ?? 0, headers: { get: (name) => String(answer.headers[name] ?? "") || null }, text: () => Promise.resolve(Buffer.concat(chunks).toString()),
      }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
  const rest = createRestClient({ url: httpsUrl, token: () => null, fetch: fetchAsProbe });
  await rest.beginProbeFile({ id, kind: "capture", size: FILE.length, sha256: sha256(FILE) });
  await rest.sendProbeFilePiece(id, Uint8Array.from(FILE), { offset: 0, sha256: sha256(FILE) });
  await rest.finishProbeFile(id);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

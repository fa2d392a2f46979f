import { Alert, type EventData, listEnvelope, type NetworkFact, type NetworkLook, readPortRanges, Scan } from "@lanthorn/contract";
import { silentLog, toInstant } from "@lanthorn/runtime";
import { expect } from "vitest";
import { createAudit } from "../../audit/audit.ts";
import { createGuardsStore } from "../../guards/store.ts";
import { createSiteNetworks } from "../../guards/network-facts.ts";
import { createScansBench, type FakeProbe, type ScansBench } from "../../scans/testing/bench.ts";
import { createTopology } from "../../topology/topology.ts";
import type { DifferenceRow } from "../store/differences.ts";
import { openBaselines } from "../open.ts";

/** An event as a probe's queue holds it. */
export type Told = Parameters<ScansBench["tell"]>[1];
/** A host of the bench. */
export interface Host {
  readonly ip: string;
  readonly mac: string;
}
/** What a scan finds of a host: open ports as `tcp/22`, and what they are. */
export type OpenPorts = Readonly<Record<string, { readonly service?: string; readonly version?: string; readonly banner?: string }>>;

const DAY_MS = 86_400_000;
const NONE = { open: 0, closed: 0, filtered: 0, "open|filtered": 0 };

/** A site with a probe, whose events go the whole way of ingest, and the comparison with baselines. For tests. */
export interface WatchBench extends ScansBench {
  readonly probe: FakeProbe;
  run(): Promise<void>;
  /** Half a minute later, twice: what still differs is reported. */
  runTwice(): Promise<void>;
  found(host: Host, hostname?: string): Promise<void>;
  event(type: Told["type"], data: object): Promise<void>;
  /** A scan of one host, a minute after what was before. @param ports The list that it asks; null: the probe does not say. */
  scan(host: Host, open: OpenPorts, ports?: { readonly tcp: string; readonly udp: string } | null): Promise<Scan>;
  /** At once; the probe is there again after it. */
  wait(ms: number): Promise<void>;
  /** The site's learning period passes. */
  learned(): Promise<void>;
  network(facts: readonly NetworkFact[], looks: readonly NetworkLook[]): Promise<void>;
  alerts(status?: string): Promise<readonly Alert[]>;
  published(): Promise<readonly EventData<"baseline_diff_alert">[]>;
  differences(): Promise<readonly DifferenceRow[]>;
  deviceAt(ip: string): Promise<string>;
  /** As when the collector is started again. */
  reopen(): void;
}

/** The list of ports that scans ask unless a test says otherwise. */
export const ASKED = { tcp: "1-1000,4444,8080", udp: "" };

/** Nothing is there yet. */
export async function createWatchBench(): Promise<WatchBench> {
  const bench = await createScansBench();
  const probe = await bench.addProbe();
  const { server, clock } = bench;
  const open = () => openBaselines({
    db: server.db, reads: server.reads, log: server.eventLog, published: () => {}, clock, logger: silentLog, audit: createAudit({ clock }),
    topologyOf: createTopology({ reads: server.reads, clock }).topologyOf, networks: createSiteNetworks(createGuardsStore(server)),
  }, { keepDays: 30 }).watch;
  let watch = open();
  /** A token of today. */
  const operator = () => server.createUser(bench.tenant, "operator");
  const self: WatchBench = {
    ...bench, probe,
    run: () => watch.run(),
    async runTwice() {
      for (let runs = 0; runs < 2; runs += 1) {
        await clock.advance(30_000);
        await watch.run();
      }
    },
    event: (type, data) => bench.tell(probe, { type, data }),
    found: (host, hostname = "") => self.event("host_found", { ...host, hostname, vendor: "", addresses: [host.ip], evidence: [] }),
    async scan(host, found, ports = ASKED) {
      await clock.advance(60_000);
      await bench.connect(probe);
      const answer = await bench.start({ target: "192.0.2.0/24", profile: "standard" }, await operator());
      expect([answer.status, answer.error?.code]).toEqual([202, undefined]);
      const scan = Scan.parse(answer.body);
      const head = { scan_id: scan.id, target: scan.target, profile: scan.profile };
      const rows = Object.entries(found).map(([key, texts]) => {
        const [protocol, port] = key.split("/");
        return { ...host, port: Number(port), protocol, state: "open", service: "", version: "", banner: "", ...texts, scan_id: scan.id };
      });
      const countsOf = (protocol: "tcp" | "udp") => {
        const asked = readPortRanges(ports?.[protocol] ?? "").reduce((sum, [first, last]) => sum + last - first + 1, 0);
        const answered = rows.filter((row) => row.protocol === protocol).length;
        return { ...NONE, open: answered, closed: Math.max(0, asked - answered) };
      };
      const counts = { tcp: countsOf("tcp"), udp: countsOf("udp") };
      await bench.tell(probe, { type: "scan_started", data: { ...head, hosts_total: 1, ...(ports && { ports }) } });
      await clock.advance(1000);
      await bench.tell(
        probe, ...rows.map((data) => ({ type: "port_found" as const, data })),
        { type: "scan_results", data: { scan_id: scan.id, hosts: [{ ...host, port_counts: counts }] } },
      );
      await bench.tell(probe, { type: "scan_complete", data: { ...head, hosts_total: 1, hosts_up: 1, ports_open: rows.length, duration_seconds: 1 } });
      return scan;
    },
    async wait(ms) {
      await clock.leap(ms);
      await bench.connect(probe);
    },
    async learned() {
      await watch.run();
      await self.wait(DAY_MS);
      await watch.run();
    },
    network: (facts, looks) => bench.send(probe, "health", {
      at: bench.now(), version: "1", uptime_seconds: 1, cpu_percent: 1, load_1m: 0, memory: { rss_bytes: 1, available_bytes: 1, total_bytes: 1 },
      disk: { free_bytes: 1, total_bytes: 1 }, temperature_celsius: null, capture: { frames: 0, dropped: 0 },
      queue: { events: 0, bytes: 0, oldest_at: null, dropped: 0 }, clock_offset_ms: 0, interface: { name: "eth0", up: true, networks: ["192.0.2.0/24"] },
      hosts: { online: 0, known: 0 }, network_facts: facts, network_looks: looks,
    }),
    async alerts(status = "open") {
      const answer = await server.get(`/api/v1/alerts?status=${status}&source=baseline&limit=100`, (await operator()).token);
      return listEnvelope(Alert).parse(answer.body).data;
    },
    async published() {
      const rows = await server.reads.selectFrom("events").select("data").where("type", "=", "baseline_diff_alert").orderBy("seq").execute();
      return rows.map(({ data }) => JSON.parse(data) as EventData<"baseline_diff_alert">);
    },
    differences: () => server.reads.selectFrom("baseline_differences").selectAll().orderBy("id").execute(),
    async deviceAt(ip) {
      return (await server.reads.selectFrom("devices").select("id").where("ip", "=", ip).executeTakeFirstOrThrow()).id;
    },
    reopen() {
      watch = open();
    },
  };
  return self;
}

/** A server or router as a probe reports it. */
export function networkFact(what: string, name: string, seenAt: number, rest: Partial<NetworkFact> = {}): NetworkFact {
  return { what, name, macs: [], vlan_id: null, seen_at: toInstant(seenAt), known: false, ...rest };
}

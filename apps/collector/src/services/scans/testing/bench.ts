import { Command, type CommandType, listEnvelope, MESSAGE_VERSION, type ProbeEvent, Scan, ScanHost } from "@lanthorn/contract";
import { createFakeClock, createId, type FakeClock, silentLog, toInstant } from "@lanthorn/runtime";
import { expect } from "vitest";
import type * as z from "zod";
import type { ProbeAddress, UpChannel } from "../../../broker/broker.ts";
import { createMerges } from "../../../identity/merging/merges.ts";
import { createIngest, type Ingest } from "../../../ingest/ingest.ts";
import { startJobs } from "../../../jobs/start-jobs.ts";
import { DEVICE_KEEP } from "../../../testing/device-keep.ts";
import { type Answer, type ServiceParts, startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import { REACTIONS } from "../../../reactions.ts";
import { createTestRegistry } from "../../agents/testing/registry.ts";
import { DEFAULT_SITE_CONFIGURATION } from "../../sites/service.ts";
import { createScans, type Scans } from "../scans.ts";

const HostList = listEnvelope(ScanHost);

/** A probe of the bench, which sends what a test tells it to. */
export interface FakeProbe extends ProbeAddress {
  runId: string;
  readonly queueId: string;
  seq: number;
}

/** The collector's side of scans over a real server and database, with a broker that only records. For tests. */
export interface ScansBench {
  readonly server: TestGateway;
  readonly clock: FakeClock;
  readonly tenant: TestTenant;
  readonly commands: { readonly probeId: string; readonly command: Command }[];
  /** What the broker says when it is to publish. */
  publishFault: Error | null;
  brokerUp: boolean;
  now(): string;
  /** A probe that is online, on these subnets. @param options.silent It is known, but not there. */
  addProbe(options?: {
    readonly networks?: readonly string[]; readonly at?: TestTenant; readonly siteId?: string; readonly silent?: boolean;
  }): Promise<FakeProbe>;
  connect(probe: FakeProbe): Promise<void>;
  send(probe: FakeProbe, channel: UpChannel, body: object): Promise<void>;
  /** Events as the probe's queue holds them. */
  tell(probe: FakeProbe, ...events: readonly { readonly type: ProbeEvent["type"]; readonly data: object }[]): Promise<void>;
  reply(probe: FakeProbe, commandId: string, refusal?: string): Promise<void>;
  start(body: object, of?: TestTenant): Promise<Answer>;
  /** Starts a scan that is accepted. */
  started(body: object): Promise<Scan>;
  read(scanId: string): Promise<Scan>;
  cancel(scanId: string, of?: TestTenant): Promise<Answer>;
  results(scanId: string, query?: string): Promise<z.infer<typeof HostList>>;
  /** The commands of a type that were sent. */
  sent(type: CommandType): readonly Command[];
  logged(): Promise<readonly string[]>;
  /** As when the collector is started again: the same database, nothing of the old one's memory. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function createScansBench(): Promise<ScansBench> {
  const clock = createFakeClock(Date.UTC(2026, 5, 1));
  const commands: ScansBench["commands"] = [];
  const broker = {
    publish(probe: ProbeAddress, channel: string, payload: string) {
      if (bench.publishFault) return Promise.reject(bench.publishFault);
      if (channel === "commands") commands.push({ probeId: probe.probeId, command: Command.parse(JSON.parse(payload)) });
      return Promise.resolve();
    },
    health: () => ({ status: bench.brokerUp ? "ok" as const : "degraded" as const, detail: "not connected" }),
  };
  let parts: ServiceParts | undefined;
  let scans: Scans | undefined;
  const server = await startTestGateway({
    clock, alerts: true,
    services(given) {
      parts = given;
      scans = createScans({ ...given, broker }, { keepDays: 30 });
      return scans.routes;
    },
  });
  const { db, reads, log, published, audit } = parts as ServiceParts;
  const merges = createMerges({ audit, clock });
  const open = (commandsOf: Scans): Ingest =>
    createIngest({
      registry: createTestRegistry({ db, reads, clock }), db, reads, log, merges, projections: REACTIONS, published, broker, clock, logger: silentLog,
      silentAfterSeconds: 90, commands: commandsOf, keep: DEVICE_KEEP,
    });
  const start = () => startJobs([(scans as Scans).job], { clock, lease: null });
  let jobs = await start();
  let ingest = open(scans as Scans);
  await ingest.start();
  const tenant = await server.createTenant("operator");
  await db.updateTable("sites").set({ probe_configuration: DEFAULT_SITE_CONFIGURATION }).execute();
  const authorized = (of: TestTenant) => ({ authorization: `Bearer ${of.token}` });

  const bench: ScansBench = {
    server, clock, tenant, commands, publishFault: null, brokerUp: true,
    now: () => toInstant(clock.now()),
    async addProbe({ networks = ["192.0.2.0/24"], at = tenant, siteId = at.siteId, silent = false } = {}) {
      const probe: FakeProbe = { tenantId: at.tenantId, probeId: createId(), runId: createId(), queueId: createId(), seq: 0 };
      await db.insertInto("probes").values({
        id: probe.probeId, tenant_id: at.tenantId, site_id: siteId, name: "store-12", enrolled_at: bench.now(), revoked_at: null,
        certificate_serial: "", certificate_expires_at: bench.now(), version: "", state: "enrolled", silent_since: null,
        last_heard_at: null,
        run_id: null, health: null,
      }).execute();
      if (silent) return probe;
      await bench.connect(probe);
      await bench.send(probe, "health", healthOf(bench.now(), networks));
      return probe;
    },
    connect: (probe) => bench.send(probe, "status", { state: "online", version: "1", run_id: probe.runId, at: bench.now() }),
    send: (probe, channel, body) => ingest.receive({
      tenantId: probe.tenantId, probeId: probe.probeId, channel, retained: false,
      payload: Buffer.from(JSON.stringify({ v: MESSAGE_VERSION, ...body })),
    }),
    async tell(probe, ...events) {
      const after = probe.seq;
      const numbered = events.map((event) => ({ seq: (probe.seq += 1), occurred_at: bench.now(), ...event }));
      await bench.send(probe, "events", { queue_id: probe.queueId, after, sent_at: bench.now(), events: numbered });
    },
    reply: (probe, commandId, refusal) => bench.send(probe, "replies", {
      command_id: commandId, ok: refusal === undefined, error: refusal === undefined ? null : { code: "refused", message: refusal },
      data: refusal === undefined ? { hosts_total: 254 } : {},
    }),
    start: (body, of = tenant) => server.request("/api/v1/scans/start", {
      method: "POST", body: JSON.stringify(body), headers: { ...authorized(of), "content-type": "application/json" },
    }),
    async started(body) {
      const answer = await bench.start(body);
      expect([answer.status, answer.error?.message]).toEqual([202, undefined]);
      return Scan.parse(answer.body);
    },
    async read(scanId) {
      return Scan.parse((await server.get(`/api/v1/scans/${scanId}`, tenant.token)).body);
    },
    cancel: (scanId, of = tenant) => server.request(`/api/v1/scans/${scanId}/cancel`, { method: "POST", headers: authorized(of) }),
    async results(scanId, query = "") {
      return HostList.parse((await server.get(`/api/v1/scans/${scanId}/results${query}`, tenant.token)).body);
    },
    sent: (type) => commands.map(({ command }) => command).filter((command) => command.type === type),
    async logged() {
      return (await db.selectFrom("events").select("type").where("type", "like", "scan%").orderBy("seq").execute()).map(({ type }) => type);
    },
    async restart() {
      await ingest.close();
      await jobs.close();
      // The routes go on speaking through the old one, whose only memory is the database.
      scans = createScans({ ...(parts as ServiceParts), broker }, { keepDays: 30 });
      jobs = await start();
      ingest = open(scans);
      await ingest.start();
    },
    async stop() {
      await ingest.close();
      await jobs.close();
      await server.stop();
    },
  };
  return bench;
}

function healthOf(at: string, networks: readonly string[]) {
  return {
    at, version: "1", uptime_seconds: 1, cpu_percent: 1, load_1m: 0, memory: { rss_bytes: 1, available_bytes: 1, total_bytes: 1 },
    disk: { free_bytes: 1, total_bytes: 1 }, temperature_celsius: null, capture: { frames: 0, dropped: 0 },
    queue: { events: 0, bytes: 0, oldest_at: null, dropped: 0 }, clock_offset_ms: 0, interface: { name: "eth0", up: true, networks },
    hosts: { online: 0, known: 0 },
  };
}

import { createFakeClock, createId, type FakeClock, silentLog, toInstant } from "@lanthorn/runtime";
import type { Selectable } from "kysely";
import { addressKey } from "../../../../db/keys/address-key.ts";
import { insertMany } from "../../../../db/query/write-many.ts";
import type { Schema } from "../../../../db/schema.ts";
import { noteSoftwareChanges } from "../../../../software/changes-store.ts";
import { NO_SOFTWARE, type SoftwareColumns } from "../../../../software/columns.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../../../testing/gateway.ts";
import { importFeeds } from "../../database/import.ts";
import { type CveFolder, createCveFolder, kevCatalog, NOW, nvdRecord } from "../../database/testing/nvd.ts";
import { type Cve, openCve } from "../../open.ts";

/** A CVE of all versions of a product before one. */
export interface BeforeCve {
  readonly id: string;
  /** As `a:openbsd:openssh`. */
  readonly product: string;
  readonly before: string;
  readonly score?: number;
  readonly modified?: string;
  readonly isRejected?: boolean;
  /** A CPE name that the host must be, too. */
  readonly platform?: string;
}

/** Software at a port, by some of its columns. */
export type AtPort = Partial<SoftwareColumns> & { readonly port: number };

/** A collector's matching with a gateway, a CVE database and devices. */
export interface MatchWorld {
  readonly gateway: TestGateway;
  readonly clock: FakeClock;
  readonly admin: TestTenant;
  readonly cve: Cve;
  readonly folder: CveFolder;
  /** Imports CVEs, and what CISA and Debian say where that is given. */
  load(cves: readonly BeforeCve[], more?: { readonly kev?: readonly string[]; readonly debian?: object }): Promise<void>;
  addDevice(ip: string, ports: readonly AtPort[], tenant?: TestTenant): Promise<string>;
  /** Adds many at once. */
  addDevices(devices: readonly { readonly ip: string; readonly ports: readonly AtPort[] }[]): Promise<void>;
  /** Replaces what runs at the ports of a device, as ingest does. */
  setPorts(deviceId: string, ports: readonly AtPort[], tenant?: TestTenant): Promise<void>;
  /** Matches and reports once. */
  match(): Promise<void>;
  /** Matches as `port cve confidence status counted`, with `ended` behind those that are resolved; by port and id. */
  matches(deviceId: string): Promise<readonly string[]>;
  alerts(): Promise<readonly Selectable<Schema["alerts"]>[]>;
  /** Data of events of a type, in order. */
  events(type: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  stop(): Promise<void>;
}

/** The software of OpenSSH 9.2p1, as a probe names it. */
export const OPENSSH: Partial<SoftwareColumns> = { vendor: "OpenBSD", product: "OpenSSH", product_version: "9.2p1", cpe: "cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*" };

/** Opens it; `stop` ends it. */
export async function openMatchWorld(): Promise<MatchWorld> {
  const folder = createCveFolder();
  let cve: Cve | undefined;
  const clock = createFakeClock(NOW);
  const gateway = await startTestGateway({
    alerts: true, clock,
    modules: (parts) => [(cve = openCve({ data_dir: folder.path }, { ...parts, logger: silentLog, program: [process.execPath], lease: null, shared: null }))],
  });
  const admin = await gateway.createTenant("admin");
  const { db } = gateway;
  const opened = cve as unknown as Cve;
  const setPorts: MatchWorld["setPorts"] = async (device_id, ports, { tenantId: tenant_id } = admin) => {
    const at = toInstant(clock.now());
    await db.transaction().execute(async (trx) => {
      await trx.deleteFrom("ports").where("device_id", "=", device_id).execute();
      await insertMany(trx, "ports", ports.map((port) => portRow(port, { device_id, tenant_id, at })));
      await noteSoftwareChanges(trx, [{ device_id, tenant_id, since: at }]);
    });
  };
  return {
    gateway, clock, admin, cve: opened, folder, setPorts,
    async load(cves, { kev = [], debian } = {}) {
      const files = [
        folder.write(`nvd-${createId()}.jsonl`, cves.map((one) => `${recordOf(one)}\n`).join("")),
        ...(kev.length > 0 ? [folder.write("kev.json", kevCatalog(kev))] : []), ...(debian === undefined ? [] : [folder.write("tracker.json", JSON.stringify(debian))]),
      ];
      const { feeds, state } = await importFeeds(folder.wish(...files), () => {});
      if (state !== "imported") throw new Error(JSON.stringify(feeds));
    },
    async addDevice(ip, ports, tenant = admin) {
      const id = await gateway.createDevice(tenant, { ip });
      await setPorts(id, ports, tenant);
      return id;
    },
    async addDevices(devices) {
      const { tenantId: tenant_id, siteId: site_id } = admin;
      const at = toInstant(clock.now());
      const rows = devices.map(({ ip, ports }) => ({ id: createId(), ip, ports }));
      await db.transaction().execute(async (trx) => {
        await insertMany(trx, "devices", rows.map(({ id, ip }) => ({
          id, tenant_id, site_id, ip, ip_key: addressKey(ip), mac: "", hostname: "", hostname_key: "", vendor: "", os_guess: "", device_type: "server", is_online: 1,
          presence_state: "online", first_seen: at, last_seen: at, open_ports: "[]", tags: "[]", locked_fields: "[]",
        })));
        await insertMany(trx, "ports", rows.flatMap(({ id, ports }) => ports.map((port) => portRow(port, { device_id: id, tenant_id, at }))));
        await noteSoftwareChanges(trx, rows.map(({ id }) => ({ device_id: id, tenant_id, since: at })));
      });
    },
    async match() {
      for (const job of opened.jobs ?? []) if (job.where === "loop") await job.run();
    },
    async matches(deviceId) {
      const rows = await db.selectFrom("service_software").innerJoin("cve_judgments", "cve_judgments.software_id", "service_software.software_id")
        .select(["port", "cve_id", "confidence", "status", "is_counted", "service_software.until as gone", "cve_judgments.until as ended"])
        .where("device_id", "=", deviceId).orderBy("port").orderBy("cve_id").execute();
      return rows.map(({ port, cve_id: id, confidence, status, is_counted: counted, gone, ended }) =>
        `${port} ${id} ${confidence} ${status} ${counted}${gone === null && ended === null ? "" : " ended"}`);
    },
    alerts: () => db.selectFrom("alerts").selectAll().where("source", "=", "cve").orderBy("id").execute(),
    async events(type) {
      const rows = await db.selectFrom("events").select("data").where("type", "=", type).orderBy("seq").execute();
      return rows.map(({ data }) => JSON.parse(data) as Readonly<Record<string, unknown>>);
    },
    async stop() {
      await gateway.stop();
      await opened.close?.();
      folder.remove();
    },
  };
}

function portRow({ port, ...software }: AtPort, { device_id, tenant_id, at }: { readonly device_id: string; readonly tenant_id: string; readonly at: string }) {
  return {
    device_id, tenant_id, port, protocol: "tcp", state: "open", service: "service", version: "", banner: "", last_scanned: at, ...NO_SOFTWARE, ...software,
  };
}

/** A record in NVD's form. */
function recordOf({ id, product, before, score = 5, modified = "2026-01-01T00:00:00.000", isRejected = false, platform }: BeforeCve): string {
  const { cve } = nvdRecord({ id, score, modified, isRejected }) as { readonly cve: object };
  const match = { vulnerable: true, criteria: `cpe:2.3:${product}:*:*:*:*:*:*:*:*`, versionEndExcluding: before };
  const nodes = [
    { operator: "OR", negate: false, cpeMatch: [match] }, ...(platform === undefined ? [] : [{ operator: "OR", negate: false, cpeMatch: [{ vulnerable: false, criteria: platform }] }]),
  ];
  return JSON.stringify({ cve: { ...cve, ...(!isRejected && { configurations: [{ ...(platform !== undefined && { operator: "AND" }), nodes }] }) } });
}

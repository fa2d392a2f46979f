import type { EventData, ProbeEvent, Software } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProbeAddress } from "../broker/broker.ts";
import { settleChanges, waitingChanges } from "../software/changes-store.ts";
import { loadRecord } from "../identity/record-store.ts";
import { createIngestBench, hostState, type IngestBench } from "./testing/bench.ts";
import { MAX_DEVICE_SOFTWARE } from "./working-set/host-software.ts";

let bench: IngestBench;
let probe: ProbeAddress;
let queueId = "";
let after = 0;
const T0 = Date.UTC(2026, 10, 20, 11);
const at = (seconds: number) => toInstant(T0 + seconds * 1000);
const A = { ip: "192.0.2.10", mac: "00:1b:21:00:00:01", hostname: "alpha" };
const B = { ip: "192.0.2.11", mac: "00:1b:21:00:00:02", hostname: "beta" };
const OPENSSH: Software = {
  vendor: "OpenBSD", product: "OpenSSH", version: "9.2p1", edition: "", distribution: "Debian 12", package_version: "1:9.2p1-2+deb12u3",
  cpe: "cpe:2.3:a:openbsd:openssh:9.2:p1:*:*:*:*:*:*", confidence: 0.9,
};

const send = async (...events: ProbeEvent[]) => {
  const ack = await bench.sendBatch(probe, queueId, after, events);
  after += events.length;
  expect(ack).toMatchObject({ watermark: after, refused: null });
};
const found = (host: typeof A): ProbeEvent => ({ type: "host_found", occurred_at: at(0), data: hostState(host, at(0)) });
const port = (seconds: number, software: Software | null | undefined, rest: Partial<EventData<"port_found">> = {}): ProbeEvent => ({
  type: "port_found", occurred_at: at(seconds), data: {
    ip: A.ip, mac: A.mac, port: 22, protocol: "tcp", state: "open", service: "ssh", version: "OpenSSH 9.2p1", banner: "", scan_id: null, ...rest,
    ...(software === undefined ? {} : { software }),
  },
});
const system = (source: string, product: string, version: string) => ({ ...OPENSSH, vendor: "", product, version, distribution: "", package_version: "", cpe: "", source });
const host = (seconds: number, software: EventData<"host_software">["software"], of = A): ProbeEvent =>
  ({ type: "host_software", occurred_at: at(seconds), data: { ip: of.ip, mac: of.mac, software } });
const ports = () => bench.database.db.selectFrom("ports").selectAll().orderBy("port").execute();
const rows = () => bench.database.db.selectFrom("device_software").selectAll().orderBy("source").orderBy("product").execute();
/** Takes in what has changed. @returns How many devices that are. */
const drain = async () => {
  const changes = await waitingChanges(bench.database.reads, 100);
  return (await bench.database.db.transaction().execute((trx) => settleChanges(trx, changes))).size;
};

beforeEach(async () => {
  bench = await createIngestBench();
  probe = await bench.addProbe();
  queueId = createId();
  after = 0;
  await send(found(A), found(B));
});
afterEach(() => bench.close());

describe("a port's software", () => {
  test("is kept with its build and CPE, and its device waits to be taken in, once", async () => {
    await send(port(1, undefined, { service: "", version: "" }), port(2, OPENSSH), port(2, OPENSSH, { port: 2222 }));
    expect(await ports()).toMatchObject([22, 2222].map((number) => ({
      port: number, vendor: "OpenBSD", product: "OpenSSH", product_version: "9.2p1", distribution: "Debian 12", package_version: "1:9.2p1-2+deb12u3",
      cpe: OPENSSH.cpe, cpe_key: "a:openbsd:openssh", software_confidence: 0.9, version: "OpenSSH 9.2p1",
    })));
    const [change, ...others] = await waitingChanges(bench.database.reads, 100);
    expect([change?.since, others]).toEqual([at(2), []]);
  });

  test("stays while a scan has not asked the port again, and is no news when it is the same", async () => {
    await send(port(1, OPENSSH));
    expect(await drain()).toBe(1);
    await send(port(10, undefined, { service: "", version: "" }));
    await send(port(11, { ...OPENSSH, confidence: 0.5 }));
    expect([await drain(), (await ports()).map(({ product, software_confidence: sure }) => [product, sure])]).toEqual([0, [["OpenSSH", 0.5]]]);
  });

  test.each<[string, ProbeEvent, string]>([
    ["is upgraded", port(10, { ...OPENSSH, package_version: "1:9.2p1-2+deb12u4" }), "OpenSSH"], ["is not named any more", port(10, null), ""],
    ["is named by an older probe", port(10, undefined), ""], ["is closed", port(10, undefined, { state: "closed", service: "", version: "" }), ""],
  ])("that %s is news", async (_, event, product) => {
    await send(port(1, OPENSSH));
    await drain();
    await send(event);
    expect([await drain(), (await ports())[0]?.product]).toEqual([1, product]);
  });

  test("that was seen earlier changes nothing", async () => {
    await send(port(100, OPENSSH));
    await drain();
    await send(port(1, { ...OPENSSH, version: "8.0" }));
    expect([await drain(), (await ports())[0]?.product_version]).toEqual([0, "9.2p1"]);
  });
});

describe("a host's own software", () => {
  test("is kept by its source, which says all that it knows at once", async () => {
    await send(host(1, [system("ssh:22", "Debian", "11"), system("snmp:161", "Linux", "5.10")]));
    await send(host(2, [system("ssh:22", "Debian", "12")]), host(3, [system("snmp:161", "Junos", "12.3")]));
    expect((await rows()).map(({ source, product, product_version: version, first_seen: first, last_seen: last }) => [source, product, version, first, last]))
      .toEqual([["snmp:161", "Junos", "12.3", at(3), at(3)], ["ssh:22", "Debian", "12", at(1), at(2)]]);
    expect([await drain(), await drain()]).toEqual([1, 0]);
    await send(host(4, [system("ssh:22", "Debian", "12")]), host(1, [system("snmp:161", "IOS", "15")]));
    expect([await drain(), (await rows()).map(({ product }) => product)]).toEqual([0, ["Junos", "Debian"]]);
  });

  test("is read from what it announces to its neighbors", async () => {
    await send({
      type: "neighbor_discovered", occurred_at: at(1), data: {
        protocol: "cdp", local_interface: "eth0", chassis_id: A.mac, chassis_id_type: "mac", port_id: "Gi1", port_description: "", system_name: "sw",
        system_description: "Cisco IOS Software, C2960 Software (C2960-LANBASEK9-M), Version 15.0(2)SE4, RELEASE SOFTWARE (fc1)",
        capabilities: [], management_addresses: [], vlan_ids: [], ttl_seconds: 120, changed: [],
      } as unknown as EventData<"neighbor_discovered">,
    });
    expect(await rows()).toMatchObject([{ source: "cdp", vendor: "Cisco", product: "Cisco IOS", product_version: "15.0(2)SE4", cpe_key: "o:cisco:ios" }]);
  });

  test("does not grow: a probe that makes up sources leaves as many as a device may have, the latest", async () => {
    for (let round = 0; round < 20; round += 1) {
      await send(host(round, Array.from({ length: 16 }, (_, index) => system(`made-up-${round}:${index}`, `p${index}`, "1"))));
    }
    expect(new Set((await rows()).map(({ last_seen: last }) => last))).toEqual(new Set([at(16), at(17), at(18), at(19)]));
    expect((await rows()).length).toBe(MAX_DEVICE_SOFTWARE);
  });
});

describe("the queue of changes", () => {
  test("keeps what changes while it is taken in", async () => {
    await send(port(1, OPENSSH));
    const changes = await waitingChanges(bench.database.reads, 100);
    await send(port(2, { ...OPENSSH, version: "9.3p1" }));
    expect(await bench.database.db.transaction().execute((trx) => settleChanges(trx, changes))).toEqual(new Set());
    expect((await waitingChanges(bench.database.reads, 100)).map(({ since }) => since)).toEqual([at(1)]);
    expect(await drain()).toBe(1);
  });

  test("has both devices of a merge that is undone, with their software", async () => {
    await send(port(1, OPENSSH), host(1, [system("ssh:22", "Debian", "12")]), host(2, [system("ssh:22", "Ubuntu", "22.04")], B));
    const [kept = "", merged = ""] = (await bench.database.db.selectFrom("devices").select("id").orderBy("ip_key").execute()).map(({ id }) => id);
    await drain();
    const by = { type: "user", id: "u", name: "ann", tenantId: bench.tenantId, address: "" } as const;
    await bench.database.db.transaction().execute(async (trx) => {
      const [one, other] = [await loadRecord(trx, kept), await loadRecord(trx, merged)];
      if (one && other) await bench.merges.merge(trx, { kept: one, merged: other }, { by, reasons: [] });
    });
    expect((await rows()).map(({ device_id: id, product }) => [id, product])).toEqual([[kept, "Debian"], [kept, "Ubuntu"]]);
    expect(await drain()).toBe(1);
    const merge = await bench.database.db.selectFrom("device_merges").selectAll().executeTakeFirstOrThrow();
    await bench.database.db.transaction().execute(async (trx) => {
      const record = await loadRecord(trx, kept);
      if (record) await bench.merges.undo(trx, record, merge, by);
    });
    expect((await rows()).map(({ device_id: id, product }) => [id, product])).toEqual([[kept, "Debian"], [merged, "Ubuntu"]]);
    expect(await drain()).toBe(2);
  });
});

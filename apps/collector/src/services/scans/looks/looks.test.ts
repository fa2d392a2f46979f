import type { Scan } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createScansBench, type FakeProbe, type ScansBench } from "../testing/bench.ts";

let bench: ScansBench;
let probe: FakeProbe;
beforeEach(async () => {
  bench = await createScansBench();
  probe = await bench.addProbe({ networks: ["192.0.2.0/24", "2001:db8::/64"] });
});
afterEach(() => bench.stop());

type Told = Parameters<ScansBench["tell"]>[1];
const ASKED = { tcp: "22,80,443,1000-1010", udp: "53,161" };
const A = { ip: "192.0.2.9", mac: "02:00:00:00:00:09" };
const none = { open: 0, closed: 0, filtered: 0, "open|filtered": 0 };
const counts = (tcp: Partial<typeof none>, udp: Partial<typeof none> = {}) => ({ tcp: { ...none, ...tcp }, udp: { ...none, ...udp } });
const head = (scan: Scan) => ({ scan_id: scan.id, target: scan.target, profile: scan.profile });
const data = (type: Told["type"], body: object): Told => ({ type, data: body });

const found = (host = A, addresses = [host.ip]) => data("host_found", { ...host, hostname: "", vendor: "", addresses, evidence: [] });
const started = (scan: Scan, ports: object | null = ASKED) => data("scan_started", { ...head(scan), hosts_total: 1, ...(ports && { ports }) });
const open = (scan: Scan | null, port: number, { host = A, protocol = "tcp" } = {}) =>
  data("port_found", { ...host, port, protocol, state: "open", service: "ssh", version: "1", banner: "b", scan_id: scan?.id ?? null });
const results = (scan: Scan, portCounts: object | undefined, host = A) =>
  data("scan_results", { scan_id: scan.id, hosts: [{ ...host, ...(portCounts && { port_counts: portCounts }) }] });
const ended = (scan: Scan, type: "scan_complete" | "scan_cancelled" = "scan_complete") =>
  data(type, { ...head(scan), hosts_total: 1, hosts_up: 1, ports_open: 0, duration_seconds: 1 });

/** Runs a scan of the site, a minute after what was before; what it tells comes a second after its start. */
async function scanned(tell: (scan: Scan) => readonly Told[], { target = "192.0.2.0/24", ports = ASKED }: {
  readonly target?: string; readonly ports?: typeof ASKED | null;
} = {}): Promise<Scan> {
  await bench.clock.advance(60_000);
  const scan = await bench.started({ target, profile: "standard" });
  await bench.tell(probe, started(scan, ports));
  await bench.clock.advance(1000);
  await bench.tell(probe, ...tell(scan));
  await bench.tell(probe, ended(scan));
  return scan;
}
const ports = async () => Object.fromEntries((await bench.server.db.selectFrom("ports").select(["port", "protocol", "state"]).execute())
  .map(({ port, protocol, state }) => [`${port}/${protocol}`, state]));
const openPorts = async () => (await bench.server.db.selectFrom("devices").select("open_ports").orderBy("ip_key").execute())
  .map((row) => row.open_ports);
const looks = () => bench.server.db.selectFrom("port_looks").innerJoin("port_scopes", "port_scopes.id", "port_looks.scope_id")
  .select(["tcp", "udp", "looked_at", "scan_id"]).orderBy("tcp").execute();

/** 22, 80 and 8080 over TCP and 53 over UDP are open; 8080 is not among the ports that are asked. */
const firstScan = () => scanned((scan) => [
  found(), open(scan, 22), open(scan, 80), open(scan, 8080), open(scan, 53, { protocol: "udp" }),
  results(scan, counts({ open: 2, closed: 12 }, { open: 1, closed: 1 })),
]);
const BEFORE = { "22/tcp": "open", "80/tcp": "open", "8080/tcp": "open", "53/udp": "open" };

describe("a look at a device's ports", () => {
  test("is kept with the ports that the scan asked, and the latest one counts", async () => {
    const first = await firstScan();
    expect(await looks()).toEqual([{ ...ASKED, looked_at: bench.now(), scan_id: first.id }]);
    const second = await scanned((scan) => [open(scan, 22), open(scan, 80), results(scan, counts({ open: 2, closed: 12 }))]);
    expect(await looks()).toEqual([{ ...ASKED, looked_at: bench.now(), scan_id: second.id }]);
    await scanned((scan) => [results(scan, counts({ closed: 1 }))], { ports: { tcp: "3389", udp: "" } });
    expect((await looks()).map(({ tcp, udp }) => [tcp, udp])).toEqual([[ASKED.tcp, ASKED.udp], ["3389", ""]]);
  });

  test("closes the ports that it asked and did not find open, with the time and the device's list, and publishes each", async () => {
    await firstScan();
    const scan = await scanned((own) => [open(own, 22), results(own, counts({ open: 1, closed: 13 }, { "open|filtered": 2 }))]);
    expect(await ports()).toEqual({ ...BEFORE, "80/tcp": "closed" });
    expect(await openPorts()).toEqual(["[22,53,8080]"]);
    const [port] = await bench.server.db.selectFrom("ports").selectAll().where("port", "=", 80).execute();
    expect(port).toMatchObject({ state: "closed", service: "", version: "", banner: "", last_scanned: bench.now() });
    const logged = await bench.server.db.selectFrom("events").selectAll().where("type", "=", "port_found").where("queue_id", "is", null).execute();
    expect(logged).toMatchObject([{ device_id: port?.device_id, probe_id: probe.probeId, occurred_at: bench.now() }]);
    expect(JSON.parse(logged[0]?.data ?? "")).toEqual({
      ...A, port: 80, protocol: "tcp", state: "closed", service: "", version: "", banner: "", scan_id: scan.id,
    });
    expect((await bench.results(scan.id)).data[0]?.ports.map(({ port: number }) => number)).toEqual([22]);
  });

  test("keeps a number in the device's list that is still open over the other protocol", async () => {
    await scanned((scan) => [
      found(), open(scan, 53), open(scan, 53, { protocol: "udp" }), results(scan, counts({ open: 1, closed: 1 }, { open: 1 })),
    ], { ports: { tcp: "53,80", udp: "53" } });
    await scanned((scan) => [results(scan, counts({ closed: 2 }, { "open|filtered": 1 }))], { ports: { tcp: "53,80", udp: "53" } });
    expect([await ports(), await openPorts()]).toEqual([{ "53/tcp": "closed", "53/udp": "open" }, ["[53]"]]);
  });

  test("closes UDP ports only where each that was asked has answered or refused", async () => {
    await firstScan();
    const tell = (udp: Partial<typeof none>) => scanned((scan) => [open(scan, 22), open(scan, 80), results(scan, counts({ open: 2, closed: 12 }, udp))]);
    await tell({ closed: 1, "open|filtered": 1 });
    expect(await ports()).toEqual(BEFORE);
    await tell({ closed: 1, filtered: 1 });
    expect(await ports()).toEqual(BEFORE);
    await tell({ closed: 2 });
    expect(await ports()).toEqual({ ...BEFORE, "53/udp": "closed" });
  });

  test.each<[string, (scan: Scan) => readonly Told[]]>([
    ["a host that did not answer", () => []],
    ["a host that answered the search alone", (scan) => [results(scan, undefined)]],
    ["a host all of whose ports are silent", (scan) => [results(scan, counts({ filtered: 14 }))]],
    ["a tarpit", (scan) => [
      data("scan_remark", { code: "tarpit", message: "m", scan_id: scan.id, ...A, addresses: 1 }), results(scan, counts({ open: 14 })),
    ]],
    ["counts of other ports than it said", (scan) => [open(scan, 22), results(scan, counts({ open: 1, closed: 12 }))]],
    ["open ports of which some were lost on the way", (scan) => [open(scan, 22), results(scan, counts({ open: 2, closed: 12 }))]],
    ["a scan that was cancelled", (scan) => [open(scan, 22), ended(scan, "scan_cancelled")]],
    ["a host outside the target", (scan) => [results(scan, counts({ closed: 14 }), { ip: "192.0.3.9", mac: A.mac })]],
  ])("is not taken from %s", async (_, tell) => {
    const first = await firstScan();
    await scanned(tell);
    expect(await ports()).toEqual(BEFORE);
    expect(await looks()).toMatchObject([{ scan_id: first.id }]);
  });

  test("is not taken from a probe that does not report what it asks, nor from another probe's word", async () => {
    const first = await firstScan();
    await scanned((scan) => [results(scan, counts({ closed: 14 }))], { ports: null });
    const other = await bench.addProbe();
    await bench.clock.advance(60_000);
    const scan = await bench.started({ target: "192.0.2.0/24", profile: "standard" });
    await bench.tell(other, started(scan), results(scan, counts({ closed: 14 })));
    expect(await ports()).toEqual(BEFORE);
    expect(await looks()).toMatchObject([{ scan_id: first.id }]);
  });

  test("of a host without a MAC is of the device that has its address", async () => {
    const host = { ip: "192.0.2.77", mac: "" };
    await scanned((scan) => [found(host), open(scan, 22, { host }), results(scan, counts({ open: 1, closed: 13 }), host)]);
    await scanned((scan) => [results(scan, counts({ closed: 14 }), host)]);
    expect([await ports(), (await looks()).length]).toEqual([{ "22/tcp": "closed" }, 1]);
  });

  test("needs all IPv4 addresses of the device: a service may listen at one of them", async () => {
    const [one, two] = [A, { ip: "192.0.2.10", mac: A.mac }];
    const six = { ip: "2001:db8::9", mac: A.mac };
    await scanned((scan) => [
      found(one, [one.ip, two.ip, six.ip]), open(scan, 22, { host: two }), results(scan, counts({ closed: 14 }), one),
      results(scan, counts({ open: 1, closed: 13 }), two),
    ]);
    expect(await looks()).toHaveLength(1);
    await scanned((scan) => [results(scan, counts({ closed: 14 }), one)]);
    await scanned((scan) => [results(scan, counts({ closed: 14 }), six)], { target: "2001:db8::/64" });
    expect(await ports()).toEqual({ "22/tcp": "open" });
    // In two batches: the second one completes it.
    await bench.clock.advance(60_000);
    const scan = await bench.started({ target: "192.0.2.0/24", profile: "standard" });
    await bench.tell(probe, started(scan), results(scan, counts({ closed: 14 }), one));
    expect(await ports()).toEqual({ "22/tcp": "open" });
    await bench.tell(probe, results(scan, counts({ closed: 14 }), two));
    expect([await ports(), (await looks())[0]?.scan_id]).toEqual([{ "22/tcp": "closed" }, scan.id]);
  });

  test("of a device without IPv4 is taken from one of its addresses", async () => {
    const six = { ip: "2001:db8::9", mac: A.mac };
    const target = "2001:db8::/64";
    await scanned((scan) => [found(six, [six.ip, "fe80::9"]), open(scan, 22, { host: six }), results(scan, counts({ open: 1, closed: 13 }), six)], { target });
    await scanned((scan) => [results(scan, counts({ closed: 14 }), six)], { target });
    expect([await ports(), (await looks()).length]).toEqual([{ "22/tcp": "closed" }, 1]);
  });

  test("goes with its device", async () => {
    await firstScan();
    await bench.server.db.deleteFrom("devices").execute();
    expect(await bench.server.db.selectFrom("port_looks").selectAll().execute()).toEqual([]);
  });
});

describe("what comes late", () => {
  test("of a port that a later look found closed opens it no more, and a later sighting does", async () => {
    await firstScan();
    const early = bench.now();
    await scanned((scan) => [open(scan, 22), results(scan, counts({ open: 1, closed: 13 }))]);
    await bench.tell(probe, { ...open(null, 80), occurred_at: early } as Told);
    expect([await ports(), await openPorts()]).toEqual([{ ...BEFORE, "80/tcp": "closed" }, ["[22,53,8080]"]]);
    await bench.clock.advance(1000);
    await bench.tell(probe, open(null, 80));
    expect([await ports(), await openPorts()]).toEqual([BEFORE, ["[22,53,80,8080]"]]);
  });

  test("of the look itself closes nothing that was seen open since the scan began", async () => {
    await firstScan();
    await bench.clock.advance(60_000);
    const scan = await bench.started({ target: "192.0.2.0/24", profile: "standard" });
    await bench.tell(probe, started(scan));
    await bench.clock.advance(1000);
    await bench.tell(probe, open(null, 80));
    await bench.clock.advance(1000);
    await bench.tell(probe, open(scan, 22), results(scan, counts({ open: 1, closed: 13 })));
    expect(await ports()).toEqual(BEFORE);
  });
});

describe("a hostile probe", () => {
  test("makes one list of ports for each scan, and a site keeps sixteen, the latest, with the looks by them", async () => {
    await scanned((scan) => [found(), started(scan, { tcp: "1", udp: "" }), started(scan, { tcp: "2", udp: "" }), results(scan, counts({ closed: 14 }))]);
    expect((await looks()).map(({ tcp }) => tcp)).toEqual([ASKED.tcp]);
    for (let port = 1; port <= 20; port += 1) {
      await scanned((scan) => [results(scan, counts({ closed: 1 }))], { ports: { tcp: `${port}`, udp: "" } });
    }
    const scopes = await bench.server.db.selectFrom("port_scopes").select("tcp").execute();
    expect(scopes.map(({ tcp }) => Number(tcp)).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, index) => index + 5));
    expect(await bench.server.db.selectFrom("port_looks").select("scope_id").execute()).toHaveLength(16);
  });

  test("that reports lists which are too long or no ports is not read", async () => {
    const before = await bench.server.db.selectFrom("rejected_events").selectAll().execute();
    for (const tcp of [`1${",22222".repeat(1500)}`, "80,22", "70000", "22;drop"]) await scanned(() => [], { ports: { tcp, udp: "" } });
    expect([before.length, (await bench.server.db.selectFrom("rejected_events").selectAll().execute()).length]).toEqual([0, 4]);
    expect(await bench.server.db.selectFrom("port_scopes").selectAll().execute()).toEqual([]);
  });

  test("has no more than five thousand ports closed at once, and devices beyond them get no look", async () => {
    const hosts = [10, 11].map((last) => ({ ip: `192.0.2.${last}`, mac: `02:00:00:00:00:${last}` }));
    const asked = { ports: { tcp: "1-65535", udp: "" } };
    await scanned(() => hosts.map((host) => found(host)));
    const devices = await bench.server.db.selectFrom("devices").select(["id", "tenant_id"]).orderBy("id").execute();
    const early = toInstant(bench.clock.now());
    for (const { id, tenant_id } of devices) {
      const rows = Array.from({ length: 3000 }, (_, index) => ({
        device_id: id, tenant_id, port: index + 1, protocol: "tcp", state: "open", service: "", version: "", banner: "", last_scanned: early,
      }));
      for (let from = 0; from < rows.length; from += 500) await bench.server.db.insertInto("ports").values(rows.slice(from, from + 500)).execute();
    }
    const closed = async () => (await bench.server.db.selectFrom("ports").select("device_id").where("state", "=", "closed").execute())
      .map(({ device_id }) => device_id);
    const all = (scan: Scan) => hosts.map((host) => results(scan, counts({ closed: 65_535 }), host));
    await scanned(all, asked);
    expect([new Set(await closed()), (await closed()).length, (await looks()).length]).toEqual([new Set([devices[0]?.id]), 3000, 1]);
    await scanned(all, asked);
    expect([(await closed()).length, (await looks()).length]).toEqual([6000, 2]);
  });
});

import { listEnvelope, Scan, ScanProfile } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createScansBench, type FakeProbe, type ScansBench } from "./testing/bench.ts";

let bench: ScansBench;
beforeEach(async () => void (bench = await createScansBench()));
afterEach(() => bench.stop());

const target = "192.0.2.0/24";
const order = { target, profile: "discovery" };
const counts = { hosts_total: 254, hosts_up: 3, ports_open: 0 };
const head = (scan: Scan) => ({ scan_id: scan.id, target: scan.target, profile: scan.profile });
const complete = (scan: Scan) => ({ type: "scan_complete", data: { ...head(scan), ...counts, duration_seconds: 12.5 } }) as const;
const commandOf = (index = 0) => bench.sent("scan_start")[index]?.id ?? "";

describe("a scan", () => {
  let probe: FakeProbe;
  beforeEach(async () => void (probe = await bench.addProbe()));

  test("is queued, sent to the probe with an expiry and what the site excludes, and audited", async () => {
    await bench.server.db.updateTable("sites").set({ probe_configuration: JSON.stringify({ excluded: ["192.0.2.7"] }) }).execute();
    const answer = await bench.start({ target: "192.0.2.9/24", profile: "gentle" });
    expect([answer.status, answer.headers.get("location")]).toEqual([202, `/api/v1/scans/${Scan.parse(answer.body).id}`]);
    expect(answer.body).toEqual({
      id: expect.any(String), tenant_id: bench.tenant.tenantId, site_id: bench.tenant.siteId, probe_id: probe.probeId, target,
      profile: "gentle",
      status: "queued", progress: 0, requested_by: bench.tenant.username, created_at: bench.now(), started_at: null, finished_at: null,
      hosts_total: 0, hosts_up: 0, ports_open: 0, error: null, remarks: [],
    });
    const scan = Scan.parse(answer.body);
    expect(bench.commands).toEqual([{
      probeId: probe.probeId,
      command: {
        v: 1, id: expect.any(String), type: "scan_start", issued_at: bench.now(), expires_at: "2026-06-01T00:00:30.000Z",
        data: { ...head(scan), excluded: ["192.0.2.7"] },
      },
    }]);
    expect(await bench.server.db.selectFrom("audit").select(["action", "target_id", "actor_name"]).execute()).toEqual([
      { action: "scan.start", target_id: scan.id, actor_name: bench.tenant.username },
    ]);
  });

  test("runs when the probe has answered, goes on as the probe says, and completes", async () => {
    const scan = await bench.started(order);
    await bench.clock.advance(1000);
    await bench.reply(probe, commandOf());
    expect(await bench.read(scan.id)).toMatchObject({ status: "running", started_at: bench.now(), hosts_total: 254, progress: 0 });
    await bench.tell(probe, { type: "scan_started", data: { ...head(scan), hosts_total: 253 } });
    await bench.tell(probe, { type: "scan_progress", data: { ...head(scan), progress: 0.5, ...counts } });
    expect(await bench.read(scan.id)).toMatchObject({ status: "running", progress: 0.5, hosts_total: 254, hosts_up: 3 });
    await bench.clock.advance(11_000);
    await bench.tell(probe, complete(scan));
    expect(await bench.read(scan.id)).toMatchObject({
      status: "completed", progress: 1, finished_at: bench.now(), started_at: "2026-06-01T00:00:01.000Z", error: null,
    });
    expect(await bench.logged()).toEqual(["scan_started", "scan_progress", "scan_complete"]);
  });

  test("counts results that arrive after its end, too", async () => {
    const scan = await bench.started(order);
    await bench.reply(probe, commandOf());
    await bench.tell(probe, complete(scan));
    const before = await bench.read(scan.id);
    const hosts = Array.from({ length: before.hosts_up + 1 }, (_, index) => ({ ip: `192.0.2.${100 + index}`, mac: "" }));
    const port = {
      ip: "192.0.2.100", mac: "", port: 22, protocol: "tcp", state: "open", service: "", version: "", banner: "", scan_id: scan.id,
    };
    await bench.tell(probe, { type: "scan_results", data: { scan_id: scan.id, hosts } }, { type: "port_found", data: port });
    expect(await bench.read(scan.id)).toEqual({ ...before, hosts_up: hosts.length, ports_open: Math.max(before.ports_open, 1) });
  });

  test("whose probe answers late, but has begun by its own word, runs all the same", async () => {
    const scan = await bench.started(order);
    await bench.tell(probe, { type: "scan_started", data: { ...head(scan), hosts_total: 254 } });
    expect((await bench.read(scan.id)).status).toBe("running");
    await bench.clock.advance(60_000);
    expect((await bench.read(scan.id)).status).toBe("running");
  });

  test("that the probe refuses fails with the probe's reason, and is published as failed", async () => {
    const scan = await bench.started(order);
    await bench.reply(probe, commandOf(), "this probe has no scan engine for the profile full");
    expect(await bench.read(scan.id)).toMatchObject({
      status: "failed", error: "this probe has no scan engine for the profile full", finished_at: bench.now(), started_at: null,
    });
    expect(await bench.logged()).toEqual(["scan_failed"]);
    expect((await bench.server.get("/api/v1/alerts?type=scan_failed", bench.tenant.token)).body).toMatchObject({
      data: [{ status: "open", source: "scan" }],
    });
    const again = await bench.started(order);
    await bench.tell(probe, complete(again));
    expect((await bench.server.get("/api/v1/alerts?type=scan_failed", bench.tenant.token)).body).toMatchObject({
      data: [{ status: "resolved" }],
    });
  });

  test("tells what answered, with the devices that these are, also while it runs", async () => {
    const scan = await bench.started(order);
    const macs = ["02:00:00:00:00:10", "02:00:00:00:00:09", ""];
    const hosts = ["192.0.2.10", "192.0.2.9", "192.0.2.100"].map((ip, index) => ({ ip, mac: macs[index] ?? "" }));
    await bench.tell(
      probe,
      { type: "host_found", data: { ip: "192.0.2.9", mac: macs[1], hostname: "nine", vendor: "", addresses: ["192.0.2.9"], evidence: [] } },
      { type: "scan_results", data: { scan_id: scan.id, hosts } },
      { type: "scan_results", data: { scan_id: scan.id, hosts: hosts.slice(0, 1) } },
      ...[443, 22, 22].map((port) => ({
        type: "port_found" as const,
        data: {
          ip: "192.0.2.9", mac: macs[1], port, protocol: "tcp", state: "open", service: "s", version: "", banner: `${port}`,
          scan_id: scan.id,
        },
      })),
      {
        type: "port_found",
        data: {
          ip: "192.0.2.9", mac: macs[1], port: 80, protocol: "tcp", state: "open", service: "", version: "", banner: "", scan_id: null,
        },
      },
    );
    const device = await bench.server.db.selectFrom("devices").select("id").executeTakeFirstOrThrow();
    const ports = [22, 443].map((port) => ({ port, protocol: "tcp", state: "open", service: "s", version: "", banner: `${port}` }));
    const { data, meta } = await bench.results(scan.id);
    expect(data).toEqual([
      { ip: "192.0.2.9", mac: macs[1], device_id: device.id, hostname: "nine", seen_at: bench.now(), port_counts: null, ports },
      { ip: "192.0.2.10", mac: macs[0], device_id: null, hostname: "", seen_at: bench.now(), port_counts: null, ports: [] },
      { ip: "192.0.2.100", mac: "", device_id: null, hostname: "", seen_at: bench.now(), port_counts: null, ports: [] },
    ]);
    expect(meta.total).toBe(3);
    const first = await bench.results(scan.id, "?per_page=2");
    const rest = await bench.results(scan.id, `?per_page=2&cursor=${first.meta.next_cursor}`);
    expect([...first.data, ...rest.data].map(({ ip }) => ip)).toEqual(["192.0.2.9", "192.0.2.10", "192.0.2.100"]);
    expect((await bench.server.get(`/api/v1/scans/${scan.id}/results?cursor=x`, bench.tenant.token)).status).toBe(400);
  });

  test("keeps how many ports of a host are in which state, and what answers for hosts that are not there", async () => {
    const scan = await bench.started(order);
    const none = { open: 0, closed: 0, filtered: 0, "open|filtered": 0 };
    const port_counts = { tcp: { ...none, open: 2, closed: 98 }, udp: none };
    const remark = { code: "proxy-arp", message: "answers for 100 addresses", ip: "", mac: "02:00:00:00:00:01", addresses: 100 } as const;
    const host = { ip: "192.0.2.9", mac: "" };
    await bench.tell(probe, { type: "scan_results", data: { scan_id: scan.id, hosts: [host, { ...host, port_counts }] } });
    // A second remark on the same device replaces the first, and a host that is reported again without counts keeps them.
    for (const addresses of [100, 254]) await bench.tell(probe, { type: "scan_remark", data: { ...remark, addresses, scan_id: scan.id } });
    await bench.tell(probe, { type: "scan_results", data: { scan_id: scan.id, hosts: [host] } });
    expect((await bench.results(scan.id)).data).toMatchObject([{ ip: "192.0.2.9", port_counts }]);
    expect((await bench.read(scan.id)).remarks).toEqual([{ ...remark, addresses: 254 }]);
  });

  test("is not what another probe says of it", async () => {
    const scan = await bench.started(order);
    const other = await bench.addProbe();
    await bench.tell(other, complete(scan), { type: "scan_results", data: { scan_id: scan.id, hosts: [{ ip: "192.0.2.9", mac: "" }] } });
    await bench.reply(other, commandOf(), "no");
    expect((await bench.read(scan.id)).status).toBe("queued");
    expect((await bench.results(scan.id)).data).toEqual([]);
  });
});

describe("a target", () => {
  beforeEach(async () => void (await bench.addProbe({ networks: ["192.0.2.0/24", "fe80::/64", "10.1.0.0/16", "10.2.0.0/15"] })));

  test.each([
    ["192.0.2.0/24", 202], ["192.0.2.128/25", 202], ["192.0.2.7", 202], ["10.1.0.0/16", 202], ["::ffff:192.0.2.8/127", 202],
    ["fe80::/112", 202], ["fe80::/64", 202], ["fe80::/10", 403], ["fd00::/8", 400], ["fd00:1::/64", 403],
    ["10.2.0.0/15", 400], ["0.0.0.0/0", 400], ["192.0.2.0/33", 400], ["192.0.2.0", 202], ["store", 400], ["", 400],
    ["192.0.2.0/24;", 400],
    ["192.0.3.0/24", 403], ["192.0.2.0/23", 403], ["127.0.0.1", 403], ["169.254.169.254", 403],
  ])("%s is answered %i", async (text, status) => {
    expect((await bench.start({ ...order, target: text })).status).toBe(status);
  });

  test("beyond the probe's own subnets needs the site's settings", async () => {
    const refused = await bench.start({ ...order, target: "198.51.100.0/24" });
    expect([refused.error.code, refused.error.details]).toEqual([
      "FORBIDDEN", { allowed: ["192.0.2.0/24", "fe80::/64", "10.1.0.0/16", "10.2.0.0/15"] },
    ]);
    await bench.server.db.updateTable("sites").set({ scan_networks: '["198.51.100.0/22"]' }).execute();
    expect((await bench.start({ ...order, target: "198.51.100.0/24" })).status).toBe(202);
  });

  test("that overlaps one of a scan that has not ended is a conflict, at its site only", async () => {
    const scan = await bench.started({ ...order, target: "192.0.2.64/26" });
    for (const overlapping of ["192.0.2.0/24", "192.0.2.64/26", "192.0.2.100", "192.0.2.127/32"]) {
      const answer = await bench.start({ ...order, target: overlapping });
      expect([overlapping, answer.error.code, answer.error.details]).toEqual([overlapping, "CONFLICT", { scan_id: scan.id }]);
    }
    await bench.started({ ...order, target: "192.0.2.128/25" });
    await bench.cancel(scan.id);
    await bench.started({ ...order, target: "192.0.2.64/26" });
    const other = await bench.server.createTenant("operator");
    await bench.addProbe({ at: other });
    expect((await bench.start(order, other)).status).toBe(202);
  });

  test("asked for twice at the same moment is scanned once", async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => bench.start(order)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409, 409, 409]);
  });

  test.each([
    { target }, { profile: "gentle" }, { target, profile: "fast" }, { target, profile: "constructor" }, { target: 7, profile: "gentle" },
    { ...order, ports: [1] },
  ])(
    "cannot be changed by %j", async (body) => {
      expect((await bench.start(body)).error.code).toBe("BAD_REQUEST");
      expect(bench.commands).toEqual([]);
    });
});

describe("the probe for a scan", () => {
  const reason = async (body: object = order) => {
    const { status, error } = await bench.start(body);
    return [status, (error.details as { reason: string }).reason];
  };

  test("must be there: else 503 with the reason, and nothing is queued", async () => {
    expect(await reason()).toEqual([503, "the site has no probe"]);
    const probe = await bench.addProbe({ silent: true });
    await bench.server.db.updateTable("sites").set({ scan_networks: `["${target}"]` }).execute();
    expect(await reason()).toEqual([503, "the probe store-12 has never connected"]);
    await bench.connect(probe);
    await bench.clock.advance(100_000);
    expect((await reason())[1]).toMatch(/^the probe store-12 is silent since 2026-06-01T00:01:3/);
    await bench.connect(probe);
    bench.brokerUp = false;
    expect((await reason())[1]).toMatch(/broker/);
    expect((await bench.server.get("/api/v1/scans", bench.tenant.token)).body).toMatchObject({ meta: { total: 0 } });
  });

  test("that has not reported its networks is waited for, not forbidden", async () => {
    const probe = await bench.addProbe({ silent: true });
    await bench.connect(probe);
    expect((await reason())[0]).toBe(503);
  });

  test("is the one on the target's own link", async () => {
    await bench.addProbe({ networks: ["10.9.0.0/24"] });
    const probe = await bench.addProbe();
    expect((await bench.started(order)).probe_id).toBe(probe.probeId);
  });

  test("that cannot be sent to gives 503, and a scan that failed", async () => {
    await bench.addProbe();
    bench.publishFault = new Error("connection closed");
    expect((await bench.start(order)).status).toBe(503);
    const { data } = listEnvelope(Scan).parse((await bench.server.get("/api/v1/scans", bench.tenant.token)).body);
    expect(data).toMatchObject([{ status: "failed", error: "the command could not be sent: connection closed" }]);
  });

  test("is at the site that is named, where there are several", async () => {
    const siteId = createId();
    await bench.server.db.insertInto("sites").values({
      id: siteId, tenant_id: bench.tenant.tenantId, name: "two", created_at: bench.now(), probe_configuration: "{}",
    }).execute();
    const probe = await bench.addProbe({ siteId });
    expect((await bench.start(order)).status).toBe(400);
    expect((await bench.started({ ...order, site_id: siteId })).probe_id).toBe(probe.probeId);
    const other = await bench.server.createTenant("operator");
    expect((await bench.start({ ...order, site_id: siteId }, other)).status).toBe(404);
  });
});

describe("scans", () => {
  test("are listed newest first, by site, status, profile and time, and read by cursor", async () => {
    const probe = await bench.addProbe({ networks: ["10.0.0.0/16"] });
    const scans: Scan[] = [];
    for (let net = 0; net < 5; net += 1) {
      scans.push(await bench.started({ target: `10.0.${net}.0/24`, profile: net === 4 ? "gentle" : "discovery" }));
      await bench.clock.advance(60_000);
      await bench.connect(probe);
    }
    await bench.tell(probe, complete(scans[0] as Scan));
    const found = async (query: string) => listEnvelope(Scan)
      .parse((await bench.server.get(`/api/v1/scans${query}`, bench.tenant.token)).body)
      .data.map((scan) => scans.findIndex(({ id }) => id === scan.id));
    expect(await found("")).toEqual([4, 3, 2, 1, 0]);
    expect(await found("?status=completed,cancelled")).toEqual([0]);
    expect(await found("?profile=gentle")).toEqual([4]);
    expect(await found("?since=150s")).toEqual([4, 3]);
    expect(await found(`?until=150s&site_id=${bench.tenant.siteId}`)).toEqual([2, 1, 0]);
    const first = listEnvelope(Scan).parse((await bench.server.get("/api/v1/scans?per_page=3", bench.tenant.token)).body);
    expect(await found(`?per_page=3&cursor=${first.meta.next_cursor}`)).toEqual([1, 0]);
    for (const query of ["?status=done", "?profile=x", "?since=y"]) {
      expect((await bench.server.get(`/api/v1/scans${query}`, bench.tenant.token)).status).toBe(400);
    }
  });

  test("of a tenant are its own, and need their scope", async () => {
    const probe = await bench.addProbe();
    const scan = await bench.started(order);
    const other = await bench.server.createTenant("admin");
    for (const path of [`/${scan.id}`, `/${scan.id}/results`]) expect((await bench.server.get(`/api/v1/scans${path}`, other.token)).status)
      .toBe(404);
    expect((await bench.cancel(scan.id, other)).status).toBe(404);
    expect((await bench.server.get("/api/v1/scans", other.token)).body).toMatchObject({ data: [], meta: { total: 0 } });
    expect((await bench.server.get(`/api/v1/scans?site_id=${bench.tenant.siteId}`, other.token)).status).toBe(404);
    const stranger = await bench.addProbe({ at: other });
    await bench.tell(stranger, complete(scan));
    expect((await bench.read(scan.id)).status).toBe("queued");
    const viewer = await bench.server.createTenant("viewer");
    expect((await bench.start(order, viewer)).error.details).toEqual({ required: "scans:write" });
    expect((await bench.cancel(scan.id, viewer)).status).toBe(403);
    await bench.tell(probe, complete(scan));
  });

  test("have profiles in pages like any list", async () => {
    const read = async (query: string) => (await bench.server.get(`/api/v1/scans/profiles${query}`, bench.tenant.token)).body;
    expect(await read("?per_page=2&page=2")).toMatchObject({
      data: [{ name: "quick" }, { name: "standard" }], meta: { page: 2, per_page: 2, total: 6, next_cursor: "standard" },
    });
    expect(await read("?cursor=full")).toMatchObject({ data: [{ name: "deep" }], meta: { per_page: 100, next_cursor: null } });
  });

  test("have the profiles of the decisions", async () => {
    const { data } = listEnvelope(ScanProfile).parse((await bench.server.get("/api/v1/scans/profiles", bench.tenant.token)).body);
    expect(data.map(({ name }) => name)).toEqual(["discovery", "gentle", "quick", "standard", "full", "deep"]);
    expect(data[1]).toMatchObject({ packets_per_second: 12, tcp_ports: 0 });
  });
});

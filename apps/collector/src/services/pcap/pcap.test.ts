import { randomBytes } from "node:crypto";
import { alertIdOf, createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { openPcapBench, reportOf, sha256 } from "./testing/pcap-bench.ts";

describe("a capture", () => {
  test("is ready when its file and its report are here, whichever came first, and one event says so", async () => {
    const bench = await openPcapBench();
    const probe = await bench.probe();
    const content = randomBytes(2_500_000);
    const [first, second] = [reportOf(content), reportOf(content)];
    await probe.tell({ ...first, state: "recording", sha256: "", size_bytes: 0, finished_at: null });
    expect((await bench.call("GET", `/pcap/${first.pcap_id}`)).body).toMatchObject({ state: "recording", sha256: null, trigger: "alert" });
    await probe.tell(first);
    expect((await bench.call("GET", `/pcap/${first.pcap_id}`)).body).toMatchObject({ state: "at_probe", sha256: sha256(content), size_bytes: content.length });
    await probe.upload(first.pcap_id, content, { until: 1_000_000 });
    expect((await bench.call("GET", `/pcap/${first.pcap_id}`)).body.state).toBe("uploading");
    await probe.upload(first.pcap_id, content);
    await probe.upload(second.pcap_id, content);
    await probe.tell(second);
    for (const { pcap_id: id } of [first, second]) {
      await expect.poll(async () => (await bench.call("GET", `/pcap/${id}`)).body.state).toBe("ready");
    }
    const ready = await bench.events("pcap_ready");
    expect(ready.map(({ probe_id: by, data }) => [by, data["size_bytes"]])).toEqual([[probe.probeId, content.length], [probe.probeId, content.length]]);
    expect(new Set(ready.map(({ data }) => data["pcap_id"]))).toEqual(new Set([first.pcap_id, second.pcap_id]));
    // Said again, as after a restart of the probe: nothing changes, and nothing is sent twice.
    await probe.tell(first);
    expect((await probe.upload(first.pcap_id, content)).body).toMatchObject({ state: "received", offset: content.length });
    expect([(await bench.call("GET", `/pcap/${first.pcap_id}`)).body.state, (await bench.events("pcap_ready")).length]).toEqual(["ready", 2]);
  });

  test("whose file its probe has removed says so and why, unless the file is here or on its way", async () => {
    const bench = await openPcapBench();
    const probe = await bench.probe();
    const content = randomBytes(5000);
    const [gone, coming] = [reportOf(content), reportOf(content)];
    const detail = "The probe removed the file to make room for evidence about another device.";
    await probe.tell(gone, coming);
    await probe.upload(coming.pcap_id, content, { until: 1000 });
    const unknown = reportOf(content, { state: "removed", detail });
    await probe.tell({ ...gone, state: "removed", detail }, { ...coming, state: "removed", detail }, unknown);
    for (const { pcap_id: id } of [gone, unknown]) {
      expect((await bench.call("GET", `/pcap/${id}`)).body).toMatchObject({ state: "expired", detail, sha256: sha256(content), size_bytes: content.length });
      expect((await bench.call("GET", `/pcap/${id}/download`)).body.error).toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining(detail) as string });
    }
    await probe.upload(coming.pcap_id, content);
    await expect.poll(async () => (await bench.call("GET", `/pcap/${coming.pcap_id}`)).body.state).toBe("ready");
  });

  test("whose file is another than announced fails, and gives no packets", async () => {
    const bench = await openPcapBench();
    const probe = await bench.probe();
    const content = randomBytes(5000);
    const lies = [reportOf(content, { sha256: sha256(randomBytes(3)) }), reportOf(content, { size_bytes: 4999 })];
    for (const lie of lies) {
      await probe.tell(lie);
      await probe.upload(lie.pcap_id, content);
      await expect.poll(async () => (await bench.call("GET", `/pcap/${lie.pcap_id}`)).body.state).toBe("failed");
      expect((await bench.call("GET", `/pcap/${lie.pcap_id}/download`)).status).toBe(404);
    }
    expect(await bench.events("pcap_ready")).toEqual([]);
  });

  test("is found by site, probe, alert, device, trigger, state and time, page by page", async () => {
    const bench = await openPcapBench();
    const [one, other] = [await bench.probe(), await bench.probe()];
    const { db } = bench.stack.database;
    const deviceId = createId();
    await db.insertInto("devices").values({
      id: deviceId, tenant_id: bench.stack.tenantId, site_id: bench.stack.siteId, ip: "192.0.2.7", ip_key: "x", mac: "02:00:00:00:00:07", hostname: "", hostname_key: "",
      vendor: "", os_guess: "", device_type: "unknown", is_online: 1, presence_state: "online", first_seen: "", last_seen: "", open_ports: "[]", tags: "[]",
      locked_fields: "[]",
    }).execute();
    const content = randomBytes(10);
    const alertId = createId();
    const reports = [
      reportOf(content, { alert_ids: [alertId], macs: ["02:00:00:00:00:07"], started_at: "2026-01-01T00:00:00.000Z" }),
      reportOf(content, { ips: ["192.0.2.7"], trigger: "export", started_at: "2026-01-02T00:00:00.000Z" }),
      reportOf(content, { alert_ids: [alertId], ips: ["192.0.2.77"], state: "failed", detail: "no room", started_at: "2026-01-03T00:00:00.000Z" }),
    ];
    await one.tell(...reports.slice(0, 2));
    await other.tell(...reports.slice(2));
    const [a, b, c] = reports.map(({ pcap_id: id }) => id);
    const found = async (query: string) => ((await bench.call("GET", `/pcap?${query}`)).body.data as { id: string }[]).map(({ id }) => id);
    expect(await found("")).toEqual([c, b, a]);
    expect(await found(`site_id=${bench.stack.siteId}&probe_id=${other.probeId}`)).toEqual([c]);
    expect(await found(`alert_id=${alertId}`)).toEqual([c, a]);
    expect(await found(`device_id=${deviceId}`)).toEqual([b, a]);
    expect(await found(`device_id=${deviceId}&alert_id=${alertId}`)).toEqual([a]);
    expect(await found("trigger=export,request")).toEqual([b]);
    expect(await found("state=failed")).toEqual([c]);
    expect(await found("locked=true")).toEqual([]);
    expect(await found("since=2026-01-02T00:00:00Z&until=2026-01-03T00:00:00Z")).toEqual([b]);
    const page = (await bench.call("GET", "/pcap?per_page=2")).body;
    expect(page.meta.total).toBe(3);
    expect(await found(`per_page=2&cursor=${page.meta.next_cursor}`)).toEqual([a]);
    for (const wrong of ["state=all", "alert_id=x", "cursor=zzz", "locked=1"]) expect((await bench.call("GET", `/pcap?${wrong}`)).status).toBe(400);
  });

  test("of a probe's own incident is found by the alert that another probe's has raised", async () => {
    const bench = await openPcapBench();
    const probe = await bench.probe();
    const { db } = bench.stack.database;
    const [alertId, incident] = [createId(), createId()];
    await db.insertInto("alerts").values({
      id: alertId, tenant_id: bench.stack.tenantId, site_id: bench.stack.siteId, device_id: null, device_ip: "", probe_id: createId(), source: "rogue", type: "arp_spoofing",
      subject: "x", open_key: "x", severity: "high", severity_rank: 3, title: "", description: "", status: "open", count: 1, first_seen: "", last_seen: "",
      evidence: JSON.stringify([{ event_id: createId(), event: "rogue_detected", occurred_at: "", data: { incident_id: incident } }]),
      reporters: JSON.stringify({ [probe.probeId]: { times: 1, since: "" } }), mitre_techniques: "[]", notified: 1, live_at: null, quiet_at: null,
      acknowledged_by: null, acknowledged_at: null, resolved_by: null, resolved_at: null,
    }).execute();
    const report = reportOf(randomBytes(3), { alert_ids: [alertIdOf(probe.probeId, incident)] });
    await probe.tell(report);
    expect((await bench.call("GET", `/pcap?alert_id=${alertId}`)).body.data).toMatchObject([{ id: report.pcap_id }]);
  });

  test("shows what is in it, and nothing of it to other tenants", async () => {
    const bench = await openPcapBench();
    const probe = await bench.probe();
    const summary = {
      protocols: [{ name: "dns", packets: 3, bytes: 300 }], talkers: [{ address: "192.0.2.7", packets: 7, bytes: 700 }], flows: [], flows_total: 2,
      timeline: { from: "2026-11-20T08:14:30.250Z", step_ms: 1000, packets: [1, 0, 6] },
    };
    const id = await bench.stored(probe, randomBytes(100), { summary });
    expect((await bench.call("GET", `/pcap/${id}/summary`, { role: "viewer" })).body).toEqual({ id, packets: 7, summary });
    const stranger = { tenantId: createId() };
    const tries = [
      ["GET", `/pcap/${id}`], ["GET", `/pcap/${id}/summary`], ["GET", `/pcap/${id}/download`], ["DELETE", `/pcap/${id}`], ["POST", `/pcap/${id}/lock`],
      ["POST", `/pcap/${id}/unlock`], ["POST", `/pcap/${id}/stop`], ["GET", `/pcap/settings/${bench.stack.siteId}`], ["PUT", `/pcap/settings/${bench.stack.siteId}`],
    ] as const;
    for (const [method, path] of tries) {
      const body = method === "PUT" || path.endsWith("/lock") ? { body: {} } : {};
      expect([path, (await bench.call(method, path, { ...stranger, ...body })).status]).toEqual([path, 404]);
    }
    for (const filter of [`probe_id=${probe.probeId}`, `site_id=${bench.stack.siteId}`, ""]) {
      expect((await bench.call("GET", `/pcap?${filter}`, stranger)).body.meta.total).toBe(0);
    }
    for (const body of [{ probe_id: probe.probeId }, { site_id: bench.stack.siteId }]) {
      expect((await bench.call("POST", "/pcap", { ...stranger, body })).status).toBe(404);
      expect((await bench.call("POST", "/pcap/watch", { ...stranger, body })).status).toBe(404);
    }
    expect((await bench.call("GET", `/pcap/${id}`)).body.state).toBe("ready");
    expect(probe.heard).toEqual([]);
  });
});

import { Alert, type EventData } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AlertsBench, createAlertsBench, health, type NewFact, returned, rogue, silent } from "../testing/bench.ts";

let bench: AlertsBench;
beforeEach(async () => void (bench = await createAlertsBench()));
afterEach(() => bench.server.stop());

describe("a fact", () => {
  test("raises an alert, published once, with the fact as its evidence", async () => {
    const probeId = createId();
    const deviceId = await bench.server.createDevice(bench.tenant, { ip: "192.0.2.66" });
    await bench.append([{ ...rogue(), probeId, deviceId }]);
    expect(await bench.single()).toEqual({
      id: expect.any(String), tenant_id: bench.tenant.tenantId, site_id: bench.tenant.siteId, device_id: deviceId, device_ip: "192.0.2.66",
      probe_id: probeId, source: "rogue",
      type: "rogue_dhcp", subject: "02:00:00:00:00:66", severity: "high", title: "Unknown DHCP server 192.0.2.66", description: "offers",
      guide: "apps/probe/README.md#dhcp-servers",
      status: "open", count: 1,
      first_seen: bench.now(), last_seen: bench.now(), mitre_techniques: ["T1557.003"], muted: false, notified: true, acknowledged_by: null,
      acknowledged_at: null,
      resolved_by: null, resolved_at: null,
      evidence: [
        {
          event_id: expect.any(String), event: "rogue_detected", occurred_at: bench.now(),
          data: expect.not.objectContaining({ packets: [] }),
        },
      ],
    });
    const [event] = await bench.server.db.selectFrom("events").selectAll().where("type", "=", "alert_created").execute();
    expect(event).toMatchObject({ site_id: bench.tenant.siteId, probe_id: probeId, device_id: deviceId, occurred_at: bench.now() });
    const { id } = await bench.single();
    expect(JSON.parse(event?.data ?? "")).toEqual({
      alert_id: id, title: "Unknown DHCP server 192.0.2.66", severity: "high", device_ip: "192.0.2.66", type: "rogue_dhcp", source: "rogue",
    });
    expect((await bench.server.get(`/api/v1/alerts/${id}`, bench.tenant.token)).body).toMatchObject({
      id, evidence: [{ data: { packets: ["AAAA"] } }],
    });
  });

  test("again counts in the same alert, which grows graver and never milder, and keeps its first evidence and its last", async () => {
    await bench.append([rogue()]);
    for (let minute = 1; minute <= 7; minute += 1) {
      await bench.clock.advance(60_000);
      await bench.append([rogue({ severity: minute === 2 ? "critical" : "low", detail: `minute ${minute}` })]);
    }
    const { id, count, severity, first_seen, last_seen, description } = await bench.single();
    expect([count, severity, first_seen, last_seen, description]).toEqual([
      8, "critical", "2026-06-01T00:00:00.000Z", bench.now(), "minute 2",
    ]);
    const { evidence } = Alert.parse((await bench.server.get(`/api/v1/alerts/${id}`, bench.tenant.token)).body);
    expect(evidence.map(({ data }) => [data["detail"], data["packets"]])).toEqual([
      ["offers", ["AAAA"]], ["minute 4", undefined], ["minute 5", undefined], ["minute 6", undefined], ["minute 7", undefined],
    ]);
    expect(await bench.published()).toEqual(["alert_created rogue_dhcp"]);
  });

  test("about another thing, or at another site, is another alert; about nothing dangerous none", async () => {
    const siteId = createId();
    await bench.server.db.insertInto("sites")
      .values({ id: siteId, tenant_id: bench.tenant.tenantId, name: "two", created_at: bench.now(), probe_configuration: "{}" }).execute();
    await bench.append([
      rogue(), rogue({ mac: "02:00:00:00:00:67" }), { ...rogue(), siteId }, rogue({ vlan_id: 5 }), rogue({ kind: "arp_spoofing" }),
    ]);
    await bench.append([{ type: "host_offline", data: { ip: "192.0.2.1", mac: "", last_seen_at: bench.now(), missed_checks: 3 } }]);
    expect((await bench.list()).meta.total).toBe(5);
    expect((await bench.list(`?site_id=${siteId}`)).meta.total).toBe(1);
  });

  test("whose transaction fails raises nothing", async () => {
    await expect(bench.server.db.transaction().execute(async (trx) => {
      const fact = rogue();
      await bench.server.eventLog.append(trx, bench.tenant.tenantId, [{
        siteId: bench.tenant.siteId, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: bench.now(),
        receivedAt: bench.now(), data: {}, ...fact,
      }]);
      throw new Error("no");
    })).rejects.toThrow("no");
    expect((await bench.list()).data).toEqual([]);
  });

  test("that says that the cause is gone resolves the alert, and the same again is a new one", async () => {
    const probeId = createId();
    await bench.append([health("raised", probeId)]);
    await bench.clock.advance(1000);
    await bench.append([health("cleared", probeId), health("cleared", createId())]);
    expect(await bench.single()).toMatchObject({ status: "resolved", resolved_by: "probe_health_alert", resolved_at: bench.now() });
    await bench.append([health("raised", probeId), health("cleared", probeId), health("raised", probeId)]);
    expect((await bench.list("?sort=first_seen")).data.map(({ status }) => status)).toEqual(["resolved", "resolved", "open"]);
    const [made, ended] = ["alert_created probe_health", "alert_resolved probe_health"];
    expect(await bench.published()).toEqual([made, ended, made, ended, made]);
  });
});

describe("a switch that refuses its credential", () => {
  const report = (probeId: string, values: Partial<EventData<"switch_report">> = {}): NewFact => ({
    type: "switch_report", probeId,
    data: {
      ip: "192.0.2.2", answers: false, problem: "core: the password is wrong", system_name: "", system_description: "", object_id: "",
      engine_id: "", macs: [],
      ports: [], neighbors: [], hosts: [], addresses: [], ...values,
    },
  });

  test("is an alert that says why, until it answers or is not asked any more", async () => {
    const probeId = createId();
    for (const end of [{ answers: true, problem: "" }, { problem: "" }]) {
      await bench.append([report(probeId), report(probeId, { ip: "192.0.2.3", answers: true, problem: "" })]);
      const [alert, ...others] = (await bench.list("?status=open")).data;
      expect([alert, others]).toMatchObject([{
        type: "switch_unreadable", source: "health", severity: "low", device_ip: "192.0.2.2", title: "192.0.2.2 cannot be read by SNMP",
        description: expect.stringContaining("core: the password is wrong"),
      }, []]);
      await bench.append([report(probeId, end)]);
      expect((await bench.list("?status=open")).data).toEqual([]);
    }
  });
});

describe("a silent probe", () => {
  test("is one alert, its devices none, until it is heard", async () => {
    const [one, two] = [createId(), createId()];
    await bench.append([silent(one), silent(one), silent(two, true)]);
    expect((await bench.list("?sort=-severity")).data.map(({ probe_id, severity, count }) => [probe_id, severity, count])).toEqual([
      [one, "high", 2], [two, "medium", 1],
    ]);
    await bench.append([returned(one)]);
    expect((await bench.list("?status=open,acknowledged")).data.map(({ probe_id }) => probe_id)).toEqual([two]);
  });

  test("that is revoked has no alert any more", async () => {
    const probeId = createId();
    await bench.append([silent(probeId), health("raised", probeId), silent(createId()), { ...rogue(), probeId }]);
    await bench.server.alerts.probeRevoked(probeId);
    expect((await bench.list("?status=resolved&sort=first_seen")).data.map(({ type, resolved_by }) => `${type} ${resolved_by}`))
      .toEqual(expect.arrayContaining(["probe_health probe_revoked", "probe_silent probe_revoked"]));
    expect((await bench.list("?status=open")).meta.total).toBe(2);
  });
});

describe("a late fact", () => {
  const late = (fact: NewFact, occurredAt: string): NewFact => ({ ...fact, occurredAt, isLate: true });

  test("raises an alert with its own time and pages nobody; the first live one does", async () => {
    await bench.append([late(rogue(), "2026-05-30T00:00:00.000Z")]);
    expect(await bench.single()).toMatchObject({
      status: "open", notified: false, first_seen: "2026-05-30T00:00:00.000Z", last_seen: "2026-05-30T00:00:00.000Z",
    });
    expect(await bench.published()).toEqual([]);
    await bench.append([rogue()]);
    expect(await bench.single()).toMatchObject({ notified: true, count: 2, last_seen: bench.now() });
    expect(await bench.published()).toEqual(["alert_created rogue_dhcp"]);
  });

  test("that ends an alert publishes so only if the alert was published", async () => {
    const [one, two] = [createId(), createId()];
    await bench.append([health("raised", one), late(health("raised", two), "2026-05-30T00:00:00.000Z")]);
    await bench.append([late(health("cleared", one), bench.now()), late(health("cleared", two), bench.now())]);
    expect((await bench.list()).data.map(({ status }) => status)).toEqual(["resolved", "resolved"]);
    expect(await bench.published()).toEqual(["alert_created probe_health", "alert_resolved probe_health"]);
  });
});

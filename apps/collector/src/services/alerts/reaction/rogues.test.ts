import { readFileSync } from "node:fs";
import { GUARD_KINDS } from "@lanthorn/contract";
import { alertIdOf, createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AlertsBench, createAlertsBench, rogue } from "../testing/bench.ts";
import { guideOf, ROGUES } from "./rogues.ts";

const ROOT = new URL("../../../../../../", import.meta.url);

test.each(GUARD_KINDS)("an alert of %s names a section that there is, and that speaks of it", (kind) => {
  const [page = "", section] = guideOf({ source: "rogue", type: ROGUES[kind].type })?.split("#") ?? [];
  const sections = new Map(readFileSync(new URL(page, ROOT), "utf8").split(/^#+ /m)
    .map((text) => [text.split("\n", 1)[0]?.toLowerCase().replaceAll(/[^a-z0-9 -]/g, "").replaceAll(" ", "-"), text]));
  expect(sections.get(section)).toContain(`\`${kind}\``);
});

test("an alert that no guard raised names none", () => {
  expect([guideOf({ source: "ids", type: "arp_spoofing" }), guideOf({ source: "rogue", type: "of_another_version" })]).toEqual([null, null]);
});

describe("an alert of a guard", () => {
  let bench: AlertsBench;
  beforeEach(async () => void (bench = await createAlertsBench()));
  afterEach(() => bench.server.stop());

  const since = "2026-06-01T00:00:00.000Z";
  const after = async (...values: readonly Parameters<typeof rogue>[0][]) => {
    for (const value of values) await bench.append([rogue(value)]);
    return bench.single();
  };

  test("counts what its events count from the beginning, once", async () => {
    expect((await after({ count: 20, since })).count).toBe(20);
    expect((await after({ count: 25, since }, { count: 25, since, severity: "critical" })).count).toBe(25);
  });

  test("counts a later incident, and events of older probes, beside what it has counted", async () => {
    expect((await after({ count: 20, since }, { count: 3, since: "2026-06-01T01:00:00.000Z" }, {}, { count: 2, since: "2026-06-01T02:00:00.000Z" })).count).toBe(26);
  });

  test("takes no count that the database does not", async () => {
    expect((await after({ count: Number.MAX_SAFE_INTEGER, since }, { count: 1, since: "2026-06-01T01:00:00.000Z" })).count).toBe(2_147_483_647);
  });

  test("says at its end how it was at last", async () => {
    const alert = await after({ count: 1, since, severity: "medium" }, { state: "ended", count: 500, since, severity: "critical", detail: "the gateway" });
    expect(alert).toMatchObject({ status: "resolved", count: 500, severity: "critical", description: "the gateway" });
    expect(alert.evidence.at(-1)?.data).toMatchObject({ state: "ended", count: 500 });
  });

  test("has the id that its probe makes of the incident, and no second one has it", async () => {
    const [probeId, incident] = [createId(), createId()];
    const seen = (values: Parameters<typeof rogue>[0] = {}, by = probeId) => ({ ...rogue({ incident_id: incident, ...values }), probeId: by });
    await bench.append([seen()]);
    expect((await bench.single()).id).toBe(alertIdOf(probeId, incident));
    // The end, and the same incident once more, as when somebody has resolved the alert while it goes on.
    await bench.append([seen({ state: "ended" }), seen()]);
    // Two at once under one incident, and another probe that says it is this one's.
    await bench.append([seen({ subject: "a" }), seen({ subject: "b" }), seen({ subject: "c" }, createId())]);
    const ids = (await bench.list()).data.map(({ id }) => id);
    expect([ids.length, new Set(ids).size, ids.filter((id) => id === alertIdOf(probeId, incident)).length]).toEqual([5, 5, 1]);
  });

  test("of a storm's summary has an id of its own", async () => {
    const probeId = createId();
    const incidents = Array.from({ length: 120 }, () => createId());
    await bench.append(incidents.map((incident_id, index) => ({ ...rogue({ incident_id, subject: `s${index}` }), probeId })));
    const { data } = await bench.list("?type=alert_storm");
    expect([data.length, incidents.some((incident) => alertIdOf(probeId, incident) === data[0]?.id)]).toEqual([1, false]);
  });

  test("shows the facts of its events", async () => {
    const { evidence } = await after({ facts: { "gateway handed out": "192.0.2.66" } });
    expect(evidence[0]?.data["facts"]).toEqual({ "gateway handed out": "192.0.2.66" });
  });
});

describe("what two probes of a site see", () => {
  let bench: AlertsBench;
  const addProbe = (id: string) => bench.server.db.insertInto("probes").values({
    id, tenant_id: bench.tenant.tenantId, site_id: bench.tenant.siteId, name: id, enrolled_at: bench.now(), revoked_at: null,
    certificate_serial: "", certificate_expires_at: bench.now(), version: "", state: "online", silent_since: null, last_heard_at: null, run_id: null, health: null,
  }).execute();
  beforeEach(async () => {
    bench = await createAlertsBench();
    for (const id of [one, two, other]) await addProbe(id);
  });
  afterEach(() => bench.server.stop());

  const [one, two, other] = [createId(), createId(), createId()];
  const since = new Map([[one, "2026-06-01T00:00:00.000Z"], [two, "2026-06-01T00:00:01.000Z"]]);
  const report = (probeId: string, count: number, state: "seen" | "ended" = "seen") =>
    bench.append([{ ...rogue({ state, count, since: since.get(probeId) ?? bench.now() }), probeId }]);

  test("is one alert, which counts what each of them counts, once", async () => {
    for (const more of [0, 1, 2]) {
      await report(one, 20 + more);
      await report(two, 5 + more);
    }
    expect(await bench.single()).toMatchObject({ count: 22 + 7, probe_id: one });
  });

  test("goes on until neither sees it, and is published once", async () => {
    await report(one, 20);
    await report(two, 5);
    await report(one, 21, "ended");
    await report(two, 6);
    expect(await bench.single()).toMatchObject({ status: "open", count: 27 });
    await report(two, 7, "ended");
    expect(await bench.single()).toMatchObject({ status: "resolved", count: 28 });
    expect(await bench.published()).toEqual(["alert_created rogue_dhcp", "alert_resolved rogue_dhcp"]);
  });

  test("is not ended by a third one that never saw it", async () => {
    await report(one, 20);
    await report(other, 1, "ended");
    expect(await bench.single()).toMatchObject({ status: "open", count: 20 });
    await bench.server.db.updateTable("probes").set({ state: "silent" }).where("id", "=", one).execute();
    await report(other, 1, "ended");
    expect(await bench.single()).toMatchObject({ status: "open", count: 20 });
  });

  test.each([{ state: "silent" }, { revoked_at: "2026-06-01T00:00:00.000Z" }])("is over when one does not see it and the other is %j", async (change) => {
    await report(one, 20);
    await report(two, 5);
    await bench.server.db.updateTable("probes").set(change).where("id", "=", one).execute();
    await report(two, 7, "ended");
    expect(await bench.single()).toMatchObject({ status: "resolved", count: 27 });
  });

  test("is of one of them again when that sees it again", async () => {
    await report(one, 1);
    await report(two, 1);
    await report(one, 1, "ended");
    since.set(one, "2026-06-01T01:00:00.000Z");
    await report(one, 3);
    await report(two, 1, "ended");
    expect(await bench.single()).toMatchObject({ status: "open", count: 5 });
  });
});

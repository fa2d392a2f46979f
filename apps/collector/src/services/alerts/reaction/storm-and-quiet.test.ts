import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AlertsBench, createAlertsBench, health, ids, returned, rogue, silent } from "../testing/bench.ts";

let bench: AlertsBench;
beforeEach(async () => void (bench = await createAlertsBench()));
afterEach(() => bench.server.stop());

describe("a storm", () => {
  const burst = (from: number, count: number) => bench
    .append(Array.from({ length: count }, (_, index) => ids({ source_ip: `192.0.2.${from + index}` })));

  test("becomes one summary that counts on, keeps every event, and lets other types and old alerts through", async () => {
    await burst(1, 50);
    await burst(1, 50);
    await bench.append([rogue()]);
    const { data } = await bench.list("?sort=-count&per_page=5");
    expect((await bench.list()).meta.total).toBe(22);
    expect(data[0]).toMatchObject({ type: "alert_storm", subject: "ids_alert", count: 60, severity: "medium", source: "ids" });
    expect(data[1]).toMatchObject({ type: "ids_alert", count: 2 });
    expect((await bench.server.db.selectFrom("events").select("id").where("type", "=", "ids_alert").execute()).length).toBe(100);
    expect((await bench.published()).length).toBe(22);
  });

  test("is over when none was left out for ten minutes", async () => {
    await burst(1, 25);
    await bench.clock.leap(11 * 60_000);
    expect((await bench.list("?type=alert_storm")).data).toMatchObject([{ status: "resolved", resolved_by: "quiet", count: 5 }]);
    await burst(30, 1);
    expect((await bench.list("?type=ids_alert")).meta.total).toBe(21);
  });

  test("never holds back what tells how our own probes are, nor an end", async () => {
    const probes = Array.from({ length: 40 }, () => createId());
    await bench.append(probes.map((probe) => silent(probe)));
    expect((await bench.list("?type=probe_silent&status=open")).meta.total).toBe(40);
    await bench.append(probes.map((probe) => returned(probe)));
    expect((await bench.list("?status=open")).meta.total).toBe(0);
    expect((await bench.published()).length).toBe(80);
  });

  test.each([
    ["its own health", (probeId: string, index: number) => health(index % 2 === 0 ? "raised" : "cleared", probeId)],
    ["one attack", (probeId: string, index: number) => ({ ...rogue({ state: index % 2 === 0 ? "seen" : "ended", count: 1, since: toInstant(index) }), probeId })],
  ])("is what a probe makes that reports %s as begun and ended again and again", async (_, report) => {
    const probeId = createId();
    await bench.append(Array.from({ length: 200 }, (__, index) => report(probeId, index)));
    expect(await bench.published()).toHaveLength(41);
    expect((await bench.list("?status=open")).data).toMatchObject([{ type: "alert_storm", count: 80 }]);
  });

  test("in a backlog is measured by when it was", async () => {
    await bench.append(
      Array.from({ length: 50 }, (_, index) =>
        ({ ...ids({ source_ip: `192.0.2.${index}` }), occurredAt: toInstant(bench.clock.now() - (50 - index) * 3_600_000), isLate: true }),
    ));
    expect((await bench.list("?type=ids_alert")).meta.total).toBe(50);
  });
});

describe("open alerts of one type at a site", () => {
  test("are bounded by what probes tell: of more, one says so, other types go on, and resolving some makes room", async () => {
    await bench.server.stop();
    bench = await createAlertsBench({ maxOpenAlerts: 30 });
    const hits = async (from: number, count: number) => {
      for (let index = from; index < from + count; index += 1) {
        if (index % 15 === 0) await bench.clock.leap(11 * 60_000);
        await bench.append([{ ...ids({ source_ip: `192.0.2.${index}` }), queueId: createId(), probeSeq: 1 }]);
      }
    };
    await hits(1, 60);
    expect((await bench.list("?type=ids_alert&status=open")).meta.total).toBe(30);
    expect((await bench.list("?type=alert_limit")).data).toMatchObject([{ subject: "ids_alert", count: 30, status: "open" }]);
    expect((await bench.published()).filter((event) => event === "alert_created alert_limit").length).toBe(1);
    await bench.append([{ ...rogue(), queueId: createId(), probeSeq: 1 }]);
    expect((await bench.list("?type=rogue_dhcp&status=open")).meta.total).toBe(1);
    await bench.server.db.updateTable("alerts").set({ status: "resolved", open_key: null }).where("type", "=", "ids_alert").execute();
    await hits(100, 1);
    expect((await bench.list("?type=ids_alert&status=open")).meta.total).toBe(1);
  });
});

describe("resolved alerts of a site", () => {
  test("are bounded: the oldest go, and neither another site's nor what is open", async () => {
    await bench.server.stop();
    bench = await createAlertsBench({ maxOpenAlerts: 20 });
    const late = (index: number, state: "seen" | "ended", siteId: string) => ({
      ...rogue({ state, subject: `s${index}`, count: 1, since: bench.now() }), siteId, isLate: true, occurredAt: toInstant(bench.clock.now() - index * 3_600_000),
    });
    const other = createId();
    await bench.server.db.insertInto("sites")
      .values({ id: other, tenant_id: bench.tenant.tenantId, name: "two", created_at: bench.now(), probe_configuration: "{}" }).execute();
    const { siteId } = bench.tenant;
    await bench.append([late(0, "seen", siteId), late(1, "seen", other), late(1, "ended", other)]);
    await bench.append(Array.from({ length: 230 }, (_, index) => [late(index + 1, "seen", siteId), late(index + 1, "ended", siteId)]).flat());
    await bench.server.alerts.job.run();
    const kept = (await bench.server.db.selectFrom("alerts").select(["site_id", "status", "subject"]).execute());
    expect(kept.filter(({ site_id: site, status }) => site === siteId && status === "resolved").map(({ subject }) => Number(subject.slice(1))).toSorted((a, b) => a - b))
      .toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    expect(kept.filter(({ site_id: site, status }) => site === other || status === "open")).toHaveLength(2);
  });
});

describe("an alert that falls quiet", () => {
  /** Days pass here, and tokens with them. */
  const stored = () => bench.server.db.selectFrom("alerts").select(["type", "status", "resolved_by"]).orderBy("id").execute();

  test("resolves after its time, counted from the last it was seen, and is forgotten long after", async () => {
    await bench.append([rogue(), ids()]);
    await bench.clock.leap(20 * 3_600_000);
    await bench.append([rogue()]);
    await bench.clock.leap(20 * 3_600_000);
    expect(await stored()).toMatchObject([{ status: "open" }, { status: "open" }]);
    await bench.clock.leap(4 * 3_600_000 + 60_000);
    expect(await stored()).toMatchObject([{ type: "rogue_dhcp", status: "resolved", resolved_by: "quiet" }, { status: "open" }]);
    expect(await bench.published()).toEqual(["alert_created rogue_dhcp", "alert_created ids_alert", "alert_resolved rogue_dhcp"]);
    bench.clock.jump(31 * 86_400_000);
    await bench.server.alerts.job.run();
    expect(await stored()).toMatchObject([{ type: "ids_alert", status: "open" }]);
  });

  const addProbe = async (state: "online" | "silent") => {
    const probeId = createId();
    await bench.server.db.insertInto("probes").values({
      id: probeId, tenant_id: bench.tenant.tenantId, site_id: bench.tenant.siteId, name: "p", enrolled_at: bench.now(), revoked_at: null,
      certificate_serial: "", certificate_expires_at: bench.now(), version: "",
      state, silent_since: state === "silent" ? bench.now() : null, last_heard_at: null, run_id: null, health: null,
    }).execute();
    return probeId;
  };
  /** @returns What there is so much later. */
  const after = async (ms: number) => {
    bench.clock.jump(ms);
    await bench.server.alerts.job.run();
    return stored();
  };
  const DAY_MS = 86_400_000;

  test("does not while its probe is away and sees nothing", async () => {
    await bench.append([{ ...rogue(), probeId: await addProbe("silent") }]);
    expect(await after(2 * DAY_MS)).toMatchObject([{ status: "open" }]);
    await bench.server.db.updateTable("probes").set({ state: "online", silent_since: null }).execute();
    await bench.server.alerts.job.run();
    expect(await stored()).toMatchObject([{ status: "open" }]);
    expect(await after(3_600_000)).toMatchObject([{ status: "resolved" }]);
  });

  test("does when its probe was away for a week", async () => {
    await bench.append([{ ...rogue(), probeId: await addProbe("silent") }]);
    expect(await after(6 * DAY_MS)).toMatchObject([{ status: "open" }]);
    expect(await after(DAY_MS + 3_600_000)).toMatchObject([{ status: "resolved", resolved_by: "quiet" }]);
  });

  test("does though its probe was silent when it was revoked", async () => {
    await bench.append([{ ...rogue(), probeId: await addProbe("silent") }]);
    await bench.server.db.updateTable("probes").set({ revoked_at: bench.now() }).execute();
    expect(await after(DAY_MS)).toMatchObject([{ status: "resolved", resolved_by: "quiet" }]);
  });

  test("does though its probe was deleted with its site", async () => {
    await bench.append([{ ...rogue(), probeId: await addProbe("online") }]);
    await bench.server.db.deleteFrom("probes").execute();
    expect(await after(DAY_MS)).toMatchObject([{ status: "resolved", resolved_by: "quiet" }]);
  });
});

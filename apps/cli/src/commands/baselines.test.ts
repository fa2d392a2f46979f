import type { RestClient } from "@lanthorn/client";
import type { Baseline, BaselineAcceptance, BaselineDifference, BaselineTemplate, BaselineWindow } from "@lanthorn/contract";
import { describe, expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { acceptDifference, deleteAcceptance, listAcceptances, listDifferences } from "./baseline-differences.ts";
import { createTemplate, createWindow, deleteTemplate, deleteWindow, listTemplates, listWindows } from "./baseline-settings.ts";
import { approveBaseline, editBaseline, freezeBaseline, listBaselines, resetBaseline, showBaseline, unfreezeBaseline } from "./baselines.ts";

const SITE = "01939f6e-2a10-7c3e-8f00-000000000001";
const DEVICE = "01939f6e-2a10-7c3e-8f00-000000000002";
const ID = "01939f6e-2a10-7c3e-8f00-5f3a9c01d2e4";
const AT = "2026-11-20T08:15:30.250Z";
const NOW = Date.parse(AT);
const BASELINE: Baseline = {
  id: ID, site_id: SITE, device_id: null, name: "Office", state: "active", learning_until: null, approved_by: "admin", approved_at: AT, expected: null,
  missing_minutes: 15, severities: { port: "high" }, facts: { gateway: 1, device: 2 }, open_differences: 1, left_out: [], templates: [],
};
const DIFFERENCE: BaselineDifference = {
  id: ID, baseline_id: ID, site_id: SITE, device_id: null, name: "Office", kind: "gateway", key: "10.0.0.1", outcome: "changed",
  expected: "00:1b:21:aa:bb:07", observed: "00:1b:21:aa:bb:66", expected_at: AT, observed_at: null, severity: "high", state: "open", first_seen: AT, last_seen: AT,
  ended_at: null, acceptance_id: null,
};
const ACCEPTANCE: BaselineAcceptance = {
  id: ID, site_id: SITE, device_id: null, tag: null, name: "Office", kind: "gateway", key: "10.0.0.1", outcome: "changed", observed: "00:1b:21:aa:bb:66",
  reason: "new firewall", created_by: "admin", created_at: AT, expires_at: null,
};
const TEMPLATE: BaselineTemplate = {
  id: ID, name: "Web servers", site_id: SITE, tag: "web", facts: [{ kind: "service", key: "tcp/443", value: "https nginx" }], created_by: "admin", updated_at: AT,
};
const WINDOW: BaselineWindow = {
  id: ID, site_id: SITE, device_id: null, tag: null, name: "Office", begins_at: AT, ends_at: AT, effect: "hold", reason: "switches", created_by: "admin",
  created_at: AT,
};

const pageOf = <T>(...data: readonly T[]) => Promise.resolve({ data: [...data], meta: { page: 1, per_page: 100, total: data.length, next_cursor: null } });
/** A collector with one site and one device, which notes what it is asked. */
const connect = (rest: Partial<RestClient>) => {
  const asked: unknown[] = [];
  const noting = Object.fromEntries(Object.entries(rest).map(([name, call]) => [name, (...values: unknown[]) => {
    asked.push([name, ...values]);
    return (call as (...given: unknown[]) => unknown)(...values);
  }]));
  const found = {
    listSites: () => pageOf({ id: SITE, name: "Office" }), listDevices: () => pageOf({ id: DEVICE, ip: "10.0.0.5", mac: "", hostname: "nas" }),
    listBaselines: () => pageOf(BASELINE),
  };
  return { asked, connection: { rest: { ...found, ...noting } } as unknown as Connection };
};
const of = { site: "Office" };
const lines = (answer: Parameters<typeof formatAnswer>[0], width?: number) => formatAnswer(answer, false, width).split("\n");

describe("a baseline", () => {
  test("is listed with how many facts it has and how many differences are open", async () => {
    const answer = await listBaselines(connect({}).connection, {});
    expect(lines(answer)[1]).toBe(`Office  site  active  3      1     2026-11-20T08:15:30Z by admin  ${ID}`);
    const learning = { ...BASELINE, state: "learning", learning_until: AT, approved_at: null } as const;
    expect(lines(await listBaselines(connect({ listBaselines: () => pageOf(learning) }).connection, {}))[1]).toContain("learning until 2026-11-20T08:15:30Z");
  });

  test("is shown with its facts, and how to see what differs", async () => {
    const fact = {
      kind: "gateway", key: "10.0.0.1", value: "00:1b:21:aa:bb:07", source: "edited", author: "admin", reason: "x", first_seen: AT, looked_at: AT,
      scope: "probe box",
    } as const;
    const { asked, connection } = connect({ listBaselineFacts: () => pageOf(fact) });
    const answer = await showBaseline(connection, of, "gateway");
    expect(asked).toMatchObject([["listBaselineFacts", ID, { kind: "gateway" }]]);
    const shown = lines(answer);
    expect(shown).toContain("facts        2 devices, 1 gateway");
    expect(shown).toContain('differences  1 open: lanthorn baselines diff --site "Office"');
    expect(shown.at(-1)).toBe("gateway  10.0.0.1  00:1b:21:aa:bb:07  edited by admin  2026-11-20T08:15:30Z by probe box");
    expect(lines(answer, 80).every((line) => line.length <= 80)).toBe(true);
    expect(answer.json).toMatchObject({ id: ID, facts: [fact] });
  });

  test("of a device is found by what the device is called", async () => {
    const { asked, connection } = connect({ listBaselines: () => pageOf({ ...BASELINE, device_id: DEVICE, name: "nas" }), freezeBaseline: async () => BASELINE });
    await freezeBaseline(connection, { site: undefined, device: "nas" });
    expect(asked).toEqual([["listBaselines", { device_id: DEVICE }], ["freezeBaseline", ID]]);
    await expect(freezeBaseline(connection, { site: "Office", device: "nas" })).rejects.toMatchObject({ code: "bad-option" });
    const none = connect({ listBaselines: () => pageOf() });
    await expect(freezeBaseline(none.connection, of)).rejects.toMatchObject({ code: "not-found" });
  });

  test("is approved, frozen, unfrozen and reset", async () => {
    const { asked, connection } = connect({
      approveBaseline: async () => BASELINE, freezeBaseline: async () => BASELINE, unfreezeBaseline: async () => BASELINE, resetBaseline: async () => BASELINE,
    });
    await approveBaseline(connection, of, { takeDifferences: true, reason: "checked" });
    await freezeBaseline(connection, of);
    await unfreezeBaseline(connection, of);
    await resetBaseline(connection, of, { learn: "60", allDevices: true, reason: "moved" });
    expect(asked).toEqual([
      ["approveBaseline", ID, { take_differences: true, devices: false, reason: "checked" }], ["freezeBaseline", ID], ["unfreezeBaseline", ID],
      ["resetBaseline", ID, { learning_minutes: 60, devices: true, reason: "moved" }],
    ]);
    await expect(resetBaseline(connection, of, { learn: "soon", reason: "x" })).rejects.toMatchObject({ code: "bad-option" });
  });

  test("is edited by facts as they are written on the command line", async () => {
    const { asked, connection } = connect({ editBaselineFacts: async () => BASELINE });
    await editBaseline(connection, of, { set: ["gateway/10.0.0.1 vlan 20=00:1b:21:aa:bb:07"], remove: ["port/tcp/22"], reason: "x" });
    expect(asked).toEqual([["editBaselineFacts", ID, {
      set: [{ kind: "gateway", key: "10.0.0.1 vlan 20", value: "00:1b:21:aa:bb:07" }], remove: [{ kind: "port", key: "tcp/22" }], reason: "x",
    }]]);
    for (const options of [{}, { set: ["port/tcp/22"] }, { set: ["tcp/22=open"] }, { remove: ["port/"] }, { remove: ["port"] }]) {
      await expect(editBaseline(connection, of, { ...options, reason: "x" })).rejects.toMatchObject({ code: "bad-option" });
    }
  });
});

describe("differences", () => {
  test("are shown before and now, and how to accept them", async () => {
    const unlooked = { ...DIFFERENCE, outcome: "not_checked", observed: "", state: "pending", severity: "info" } as const;
    const { asked, connection } = connect({ listBaselineDifferences: () => pageOf(DIFFERENCE, unlooked) });
    const answer = await listDifferences(connection, { state: "open" });
    expect(asked).toMatchObject([["listBaselineDifferences", { state: "open" }]]);
    expect(lines(answer).slice(1, 7)).toEqual([
      "5f3a9c01d2e4  high           Office: gateway 10.0.0.1 changed",
      "                             before: 00:1b:21:aa:bb:07 (seen 2026-11-20T08:15:30Z)",
      "                             now: 00:1b:21:aa:bb:66",
      "5f3a9c01d2e4  info, pending  Office: gateway 10.0.0.1 was not looked for lately",
      "                             before: 00:1b:21:aa:bb:07 (seen 2026-11-20T08:15:30Z)",
      "                             now: not known",
    ]);
    expect(lines(answer, 80).every((line) => line.length <= 80)).toBe(true);
  });

  test("are accepted by the end of their id, for whom and until when", async () => {
    const { asked, connection } = connect({ listBaselineDifferences: () => pageOf(DIFFERENCE), acceptBaselineDifference: async () => ACCEPTANCE });
    const answer = await acceptDifference(connection, "5f3a9c01d2e4", { for: "group", tag: "web", reason: "x", until: "8h" }, NOW);
    expect(asked.at(-1)).toEqual(["acceptBaselineDifference", ID, { for: "group", tag: "web", reason: "x", expires_at: "2026-11-20T16:15:30.250Z" }]);
    expect(lines(answer)[1]).toBe("5f3a9c01d2e4  site Office  gateway 10.0.0.1 changed: 00:1b:21:aa:bb:66  no end  new firewall  admin");
    await acceptDifference(connection, ID, { for: "device", reason: "x" }, NOW);
    expect(asked.slice(-1)).toEqual([["acceptBaselineDifference", ID, { for: "device", reason: "x" }]]);
    const asking = asked.length;
    for (const [id, options, code] of [
      ["5f3a", { for: "group" }, "bad-option"], ["5f3a", { for: "site", tag: "web" }, "bad-option"], ["5f3a", { for: "site", until: "soon" }, "bad-option"],
      ["0000", { for: "site" }, "not-found"], ["x", { for: "site" }, "not-found"],
    ] as const) {
      await expect(acceptDifference(connection, id, { reason: "x", ...options }, NOW)).rejects.toMatchObject({ code });
    }
    expect(asked.slice(asking).filter((one) => (one as string[])[0] === "acceptBaselineDifference")).toEqual([]);
  });

  test("of which several have the same end are not guessed at", async () => {
    const { connection } = connect({ listBaselineDifferences: () => pageOf(DIFFERENCE, { ...DIFFERENCE, id: ID.replace("01939f6e", "01939f6f") }) });
    await expect(acceptDifference(connection, "5f3a9c01d2e4", { for: "site", reason: "x" }, NOW)).rejects.toMatchObject({ code: "not-found" });
  });

  test("that were accepted are listed and taken back", async () => {
    const { asked, connection } = connect({
      listBaselineAcceptances: () => pageOf({ ...ACCEPTANCE, site_id: null, name: null, tag: "web", expires_at: AT }), deleteBaselineAcceptance: async () => {},
    });
    expect(lines(await listAcceptances(connection, {}))[1]).toContain("tag web  gateway 10.0.0.1 changed: 00:1b:21:aa:bb:66  2026-11-20T08:15:30Z");
    await deleteAcceptance(connection, "d2e4");
    expect(asked.at(-1)).toEqual(["deleteBaselineAcceptance", ID]);
  });
});

describe("templates", () => {
  test("are made from facts or from a device, listed with their site, and deleted by name", async () => {
    const { asked, connection } = connect({
      createBaselineTemplate: async () => TEMPLATE, listBaselineTemplates: () => pageOf(TEMPLATE), deleteBaselineTemplate: async () => {},
    });
    await createTemplate(connection, "Web servers", { tag: "web", site: "Office", fact: ["port/tcp/443=open"] });
    await createTemplate(connection, "NAS", { tag: "storage", from: "nas" });
    expect(asked).toEqual([
      ["createBaselineTemplate", { name: "Web servers", tag: "web", site_id: SITE, facts: [{ kind: "port", key: "tcp/443", value: "open" }] }],
      ["createBaselineTemplate", { name: "NAS", tag: "storage", from_device_id: DEVICE }],
    ]);
    expect(lines(await listTemplates(connection, {}))[1]).toBe("Web servers  web  Office  service tcp/443 https nginx");
    await deleteTemplate(connection, "Web servers");
    expect(asked.at(-1)).toEqual(["deleteBaselineTemplate", ID]);
    await expect(deleteTemplate(connection, "Mail")).rejects.toMatchObject({ code: "not-found" });
    for (const options of [{}, { fact: ["port/tcp/1=open"], from: "nas" }, { fact: ["gateway/10.0.0.1=x"] }]) {
      await expect(createTemplate(connection, "x", { tag: "x", ...options })).rejects.toMatchObject({ code: "bad-option" });
    }
  });
});

describe("windows", () => {
  test("begin now or later, for a site, a device or a tag, and are listed and deleted", async () => {
    const { asked, connection } = connect({
      createBaselineWindow: async () => WINDOW, listBaselineWindows: () => pageOf(WINDOW), deleteBaselineWindow: async () => {},
      readDevice: async () => ({ site_id: SITE }) as never,
    });
    await createWindow(connection, { until: "4h", reason: "switches" }, NOW);
    await createWindow(connection, { device: "nas", from: "1h", until: "2h", learn: true, reason: "update" }, NOW);
    expect([asked[0], asked.at(-1)]).toEqual([
      ["createBaselineWindow", { site_id: SITE, begins_at: AT, ends_at: "2026-11-20T12:15:30.250Z", effect: "hold", reason: "switches" }],
      ["createBaselineWindow", {
        site_id: SITE, device_id: DEVICE, begins_at: "2026-11-20T09:15:30.250Z", ends_at: "2026-11-20T10:15:30.250Z", effect: "learn", reason: "update",
      }],
    ]);
    const listed = await listWindows(connection, {});
    expect(lines(listed)[1]).toBe("5f3a9c01d2e4  site Office  2026-11-20T08:15:30Z to 2026-11-20T08:15:30Z  report  switches  admin");
    expect(lines(listed, 80).every((line) => line.length <= 80)).toBe(true);
    await deleteWindow(connection, "5f3a9c01d2e4");
    expect(asked.at(-1)).toEqual(["deleteBaselineWindow", ID]);
    await expect(createWindow(connection, { device: "nas", tag: "x", until: "2h", reason: "x" }, NOW)).rejects.toMatchObject({ code: "bad-option" });
    await expect(createWindow(connection, { until: "soon", reason: "x" }, NOW)).rejects.toMatchObject({ code: "bad-option" });
  });
});

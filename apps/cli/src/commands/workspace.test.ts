import type { RestClient } from "@lanthorn/client";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { shortTime } from "../short-time.ts";
import { showChanges } from "./changes.ts";
import { countAlerts, countDevices } from "./facets.ts";
import { deleteView, listViews, saveView, type ViewOptions } from "./saved-views.ts";

const connect = (rest: Partial<Record<keyof RestClient, (...asked: readonly unknown[]) => unknown>>) => ({ rest }) as unknown as Connection;
const page = <T>(data: readonly T[]) => Promise.resolve({ data, meta: { page: 1, per_page: 100, total: data.length, next_cursor: null } });
const linesOf = (answer: Parameters<typeof formatAnswer>[0]) => formatAnswer(answer, false).split("\n").map((line) => line.trimEnd());
const [SITE, OTHER] = ["01939f6e-2a10-7c3e-8f00-000000000001", "01939f6e-2a10-7c3e-8f00-000000000002"] as const;
const AT = "2026-11-20T08:00:00.000Z";

test("what changed is counted of all and of each site, the alerts by severity", async () => {
  const asked: unknown[] = [];
  const none = { devices: { new: 0, gone: 0 }, alerts: { critical: 0, high: 0, medium: 0, low: 0, info: 0, resolved: 0 }, vulnerabilities: 0, configurations: 0, silent_probes: 0 };
  const some = { ...none, devices: { new: 3, gone: 1 }, alerts: { ...none.alerts, critical: 1, low: 12, resolved: 4 }, silent_probes: 1 };
  const changes = { since: AT, until: AT, total: some, sites: [{ site_id: SITE, ...some }, { site_id: OTHER, ...none, configurations: 2 }] };
  const rest = connect({ countChanges: (query) => (asked.push(query), Promise.resolve(changes)), listSites: () => page([{ id: SITE, name: "Store\u001B 12" }]) });
  const answer = await showChanges(rest, { since: "24h", site: SITE });
  expect([asked, answer.json]).toEqual([[{ since: "24h", site_id: SITE }], changes]);
  expect(linesOf(answer)).toEqual([
    "SITE                                  ALERTS              RESOLVED  NEW DEVICES  GONE  SILENT PROBES  VULNERABILITIES  CONFIGURATIONS",
    "all                                   1 critical, 12 low  4         3            1     1              0                0",
    "Store? 12                             1 critical, 12 low  4         3            1     1              0                0",
    `${OTHER}  0                   0         0            0     0              0                2`, "",
    `from ${shortTime(AT)} to ${shortTime(AT)}`,
  ]);
  expect((await showChanges(connect({ countChanges: (query) => (asked.push(query), Promise.resolve({ ...changes, sites: [] })) }), {})).json).toMatchObject({ total: some });
  expect(asked.at(-1)).toEqual({});
});

test("values are counted field by field, of what the filter leaves", async () => {
  const asked: unknown[] = [];
  const facets = { total: 7, severity: [{ value: "high", count: 5 }, { value: "low", count: 2 }], type: [{ value: "rogue_dhcp", count: 7 }], site_id: [] };
  const count = (query: unknown) => (asked.push(query), Promise.resolve(facets));
  const answer = await countAlerts(connect({ countAlerts: count }), { filter: "severity:>=low" });
  expect(linesOf(answer)).toEqual(["FIELD     VALUE       COUNT", "severity  high        5", "severity  low         2", "type      rogue_dhcp  7", "", "7 alerts"]);
  expect((await countDevices(connect({ countDevices: count }), { site: SITE })).json).toEqual(facets);
  expect(asked).toEqual([{ filter: "severity:>=low" }, { site_id: SITE }]);
});

test("a view is saved anew, or in place of one's own of its list and name, and deleted by either of its names", async () => {
  const done: unknown[] = [];
  const view = { id: SITE, list: "devices", name: "Printers", filter: "type:printer", sort: "", columns: ["ip", "vendor"], shared: true, owner: { id: OTHER, username: "jo" }, is_own: true, created_at: AT, updated_at: AT };
  const views = [view, { ...view, id: OTHER, is_own: false }];
  const rest = connect({
    listViews: (query) => (done.push(["list", query]), page(views)), createView: (body) => (done.push(["create", body]), Promise.resolve(view)),
    updateView: (id, body) => (done.push(["update", id, body]), Promise.resolve(view)), deleteView: (id) => (done.push(["delete", id]), Promise.resolve()),
  });
  expect(linesOf(await listViews(rest, {}))).toEqual([
    "NAME      LIST     FILTER        SORT  COLUMNS    OWNER        ID", `Printers  devices  type:printer  -     ip,vendor  you, shared  ${SITE}`,
    `Printers  devices  type:printer  -     ip,vendor  jo           ${OTHER}`,
  ]);
  await saveView(rest, "Printers", { list: "devices", columns: "ip, vendor", json: false } as ViewOptions);
  await saveView(rest, "Cameras", { list: "devices", filter: "type:camera", shared: true });
  await deleteView(rest, "Printers");
  await deleteView(rest, OTHER);
  expect(done.filter((one) => !(one as readonly string[]).includes("list"))).toEqual([
    ["update", SITE, { columns: ["ip", "vendor"] }], ["create", { list: "devices", name: "Cameras", filter: "type:camera", sort: "", columns: [], shared: true }],
    ["delete", SITE], ["delete", OTHER],
  ]);
  await expect(deleteView(rest, "Nothing")).rejects.toMatchObject({ code: "not-found" });
  views.push({ ...view, list: "alerts" });
  await expect(deleteView(rest, "Printers")).rejects.toMatchObject({ code: "not-found" });
});

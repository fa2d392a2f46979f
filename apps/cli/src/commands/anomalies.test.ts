import type { AnomalyDetails, AnomalyModel } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { listAnomalies, listModels, sayNormal, showAnomaly } from "./anomalies.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const PCAP = "01939f6e-2a10-7c3e-8f00-00000000000c";
const AT = "2026-06-01T12:00:00.000Z";
const connect = (calls: object) => ({ rest: calls }) as unknown as Connection;
const page = <T>(data: readonly T[]) => ({ data, meta: { page: 1, per_page: 100, total: data.length, next_cursor: null } });
const ANOMALY: AnomalyDetails = {
  id: ID, site_id: ID, probe_id: ID, device_id: null, kind: "exfiltration", device: "02:00:00:00:00:07", ip: "10.0.0.7", mac: "02:00:00:00:00:07", group: "uses tcp/443", severity: "high", score: 0.8,
  metric: "bytes_to_rare", observed: 4.36e8, expected_low: 0, expected_high: 7.1e6, usual: 0, explanation: "It sent much.\u001B[2J", techniques: ["T1048"], since: AT, found_at: AT, is_alert: true, alert_id: ID,
  is_normal: false, features: [{ name: "bytes_to_rare", share: 0.94, observed: 4.36e8, expected_low: 0, expected_high: 7.1e6, usual: 0 }], peers: ["198.51.100.9"], news: [],
  site_series: [{ name: "bytes_out", score: 0.61, observed: 2.4e9, at: AT }],
  series: { bucket_seconds: 300, ends_at: AT, values: [0, 2.18e8, 4.36e8] }, feedback_id: null, pcap_ids: [PCAP], around: [{ type: "config_changed", at: AT, device_id: null }],
};

test("an anomaly is shown with its features, a plot and what happened beside it, and nothing of it reaches the terminal's controls", async () => {
  const text = formatAnswer(await showAnomaly(connect({ readAnomaly: () => Promise.resolve(ANOMALY) }), ID), false);
  expect(text).toContain("94 %  bytes_to_rare: 436 MB; up to 7.1 MB is expected, 0.0 kB is usual at this hour");
  const lines = text.split("\n");
  expect(lines.filter((line) => line.includes("┤"))).toEqual([
    "    436 MB ┤  █", "           ┤  █", "           ┤  █", "           ┤  █", "           ┤ ██", "           ┤ ██", "           ┤ ██", "         0 ┤ ██",
  ]);
  expect(lines.at(-1)).toBe(`If it is normal: lanthorn anomalies normal ${ID}`);
  expect(text).toContain("bytes_out: 2.4 GB in five minutes, 61 %");
  expect(text).toContain("config_changed");
  expect(lines).toContain(`  lanthorn pcap show ${PCAP}`);
  expect(text).not.toContain("\u001B");
});

test("a plot of nothing is empty", async () => {
  const nothing = { ...ANOMALY, series: { bucket_seconds: 300, ends_at: AT, values: [0, 0] } };
  expect(formatAnswer(await showAnomaly(connect({ readAnomaly: () => Promise.resolve(nothing) }), ID), false)).toContain("0.0 kB ┤");
});

test("a list has alerts unless all are asked for, and an empty one says whether anybody looks", async () => {
  const queries: object[] = [];
  let models: readonly Partial<AnomalyModel>[] = [];
  const connection = connect({ listAnomalies: (query: object) => Promise.resolve((queries.push(query), page(queries.length < 3 ? [ANOMALY] : []))), listAnomalyModels: () => Promise.resolve(page(models)) });
  expect(formatAnswer(await listAnomalies(connection, { all: false, limit: "50" }), false)).toContain("436 MB (up to 7.1 MB)");
  await listAnomalies(connection, { all: true, limit: "50", kind: "scan", since: "7d" });
  expect(queries).toEqual([{ is_alert: true, is_normal: false, per_page: 50 }, { kind: "scan", since: "7d", per_page: 50 }]);
  expect((await listAnomalies(connection, { all: false, limit: "50" })).text).toContain("no probe watches");
  models = [{ state: { learning: 3 } as AnomalyModel["state"] }];
  expect((await listAnomalies(connection, { all: false, limit: "50" })).text).toContain("3 devices are still learned");
});

test("what is normal is said of a device or a group, until a time or always", async () => {
  const said: unknown[] = [];
  const take = (id: string, body: { scope: string; until?: string }) =>
    Promise.resolve((said.push([id, body]), { id: ID, kind: "scan", device: body.scope === "device" ? "10.0.0.7" : null, group: body.scope === "group" ? "uses tcp/443" : null, until: body.until ?? null }));
  const connection = connect({ createAnomalyFeedback: take });
  expect((await sayNormal(connection, ID, { group: false, until: "8h", reason: "a scanner" }, 0)).text).toContain("scan is normal for 10.0.0.7 until");
  expect((await sayNormal(connection, ID, { group: true, reason: "" }, 0)).text).toContain('devices of the group "uses tcp/443".');
  expect(said).toEqual([[ID, { scope: "device", reason: "a scanner", until: "1970-01-01T08:00:00.000Z" }], [ID, { scope: "group", reason: "" }]]);
  await expect(sayNormal(connection, ID, { group: false, until: "soon", reason: "" }, 0)).rejects.toMatchObject({ code: "bad-option" });
});

test("of what probes learn, hours that were not learned are named where they report them", async () => {
  const state = { learning: 2, active: 7, drifted: 0, frozen: 0, compared_hours: 30, distrusted_hours: 1, countries: 250 };
  const models = [{ name: "new", is_online: true, state: { ...state, thin_hours: 3 } }, { name: "older", is_online: false, state }, { name: "blind", is_online: true, state: null }];
  const answer = await listModels(connect({ listAnomalyModels: () => Promise.resolve(page(models)) }));
  expect([answer.json, answer.table?.rows.map((row) => row.slice(6))]).toEqual([models, [["30", "3", "1"], ["30", "-", "1"], ["", "", ""]]]);
});

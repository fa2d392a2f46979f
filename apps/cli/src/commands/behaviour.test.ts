import type { AnomalyModel, DeviceBehaviour, LearnedBehaviour } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { changeModel, listModelDevices, showBehaviour } from "./behaviour.ts";

const [PROBE, DEVICE] = ["01939f6e-2a10-7c3e-8f00-000000000001", "01939f6e-2a10-7c3e-8f00-000000000002"];
const AT = "2026-06-01T12:00:00.000Z";
const hours = (of: (hour: number) => number) => Array.from({ length: 24 }, (_, hour) => of(hour));
const byDay = hours((hour) => (hour >= 8 && hour < 17 ? 4e6 : 0));
const BEHAVIOUR: LearnedBehaviour = {
  device: "02:00:00:00:00:07", lifecycle: "drifted", lifecycle_since: AT, known_since: AT, hours_learned: 212, unusual_since: AT, relearned_until: AT, group: "uses tcp/443", group_hours: 10, is_group_known: false,
  days: { workdays: hours(() => 5), weekends: hours((hour) => (hour < 12 ? 2 : 0)) },
  features: [{ name: "bytes_out", highest: 5e6, workdays: { usual: byDay, expected_high: byDay }, weekends: { usual: hours(() => 0), expected_high: byDay } }],
  peers: [{ name: "203.0.113.7\u001B[2J", share: 0.92 }], ports: [{ name: "uses tcp/443", share: 1 }], names: [],
};
const connect = (calls: object) => ({ rest: calls }) as unknown as Connection;
const behaviourOf = (probes: DeviceBehaviour["probes"]): DeviceBehaviour => ({ device_id: DEVICE, site_id: DEVICE, probes });
const known = { probe_id: PROBE, name: "box", problem: null, other_hosts: "none", behaviour: BEHAVIOUR } as const;

test("what is usual is shown by hour, with hosts and ports, and nothing of it reaches the terminal's controls", async () => {
  const probes = [known, { probe_id: DEVICE, name: "blind", problem: "it does not watch", other_hosts: null, behaviour: null }, { probe_id: DEVICE, name: "other", problem: null, other_hosts: null, behaviour: null }];
  const text = formatAnswer(await showBehaviour(connect({ readDeviceBehaviour: () => Promise.resolve(behaviourOf(probes)) }), DEVICE), false);
  const lines = text.split("\n");
  expect(lines[0]).toMatch(/^box: 02:00:00:00:00:07 is drifted since .*, 212 hours learned$/);
  expect(lines).toContain(`bytes_out     ${" ".repeat(8)}${"█".repeat(9)}${" ".repeat(7)}  ${" ".repeat(12)}${"·".repeat(12)}  4.0 MB at most`);
  expect(lines.filter((line) => /^ +\d+ %/.test(line))).toEqual(["  92 %  203.0.113.7?[2J", " 100 %  uses tcp/443"]);
  expect(text).toMatch(/too little is known of them yet[^]*at an access port[^]*something unusual goes on[^]*learned anew until/);
  expect(lines.slice(-2)).toEqual(["blind: it does not watch", "other: it does not know the device"]);
  expect(text).not.toContain("\u001B");
});

test("a probe's devices are listed to the last page, each with its state", async () => {
  const queries: unknown[] = [];
  const models: Partial<AnomalyModel>[] = [{ probe_id: PROBE, name: "box" }];
  const device = (name: string) => ({ device: name, lifecycle: "learning", lifecycle_since: "2026-11-20T08:00:00.000Z", known_since: "2026-11-20T08:00:00.000Z", hours_learned: 3, group: "uses tcp/443" });
  const connection = connect({
    listAnomalyModels: () => Promise.resolve({ data: models, meta: { page: 1, per_page: 100, total: 1, next_cursor: null } }),
    listAnomalyModelDevices: (id: string, query: { cursor?: string }) => Promise.resolve((queries.push([id, query]), query.cursor === undefined
      ? { data: [device("10.1.0.8")], meta: { page: 1, per_page: 200, total: 2, next_cursor: "10.1.0.8" } } : { data: [device("10.1.0.9\u001B[31m")], meta: { page: 1, per_page: 200, total: 2, next_cursor: null } })),
  });
  const text = formatAnswer(await listModelDevices(connection, "box", "learning"), false);
  expect(text).toMatch(/10\.1\.0\.8 +learning .* 3 +uses tcp\/443/);
  expect(text).toContain("10.1.0.9");
  expect(text).not.toContain("\u001B");
  expect(queries).toMatchObject([[PROBE, { lifecycle: "learning", per_page: 200 }], [PROBE, { lifecycle: "learning", per_page: 200, cursor: "10.1.0.8" }]]);
  await expect(listModelDevices(connection, "nobody", undefined)).rejects.toMatchObject({ code: "not-found" });
});

test("a device is changed where it is known, a probe's devices all at once, and without either it is refused", async () => {
  const calls: unknown[] = [];
  const take = (what: string, devices: number) => (id: string, body: object) => Promise.resolve((calls.push([what, id, body]), { probe_id: id, devices }));
  const models: Partial<AnomalyModel>[] = [{ probe_id: PROBE, name: "box" }, { probe_id: DEVICE, name: "twin" }, { probe_id: PROBE, name: "twin" }];
  const connection = connect({
    readDeviceBehaviour: () => Promise.resolve(behaviourOf([known, { ...known, probe_id: DEVICE, behaviour: null }])), freezeAnomalyModel: take("freeze", 1), resetAnomalyModel: take("reset", 40),
    listAnomalyModels: () => Promise.resolve({ data: models, meta: { page: 1, per_page: 100, total: 3, next_cursor: null } }),
  });
  expect((await changeModel(connection, "freeze", { device: DEVICE })).text).toBe(`${DEVICE} is frozen: compared, and not learned`);
  expect((await changeModel(connection, "unfreeze", { device: DEVICE, probe: "box" })).text).toContain("is learned again");
  expect((await changeModel(connection, "reset", { probe: "box" })).text).toBe("40 devices are forgotten, and learned anew");
  expect(calls).toEqual([["freeze", PROBE, { device_id: DEVICE, is_frozen: true }], ["freeze", PROBE, { device_id: DEVICE, is_frozen: false }], ["reset", PROBE, {}]]);
  await expect(changeModel(connection, "reset", {})).rejects.toMatchObject({ code: "bad-option" });
  for (const probe of ["nobody", "twin"]) await expect(changeModel(connection, "reset", { probe })).rejects.toMatchObject({ code: "not-found" });
});

import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { insertMany } from "../../db/query/write-many.ts";
import { loadJudgements, type Subject } from "./judgements.ts";
import { type BaselineWorld, MADE_AT, openBaselineWorld } from "./testing/baseline-world.ts";

const NOW = Date.parse(MADE_AT);
const HOUR_MS = 3_600_000;
const inHours = (hours: number) => toInstant(NOW + hours * HOUR_MS);
const PORT = { kind: "port", key: "tcp/4444", outcome: "appeared", observed: "open" } as const;
const SERVICE = { kind: "service", key: "tcp/22", outcome: "changed", observed: "ssh 2" } as const;

let world: BaselineWorld;
let nas: Subject;
let other: Subject;
beforeEach(async () => {
  world = await openBaselineWorld();
  nas = { siteId: world.admin.siteId, deviceId: world.deviceId, tags: ["storage"] };
  other = { siteId: createId(), deviceId: createId(), tags: ["web"] };
});
afterEach(() => world.gateway.stop());

const load = (now = NOW, tenantId = world.admin.tenantId) => loadJudgements(world.gateway.reads, tenantId, now);
const row = () => ({ id: createId(), tenant_id: world.admin.tenantId, site_id: world.admin.siteId, created_by: "ann", created_at: MADE_AT });
const accept = async (values: object = {}) => {
  const acceptance = { ...row(), device_id: null, tag: null, ...PORT, reason: "x", expires_at: null, ...values };
  await world.gateway.db.insertInto("baseline_acceptances").values(acceptance).execute();
  return acceptance.id;
};
const template = (values: object = {}) => world.gateway.db.insertInto("baseline_templates").values({
  ...row(), name: createId(), tag: "storage", facts: JSON.stringify([{ kind: "port", key: "tcp/443", value: "open" }]), updated_at: MADE_AT, ...values,
}).execute();
const window = (values: object = {}) => world.gateway.db.insertInto("baseline_windows").values({
  ...row(), device_id: null, tag: null, begins_at: inHours(0), ends_at: inHours(2), effect: "hold", reason: "update", ...values,
}).execute();

describe("an acceptance", () => {
  test.each<readonly [string, () => object, readonly [nas: boolean, atTheSite: boolean, other: boolean]]>([
    ["of a device", () => ({ device_id: world.deviceId }), [true, false, false]],
    ["of a site", () => ({}), [true, true, false]],
    ["of a tag at all sites", () => ({ site_id: null, tag: "web" }), [false, true, true]],
    ["of a tag at a site", () => ({ tag: "web" }), [false, true, false]],
    ["that has expired", () => ({ expires_at: inHours(0) }), [false, false, false]],
    ["that expires later", () => ({ expires_at: inHours(1) }), [true, true, false]],
    ["of another outcome", () => ({ outcome: "gone" }), [false, false, false]],
    ["of another port", () => ({ key: "tcp/80" }), [false, false, false]],
  ])("%s is right for these alone", async (_, values, expected) => {
    await accept(values());
    const { acceptanceOf } = await load();
    expect([nas, { ...other, siteId: nas.siteId }, other].map((of) => acceptanceOf(of, PORT) !== null)).toEqual(expected);
  });

  test("of a port is right whatever is behind it, of a service for that one", async () => {
    await accept();
    await accept(SERVICE);
    const { acceptanceOf } = await load();
    expect([{ ...PORT, observed: "open: http" }, SERVICE, { ...SERVICE, observed: "ssh 3" }].map((found) => acceptanceOf(nas, found) !== null))
      .toEqual([true, true, false]);
  });

  test("of another tenant is none", async () => {
    await accept();
    expect((await load(NOW, (await world.gateway.createTenant()).tenantId)).acceptanceOf(nas, PORT)).toBeNull();
  });
});

test("a template counts for the devices that have its tag, at its site", async () => {
  await template();
  await template({ site_id: null, tag: "web" });
  await template({ site_id: (await world.gateway.createTenant()).siteId });
  const { templatesOf } = await load();
  expect([nas, other, { ...other, tags: ["storage"] }].map((of) => templatesOf(of).map(({ key, isLearned }) => [key, isLearned])))
    .toEqual([[["tcp/443", false]], [["tcp/443", false]], []]);
});

test("windows: one that learns goes before one that holds, and those that have not begun or are over are none", async () => {
  const effect = async () => (await load()).windowOf(nas)?.effect;
  await window({ begins_at: inHours(1) });
  await window({ begins_at: inHours(-2), ends_at: inHours(0) });
  await window({ tag: "web" });
  await window({ device_id: await world.gateway.createDevice(world.admin, { ip: "10.0.0.6" }) });
  expect(await effect()).toBeUndefined();
  await window({ tag: "storage" });
  expect(await effect()).toBe("hold");
  await window({ device_id: world.deviceId, effect: "learn" });
  expect(await effect()).toBe("learn");
});

test("what people said changes next when a window begins or ends, or an acceptance that may concern the device expires", async () => {
  const next = async (of: Subject) => (await load()).nextChange(of);
  await accept({ expires_at: inHours(9) });
  expect([await next(nas), await next(other)]).toEqual([NOW + 9 * HOUR_MS, null]);
  await accept({ device_id: world.deviceId, expires_at: inHours(8) });
  await accept({ site_id: null, tag: "web", expires_at: inHours(7) });
  expect([await next(nas), await next(other)]).toEqual([NOW + 8 * HOUR_MS, NOW + 7 * HOUR_MS]);
  await window({ begins_at: inHours(4), ends_at: inHours(5) });
  await window({ begins_at: inHours(-1), ends_at: inHours(6) });
  expect(await next(nas)).toBe(NOW + 4 * HOUR_MS);
});

test("more of them than one page are all read", async () => {
  const before = row();
  await insertMany(world.gateway.db, "baseline_acceptances", Array.from({ length: 2001 }, (_, index) => ({
    ...before, id: createId(), device_id: null, tag: null, ...PORT, key: `tcp/${index + 1}`, reason: "x", expires_at: null,
  })));
  const { acceptanceOf } = await load();
  expect(Array.from({ length: 2001 }, (_, index) => acceptanceOf(nas, { ...PORT, key: `tcp/${index + 1}` })).filter((id) => id === null)).toEqual([]);
});

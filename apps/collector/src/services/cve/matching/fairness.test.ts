import { createFakeClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAllowance } from "./allowance.ts";
import { type MatchWorld, OPENSSH, openMatchWorld } from "./testing/match-world.ts";

const HOUR_MS = 3_600_000;
/** Of a product that nobody has twice in the same version. */
const build = (number: number, product = "openssh") => ({ ...OPENSSH, product, product_version: `9.2.${number}`, cpe: `cpe:2.3:a:openbsd:openssh:9.2.${number}:*:*:*:*:*:*:*` });

describe("the hourly allowance", () => {
  test("of a device that makes up software makes that device wait, and after an hour it goes on", () => {
    const clock = createFakeClock(0);
    const allowance = createAllowance(clock);
    for (let time = 0; time < 255; time += 1) allowance.took("a", "liar");
    allowance.took("a", "honest");
    expect(allowance.spentDevices("a")).toEqual([]);
    allowance.took("a", "liar");
    expect([allowance.spentDevices("a"), allowance.isSpent("a"), allowance.spentDevices("b")]).toEqual([["liar"], false, []]);
    clock.jump(HOUR_MS - 1);
    expect(allowance.spentDevices("a")).toEqual(["liar"]);
    clock.jump(1);
    expect(allowance.spentDevices("a")).toEqual([]);
  });

  test("of a tenant ends by much software of many devices, or by many devices that lie, and no other tenant waits", () => {
    const clock = createFakeClock(0);
    const allowance = createAllowance(clock);
    for (let time = 0; time < 20_000; time += 1) allowance.took("many", `device ${time}`);
    for (let device = 0; device <= 500; device += 1) for (let time = 0; time < 256; time += 1) if (!allowance.isSpent("liars")) allowance.took("liars", `device ${device}`);
    expect([allowance.isSpent("many"), allowance.isSpent("liars"), allowance.isSpent("other")]).toEqual([true, true, false]);
    // A clock that was set back must not hold anybody up.
    clock.jump(-HOUR_MS);
    expect([allowance.isSpent("many"), allowance.isSpent("liars")]).toEqual([false, false]);
  });
});

describe("an attack by a probe", () => {
  let world: MatchWorld;
  beforeEach(async () => {
    world = await openMatchWorld();
    await world.load([{ id: "CVE-2024-0001", product: "a:openbsd:openssh", before: "9.8" }]);
  });
  afterEach(() => world.stop());

  const assigned = async (deviceId: string) => (await world.gateway.db.selectFrom("service_software").selectAll().where("device_id", "=", deviceId).where("until", "is", null).execute()).length;
  const judged = async () => (await world.gateway.db.selectFrom("judged_software").select("id").execute()).length;

  test("that changes a device's software without end is judged so often an hour, and its neighbors are matched meanwhile", async () => {
    const liar = await world.addDevice("10.0.0.1", []);
    for (let round = 0; round < 4; round += 1) {
      await world.setPorts(liar, Array.from({ length: 100 }, (_, index) => ({ port: 1000 + index, ...build(round * 100 + index) })));
      await world.match();
    }
    const after = await judged();
    expect([after >= 256, after < 300]).toEqual([true, true]);
    const honest = await world.addDevice("10.0.0.2", [{ port: 22, ...build(9999) }]);
    await world.match();
    expect([await judged(), await world.matches(honest)]).toEqual([after + 1, ["22 CVE-2024-0001 confirmed open 1"]]);
    expect(await world.gateway.db.selectFrom("software_changes").select("device_id").execute()).toEqual([{ device_id: liar }]);
    await world.clock.leap(HOUR_MS);
    await world.match();
    expect([await assigned(liar), await world.gateway.db.selectFrom("software_changes").select("device_id").execute()]).toEqual([100, []]);
  });

  test("on a tenant's queue lets another tenant's device wait for one turn at most", async () => {
    const other = await world.gateway.createTenant("admin");
    await world.addDevices(Array.from({ length: 600 }, (_, device) => ({ ip: `10.1.${device >> 8}.${device & 255}`, ports: [{ port: 22, ...build(device) }] })));
    const honest = await world.addDevice("10.2.0.1", [{ port: 22, ...build(9999) }], other);
    await world.match();
    const rows = await world.gateway.db.selectFrom("service_software").select(["id", "device_id"]).orderBy("id").execute();
    expect(rows.length).toBe(601);
    expect(rows.findIndex(({ device_id: id }) => id === honest)).toBeLessThanOrEqual(512);
  });
});

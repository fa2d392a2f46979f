import { Alert, listEnvelope } from "@lanthorn/contract";
import { createFakeClock, type FakeClock } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { addressKey } from "../../db/keys/address-key.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { createIpam } from "./ipam.ts";

let gateway: TestGateway;
let admin: TestTenant;
let clock: FakeClock;
let ipam: ReturnType<typeof createIpam>;
afterEach(() => gateway.stop());

async function start() {
  clock = createFakeClock();
  gateway = await startTestGateway({
    clock, alerts: true,
    modules(parts) {
      ipam = createIpam(parts);
      return [ipam];
    },
  });
  admin = await gateway.createTenant("admin");
}

const plan = async (method: string, path: string, body?: unknown) => {
  const answer = await gateway.call(method, `/api/v1/ipam${path}`, admin.token, body);
  expect(answer.status).toBeLessThan(300);
  return answer.body as { readonly id: string };
};
/** A device that has an address now, or has it no more. */
const observe = async (ip: string, mac: string) => {
  const id = await gateway.createDevice(admin, { ip, mac, hostname: `host-${mac.slice(-2)}` });
  return {
    id,
    leave: () => gateway.db.updateTable("addresses").set({ current: 0 }).where("device_id", "=", id).where("ip_key", "=", addressKey(ip))
      .execute(),
  };
};
const alerts = async (status: string) => {
  const all = listEnvelope(Alert).parse((await gateway.get(`/api/v1/alerts?status=${status}`, admin.token)).body).data;
  return all.filter(({ type }) => type === "ipam_conflict");
};
const published = async () => {
  const rows = await gateway.reads.selectFrom("events").select("data").where("type", "=", "ipam_conflict").orderBy("seq").execute();
  return rows.map(({ data }) => JSON.parse(data) as { readonly ip: string; readonly state: string; readonly kinds: readonly string[] });
};
const lookTwice = async () => {
  await ipam.conflicts.run();
  await ipam.conflicts.run();
};

describe("a conflict of addresses", () => {
  test("raises one alert, however many things are wrong and however often it is seen, and ends by itself", async () => {
    await start();
    await plan("POST", "/addresses", { ip: "10.0.0.7", mac: "00:11:32:00:00:07", hostname: "printer" });
    const stranger = await observe("10.0.0.7", "00:11:32:00:00:99");
    await observe("10.0.0.7", "00:11:32:00:00:98");
    await lookTwice();
    const [alert, ...others] = await alerts("open");
    expect(others).toEqual([]);
    expect(alert).toMatchObject({
      source: "baseline", severity: "medium", subject: "10.0.0.7", device_ip: "10.0.0.7", site_id: admin.siteId, count: 1,
      title: "10.0.0.7 is not used as planned",
    });
    expect(alert?.description).toContain("Planned for 00:11:32:00:00:07. Seen: 00:11:32:00:00:99 host-99, 00:11:32:00:00:98 host-98.");
    await lookTwice();
    expect(await published()).toHaveLength(1);

    await stranger.leave();
    await ipam.conflicts.run();
    expect((await published()).map(({ kinds }) => kinds)).toEqual([["wrong_mac", "duplicate_address"], ["wrong_mac"]]);
    expect((await alerts("open")).map(({ id, count }) => [id, count])).toEqual([[alert?.id, 2]]);

    await gateway.db.updateTable("addresses").set({ current: 0 }).execute();
    await ipam.conflicts.run();
    expect([
      await alerts("open"), (await alerts("resolved")).map(({ id, resolved_by: by }) => [id, by]),
    ]).toEqual([[], [[alert?.id, "ipam_conflict"]]]);
    expect((await published()).at(-1)).toMatchObject({ state: "gone" });
  });

  test("that is gone at the next check was a lease that moved, and is not published", async () => {
    await start();
    await plan("POST", "/addresses", { ip: "10.0.0.7", status: "reserved" });
    const { leave } = await observe("10.0.0.7", "00:11:32:00:00:99");
    await ipam.conflicts.run();
    await leave();
    await lookTwice();
    expect([await published(), await alerts("open")]).toEqual([[], []]);
    expect(await gateway.reads.selectFrom("ipam_conflicts").selectAll().execute()).toEqual([]);
  });

  test("is looked for each minute, at its own site, and ends with the plan that it is against", async () => {
    await start();
    const prefix = await plan("POST", "/prefixes", { prefix: "10.0.0.0/24" });
    const kept = await plan("POST", "/addresses", { ip: "10.0.0.9", status: "reserved" });
    await observe("10.9.9.9", "00:11:32:00:00:01");
    await observe("10.0.0.9", "00:11:32:00:00:02");
    await clock.advance(60_000);
    await clock.advance(60_000);
    await ipam.conflicts.run();
    expect((await alerts("open")).map(({ subject, severity }) => `${subject} ${severity}`).toSorted()).toEqual([
      "10.0.0.9 low", "10.9.9.9 low",
    ]);
    await plan("DELETE", `/addresses/${kept.id}`);
    await plan("DELETE", `/prefixes/${prefix.id}`);
    await ipam.conflicts.run();
    expect(await alerts("open")).toEqual([]);
  });

  test("is nobody's without a plan, and another tenant's devices are none of it", async () => {
    await start();
    await observe("10.0.0.7", "00:11:32:00:00:99");
    await observe("10.0.0.7", "00:11:32:00:00:98");
    const other = await gateway.createTenant("admin");
    expect((await gateway.call("POST", "/api/v1/ipam/addresses", other.token, { ip: "10.0.0.7", status: "reserved" })).status).toBe(201);
    await lookTwice();
    expect(await published()).toEqual([]);
  });
});

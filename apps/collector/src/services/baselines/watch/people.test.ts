import { createId, toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createWatchBench, networkFact, type OpenPorts, type WatchBench } from "../testing/watch-bench.ts";

const A = { ip: "192.0.2.5", mac: "00:1b:21:00:00:05" };
const SSH: OpenPorts = { "tcp/22": { service: "ssh", version: "OpenSSH 9.2p1" } };
const MORE: OpenPorts = { ...SSH, "tcp/4444": {} };
const HOUR_MS = 3_600_000;

let bench: WatchBench;
beforeEach(async () => {
  bench = await createWatchBench();
});
afterEach(() => bench.stop());

const titles = async (status?: string) => (await bench.alerts(status)).filter(({ type }) => type !== "baseline_learned").map(({ title }) => title).toSorted();
const states = async () => (await bench.differences()).map(({ key, state }) => `${key} ${state}`);
const NEW_PORT = "New open port tcp/4444 on 192.0.2.5";

async function known(open: OpenPorts = SSH) {
  await bench.found(A);
  await bench.scan(A, open);
  await bench.learned();
}
const owner = () => ({ tenant_id: bench.tenant.tenantId, site_id: bench.tenant.siteId, created_by: "ann", created_at: bench.now() });
const window = (effect: "hold" | "learn", hours: number) => bench.server.db.insertInto("baseline_windows").values({
  ...owner(), id: createId(), device_id: null, tag: null, begins_at: bench.now(), ends_at: toInstant(bench.clock.now() + hours * HOUR_MS), effect, reason: "update",
}).execute();
const accept = (values: { readonly tag?: string; readonly device_id?: string; readonly expires_at?: string; readonly kind?: string; readonly key?: string }) =>
  bench.server.db.insertInto("baseline_acceptances").values({
    ...owner(), id: createId(), device_id: null, tag: null, kind: "port", key: "tcp/4444", outcome: "appeared", observed: "open", reason: "agreed",
    expires_at: null, ...values,
  }).execute();
const due = () => bench.server.db.updateTable("baselines").set({ compare_at: bench.now() }).execute();

describe("a maintenance window", () => {
  test("holds a difference back, and what still differs after it is reported", async () => {
    await known();
    await window("hold", 2);
    await bench.scan(A, MORE);
    await bench.runTwice();
    expect([await titles(), await states()]).toEqual([[], ["tcp/4444 held"]]);
    await bench.wait(2 * HOUR_MS);
    await bench.runTwice();
    expect([await titles(), await states()]).toEqual([[NEW_PORT], ["tcp/4444 open"]]);
  });

  test("has what differs learned, with who made it and why", async () => {
    await known();
    await window("learn", 2);
    await bench.scan(A, MORE);
    await bench.runTwice();
    await bench.wait(3 * HOUR_MS);
    await bench.runTwice();
    expect([await titles(), await states()]).toEqual([[], []]);
    const fact = await bench.server.reads.selectFrom("baseline_facts").selectAll().where("key", "=", "tcp/4444").execute();
    expect(fact).toMatchObject([{ value: "open", source: "window", author: "ann", reason: "update" }]);
  });
});

describe("an acceptance", () => {
  test("ends the alert, and lets it come back when it has expired", async () => {
    await known();
    await bench.scan(A, MORE);
    await bench.runTwice();
    expect(await titles()).toEqual([NEW_PORT]);
    await accept({ device_id: await bench.deviceAt(A.ip), expires_at: toInstant(bench.clock.now() + HOUR_MS) });
    await due();
    await bench.runTwice();
    expect([await titles(), await states()]).toEqual([[], ["tcp/4444 accepted"]]);
    await bench.wait(HOUR_MS);
    await bench.runTwice();
    expect([await titles(), await states()]).toEqual([[NEW_PORT], ["tcp/4444 open"]]);
  });

  test("for a tag is for devices that have it, and for no others", async () => {
    await known();
    await accept({ tag: "lab" });
    await bench.scan(A, MORE);
    await bench.runTwice();
    expect(await titles()).toEqual([NEW_PORT]);
    await bench.server.db.updateTable("devices").set({ tags: '["lab"]' }).execute();
    await due();
    await bench.runTwice();
    expect(await titles()).toEqual([]);
  });
});

test("a template's ports are neither new nor missed where they are, and missed where a scan does not find them", async () => {
  await known();
  await bench.server.db.updateTable("devices").set({ tags: '["web"]' }).execute();
  const { created_by, created_at, tenant_id } = owner();
  await bench.server.db.insertInto("baseline_templates").values({
    id: createId(), tenant_id, created_by, created_at, updated_at: created_at, site_id: null, name: "web", tag: "web",
    facts: JSON.stringify([{ kind: "port", key: "tcp/4444", value: "open" }, { kind: "port", key: "tcp/443", value: "open" }]),
  }).execute();
  await bench.scan(A, MORE);
  await bench.runTwice();
  expect([await titles(), await states()]).toEqual([["Port tcp/443 on 192.0.2.5 is closed"], ["tcp/443 open"]]);
});

test("a frozen baseline learns nothing: what a wider scan finds is a difference", async () => {
  await known();
  await bench.server.db.updateTable("baselines").set({ state: "frozen" }).execute();
  const before = await bench.server.reads.selectFrom("baseline_facts").select(["kind", "key", "value"]).orderBy("kind").orderBy("key").execute();
  await bench.scan(A, { ...SSH, "tcp/9999": {} }, { tcp: "1-65535", udp: "" });
  await bench.runTwice();
  expect(await titles()).toEqual(["New open port tcp/9999 on 192.0.2.5"]);
  expect(await bench.server.reads.selectFrom("baseline_facts").select(["kind", "key", "value"]).orderBy("kind").orderBy("key").execute()).toEqual(before);
});

describe("the site's network", () => {
  const DHCP = "192.0.2.1";
  const look = () => [{ what: "dhcp_server", since: toInstant(bench.clock.now() - 48 * HOUR_MS), looked_at: bench.now() }];
  const server = (name: string, mac: string, seenAt = bench.clock.now()) => networkFact("dhcp_server", name, seenAt, { macs: [mac] });

  test("has another DHCP server: one severe alert at once, which ends when nobody has heard it for a day", async () => {
    await bench.network([server(DHCP, A.mac)], look());
    await known();
    await bench.network([server(DHCP, A.mac)], look());
    await bench.runTwice();
    const seenAt = bench.clock.now();
    await bench.network([server(DHCP, A.mac), server("192.0.2.66", "00:1b:21:00:00:66")], look());
    await bench.clock.advance(60_000);
    await bench.run();
    expect((await bench.alerts()).filter(({ type }) => type !== "baseline_learned").map(({ title, severity }) => [title, severity]))
      .toEqual([["New DHCP server 192.0.2.66", "high"]]);
    await bench.wait(25 * HOUR_MS);
    await bench.network([server(DHCP, A.mac), server("192.0.2.66", "00:1b:21:00:00:66", seenAt)], look());
    await bench.runTwice();
    expect([await titles(), await titles("resolved")]).toEqual([[], ["New DHCP server 192.0.2.66"]]);
  });

  test("has another machine as its DHCP server, or none any more", async () => {
    await bench.network([server(DHCP, A.mac)], look());
    await known();
    await bench.network([server(DHCP, "00:1b:21:00:00:66")], look());
    await bench.clock.advance(60_000);
    await bench.run();
    expect(await titles()).toEqual(["The DHCP server 192.0.2.1 is another machine"]);
    await bench.wait(49 * HOUR_MS);
    await bench.network([], look());
    await bench.runTwice();
    expect(await titles()).toEqual(["The DHCP server 192.0.2.1 is gone"]);
  });

  test("of which an alert of a guard is open is not learned", async () => {
    await bench.network([server(DHCP, A.mac)], look());
    await bench.found(A);
    await bench.run();
    await bench.wait(12 * HOUR_MS);
    await bench.event("rogue_detected", {
      kind: "dhcp_server", severity: "high", ip: "192.0.2.66", mac: "00:1b:21:00:00:66", expected_macs: [], vlan_id: null, detail: "x", packets: [],
    });
    await bench.network([server(DHCP, A.mac), server("192.0.2.66", "00:1b:21:00:00:66")], look());
    await bench.runTwice();
    await bench.wait(12 * HOUR_MS);
    await bench.runTwice();
    expect((await bench.published()).map(({ kind }) => kind)).toContain("learned");
    const facts = await bench.server.reads.selectFrom("baseline_facts").select("key").where("kind", "=", "dhcp_server").execute();
    expect(facts).toEqual([{ key: DHCP }]);
  });
});

describe("a device that is expected", () => {
  const away = async () => bench.event("host_offline", { ...A, last_seen_at: bench.now(), missed_checks: 3 });

  test("is missing when it has been away for long enough, until it is back", async () => {
    await known();
    await bench.server.db.updateTable("baselines").set({ settings: '{"expected":"always"}' }).where("device_id", "is not", null).execute();
    const lastSeenAt = bench.now();
    await away();
    await bench.runTwice();
    expect(await titles()).toEqual([]);
    for (let minutes = 0; minutes < 15; minutes += 1) {
      await bench.clock.advance(60_000);
      await bench.event("presence_report", { hosts: [{ ...A, last_seen_at: lastSeenAt, presence_state: "offline" }] });
    }
    await bench.runTwice();
    expect(await titles()).toEqual([`${A.ip} ${A.mac} is missing`]);
    await bench.event("host_online", { ...A, last_seen_at: bench.now() });
    await bench.runTwice();
    expect([await titles(), await titles("resolved")]).toEqual([[], [`${A.ip} ${A.mac} is missing`]]);
  });

  test("by nothing is not missed", async () => {
    await known();
    await away();
    await bench.wait(HOUR_MS);
    await bench.runTwice();
    expect(await titles()).toEqual([]);
  });
});

test("the differences of a device that is deleted end, with their alerts", async () => {
  await known();
  await bench.scan(A, MORE);
  await bench.runTwice();
  await bench.server.db.deleteFrom("devices").execute();
  await bench.runTwice();
  expect([await titles(), await states(), await titles("resolved")]).toEqual([[], ["tcp/4444 ended"], [NEW_PORT]]);
  expect(await bench.server.reads.selectFrom("baseline_facts").select("kind").execute()).toEqual([]);
});

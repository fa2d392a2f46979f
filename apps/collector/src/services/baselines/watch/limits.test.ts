import { MAX_BASELINE_FACTS } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { insertMany } from "../../../db/query/write-many.ts";
import { createBaselineReader } from "../rest/read-baselines.ts";
import { createBaselinesStore } from "../store/handles.ts";
import { MAX_STANDING, MAX_STANDING_OF_ONE, MAX_STANDING_OF_SITE, openKeyOf, type DifferenceRow } from "../store/differences.ts";
import { forgetBeyond } from "../store/queue.ts";
import { createWatchBench, networkFact, type WatchBench } from "../testing/watch-bench.ts";
import { MAX_NEW } from "./room.ts";

const A = { ip: "192.0.2.5", mac: "00:1b:21:00:00:05" };
const ALL = { tcp: "1-65535", udp: "" };
const SSH = { "tcp/22": {} };

let bench: WatchBench;
beforeEach(async () => {
  bench = await createWatchBench();
});
afterEach(() => bench.stop());

test("texts that a device makes up are neither differences for ever nor facts of any length", async () => {
  // A pair of UTF-16 lies where the text is cut.
  const odd = { service: "http", version: `${"x".repeat(249)}\u{1f980}`, banner: "" };
  const control = { service: "smtp", version: "Postfix\u001b[31m\u0007" };
  await bench.found(A);
  await bench.event("host_changed", {
    ...A, hostname: "", vendor: "", addresses: [A.ip], changed: ["evidence"],
    evidence: ["ab".repeat(512), `AB:${"CD:".repeat(30)}EF`].map((value) => ({ field: "tls_certificate", value, source: "tls", confidence: 1, seen_at: bench.now() })),
  });
  await bench.scan(A, { "tcp/80": odd, "tcp/25": control });
  await bench.learned();
  await bench.scan(A, { "tcp/80": odd, "tcp/25": control });
  await bench.runTwice();
  expect(await bench.differences()).toEqual([]);
  const facts = await bench.server.reads.selectFrom("baseline_facts").select(["kind", "value"]).where("kind", "in", ["service", "certificate"]).orderBy("kind").orderBy("value").execute();
  expect(facts.map(({ kind, value }) => [kind, value])).toEqual([
    ["certificate", `ab${"cd".repeat(30)}ef`], ["service", `http ${"x".repeat(249)}\ufffd`], ["service", "smtp Postfix [31m"],
  ]);
});

/** Ports open beside 22, as another scan has left them. */
async function open(first: number, count: number) {
  const device_id = await bench.deviceAt(A.ip);
  await insertMany(bench.server.db, "ports", Array.from({ length: count }, (_, index) => ({
    device_id, tenant_id: bench.tenant.tenantId, port: first + index, protocol: "tcp", state: "open", service: "", version: "", banner: "",
    last_scanned: bench.now(),
  })));
}
async function known() {
  await bench.found(A);
  await bench.scan(A, SSH, ALL);
}
const due = () => bench.server.db.updateTable("baselines").set({ compare_at: bench.now() }).execute();
const count = async (table: "baseline_facts" | "baseline_differences") => (await bench.server.reads.selectFrom(table)
  .select((eb) => eb.fn.countAll<number>().as("count")).where("kind", "=", "port").executeTakeFirstOrThrow()).count;
/** `left_out` of the baselines of the device and of its site. */
async function leftOut(): Promise<readonly unknown[]> {
  const reader = createBaselineReader({ store: createBaselinesStore(bench.server) });
  const { data } = await reader.list(bench.tenant.tenantId, { site_id: bench.tenant.siteId, page: 1, per_page: 10 });
  return [...data.filter(({ device_id: id }) => id !== null), ...data.filter(({ device_id: id }) => id === null)].map(({ left_out: left }) => left);
}
async function addSite(): Promise<string> {
  const { db } = bench.server;
  const site = await db.selectFrom("sites").selectAll().where("id", "=", bench.tenant.siteId).executeTakeFirstOrThrow();
  const id = createId();
  await db.insertInto("sites").values({ ...site, id, name: id }).execute();
  return id;
}
/** Differences at a site that have not ended, and that no comparison ends. */
async function stand(siteId: string, total: number) {
  const { id: baseline_id } = await bench.server.reads.selectFrom("baselines").select("id").where("scope", "=", "").executeTakeFirstOrThrow();
  for (let from = 0; from < total; from += 5000) {
    await insertMany(bench.server.db, "baseline_differences", Array.from({ length: Math.min(5000, total - from) }, (): DifferenceRow => {
      const id = createId();
      return {
        id, tenant_id: bench.tenant.tenantId, site_id: siteId, device_id: null, baseline_id, kind: "port", key: id, outcome: "appeared",
        expected: "", observed: "open", expected_at: null, observed_at: bench.now(), severity: "low", state: "accepted", first_seen: bench.now(),
        last_seen: bench.now(), ended_at: null, acceptance_id: null, open_key: openKeyOf({ baseline_id, kind: "port", key: id }),
      };
    }));
  }
}

describe("a device", () => {
  test("with more facts than a baseline keeps raises nothing for those beyond, and its baseline says so", async () => {
    await known();
    await open(1000, MAX_BASELINE_FACTS + 10);
    await bench.learned();
    await due();
    await bench.runTwice();
    expect([await count("baseline_facts"), await count("baseline_differences")]).toEqual([MAX_BASELINE_FACTS, 0]);
    expect(await leftOut()).toEqual([["facts"], []]);
  });

  test("on which everything is open at once has a bounded number of differences, and its baseline says so", async () => {
    await known();
    await bench.learned();
    expect(await leftOut()).toEqual([[], []]);
    await open(1000, 3 * MAX_STANDING_OF_ONE);
    for (let runs = 0; runs < 3; runs += 1) {
      await due();
      await bench.runTwice();
    }
    expect(await count("baseline_differences")).toBe(MAX_STANDING_OF_ONE);
    expect(await leftOut()).toEqual([["differences"], []]);
  });
});

test("ports that open and close all the time have a bounded number of differences within ten minutes, and later ones again", async () => {
  await known();
  await bench.learned();
  await open(1000, MAX_STANDING_OF_ONE);
  const flap = async (state: string) => {
    await bench.server.db.updateTable("ports").set({ state, last_scanned: bench.now() }).where("port", ">=", 1000).execute();
    await due();
    await bench.clock.advance(1000);
    await bench.run();
  };
  for (let cycle = 0; cycle < MAX_NEW / MAX_STANDING_OF_ONE + 2; cycle += 1) for (const state of ["open", "closed"]) await flap(state);
  expect(await count("baseline_differences")).toBe(MAX_NEW);
  await bench.clock.advance(600_000);
  await flap("open");
  expect(await count("baseline_differences")).toBe(MAX_NEW + MAX_STANDING_OF_ONE);
});

test("of the differences of a tenant that have ended, the newest are kept", async () => {
  await known();
  await bench.run();
  await stand(bench.tenant.siteId, 10);
  await bench.server.db.updateTable("baseline_differences").set({ state: "ended", open_key: null, ended_at: bench.now() }).execute();
  await stand(bench.tenant.siteId, 1);
  const ids = (await bench.differences()).map(({ id }) => id);
  const forget = () => forgetBeyond(bench.server.db, bench.tenant.tenantId, 6, 3);
  expect([await forget(), await forget(), await forget()]).toEqual([3, 1, 0]);
  expect((await bench.differences()).map(({ id }) => id)).toEqual(ids.slice(4));
});

test("a network in which a new server shows up each minute has a bounded number of differences", async () => {
  await known();
  const looks = () => [{ what: "dhcp_server", since: new Date(bench.clock.now() - 48 * 3_600_000).toISOString(), looked_at: bench.now() }];
  const server = (name: string) => networkFact("dhcp_server", name, bench.clock.now(), { macs: [A.mac] });
  await bench.network([server("192.0.2.1")], looks());
  await bench.learned();
  for (let minute = 0; minute < 6; minute += 1) {
    await bench.network(Array.from({ length: 256 }, (_, index) => server(`10.0.${minute}.${index}`)), looks());
    await bench.clock.advance(60_000);
    await bench.run();
  }
  const standing = (await bench.differences()).filter(({ kind, state }) => kind === "dhcp_server" && state !== "ended");
  expect(standing.length).toBeGreaterThan(0);
  expect(standing.length).toBeLessThanOrEqual(MAX_STANDING_OF_ONE);
});

describe("differences that stand", () => {
  const added = async () => {
    await due();
    await bench.runTwice();
    await due();
    await bench.run();
    return (await bench.differences()).filter(({ key }) => key.startsWith("tcp/400")).length;
  };

  test("leave room for those of another site, and none at their own", async () => {
    await known();
    await bench.learned();
    await open(4000, 3);
    await stand(bench.tenant.siteId, MAX_STANDING_OF_SITE);
    expect(await added()).toBe(0);
    expect(await leftOut()).toEqual([[], ["differences"]]);
    await bench.server.db.updateTable("baseline_differences").set({ site_id: await addSite() }).execute();
    expect(await added()).toBe(3);
  });

  test("of the whole tenant leave none", async () => {
    await known();
    await bench.learned();
    await open(4000, 3);
    for (let site = 0; site < MAX_STANDING / MAX_STANDING_OF_SITE; site += 1) await stand(await addSite(), MAX_STANDING_OF_SITE);
    expect(await added()).toBe(0);
    expect((await leftOut())[1]).toEqual(["differences"]);
  });
});

import { createFakeClock, toInstant } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import type { Alert, CveDatabaseInfo } from "@lanthorn/contract";
import { FeedSettings } from "./configuration.ts";
import type { LoadedData } from "./definition.ts";
import { configureFeeds } from "./source.ts";
import { createFeedsStore } from "./store.ts";
import { FEEDS } from "./table.ts";
import { type FeedWorld, kev, startFeedWorld } from "./testing/feed-world.ts";

const HOUR_MS = 3_600_000;

const worlds: FeedWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
});

async function start(options: Parameters<typeof startFeedWorld>[0] = {}): Promise<FeedWorld> {
  const world = await startFeedWorld(options);
  worlds.push(world);
  world.server.serve("/kev.json", kev(20));
  return world;
}

const info = async ({ call }: FeedWorld) => (await call("GET", "/api/v1/cve/db-info")).body as CveDatabaseInfo;
const alerts = async ({ call }: FeedWorld) => ((await call("GET", "/api/v1/alerts?source=health")).body as { readonly data: readonly Alert[] }).data;

/** Lets its job run once, and what that begins. */
async function look({ feeds }: FeedWorld): Promise<void> {
  await feeds.manager.tick();
  await feeds.manager.idle();
  await feeds.checkHealth();
}

describe("the schedule", () => {
  test("begins some minutes after the first start and goes on every six hours or so", async () => {
    const world = await start();
    await look(world);
    const { next_at: first } = await world.row("kev");
    expect([world.server.requests.length, (Date.parse(first ?? "") - world.clock.now()) / 1000]).toEqual([0, 225]);
    world.clock.jump(225_000);
    await look(world);
    expect([world.server.requests.length, world.consumed.length]).toEqual([1, 1]);
    expect(await info(world)).toMatchObject({
      total_entries: 20, updating: false, last_update: "2026-11-20T00:03:45.000Z", next_scheduled_update: "2026-11-20T06:03:45.000Z",
      update_source: "CISA KEV", update: { trigger: "scheduled", status: "completed", feeds: [{ name: "kev", state: "imported", records: 20 }] },
    });
    world.clock.jump(5 * HOUR_MS);
    await look(world);
    expect(world.server.requests.length).toBe(1);
    world.clock.jump(HOUR_MS);
    await look(world);
    expect(world.server.requests.length).toBe(2);
  });

  test("spreads collectors over an hour, and waits longer after each failure", async () => {
    const [early, late] = [await start({ random: () => 0 }), await start({ random: () => 0.999 })];
    const hours = async (world: FeedWorld) => (Date.parse((await world.row("kev")).next_at ?? "") - world.clock.now()) / HOUR_MS;
    for (const world of [early, late]) await world.update();
    expect([await hours(early), Math.round(await hours(late) * 10) / 10]).toEqual([5.4, 6.6]);
    const waits: number[] = [];
    for (let time = 0; time < 8; time += 1) {
      late.server.serve("/kev.json", "");
      await late.update();
      waits.push(Math.round(await hours(late) * 6));
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 36, 36]);
  });

  test("is nobody's where feeds are disabled", async () => {
    const world = await start({ settings: () => ({ enabled: false }) });
    await look(world);
    expect(await info(world)).toMatchObject({ next_scheduled_update: null, update: null, feeds: [], updating: false });
    expect((await world.call("POST", "/api/v1/cve/update")).status).toBe(409);
  });

  test("begins a feed that has another source now from nothing", async () => {
    const world = await start();
    await world.update();
    await createFeedsStore(world.gateway).set("kev", { url: "https://elsewhere.invalid/kev.json", records: 5000, failures: 7 });
    expect([await world.update(), await world.row("kev")]).toMatchObject(["completed", { records: 20, failures: 0 }]);
  });
});

describe("an update by hand", () => {
  test("is answered at once, refused while one runs, in the audit log and on the stream", async () => {
    const world = await start();
    let release = () => {};
    world.consume((_, { onProgress }) => new Promise((resolve) => {
      onProgress({ feed: "kev", records: 7, recordsTotal: 20 });
      release = () => resolve([]);
    }));
    const answer = await world.call("POST", "/api/v1/cve/update");
    const update = answer.body as { readonly id: string };
    expect([answer.status, update]).toMatchObject([202, { status: "running", trigger: "manual", finished_at: null, feeds: [{ name: "kev", state: "queued" }] }]);
    await expect.poll(() => world.consumed.length).toBe(1);
    await world.clock.advance(5000);
    await expect.poll(async () => (await info(world)).update?.feeds).toMatchObject([{ state: "importing", records: 7, records_total: 20 }]);
    const second = await world.call("POST", "/api/v1/cve/update");
    expect([second.status, second.error.details]).toEqual([409, { update_id: update.id }]);
    const stranger = await world.gateway.createTenant("admin");
    const third = await world.gateway.call("POST", "/api/v1/cve/update", stranger.token);
    expect([third.status, third.error.details]).toEqual([409, { update_id: null }]);
    expect((await world.gateway.call("GET", "/api/v1/cve/db-info", stranger.token)).body).toMatchObject({ updating: true, update: null });
    release();
    await world.feeds.manager.idle();
    const log = (await world.call("GET", "/api/v1/events?types=feed_update")).body as { readonly data: readonly { readonly data: object }[] };
    expect(log.data.map(({ data }) => data)).toMatchObject([
      { update_id: update.id, status: "running", feed: "kev", state: "importing", records: 7, records_total: 20 },
      { update_id: update.id, status: "completed", feed: null },
    ]);
    expect((await world.call("GET", "/api/v1/audit")).body).toMatchObject({ data: expect.arrayContaining([expect.objectContaining({ action: "cve.update" })]) });
  });

  test("needs the right to write", async () => {
    const world = await start();
    const viewer = await world.gateway.createUser(world.tenant, "viewer");
    expect((await world.gateway.call("POST", "/api/v1/cve/update", viewer.token)).status).toBe(403);
    expect((await world.gateway.call("GET", "/api/v1/cve/db-info", viewer.token)).status).toBe(200);
  });

  test("runs once, whoever asks of several collectors at the same time", async () => {
    const world = await start();
    let end = () => {};
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    // It runs until all have their answers, however slow this machine is.
    world.consume(() => isOver.then(() => []));
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.call("POST", "/api/v1/cve/update")));
    end();
    await world.feeds.manager.idle();
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["202", ...Array.from({ length: 7 }, () => "409")]);
    expect(world.server.requests.length).toBe(1);
  });
});

describe("health", () => {
  test("raises one alert for a feed that fails again and again or is old, which ends by itself", async () => {
    const world = await start();
    await world.update();
    await look(world);
    expect(await alerts(world)).toEqual([]);
    world.server.serve("/kev.json", "");
    for (let time = 0; time < 3; time += 1) await world.update();
    await look(world);
    expect(await alerts(world)).toMatchObject([{ type: "feed", severity: "medium", status: "open", title: "The feed CISA KEV cannot be relied on" }]);
    expect((await info(world)).feeds).toMatchObject([{ problems: ["failures"] }]);
    world.clock.jump(49 * HOUR_MS);
    await world.feeds.checkHealth();
    expect(await alerts(world)).toMatchObject([{ type: "feed", status: "open", count: 2 }]);
    expect((await world.row("kev")).reported).toBe("age,failures");
    expect(world.feeds.health?.["feeds"]?.()).toEqual({ status: "ok", detail: "unreliable: CISA KEV" });
    world.server.serve("/kev.json", kev(20));
    await look(world);
    expect(await alerts(world)).toMatchObject([{ type: "feed", status: "resolved", resolved_by: "feed_health" }]);
  });

  test("says at once that a feed has lost records, or records with configurations", async () => {
    const world = await start();
    await world.update();
    world.server.serve("/kev.json", kev(15));
    await world.update();
    await look(world);
    expect(await alerts(world)).toMatchObject([{ type: "feed", status: "open" }]);
    expect((await info(world)).feeds).toMatchObject([{ problems: ["records"], records: 20 }]);
  });

  test("of a collector whose own copy is old or missing is an alert of that machine, which ends by itself", async () => {
    const world = await start();
    await world.update();
    const titles = async () => (await alerts(world)).map(({ title, status }) => `${status} ${title}`);
    let own: LoadedData | null = null;
    const { feeds } = world.openAnother(world.clock, { loaded: () => own, host: "two" });
    await feeds.checkReplica();
    expect(await titles()).toEqual([]);
    world.clock.jump(2 * HOUR_MS);
    for (let look = 0; look < 3; look += 1) await feeds.checkReplica();
    await world.feeds.checkReplica();
    expect(await titles()).toEqual(["open The feed CVE database of two cannot be relied on"]);
    expect((await alerts(world))[0]).toMatchObject({ count: 1 });
    own = { entries: 20, configured: 20, mostConfigured: 20, builtAt: (await world.row("kev")).consumed_at ?? "" };
    await feeds.checkReplica();
    expect(await titles()).toEqual(["resolved The feed CVE database of two cannot be relied on"]);
    world.clock.jump(49 * HOUR_MS);
    world.server.serve("/kev.json", kev(21));
    await world.update();
    await feeds.checkReplica();
    expect(await titles()).toEqual(["open The feed CVE database of two cannot be relied on", "resolved The feed CVE database of two cannot be relied on"]);
    // A process that begins anew does not know what the one before has said.
    const again = world.openAnother(world.clock, { loaded: () => own && { ...own, builtAt: toInstant(world.clock.now()) }, host: "two" });
    await again.feeds.checkReplica();
    expect((await titles()).every((title) => title.startsWith("resolved"))).toBe(true);
  });

  test("is in the metrics", async () => {
    const world = await start();
    await world.update();
    world.clock.jump(60_000);
    const read = async (name: string) => world.feeds.metrics?.find((reading) => reading.name === name)?.read();
    expect([await read("lanthorn_feed_age_seconds"), await read("lanthorn_feed_records"), await read("lanthorn_feed_failures"), await read("lanthorn_feed_pending")])
      .toEqual([{ kev: 60 }, { kev: 20 }, { kev: 0 }, { kev: 0 }]);
  });
});

test("an update whose process has stopped is gone on with by the next one", async () => {
  const world = await start();
  world.consume((_, { stopped }) => new Promise((_resolve, reject) => {
    stopped.addEventListener("abort", () => reject(new Error("stopped")));
  }));
  await world.call("POST", "/api/v1/cve/update");
  await expect.poll(() => world.consumed.length).toBe(1);
  await world.feeds.close?.();
  const store = createFeedsStore(world.gateway);
  expect(await store.running()).toMatchObject({ status: "running" });
  const { openAnother } = world;
  const other = openAnother(createFakeClock(world.clock.now()));
  world.consume(() => Promise.resolve([]));
  for (let time = 0; time < 4; time += 1) {
    await other.clock.advance(15_000);
    await other.feeds.manager.tick();
  }
  await other.feeds.manager.idle();
  await other.feeds.close?.();
  expect([await store.running(), world.consumed.length, world.server.requests.length]).toEqual([null, 2, 1]);
  expect(await info(world)).toMatchObject({ update: { status: "completed", feeds: [{ name: "kev", state: "imported" }] } });
});

test("of two collectors only one fetches what is due, and neither takes the other's for dead while it lives", async () => {
  const world = await start();
  const other = world.openAnother(world.clock);
  let release = () => {};
  world.consume(() => new Promise((resolve) => {
    release = () => resolve([]);
  }));
  await Promise.all([world.feeds.manager.tick(), other.feeds.manager.tick()]);
  world.clock.jump(300_000);
  await Promise.all([world.feeds.manager.tick(), other.feeds.manager.tick()]);
  await expect.poll(() => world.consumed.length).toBe(1);
  const store = createFeedsStore(world.gateway);
  const before = await store.running();
  for (let time = 0; time < 8; time += 1) {
    await world.clock.advance(15_000);
    await expect.poll(async () => (await store.running())?.beats).toBeGreaterThanOrEqual(time);
    if (world.isShared) await Promise.all([world.feeds.manager.tick(), other.feeds.manager.tick()]);
  }
  expect([(await store.running())?.holder, world.server.requests.length, world.consumed.length]).toEqual([before?.holder, 1, 1]);
  release();
  await Promise.all([world.feeds.manager.idle(), other.feeds.manager.idle()]);
  await other.feeds.close?.();
  expect(await store.running()).toBeNull();
});

describe("what was handed over", () => {
  test("is fetched whole again where it could not be used, longer after each time, and an alert is raised after the third", async () => {
    const world = await start();
    world.consume(() => Promise.resolve([{ name: "kev", error: "it is malformed" }]));
    const waits: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      expect(await world.update()).toBe("failed");
      const row = await world.row("kev");
      expect(row).toMatchObject({ is_pending: 0, consumed_at: null, error_code: "import", failures: time + 1 });
      waits.push((Date.parse(row.next_at ?? "") - world.clock.now()) / 60_000);
      await world.feeds.checkHealth();
      expect((await alerts(world)).length).toBe(time < 2 ? 0 : 1);
    }
    expect([waits, world.consumed.length]).toEqual([[10, 20, 40], 3]);
    world.consume(() => Promise.resolve([]));
    expect(await world.update()).toBe("completed");
    expect(await world.row("kev")).toMatchObject({ failures: 0, error_code: null, error: null });
  });

  test("is fetched whole again where another collector has newer data than this one, unless this one can take them", async () => {
    const world = await start();
    await world.update();
    const { clock } = world;
    let own = { entries: 20, configured: 20, mostConfigured: 20, builtAt: toInstant(clock.now() - 1000) };
    const other = world.openAnother(clock, { loaded: () => own, refresh: () => Promise.resolve(void (own = { ...own, builtAt: toInstant(clock.now()) })) });
    await other.feeds.manager.tick();
    expect(await world.row("kev")).toMatchObject({ consumed_at: own.builtAt });
    own = { ...own, builtAt: toInstant(clock.now() - 1000) };
    const apart = world.openAnother(clock, { loaded: () => own, refresh: () => Promise.reject(new Error("no folder")) });
    await apart.feeds.manager.tick();
    await apart.feeds.manager.idle();
    expect(world.consumed.length).toBe(2);
    expect(world.consumed[1]).toMatchObject([{ name: "kev", isWhole: true }]);
    for (const { feeds } of [other, apart]) await feeds.close?.();
  });

  test("is fetched whole again where the consumer has lost it", async () => {
    const world = await start();
    await world.update();
    await look(world);
    expect(world.consumed.length).toBe(1);
    world.loseData();
    expect(await info(world)).toMatchObject({ total_entries: 0, last_update: null });
    await look(world);
    expect([world.consumed.length, world.consumed[1]]).toMatchObject([2, [{ name: "kev", isWhole: true }]]);
    expect(await info(world)).toMatchObject({ total_entries: 20 });
  });
});

test("all feeds are fetched but the largest, which the configuration may enable", () => {
  const names = (settings: object) => configureFeeds(FEEDS, FeedSettings.parse(settings)).map(({ definition }) => definition.name);
  expect(names({})).toEqual(["nvd", "kev", "epss", "debian", "osv", "capec", "cwe", "attack", "ctid", "attack-to-cve", "countries"]);
  expect(names({ sources: { "cve-list": { enabled: true }, kev: { enabled: false } } })).toEqual(["nvd", "cve-list", "epss", "debian", "osv", "capec", "cwe", "attack", "ctid", "attack-to-cve", "countries"]);
});

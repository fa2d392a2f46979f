import { type EventData, type EventType, parseProbeEvent, type ProbeEvent } from "@lanthorn/contract/uplink";
import { formatIp, parseIp } from "@lanthorn/packets";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { createLink } from "../capture/link.ts";
import { bytesOf } from "../probing/routed-addresses.ts";
import { createEgressPolicy } from "../egress/policy.ts";
import type { RoutedRequest } from "./routed-poller.ts";
import { createRoutedWatch } from "./routed-watch.ts";

const INTERVAL_MS = 600_000;
const POLL_MS = 4500;
/** What a frame costs at half of 200 packets a second. */
const FRAME_MS = 10;

interface Options {
  readonly routed?: readonly string[];
  readonly maxHosts?: number;
  readonly packetsPerSecond?: number;
}

/** Networks behind a router that live in memory, and the watch of them. */
function createNetworks({ routed = ["10.9.0.0/24"], maxHosts = 8192, packetsPerSecond = 200 }: Options = {}) {
  const clock = createFakeClock();
  const db = new Database(":memory:");
  const events: ProbeEvent[] = [];
  const faults: string[] = [];
  const polls: { readonly at: number; readonly request: RoutedRequest; readonly asked: readonly string[] }[] = [];
  const alive = new Set<string>();
  const wanted = new Set<string>();
  const world = {
    clock, events, faults, polls, alive, wanted, failure: null as Error | null, isRouterThere: true, firewalled: 0, isDiskFull: false,
  };
  const policy = createEgressPolicy({
    sweep: { enabled: true, intervalSeconds: INTERVAL_MS / 1000, packetsPerSecond, networks: [], routed },
    scanPacketsPerSecond: 1000, excluded: [],
  });
  const link = createLink({ mac: "02:00:00:00:00:01", up: true, addresses: [{ ip: "192.168.1.2", prefixLength: 24 }] });
  const poll = async (request: RoutedRequest) => {
    const { addresses, signal } = request;
    const asked = Array.from({ length: addresses.count }, (_, place) => formatIp(bytesOf(addresses.at(place))));
    polls.push({ at: clock.monotonic(), request, asked });
    if (world.failure) throw world.failure;
    const there = world.isRouterThere ? asked.filter((address) => alive.has(address)) : [];
    const frames = there.length + (asked.length - there.length) * 11;
    await new Promise<void>((resolve) => void clock.after(POLL_MS + frames * FRAME_MS, resolve));
    signal.throwIfAborted();
    return {
      answered: there.map((address) => parseIp(address) as Uint8Array), madeUp: world.firewalled, isRouterThere: world.isRouterThere,
    };
  };
  const outbox = {
    append(some: readonly ProbeEvent[]) {
      if (world.isDiskFull) throw new Error("database or disk is full");
      for (const event of some) {
        const parsed = parseProbeEvent(JSON.parse(JSON.stringify(event)));
        if (!parsed.ok) throw new Error(parsed.message);
        events.push(parsed.event);
      }
    },
  };
  const begin = () => {
    const watch = createRoutedWatch({
      prefixes: policy.routed, policy, poll, link: () => link, capacity: () => maxHosts, db, outbox, clock, log: silentLog,
      onFault: (code) => void faults.push(code), wantName: ({ address }) => void wanted.add(address),
    });
    watch.start();
    return { watch, stop: clock.every(1000, () => watch.tick(clock.monotonic())) };
  };
  let run = begin();
  return Object.assign(world, {
    policy,
    watch: () => run.watch,
    of: <T extends EventType>(type: T) => events.filter((event) => event.type === type).map(({ data }) => data as EventData<T>),
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 1000) await clock.advance(Math.min(left, 1000));
    },
    restart() {
      run.stop();
      run = begin();
    },
  });
}

describe("networks behind a router", () => {
  test("are polled by schedule at half of the rate; a host is published when it is found, when it leaves and when it returns", async () => {
    const world = createNetworks();
    for (const last of [1, 10, 20]) world.alive.add(`10.9.0.${last}`);
    await world.pass(60_000);
    expect(world.polls.map(({ asked, request }) => [asked.length, request.framesPerSecond])).toEqual([[256, 100]]);
    expect(world.of("host_found").map(({ ip, mac, addresses }) => [ip, mac, addresses])).toEqual(
      [1, 10, 20].map((last) => [`10.9.0.${last}`, "", [`10.9.0.${last}`]]));
    world.alive.delete("10.9.0.20");
    const leftAt = world.clock.monotonic();
    while (world.of("host_offline").length === 0 && world.clock.monotonic() < leftAt + 2 * INTERVAL_MS) await world.pass(1000);
    const [offline] = world.of("host_offline");
    expect(offline).toMatchObject({ ip: "10.9.0.20", mac: "" });
    expect(offline?.missed_checks).toBeGreaterThanOrEqual(3);
    const missed = world.polls.find(({ at, asked }) => at > leftAt && asked.includes("10.9.0.20"));
    expect(world.clock.monotonic() - (missed?.at ?? 0)).toBeGreaterThanOrEqual(120_000);
    expect(world.clock.monotonic() - (missed?.at ?? 0)).toBeLessThanOrEqual(240_000);
    expect(world.watch().counts).toEqual({ online: 2, known: 3 });
    world.alive.add("10.9.0.20");
    await world.pass(INTERVAL_MS);
    expect(world.of("host_online").map(({ ip }) => ip)).toEqual(["10.9.0.20"]);
    expect(world.of("host_found")).toHaveLength(3);
  });

  test("keep a host that misses a round in two and answers when it is asked again", async () => {
    const world = createNetworks();
    world.alive.add("10.9.0.1").add("10.9.0.7");
    await world.pass(60_000);
    for (let round = 0; round < 20; round += 1) {
      world.alive.delete("10.9.0.7");
      const polls = world.polls.length;
      while (world.polls.length < polls + 3) await world.pass(1000);
      world.alive.add("10.9.0.7");
      await world.pass(INTERVAL_MS + 60_000);
    }
    expect(world.of("host_offline")).toEqual([]);
    expect(world.polls.filter(({ request }) => !request.addresses.isWhole).length).toBeGreaterThanOrEqual(40);
  });

  test("believe a silence of all only after ten minutes, and say that the router is silent", async () => {
    const world = createNetworks();
    world.alive.add("10.9.0.1").add("10.9.0.7");
    await world.pass(60_000);
    world.isRouterThere = false;
    await world.pass(INTERVAL_MS);
    expect([world.of("host_offline"), new Set(world.faults)]).toEqual([[], new Set(["router-silent"])]);
    await world.pass(2 * INTERVAL_MS);
    expect(world.of("host_offline").map(({ ip }) => ip)).toEqual(["10.9.0.1", "10.9.0.7"]);
  });

  test("miss a host that is alone in its part of a larger network", async () => {
    const world = createNetworks({ routed: ["10.9.0.0/23"] });
    world.alive.add("10.9.0.1").add("10.9.1.7");
    await world.pass(120_000);
    world.alive.delete("10.9.1.7");
    await world.pass(INTERVAL_MS + 240_000);
    expect(world.of("host_offline").map(({ ip }) => ip)).toEqual(["10.9.1.7"]);
  });

  test("tell no host where a firewall answers for all, and give nobody up for it", async () => {
    const world = createNetworks();
    world.alive.add("10.9.0.1").add("10.9.0.7");
    await world.pass(60_000);
    world.alive.delete("10.9.0.7");
    world.firewalled = 250;
    await world.pass(3 * INTERVAL_MS);
    expect([world.of("host_offline"), world.of("host_found").length, new Set(world.faults)])
      .toEqual([[], 2, new Set(["answers-for-network"])]);
  });

  test("are known after a restart: a host that is still there is reported and not found again, one that left is published as offline", async () => {
    const world = createNetworks();
    world.alive.add("10.9.0.1").add("10.9.0.7");
    await world.pass(60_000);
    world.restart();
    world.alive.delete("10.9.0.7");
    world.watch().report("all");
    expect(world.of("presence_report")).toEqual([]);
    await world.pass(10_000);
    expect(world.polls[1]?.asked.toSorted()).toEqual(["10.9.0.1", "10.9.0.7"]);
    world.watch().report("all");
    expect(world.of("presence_report").at(-1)?.hosts.map(({ ip, presence_state: state }) => [ip, state])).toEqual([["10.9.0.1", "online"]]);
    await world.pass(300_000);
    world.watch().report("fresh");
    expect(world.of("host_offline").map(({ ip }) => ip)).toEqual(["10.9.0.7"]);
    expect([
      world.of("host_found").length,
      world.of("presence_report").at(-1)?.hosts.map(({ ip, presence_state: state }) => `${ip} ${state}`).toSorted(),
    ])
      .toEqual([2, ["10.9.0.1 online", "10.9.0.7 offline"]]);
  });

  test("have the names that DNS gives them, which a restart keeps", async () => {
    const world = createNetworks();
    world.alive.add("10.9.0.1").add("10.9.0.7");
    await world.pass(60_000);
    expect([...world.wanted].toSorted()).toEqual(["10.9.0.1", "10.9.0.7"]);
    for (const address of ["10.9.0.7", "10.9.0.200"]) world.watch().onName(address, "till-3.shop.example.com");
    await world.pass(2000);
    const name = { ip: "10.9.0.7", mac: "", hostname: "till-3.shop.example.com" };
    expect(world.of("host_changed")).toMatchObject([{ ...name, changed: ["hostname"] }]);
    expect(world.of("host_changed")[0]?.evidence).toContainEqual(
      expect.objectContaining({ field: "hostname", value: "till-3.shop.example.com", source: "reverse-dns", confidence: 0.6 }));
    world.restart();
    world.wanted.clear();
    await world.pass(120_000);
    expect([...world.wanted].toSorted()).toEqual(["10.9.0.1", "10.9.0.7"]);
    world.watch().onName("10.9.0.7", "till-3.shop.example.com");
    await world.pass(2000);
    expect(world.of("host_changed")).toHaveLength(1);
    world.watch().onName("10.9.0.7", "till-4.shop.example.com");
    await world.pass(2000);
    expect(world.of("host_changed").map(({ hostname }) => hostname)).toEqual(["till-3.shop.example.com", "till-4.shop.example.com"]);
    expect(world.of("host_found")).toHaveLength(2);
  });

  test("hold no more hosts than they may, the longest offline leaving first, and say that others are left out", async () => {
    const world = createNetworks({ maxHosts: 20 });
    for (let last = 1; last <= 40; last += 1) world.alive.add(`10.9.0.${last}`);
    await world.pass(60_000);
    expect([world.of("host_found").length, world.watch().counts.known, new Set(world.faults)]).toEqual([20, 20, new Set(["host-limit"])]);
    const [gone] = world.of("host_found");
    world.alive.delete(gone?.ip ?? "");
    for (let last = 21; last <= 40; last += 1) world.alive.delete(`10.9.0.${last}`);
    await world.pass(2 * INTERVAL_MS);
    world.alive.add("10.9.0.99");
    await world.pass(2 * INTERVAL_MS);
    expect([world.of("host_found").at(-1)?.ip, world.watch().counts]).toEqual(["10.9.0.99", { online: 20, known: 20 }]);
  });

  test("are not asked while the collector has sweeping switched off, nor more often than it wants", async () => {
    const world = createNetworks();
    const sweep = { enabled: false, interval_seconds: 60, packets_per_second: 50 };
    world.policy.narrow({ sweep, excluded: [] });
    await world.pass(INTERVAL_MS);
    expect(world.polls).toEqual([]);
    world.policy.narrow({ sweep: { ...sweep, enabled: true, interval_seconds: 3600 }, excluded: [] });
    await world.pass(1_800_000);
    expect([world.polls.length, world.polls.every(({ request }) => request.framesPerSecond === 25)]).toEqual([4, true]);
    world.policy.narrow({ sweep: { ...sweep, enabled: true }, excluded: [] });
    await world.pass(10_000);
    expect(world.polls.length).toBe(5);
  });

  test("say nothing of an excluded host, which is not asked", async () => {
    const world = createNetworks();
    world.alive.add("10.9.0.1").add("10.9.0.7");
    await world.pass(60_000);
    world.policy.narrow({ sweep: { enabled: true, interval_seconds: 600, packets_per_second: 200 }, excluded: ["10.9.0.7"] });
    world.alive.delete("10.9.0.7");
    await world.pass(3 * INTERVAL_MS);
    expect(world.of("host_offline")).toEqual([]);
    expect(world.polls.filter(({ request }) => !request.addresses.isWhole)).toEqual([]);
  });

  test("leave out what is on the own link or routed nowhere, and say so", async () => {
    const world = createNetworks({ routed: ["192.168.1.0/24", "127.0.0.0/24", "192.168.0.0/23", "fd00:9::100/120"] });
    world.alive.add("192.168.0.9").add("fd00:9::142");
    await world.pass(120_000);
    expect(world.faults).toEqual(["network-not-watched", "network-not-watched"]);
    expect(world.polls.map(({ asked }) => [asked[0], asked.length])).toEqual([["192.168.0.0", 256], ["fd00:9::100", 256]]);
    expect(world.of("host_found").map(({ ip }) => ip)).toEqual(["192.168.0.9", "fd00:9::142"]);
  });

  test("are asked in small parts where the rate is low, "
    + "and a round that takes longer than the interval does not hold up who is known", async () => {
    const world = createNetworks({ routed: ["10.8.0.0/20"], packetsPerSecond: 12 });
    world.alive.add("10.8.0.1").add("10.8.0.2");
    await world.pass(10_000);
    expect([world.polls[0]?.asked.length, world.polls[0]?.request.framesPerSecond]).toEqual([64, 6]);
    await world.pass(3 * INTERVAL_MS);
    const known = world.polls.filter(({ request }) => !request.addresses.isWhole);
    expect(known.length).toBeGreaterThanOrEqual(2);
    expect(known.every(({ asked }) => asked.length <= 2)).toBe(true);
  });

  test("wait for a way there, and are found when there is one", async () => {
    const world = createNetworks();
    world.alive.add("10.9.0.1");
    world.failure = new Error("there is no way to 10.9.0.0 through this interface");
    await world.pass(INTERVAL_MS);
    expect([world.of("host_found"), new Set(world.faults)]).toEqual([[], new Set(["network-not-watched"])]);
    world.failure = null;
    await world.pass(INTERVAL_MS);
    expect(world.of("host_found")).toHaveLength(1);
  });

  test("are published when the disk takes events again", async () => {
    const world = createNetworks();
    world.alive.add("10.9.0.1");
    world.isDiskFull = true;
    await world.pass(60_000);
    expect(world.events).toEqual([]);
    world.isDiskFull = false;
    await world.pass(2000);
    expect(world.of("host_found")).toHaveLength(1);
  });

  test("take a scan's word for a host that is missed", async () => {
    const world = createNetworks();
    world.alive.add("10.9.0.1").add("10.9.0.7");
    await world.pass(60_000);
    world.alive.delete("10.9.0.7");
    const most = world.clock.monotonic() + 2 * INTERVAL_MS;
    while (world.of("host_offline").length === 0 && world.clock.monotonic() < most) {
      await world.pass(30_000);
      world.watch().noteSeen("10.9.0.7");
    }
    expect(world.of("host_offline")).toEqual([]);
    world.watch().noteSeen("10.9.0.200");
    expect(world.watch().counts.known).toBe(2);
  });

  test("end what is in progress without counting it", async () => {
    const world = createNetworks();
    world.alive.add("10.9.0.1");
    await world.pass(2000);
    expect(world.watch().isPolling).toBe(true);
    const ended = world.watch().abort("the probe stops");
    await world.pass(60_000);
    await ended;
    expect([world.of("host_found"), world.faults]).toEqual([[], []]);
  });
});

test("prefixes of the settings that are none are refused", () => {
  const settings = { sweep: { enabled: true, intervalSeconds: 600, packetsPerSecond: 200, networks: [], routed: ["somewhere"] } };
  expect(() => createEgressPolicy({ ...settings, scanPacketsPerSecond: 1, excluded: [] }))
    .toThrow(expect.objectContaining({ code: "config-invalid" }));
});

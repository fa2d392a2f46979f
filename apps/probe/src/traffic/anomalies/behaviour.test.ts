import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AnomalyDetected, BehaviourListReply, BehaviourReply } from "@lanthorn/contract/uplink";
import { createCountryTable, type SavedEntry, TABLE_FILE } from "@lanthorn/anomaly";
import { type BlockFrame, encodeFrameBlock } from "@lanthorn/packet-io";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { COUNTRIES } from "../../bundles/names.ts";
import { openBundleStore } from "../../bundles/store.ts";
import { createHomeNetworks } from "../../intrusions/home-networks.ts";
import { FoundAnomaly } from "../messages.ts";
import { createFlowSinks } from "../process/flow-sinks.ts";
import { BEGIN, conversation, LAPTOP, ordinaryDays, scan } from "../testing/site-weeks.ts";
import { openBehaviour } from "./behaviour.ts";
import { checkCountries } from "./countries.ts";
import { createFlowRate } from "./flow-rate.ts";
import { createOwnNetworks } from "./own-networks.ts";
import { AnomalySettings } from "./settings.ts";
import { createSiteDevices } from "./site-devices.ts";
import { readStateFile, writeStateFile } from "./state-file.ts";
import { createFlowNumbers } from "../ring/flow-numbers.ts";

const DAY = 86_400;
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-behaviour-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** The flow table with behavior behind it, as the process has them. */
async function openSite(settings: Partial<AnomalySettings> = {}) {
  const said: FoundAnomaly[] = [];
  const problems: unknown[] = [];
  const remarks: unknown[] = [];
  const clock = createFakeClock(BEGIN * 1000);
  const behaviour = await openBehaviour({
    settings: AnomalySettings.parse(settings), dataDir, accepted: undefined, isInside: createHomeNetworks([], () => []), clock, log: { ...silentLog, warn: (facts: object) => remarks.push(facts), error: (facts: object) => problems.push(facts) },
    say: (_, data) => said.push(FoundAnomaly.parse(data)) > 0,
  });
  const { sinks: [flows] } = createFlowSinks({ numbers: createFlowNumbers(), behaviour, random: Math.random, clock, watch: { watch: () => null, count: () => undefined }, onMessage: () => undefined });
  const see = (frames: readonly BlockFrame[]) => {
    flows.onBlock(encodeFrameBlock(frames), 0);
    clock.jump((frames.at(-1)?.seconds ?? 0) * 1000 - clock.now());
    flows.tick?.(clock.now());
  };
  const live = (days: { readonly from: number; readonly to: number }) => {
    for (const frames of ordinaryDays([LAPTOP], days)) see(frames);
  };
  return { said, problems, remarks, flows, behaviour, see, live };
}

test("a device that scans after a week of ordinary days is said once, with what is usual", async () => {
  const { said, see, live, behaviour } = await openSite();
  live({ from: 0, to: 9 + 10 / 24 });
  expect(said).toEqual([]);
  see(scan(BEGIN + 9 * DAY + 10 * 3600 + 60, LAPTOP));
  live({ from: 9 + 10.1 / 24, to: 9 + 12 / 24 });
  expect(said).toMatchObject([{ kind: "scan", device: LAPTOP.mac, mac: LAPTOP.mac, ip: LAPTOP.ip, mitre_techniques: ["T1046"], is_alert: true, since: new Date((BEGIN + 9 * DAY + 10 * 3600) * 1000).toISOString() }]);
  expect(AnomalyDetected.safeParse(said[0]).success).toBe(true);
  expect(said[0]?.features[0]?.observed).toBeGreaterThan(100);
  expect(said[0]?.series.values).toHaveLength(36);
  expect(behaviour.counters()).toMatchObject({ active: 1, found: 1, held_back: 0, distrusted_hours: 0, damaged: 0 });
  expect(behaviour.counters()?.compared_hours).toBeGreaterThan(9 * 24);
});

test("nothing is said of an hour for a part of which nobody looked, nor of what somebody said is normal", async () => {
  const { said, see, live, flows, behaviour } = await openSite();
  live({ from: 0, to: 9 + 10 / 24 });
  see(scan(BEGIN + 9 * DAY + 10 * 3600 + 60, LAPTOP));
  flows.onMissing?.(0, 0, "eth1 was down or away until now");
  live({ from: 9 + 10.1 / 24, to: 9 + 13 / 24 });
  behaviour.configure({ accepted: [{ kind: "scan", device: LAPTOP.mac }, { kind: "of a later version", group: "x" }] });
  see(scan(BEGIN + 9 * DAY + 13 * 3600 + 60, LAPTOP));
  live({ from: 9 + 13.1 / 24, to: 9 + 15 / 24 });
  expect(said).toEqual([]);
  expect(behaviour.counters()).toMatchObject({ distrusted_hours: 1, suppressed: 1, found: 0 });
});

test("an attacker hides nothing and stops no learning by a lost frame or by thousands of conversations, and what hides very many frames stops the learning only", async () => {
  const { said, see, live, flows, behaviour } = await openSite();
  const learned = () => BehaviourListReply.parse((behaviour.list({ lifecycles: null, behind: LAPTOP.mac.replace(/07$/, "06"), limit: 1 }) as { data: unknown }).data).devices[0]?.hours_learned ?? 0;
  const attacker = { ip: "10.0.0.66", mac: "02:00:00:00:00:66" };
  // More at once than the flow table holds: the others end at once.
  const flood = (seconds: number) => Array.from({ length: 20_000 }, (_, turn) => conversation(seconds, attacker, { ip: "10.0.0.20", mac: "02:00:00:00:01:00", port: 1 + turn }, false)).flat();
  live({ from: 0, to: 9 + 10.05 / 24 });
  const before = learned();
  see(flood(BEGIN + 9 * DAY + 10 * 3600 + 100));
  flows.onMissing?.(0, 1, "the kernel dropped them");
  live({ from: 9 + 10.1 / 24, to: 9 + 11 / 24 });
  see(flood(BEGIN + 9 * DAY + 11 * 3600 + 1));
  see(scan(BEGIN + 9 * DAY + 11 * 3600 + 60, LAPTOP));
  flows.shed(100, 6000, 0);
  live({ from: 9 + 11.1 / 24, to: 9 + 12 / 24 });
  live({ from: 9 + 12 / 24, to: 9 + 12.1 / 24 });
  expect(behaviour.counters()).toMatchObject({ distrusted_hours: 0, thin_hours: 0 });
  expect(behaviour.counters()?.flows_left_out).toBeGreaterThan(10_000);
  expect(said).toMatchObject([{ kind: "scan", device: LAPTOP.mac }]);
  expect(learned()).toBe(before + 1);
  live({ from: 9 + 12.1 / 24, to: 10 + 10.05 / 24 });
  const calm = learned();
  flows.onMissing?.(0, 100_000, "the kernel dropped them");
  see(scan(BEGIN + 10 * DAY + 10 * 3600 + 60, LAPTOP));
  live({ from: 10 + 10.1 / 24, to: 10 + 11.1 / 24 });
  expect(said).toMatchObject([{ kind: "scan" }, { kind: "scan" }]);
  expect([learned(), behaviour.counters()]).toMatchObject([calm, { distrusted_hours: 0, thin_hours: 1 }]);
});

test("flows of those who open few are looked at while others open too many, and what is missing of them is counted apart", () => {
  const rate = createFlowRate();
  const fates = (at: number, device: string | null, count: number) => {
    const counts = { taken: 0, too_many: 0, missed: 0 };
    for (let turn = 0; turn < count; turn += 1) counts[rate.take(at, device)] += 1;
    return counts;
  };
  expect(fates(1, "flooder", 9000)).toEqual({ taken: 2500, too_many: 6500, missed: 0 });
  expect(fates(1, null, 10)).toEqual({ taken: 10, too_many: 0, missed: 0 });
  expect(fates(1, "laptop", 260)).toEqual({ taken: 250, too_many: 10, missed: 0 });
  for (let device = 0; device < 9; device += 1) expect(fates(1.5, `device-${device}`, 250).taken).toBe(250);
  expect(fates(1.9, "last", 3)).toEqual({ taken: 0, too_many: 0, missed: 3 });
  expect([fates(2, "flooder", 1).taken, rate.leftOut()]).toEqual([1, 6513]);
});

test("flows of hosts outside neither take the room of devices nor give them theirs, and those beyond it are missing", () => {
  const rate = createFlowRate();
  const fates = (device: string | null, count: number) => Array.from({ length: count }, () => rate.take(1, device));
  expect(new Set(fates("flooder", 2500))).toEqual(new Set(["taken"]));
  expect(new Set(fates(null, 2500))).toEqual(new Set(["taken"]));
  expect(new Set(fates(null, 3000))).toEqual(new Set(["missed"]));
  expect(new Set(fates("laptop", 250))).toEqual(new Set(["taken"]));
  expect([rate.take(1, "flooder"), rate.take(1, "laptop"), rate.leftOut()]).toEqual(["too_many", "too_many", 3002]);
});

test("a burst of one second is missing of an hour as one second, however many hosts seem to open it, and one of a minute is more than a hundredth", () => {
  const rate = createFlowRate();
  const missedOf = (hour: number, seconds: number) => {
    const sums = { seen: 0, missed: 0 };
    const add = ({ seen, missed }: { readonly seen: number; readonly missed: number }) => Object.assign(sums, { seen: sums.seen + seen, missed: sums.missed + missed });
    rate.advance(hour * 3600);
    for (let second = 0; second < seconds; second += 1) {
      for (let turn = 0; turn < 20_000; turn += 1) rate.take(hour * 3600 + 100 + second, null);
      add(rate.advance(hour * 3600 + 101 + second));
    }
    // Packet time is in the next hour already when it is asked.
    add(rate.advance((hour + 1) * 3600 + 7));
    return [sums.seen + sums.missed, sums.missed];
  };
  expect(missedOf(1, 1)).toEqual([3600, 0.875]);
  expect(missedOf(9, 60)).toEqual([3600, 52.5]);
});

test("a burst of hosts outside that nobody knows stops no learning", async () => {
  const { live, flows, behaviour, see } = await openSite();
  const outsiders = (seconds: number) => Array.from({ length: 20_000 }, (_, turn) =>
    conversation(seconds, { ip: `198.18.${turn >> 8}.${turn & 255}`, mac: "02:00:00:00:00:01" }, { ip: LAPTOP.ip, mac: LAPTOP.mac, port: 443 }, false)).flat();
  live({ from: 0, to: 1 + 10.05 / 24 });
  see(outsiders(BEGIN + DAY + 10 * 3600 + 200));
  live({ from: 1 + 10.1 / 24, to: 1 + 11.1 / 24 });
  flows.tick?.(0);
  expect(behaviour.counters()?.flows_left_out).toBeGreaterThan(1000);
  expect(behaviour.counters()).toMatchObject({ distrusted_hours: 0, thin_hours: 0 });
});

test("what was learned comes back after a restart, and where it is damaged it is set aside, said and learned anew", async () => {
  const first = await openSite();
  first.live({ from: 0, to: 8 });
  await first.behaviour.close();
  const file = join(dataDir, "anomalies", "state");
  const second = await openSite();
  expect([second.behaviour.counters(), second.problems]).toMatchObject([{ active: 1, learning: 0, damaged: 0 }, []]);
  second.live({ from: 8, to: 8 + 10 / 24 });
  second.see(scan(BEGIN + 8 * DAY + 10 * 3600 + 60, LAPTOP));
  second.live({ from: 8 + 10.1 / 24, to: 8 + 12 / 24 });
  expect(second.said).toMatchObject([{ kind: "scan" }]);
  const whole = readFileSync(file);
  for (const bytes of [Buffer.alloc(0), Buffer.from("x".repeat(100)), whole.subarray(0, whole.length - 1), whole.map((byte, index) => (index === whole.length - 2000 ? byte ^ 1 : byte))]) {
    writeFileSync(file, bytes);
    const again = await openSite();
    expect(again.problems).toHaveLength(1);
    expect([existsSync(file), readFileSync(`${file}.damaged`).equals(bytes)]).toEqual([false, true]);
    again.live({ from: 9, to: 9.1 });
    await again.behaviour.close();
    expect(existsSync(file)).toBe(true);
  }
});

test("what another version of the program learned is set aside and learned anew, and is not said to be damaged", async () => {
  const first = await openSite();
  first.live({ from: 0, to: 0.1 });
  await first.behaviour.close();
  const file = join(dataDir, "anomalies", "state");
  const entries: SavedEntry[] = [];
  await readStateFile(file, (entry) => entries.push({ ...entry, bytes: Uint8Array.from(entry.bytes) }) > 0);
  const ofNextVersion = entries.map((entry) => ({ ...entry, bytes: entry.bytes.map((byte, place) => (place === 0 ? byte + 1 : byte)) }));
  await writeStateFile(file, ofNextVersion);
  const bytes = readFileSync(file);
  const second = await openSite();
  expect([second.problems, second.behaviour.counters()]).toMatchObject([[], { learning: 0, damaged: 0, other_version: entries.length }]);
  expect(second.remarks).toMatchObject([{ path: `${file}.other-version`, entries: entries.length }]);
  expect([existsSync(file), readFileSync(`${file}.other-version`).equals(bytes)]).toEqual([false, true]);
  // So is a file whose form another version chose; one of both kinds is damaged.
  writeFileSync(file, "lanthorn behavior 9\nsomething");
  expect((await openSite()).remarks).toHaveLength(1);
  await writeStateFile(file, [...ofNextVersion, { kind: "device", key: "x", bytes: new Uint8Array(3) }]);
  const last = await openSite();
  expect([last.problems, last.remarks, existsSync(`${file}.damaged`)]).toMatchObject([[{ entries: 1 }], [], true]);
});

test("a country that a device never spoke to is found where the collector published a table of countries, and is left out where it did not", async () => {
  const abroad = (seconds: number) => [0, 60, 120].flatMap((later) => conversation(seconds + later, LAPTOP, { ip: "198.51.100.9", port: 443 }));
  const visit = async (days: { readonly from: number; readonly to: number }) => {
    const site = await openSite();
    site.live({ from: days.from, to: days.to + 10 / 24 });
    site.see(abroad(BEGIN + days.to * DAY + 10 * 3600 + 60));
    site.live({ from: days.to + 10.1 / 24, to: days.to + 1 });
    await site.behaviour.close();
    return site;
  };
  const blind = await visit({ from: 0, to: 8 });
  expect([blind.said, blind.behaviour.counters()]).toMatchObject([[], { countries: 0 }]);
  const table = createCountryTable([{ family: 4, first: 0xcb007100, last: 0xcb0071ff, country: "DE" }, { family: 4, first: 0xc6336400, last: 0xc63364ff, country: "BR" }]);
  const files = new Map([[TABLE_FILE, Buffer.from(table?.bytes ?? [])]]);
  await expect(checkCountries(files)).resolves.toBeUndefined();
  await expect(checkCountries(new Map([[TABLE_FILE, Buffer.from("no table")]]))).rejects.toMatchObject({ code: "bundle-refused" });
  openBundleStore(dataDir, COUNTRIES).install(files);
  blind.behaviour.loadCountries();
  await expect.poll(() => blind.behaviour.counters()).toMatchObject({ countries: 2 });
  // The countries that it always spoke to are no news on the day on which they are known.
  expect((await visit({ from: 9, to: 11 })).said).toEqual([]);
  openBundleStore(dataDir, COUNTRIES).install(new Map([[TABLE_FILE, Buffer.from(createCountryTable([{ family: 4, first: 0xcb007100, last: 0xcb0071ff, country: "DE" }, { family: 4, first: 0xc6336400, last: 0xc63364ff, country: "AR" }])?.bytes ?? [])]]));
  const seeing = await visit({ from: 12, to: 18 });
  expect(seeing.said).toMatchObject([{ kind: "new_region", news: ["AR"] }]);
});

test("at an access port presence and broadcasts are learned: a device that is never there at night is found when it is", async () => {
  const { said, see, behaviour } = await openSite();
  const host = { ip: LAPTOP.ip, mac: LAPTOP.mac };
  const mdns = (seconds: number) => conversation(seconds, host, { ip: "224.0.0.251", mac: "01:00:5e:00:00:fb", port: 5353 }, false);
  const dhcp = (seconds: number) => conversation(seconds, { ip: "0.0.0.0", mac: LAPTOP.mac }, { ip: "255.255.255.255", mac: "ff:ff:ff:ff:ff:ff", port: 67 }, false);
  // Something is heard all the time, as switches and routers are.
  const other = (seconds: number) => conversation(seconds, { ip: "10.0.0.1", mac: "02:00:00:00:00:fe" }, { ip: "224.0.0.1", mac: "01:00:5e:00:00:01", port: 5353 }, false);
  const live = (days: { readonly from: number; readonly to: number }, isThere: (hour: number) => boolean) => {
    for (let seconds = BEGIN + days.from * DAY; seconds < BEGIN + days.to * DAY; seconds += 300) {
      const hour = (seconds % DAY) / 3600;
      see([...other(seconds), ...(isThere(hour) ? [...(seconds % DAY === 8 * 3600 ? dhcp(seconds + 1) : []), ...Array.from({ length: 8 }, (_, turn) => mdns(seconds + 2 + 30 * turn)).flat()] : [])]);
    }
  };
  live({ from: 0, to: 17 }, (hour) => hour >= 8 && hour < 17);
  expect(said).toEqual([]);
  const { behaviour: usual } = BehaviourReply.parse((behaviour.read({ devices: [LAPTOP.mac] }) as { data: unknown }).data);
  const of = (feature: string) => usual?.features.find(({ name }) => name === feature)?.workdays.usual ?? [];
  expect([of("presence")[10], of("presence")[3], of("flows")[10]]).toEqual([expect.closeTo(12, 0), 0, 0]);
  expect(usual?.ports.map(({ name }) => name).toSorted()).toEqual(["says udp/5353", "says udp/67"]);
  live({ from: 17, to: 17.25 }, (hour) => hour >= 2 && hour < 4);
  expect(said).toMatchObject([{ kind: "unusual_hour", device: LAPTOP.mac }]);
});

test("what is usual is read, frozen and reset at the collector's word, and a restart before the hour is over keeps it", async () => {
  const first = await openSite();
  first.live({ from: 0, to: 8 });
  const read = (site: typeof first) => BehaviourReply.parse((site.behaviour.read({ devices: ["02:00:00:00:00:99", LAPTOP.mac] }) as { data: unknown }).data).behaviour;
  expect(read(first)).toMatchObject({ device: LAPTOP.mac, lifecycle: "active", known_since: new Date(BEGIN * 1000 + 60_000 * 5).toISOString(), group: "uses udp/123 uses udp/443" });
  expect(read(first)?.features.find(({ name }) => name === "flows")?.workdays.usual[10]).toBeGreaterThan(8);
  expect(read(first)?.peers.map(({ name }) => name)).toContain("203.0.113.1");
  await first.behaviour.close();
  expect(first.behaviour.freeze({ devices: [LAPTOP.mac, LAPTOP.ip], is_frozen: true })).toEqual({ data: { devices: 1 } });
  await first.behaviour.close();
  const second = await openSite();
  expect(second.behaviour.counters()).toMatchObject({ frozen: 1, active: 0 });
  expect(read(second)).toMatchObject({ lifecycle: "frozen" });
  const list = (lifecycles: ("active" | "frozen")[] | null, behind: number | string = 0) => {
    const { devices, total } = BehaviourListReply.parse((second.behaviour.list({ lifecycles, behind, limit: 10 }) as { data: unknown }).data);
    return [devices.map(({ device, lifecycle }) => `${device} ${lifecycle}`), total];
  };
  expect([list(null), list(["active"]), list(["active", "frozen"]), list(null, LAPTOP.mac), list(null, "0"), list(null, 1)]).toEqual([
    [[`${LAPTOP.mac} frozen`], 1], [[], 0], [[`${LAPTOP.mac} frozen`], 1], [[], 1], [[`${LAPTOP.mac} frozen`], 1], [[], 1],
  ]);
  expect(second.behaviour.freeze({ devices: null, is_frozen: false })).toEqual({ data: { devices: 1 } });
  expect(second.behaviour.reset({ devices: null })).toEqual({ data: { devices: 1 } });
  await second.behaviour.close();
  const third = await openSite();
  expect([third.behaviour.counters(), read(third), third.problems]).toMatchObject([{ active: 0, learning: 0 }, null, []]);
});

test("a part that is turned off learns nothing and says so", async () => {
  const { behaviour, live } = await openSite({ enabled: false });
  live({ from: 0, to: 1 });
  await behaviour.close();
  expect([behaviour.counters(), existsSync(join(dataDir, "anomalies"))]).toEqual([undefined, false]);
  const devices = [LAPTOP.mac];
  for (const answer of [behaviour.read({ devices }), behaviour.list({ lifecycles: null, behind: 0, limit: 1 }), behaviour.freeze({ devices, is_frozen: true }), behaviour.reset({ devices })]) expect(answer).toMatchObject({ reason: "not-configured" });
});

test("the machine's subnets are read twice a minute, however many flows there are", async () => {
  const clock = createFakeClock();
  let reads = 0;
  const networks = createOwnNetworks(() => [`10.${(reads += 1)}.0.0/16`], clock);
  for (let flow = 0; flow < 1000; flow += 1) expect(networks()).toEqual(["10.1.0.0/16"]);
  await clock.advance(30_000);
  expect([networks(), reads]).toEqual([["10.2.0.0/16"], 2]);
});

test("devices are known by their MAC address, and by their address behind who forwards packets of others", () => {
  const devices = createSiteDevices(createHomeNetworks([], () => []));
  const [laptop, gateway] = ["02:00:00:00:00:07", "02:00:00:00:00:fe"];
  expect([devices.note("10.0.0.7", laptop), devices.note("fe80::7", laptop), devices.note("203.0.113.7", gateway)]).toEqual([laptop, laptop, null]);
  expect([devices.note("10.9.0.1", gateway), devices.note("10.0.0.7", null), devices.note("10.0.0.99", null)]).toEqual(["10.9.0.1", laptop, "10.0.0.99"]);
  expect([devices.placeOf(laptop), devices.placeOf("10.9.0.1"), devices.nameAt("10.0.0.99")]).toEqual([{ ip: "10.0.0.7", mac: laptop }, { ip: "10.9.0.1", mac: "" }, null]);
  for (let host = 0; host < 40; host += 1) devices.note(`10.7.0.${host}`, "02:00:00:00:00:aa");
  expect(devices.note("10.7.0.50", "02:00:00:00:00:aa")).toBe("10.7.0.50");
});

import { MAX_PCAP_WATCH_BYTES, PCAP_WATCH_SECONDS } from "@lanthorn/contract/uplink";
import { encodeFrameBlock } from "@lanthorn/packet-io";
import { createFakeClock, createId } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { type CapturePrivacy, KEEP_ALL } from "../capture-files/privacy.ts";
import { TrafficSettings } from "../settings.ts";
import { at, udpFrame } from "../testing/frames.ts";
import { createKeptRecordings } from "../testing/recordings.ts";
import { createRequestedCaptures } from "./captures.ts";
import type { CompileFilter } from "./filter-program.ts";
import { createWatches } from "./watches.ts";

const ONE = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };
/** "short" lets frames below 100 octets through; a word of the compiler's for all else. */
const compile: CompileFilter = (text) =>
  (text === "" ? { program: null } : text === "short" ? { program: ({ wireLength }) => wireLength < 100 } : { refused: `syntax error near "${text}"` });
const INTERFACES = ["eth1", "eth2"];
const block = (count: number, text = "x") => encodeFrameBlock(Array.from({ length: count }, (_, index) => at(1000 + index, udpFrame(ONE, ONE, text))));

function createScene() {
  const clock = createFakeClock();
  const { kept, open } = createKeptRecordings();
  const settings = TrafficSettings.parse({ on_demand: { longest_seconds: 100, max_megabytes: 1 } }).on_demand;
  const captures = createRequestedCaptures({ settings, snapLength: 262_144, interfaces: INTERFACES, compile, open, clock });
  const site: { privacy: CapturePrivacy } = { privacy: KEEP_ALL };
  const watches = createWatches({ interfaces: INTERFACES, snapLength: 262_144, compile, clock, privacy: () => site.privacy });
  const start = (more: Partial<Parameters<typeof captures.start>[0]> = {}) => captures.start({
    pcap_id: createId(), interface: null, filter: "", seconds: 60, packets: 1000, bytes: 1e9, snap_length: 262_144, headers_only: false, ...more,
  });
  const look = (id: string, more: Partial<Parameters<typeof watches.look>[0]> = {}) =>
    watches.look({ watch_id: id, interface: null, filter: "", after: 0, limit: 500, snap_length: 64, ...more });
  return { clock, kept, captures, watches, start, look, site };
}

test("a capture keeps what its filter lets through of its interface, within its limits and the caps", async () => {
  const { clock, kept, captures, start } = createScene();
  expect(start({ interface: "eth2", filter: "short", seconds: 1000 })).toEqual({ data: { seconds: 100, packets: 1000, bytes: 1024 * 1024 } });
  captures.onBlock(block(5), 0);
  captures.onBlock(block(7), 1);
  captures.onBlock(block(9, "long".repeat(50)), 1);
  expect(captures.state()).toMatchObject([{ filter: "short", kept: 7, left_out: 9 }]);
  await clock.advance(99_000);
  captures.tick();
  expect(kept[0]?.detail).toBeNull();
  await clock.advance(1000);
  captures.tick();
  expect([kept[0]?.frames.length, kept[0]?.leftOut, kept[0]?.detail, captures.state()]).toEqual([7, 9, "", []]);
});

test("a capture ends when it has its packets, when it is stopped, and leaves nothing when it is dropped", async () => {
  const { kept, captures, start } = createScene();
  const [one, two, three] = [createId(), createId(), createId()];
  start({ pcap_id: one, packets: 3 });
  start({ pcap_id: two });
  start({ pcap_id: three });
  captures.onBlock(block(10), 0);
  captures.tick();
  expect(captures.stop(one)).toBe(false);
  expect(captures.stop(two)).toBe(true);
  expect([await captures.drop(three), await captures.drop(three)]).toEqual([true, false]);
  captures.onBlock(block(10), 0);
  expect(kept.map(({ frames }) => frames.length)).toEqual([3, 10, 10]);
});

test("what cannot be captured is refused: the compiler's words, interfaces that are not read, too many at once, twice the same", () => {
  const { captures, start } = createScene();
  expect(start({ filter: "udp and and" })).toEqual({ refused: 'syntax error near "udp and and"' });
  const refusal = start({ interface: "eth9" });
  expect(refusal).toEqual({ refused: expect.stringMatching(/eth9.*eth1, eth2.*\[traffic\]/) as string, reason: "no-such-interface" });
  const id = createId();
  expect([start({ pcap_id: id }), start({ pcap_id: id })].map((answer) => "data" in answer)).toEqual([true, false]);
  expect([1, 2, 3, 4].map(() => "data" in start())).toEqual([true, true, true, false]);
  expect(captures.state()).toHaveLength(4);
});

test("a live view gives each frame once, counts what it could not keep, and can be asked again", () => {
  const { watches, look } = createScene();
  const id = createId();
  expect(look(id)).toEqual({ data: { frames: [], missed: 0, next: 0 } });
  watches.onBlock(block(3), 0);
  const first = look(id, { limit: 2 });
  expect(first).toMatchObject({ data: { frames: [{ seq: 1, wire_length: 60 }, { seq: 2 }], missed: 0, next: 2 } });
  expect(look(id, { limit: 2 })).toEqual(first);
  expect(look(id, { after: 2 })).toMatchObject({ data: { frames: [{ seq: 3 }], missed: 0, next: 3 } });
  watches.onBlock(block(5000), 0);
  const flooded = look(id, { after: 3 });
  expect("data" in flooded && flooded.data.frames.length).toBeGreaterThan(400);
  const rest = "data" in flooded ? look(id, { after: flooded.data.next }) : flooded;
  const seen = [flooded, rest].reduce((sum, answer) => sum + ("data" in answer ? answer.data.frames.length + answer.data.missed : 0), 0);
  expect(seen).toBe(5000);
});

test("a live view's answer has a bounded length, and the view ends by itself or when it is ended", async () => {
  const { clock, watches, look } = createScene();
  const id = createId();
  look(id, { snap_length: 2048 });
  for (let round = 0; round < 20; round += 1) {
    watches.onBlock(block(100, "x".repeat(1900)), 0);
    watches.tick();
  }
  const answer = look(id, { snap_length: 2048 });
  expect(JSON.stringify(answer).length).toBeLessThan((MAX_PCAP_WATCH_BYTES * 4) / 3 + 1024);
  expect(look(createId(), { interface: "eth9" })).toMatchObject({ reason: "no-such-interface" });
  expect(look(createId(), { filter: "nonsense" })).toHaveProperty("refused");
  expect([1, 2, 3, 4].map(() => "data" in look(createId()))).toEqual([true, true, true, false]);
  look(id, { limit: 0 });
  expect(watches.open).toBe(3);
  await clock.advance(PCAP_WATCH_SECONDS * 1000 + 1);
  watches.tick();
  expect(watches.open).toBe(0);
});

test("a live view shows no more of a frame than the site's files hold, from a change on at once", () => {
  const { watches, look, site } = createScene();
  const id = createId();
  const lengths = (after: number) => {
    const answer = look(id, { after, snap_length: 2048 });
    return "data" in answer ? [answer.data.frames.map(({ bytes }) => Buffer.from(bytes, "base64").length), answer.data.missed, answer.data.next] : answer;
  };
  look(id, { snap_length: 2048 });
  watches.onBlock(block(2, "secret".repeat(20)), 0);
  expect(lengths(0)).toEqual([[162, 162], 0, 2]);
  watches.onBlock(block(3, "secret".repeat(20)), 0);
  site.privacy = { headersOnly: true, headersOnlyNetworks: [] };
  watches.configure();
  watches.onBlock(block(1, "secret".repeat(20)), 0);
  // What waited had been copied whole: it is not shown any more.
  expect(lengths(2)).toEqual([[42], 3, 6]);
  site.privacy = { headersOnly: false, headersOnlyNetworks: ["10.0.0.0/8"] };
  watches.configure();
  watches.onBlock(block(1, "secret".repeat(20)), 0);
  // Other settings have changed: what waits stays.
  watches.configure();
  expect(lengths(6)).toEqual([[42], 0, 7]);
});

test("a live view that is over is not gone on with: neither after half a minute nor in another process", async () => {
  const { clock, watches, look } = createScene();
  const id = createId();
  look(id);
  watches.onBlock(block(5), 0);
  expect(look(id, { after: 2 })).toMatchObject({ data: { next: 5 } });
  // No such number was given out; nothing is left out for it.
  expect(look(id, { after: 1000 })).toEqual({ data: { frames: [], missed: 0, next: 5 } });
  watches.onBlock(block(1), 0);
  expect(look(id, { after: 5 })).toMatchObject({ data: { frames: [{ seq: 6 }], next: 6 } });
  await clock.advance(PCAP_WATCH_SECONDS * 1000 + 1);
  watches.tick();
  expect(look(id, { after: 6 })).toHaveProperty("refused");
  expect(createScene().look(id, { after: 6 })).toHaveProperty("refused");
  expect(watches.open).toBe(0);
});

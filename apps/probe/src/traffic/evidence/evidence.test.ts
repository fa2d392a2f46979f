import { createFakeClock, createId, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import type { AlertNotice } from "../messages.ts";
import type { Added } from "../recording.ts";
import { createFrameHeaders } from "../ring/frame-headers.ts";
import { createMemoryRing } from "../ring/memory-ring.ts";
import { TrafficSettings } from "../settings.ts";
import { at, putBlock, udpFrame } from "../testing/frames.ts";
import { createKeptRecordings, type KeptRecording } from "../testing/recordings.ts";
import { createEvidence } from "./evidence.ts";

const EVE = { mac: "02:00:00:00:00:66", ip: "10.0.0.66" };
const BOB = { mac: "02:00:00:00:00:01", ip: "10.0.0.1" };
const ANN = { mac: "02:00:00:00:00:02", ip: "10.0.0.2" };
const MIB = 1024 * 1024;

function createScene(options: { readonly ringBytes?: number; readonly answer?: (recording: KeptRecording) => Added } = {}) {
  const clock = createFakeClock(1_700_000_000_000);
  const { kept, open } = createKeptRecordings(options.answer);
  const ring = createMemoryRing({ memory: Buffer.alloc(options.ringBytes ?? MIB), seconds: 120, onEvict: (block) => evidence.onEvict(block) });
  const evidence = createEvidence({
    ring, headers: createFrameHeaders(), settings: TrafficSettings.parse({ evidence: { before_seconds: 30, after_seconds: 10, longest_seconds: 100 } }).evidence,
    snapLength: 262_144, isWanted: () => true, open, clock, log: silentLog,
  });
  clock.every(250, () => evidence.tick?.(clock.now()));
  const see = (...frames: readonly Uint8Array[]) => putBlock(ring, frames.map((bytes) => at(clock.now(), bytes)));
  const alert = (frame: Uint8Array | null, more: Partial<AlertNotice> = {}): AlertNotice => ({
    alert_id: createId(), kind: "arp_spoofing", at: clock.now(), device: { macs: [EVE.mac], ips: [] }, peer: null,
    packets: frame ? [Buffer.from(frame).toString("base64")] : [], ...more,
  });
  /** A second of talk: of Eve to Bob and of others. */
  const talk = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      see(udpFrame(EVE, BOB, `${clock.now()}`), udpFrame(ANN, BOB, "others"));
      await clock.advance(1000);
    }
  };
  const texts = (recording: KeptRecording | undefined) => recording?.frames.map(({ bytes }) => textOf(bytes)) ?? [];
  return { clock, kept, ring, evidence, see, alert, talk, texts };
}

/** Short frames are padded. */
const textOf = (bytes: Buffer) => bytes.toString("latin1", 42).replaceAll("\0", "");

test("an alert's file has the device's frames before and after, all around its frame, and the frame marked", async () => {
  const { clock, kept, evidence, see, alert, talk, texts } = createScene();
  await talk(40);
  const evil = udpFrame(EVE, ANN, "evil");
  see(udpFrame(ANN, BOB, "near"), evil);
  const seenAt = clock.now();
  await clock.advance(700);
  const notice = alert(evil);
  evidence.notice(notice);
  await talk(20);
  expect(kept).toHaveLength(1);
  const [file] = kept;
  expect(file?.options).toMatchObject({ trigger: "alert", about: { alertIds: [notice.alert_id], macs: [EVE.mac] } });
  expect(file?.frames.filter(({ comment }) => comment !== undefined).map(({ comment, at: time }) => [comment, time])).toEqual([[`lanthorn alert ${notice.alert_id}`, seenAt]]);
  const times = file?.frames.map(({ at: time }) => time) ?? [];
  expect([Math.min(...times), Math.max(...times)]).toEqual([seenAt - 30_000, seenAt + 10_700]);
  expect(texts(file).filter((text) => text === "near" || text === "others")).toEqual(["near"]);
  expect(file?.detail).toBe("");
  expect(file?.leftOut).toBeGreaterThanOrEqual(40);
});

test("of equal frames the one nearest in time is marked; without one the device's last before the alert", async () => {
  const { clock, kept, evidence, see, alert, talk } = createScene();
  const evil = udpFrame(EVE, ANN, "evil");
  for (let round = 0; round < 3; round += 1) {
    see(evil);
    await clock.advance(5000);
  }
  const first = alert(evil);
  const unknown = alert(udpFrame(EVE, ANN, "never seen"), { device: { macs: [ANN.mac], ips: [] } });
  evidence.notice({ ...first, at: clock.now() - 5000 });
  evidence.notice(unknown);
  await talk(20);
  const marked = kept.map(({ frames }) => frames.filter(({ comment }) => comment?.startsWith("lanthorn alert")).map(({ at: time }) => time));
  expect(marked).toEqual([[1_700_000_010_000], [1_700_000_015_000]]);
});

test("an alert that is seen again lasts longer, up to the longest, and one of the same device shares the file", async () => {
  const { clock, kept, evidence, see, alert, talk } = createScene();
  await talk(5);
  const evil = udpFrame(EVE, ANN, "evil");
  see(evil);
  const notice = alert(evil);
  evidence.notice(notice);
  for (let round = 0; round < 12; round += 1) {
    await talk(8);
    const again = udpFrame(EVE, ANN, `again ${round}`);
    see(again);
    await clock.advance(500);
    evidence.notice({ ...notice, at: clock.now(), packets: [Buffer.from(again).toString("base64")] });
    if (round === 1) evidence.notice(alert(again));
  }
  await talk(20);
  expect(kept[0]?.about.alertIds).toHaveLength(2);
  const times = kept[0]?.frames.map(({ at: time }) => time) ?? [];
  expect(Math.max(...times) - 1_700_000_005_000).toBeLessThanOrEqual(70_000);
  expect(kept[0]?.frames.filter(({ comment }) => comment?.includes(notice.alert_id)).length).toBeGreaterThan(5);
  expect(kept.length).toBeLessThanOrEqual(3);
});

test("where the two are known only frames between them are kept", async () => {
  const { clock, kept, evidence, see, alert, talk } = createScene();
  await talk(3);
  see(udpFrame(EVE, ANN, "to Ann"));
  await clock.advance(2000);
  const evil = udpFrame(EVE, BOB, "evil");
  see(evil);
  evidence.notice(alert(evil, { device: { macs: [], ips: [EVE.ip] }, peer: { macs: [], ips: [BOB.ip] } }));
  await talk(20);
  expect(kept[0]?.frames.map(({ bytes }) => textOf(bytes))).not.toContain("to Ann");
  expect(kept[0]?.frames.length).toBeGreaterThan(10);
});

test("what the ring has already lost, and what was not read, stands in the file", async () => {
  const { clock, kept, evidence, see, alert, talk } = createScene({ ringBytes: 8 * 1024 });
  evidence.addGap({ from: clock.now(), to: clock.now() + 1000, reason: "the traffic process ended: SIGKILL" });
  await talk(40);
  const evil = udpFrame(EVE, ANN, "evil");
  see(evil);
  const seenAt = clock.now();
  evidence.notice(alert(evil));
  evidence.notice(alert(null, { at: 1_700_000_001_000, device: { macs: [BOB.mac], ips: [] } }));
  await talk(20);
  expect(kept[0]?.frames[0]?.comment).toContain("had left the memory ring");
  expect(kept[1]?.frames[0]?.comment ?? kept[1]?.detail).toContain("SIGKILL");
  expect(kept[0]?.frames.some(({ at: time, comment }) => time === seenAt && comment?.startsWith("lanthorn alert"))).toBe(true);
});

test("remarks that do not fit into the comment of one frame are in those of the next ones", async () => {
  const { clock, kept, evidence, see, alert, talk } = createScene();
  const reasons = Array.from({ length: 12 }, (_, n) => `gap ${n} ${"x".repeat(150)}`);
  for (const reason of reasons) evidence.addGap({ from: clock.now(), to: clock.now() + 1000, reason });
  const evil = udpFrame(EVE, ANN, "evil");
  see(evil);
  evidence.notice(alert(evil));
  await talk(20);
  const comments = kept[0]?.frames.flatMap(({ comment }) => comment ?? []) ?? [];
  expect(Math.max(...comments.map(({ length }) => length))).toBeLessThanOrEqual(1000);
  for (const reason of reasons) expect(comments.some((comment) => comment.includes(`${reason}.`))).toBe(true);
});

test("frames that leave the ring are written before, whatever is still waited for", async () => {
  const { clock, kept, evidence, see, alert } = createScene({ ringBytes: 8 * 1024 });
  const evil = udpFrame(EVE, ANN, "evil");
  see(evil);
  evidence.notice(alert(evil));
  await clock.advance(300);
  for (let count = 0; count < 500; count += 1) see(udpFrame(EVE, BOB, `flood ${count}`));
  await evidence.close();
  const floods = kept[0]?.frames.map(({ bytes }) => textOf(bytes)) ?? [];
  expect(floods).toEqual(["evil", ...Array.from({ length: 500 }, (_, count) => `flood ${count}`)]);
});

test("a disk that is busy is waited for, and a file that is full ends", async () => {
  let isBusy = true;
  const { clock, kept, evidence, see, alert, talk } = createScene({ answer: ({ frames }) => (isBusy ? "busy" : frames.length >= 6 ? "full" : "added") });
  await talk(5);
  const evil = udpFrame(EVE, ANN, "evil");
  see(evil);
  const notice = alert(evil);
  evidence.notice(notice);
  await clock.advance(5000);
  expect(kept[0]?.frames).toEqual([]);
  isBusy = false;
  await talk(20);
  expect([kept[0]?.frames.length, kept[0]?.missing]).toEqual([6, []]);
  expect(kept[0]?.detail).toContain("largest size");
});

test("a storm of alerts makes a bounded number of files, and what got none is counted", async () => {
  const { clock, kept, evidence, see, alert } = createScene();
  for (let count = 0; count < 3000; count += 1) {
    const one = { mac: `02:00:00:01:${(count >> 8).toString(16).padStart(2, "0")}:${(count & 255).toString(16).padStart(2, "0")}`, ip: "10.9.9.9" };
    const frame = udpFrame(one, BOB, "storm");
    see(frame);
    evidence.notice(alert(frame, { device: { macs: [one.mac], ips: [] } }));
    if (count % 10 === 0) await clock.advance(250);
    expect(evidence.state().open).toBeLessThanOrEqual(8);
  }
  await clock.advance(60_000);
  const { open, alertsLeftOut } = evidence.state();
  expect(open).toBe(0);
  expect(kept.length).toBeLessThan(200);
  const inFiles = kept.reduce((sum, { about }) => sum + about.alertIds.length, 0);
  expect(inFiles + alertsLeftOut).toBe(3000);
});

test("nothing is written for a site that wants no evidence", async () => {
  const { kept, ring, clock } = createScene();
  const evidence = createEvidence({
    ring, headers: createFrameHeaders(), settings: TrafficSettings.parse({}).evidence, snapLength: 96, isWanted: () => false,
    open: () => ({ refused: "not to be asked" }), clock, log: silentLog,
  });
  evidence.notice({ alert_id: createId(), kind: "x", at: clock.now(), device: { macs: [EVE.mac], ips: [] }, peer: null, packets: [] });
  evidence.tick?.(clock.now());
  expect([kept, evidence.state()]).toEqual([[], { open: 0, alertsLeftOut: 0 }]);
});

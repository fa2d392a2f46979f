import {
  type CaptureOptions, type InterfaceFacts, type InterfaceWatchOptions, createPacedSender, PacketIoError,
} from "@lanthorn/packet-io";
import { createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import { beforeEach, describe, expect, test } from "vitest";
import { createLanWatch, type LanWatch } from "./lan-watch.ts";

const FACTS: InterfaceFacts = {
  name: "lan0", index: 2, mac: "02:00:00:00:00:05", mtu: 1500, up: true, linkType: "ether", vlan: null, gateways: [],
  addresses: [{ family: "ipv4", ip: "10.0.0.5", prefixLength: 24, scope: "global" }],
};

let clock: FakeClock;
let watching: InterfaceWatchOptions;
let captures: (CaptureOptions & { frames: number; closed: boolean })[];
let sent: number;
let openInjectors: number;
let refusal: PacketIoError | null;
let denied: PacketIoError | null;
let lan: LanWatch;

beforeEach(() => {
  clock = createFakeClock();
  captures = [];
  sent = 0;
  openInjectors = 0;
  refusal = null;
  denied = null;
  lan = createLanWatch({
    interface: "lan0", clock, random: () => 1, log: silentLog,
    onFrames: () => undefined,
    onDenied: (reason) => { denied = reason; },
    packetIo: {
      watchInterface(options) {
        watching = options;
        return { close: () => undefined };
      },
      openInjector() {
        openInjectors += 1;
        return {
          async send(frames) { sent += [...frames].length; },
          close: () => { openInjectors -= 1; },
        };
      },
      openCapture(options) {
        if (refusal) throw refusal;
        const capture = { ...options, frames: 0, closed: false };
        captures.push(capture);
        return {
          counters: () => ({ frames: capture.frames, droppedByKernel: 1, droppedByInterface: 1000, droppedByReader: 2 }),
          async close() { capture.closed = true; },
        };
      },
      createPacedSender,
    },
  });
});

const lose = (code: "interface-down" | "capture-lost") => captures.at(-1)?.onLost(new PacketIoError(code, "it went"));

describe("watching the LAN", () => {
  test("has firstRead when the first answer is there, whatever it says", async () => {
    let hasRead = false;
    const firstRead = lan.firstRead.then(() => (hasRead = true));
    await Promise.resolve();
    expect(hasRead).toBe(false);
    watching.onChange(null);
    await firstRead;
    expect(lan.facts()).toBeNull();
  });

  test("waits for an interface that is not there, and begins when it is there and up", () => {
    watching.onChange(null);
    expect(lan.facts()).toBeNull();
    expect(lan.problem()).toContain("no interface lan0");
    watching.onChange({ ...FACTS, up: false });
    expect(captures).toHaveLength(0);
    expect(lan.facts()).toMatchObject({ up: false });
    watching.onChange(FACTS);
    expect(captures).toHaveLength(1);
    expect(lan.facts()).toMatchObject({ up: true, mac: FACTS.mac });
    expect(lan.problem()).toBeNull();
  });

  test("of what this host sends takes claims alone, and takes whole frames", () => {
    watching.onChange(FACTS);
    expect(captures[0]?.filter).toMatch(/^\(not ether src [\da-f:]{17} and .* or \(ether src [\da-f:]{17} and /);
    expect(captures[0]?.snapLength).toBeGreaterThanOrEqual(1514);
  });

  test("begins anew, with a filter of its own, when the interface gets another MAC while it is up, and keeps its sums", () => {
    watching.onChange(FACTS);
    (captures[0] as { frames: number }).frames = 40;
    watching.onChange({ ...FACTS, addresses: [] });
    expect(captures).toHaveLength(1);
    watching.onChange({ ...FACTS, mac: "02:00:00:00:00:06" });
    expect(captures.map(({ closed, filter }) => [closed, filter?.includes("02:00:00:00:00:06")])).toEqual([[true, false], [false, true]]);
    expect(lan.facts()).toMatchObject({ up: true, mac: "02:00:00:00:00:06" });
    expect(lan.counters()).toEqual({ frames: 40, dropped: 6 });
    expect(openInjectors).toBe(1);
    expect(lan.problem()).toBeNull();
  });

  test("is down from the moment the capture is lost until it is open again, and keeps its sums", async () => {
    watching.onChange(FACTS);
    (captures[0] as { frames: number }).frames = 40;
    lose("interface-down");
    expect(lan.facts()).toMatchObject({ up: false });
    watching.onChange({ ...FACTS, up: false });
    await clock.advance(120_000);
    expect(captures).toHaveLength(1);
    watching.onChange(FACTS);
    expect(captures).toHaveLength(2);
    (captures[1] as { frames: number }).frames = 2;
    expect(lan.counters()).toEqual({ frames: 42, dropped: 6 });
    expect(openInjectors).toBe(1);
  });

  test("opens a capture that went deaf again, though the interface never changed", async () => {
    watching.onChange(FACTS);
    lose("capture-lost");
    await clock.advance(1000);
    expect(captures).toHaveLength(2);
    expect(lan.facts()?.up).toBe(true);
  });

  test("tries again, and less and less often, what cannot be opened", async () => {
    refusal = new PacketIoError("library-missing", "no libpcap");
    watching.onChange(FACTS);
    expect(lan.problem()).toContain("no libpcap");
    expect(lan.facts()?.up).toBe(false);
    await clock.advance(60_000);
    expect(openInjectors).toBe(0);
    refusal = null;
    await clock.advance(30_000);
    expect(lan.facts()?.up).toBe(true);
  });

  test("tells when the process may not capture at all, and does not try again", async () => {
    refusal = new PacketIoError("permission-denied", "CAP_NET_RAW is missing");
    watching.onChange(FACTS);
    expect(denied).toMatchObject({ code: "permission-denied" });
    refusal = null;
    await clock.advance(600_000);
    expect(captures).toHaveLength(0);
  });

  test("gives the same facts until they change, so that nobody takes a look for news", () => {
    watching.onChange(FACTS);
    const before = lan.facts();
    watching.onChange({ ...FACTS });
    expect(lan.facts()).toBe(before);
    watching.onChange({ ...FACTS, addresses: [] });
    expect(lan.facts()).not.toBe(before);
  });

  test("sends while the interface is there, and fails while it is not", async () => {
    const refused = lan.sender.send([new Uint8Array(60)], { framesPerSecond: 100 }).catch((error: unknown) => error);
    await clock.advance(100);
    expect(await refused).toMatchObject({ code: "interface-down" });
    watching.onChange(FACTS);
    const sending = lan.sender.send([new Uint8Array(60)], { framesPerSecond: 100 });
    await clock.advance(100);
    await sending;
    expect(sent).toBe(1);
  });

  test("lets go of everything", async () => {
    watching.onChange(FACTS);
    await lan.close();
    expect(captures[0]?.closed).toBe(true);
    expect(openInjectors).toBe(0);
    watching.onChange(FACTS);
    expect(captures).toHaveLength(1);
  });
});

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseProbeEvent, type ProbeEvent } from "@lanthorn/contract/uplink";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import { arpFrame, HOST, OWN } from "../observe/testing/frames.ts";
import { createLiveClock } from "./bus-clock.ts";
import { createFrameBus } from "./frame-bus.ts";
import { createOwnAddressGuard } from "./testing/example-detector.ts";

function createBus() {
  const machine = createFakeClock();
  const clock = createLiveClock(machine);
  const events: ProbeEvent[] = [];
  const guard = createOwnAddressGuard({
    clock, own: () => ({ mac: OWN, addresses: ["192.168.1.2"] }),
    publish(some) {
      events.push(...some);
      return true;
    },
  });
  const bus = createFrameBus({ modules: [guard], clock, log: silentLog });
  const hear = (bytes: Uint8Array) => bus.onFrames([{ bytes, wireLength: bytes.length, atMicroseconds: machine.now() * 1000 }]);
  return { machine, events, hear };
}

describe("the detector in CONTRIBUTING.md", () => {
  test("is the code that the next tests run", () => {
    const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
    const shown = /```ts\n(import type \{ ProbeEvent \}.*?)```/s.exec(read("../../../../CONTRIBUTING.md"))?.[1];
    expect(shown?.replaceAll('"../bus/', '"../')).toBe(read("./testing/example-detector.ts"));
  });

  test("sees whoever uses the probe's own address, once an hour", async () => {
    const { machine, events, hear } = createBus();
    for (let n = 0; n < 5; n += 1) hear(arpFrame("192.168.1.2", "192.168.1.1", { from: HOST }));
    expect(events.map((event) => parseProbeEvent(event).ok)).toEqual([true]);
    expect(events[0]).toMatchObject({ type: "rogue_detected", data: { kind: "duplicate_ip", ip: "192.168.1.2", mac: HOST, expected_macs: [OWN] } });
    await machine.advance(3_600_000);
    hear(arpFrame("192.168.1.2", "192.168.1.1", { from: HOST }));
    expect(events).toHaveLength(2);
  });

  test("stays silent on a quiet link, and on what is cut or no ARP", () => {
    const { events, hear } = createBus();
    const own = arpFrame("192.168.1.2", "192.168.1.1", { from: OWN });
    const foreign = arpFrame("192.168.1.2", "192.168.1.1", { from: HOST });
    for (const bytes of [own, arpFrame("192.168.1.5", "192.168.1.1", { from: HOST }), new Uint8Array(60)]) hear(bytes);
    for (let length = 0; length < 42; length += 1) hear(foreign.subarray(0, length));
    expect(events).toEqual([]);
  });
});

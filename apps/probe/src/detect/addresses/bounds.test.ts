import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readCapture } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { createGuardScene } from "../testing/guard-scene.ts";
import { createAddressGuard } from "./address-guard.ts";
import { createBindingTable } from "./binding-table.ts";
import { createMacFloodingGuard } from "../mac-flooding/mac-flooding.ts";
import { advertisement, arpReply, arpRequest, solicitation } from "./testing/small-lan.ts";

const CAPTURES = fileURLToPath(new URL("../../../../../../shared/data/captures/tcpdump/", import.meta.url));
/** Made to break decoders, or with an attack in them. */
const NOT_QUIET = /asan|oobr|heapoverflow|infinite|too-long|length-zero|badlabel/;

test("whatever is cut or changed of any packet is survived", async () => {
  const frames = [
    arpReply("02:00:00:00:00:05", "192.168.1.5"), arpRequest("02:00:00:00:00:06", "192.168.1.6", "192.168.1.5"), advertisement("02:00:00:00:00:05", "fe80::5"),
    solicitation("02:00:00:00:00:06", "fe80::6", "fe80::5"), solicitation("02:00:00:00:00:06", "::", "fe80::5"),
  ];
  const faults: unknown[] = [];
  const scene = createGuardScene({
    guards: [(deps) => {
      const guard = createAddressGuard(deps);
      const noted = <A extends unknown[]>(call: (...args: A) => void) => (...args: A) => {
        try {
          call(...args);
        } catch (error) {
          faults.push(error);
        }
      };
      return { ...guard, onArp: noted(guard.onArp as () => void), onNdp: noted(guard.onNdp as () => void), onAny: noted(guard.onAny as () => void) };
    }],
  });
  let seed = 1;
  const random = (limit: number) => {
    seed = Math.imul(seed, 1_103_515_245) + 12_345;
    return (seed >>> 8) % limit;
  };
  for (const frame of frames) {
    for (let length = 0; length <= frame.length; length += 1) scene.hear(frame.subarray(0, length));
    for (let n = 0; n < 500; n += 1) {
      const copy = frame.slice();
      for (let changes = 0; changes <= random(3); changes += 1) copy[random(copy.length)] = random(256);
      scene.hear(copy);
    }
    await scene.clock.advance(3000);
  }
  expect(faults).toEqual([]);
});

test("the table holds a hundred thousand bindings, keeps those it trusts, and goes on taking newcomers", () => {
  const table = createBindingTable(7);
  const address = (n: number) => Uint8Array.of(10, n >> 16, n >> 8, n);
  for (let n = 0; n < 1000; n += 1) table.trust(table.add(address(n), 0, n + 1, 0) as never);
  for (let n = 1000; n < 150_000; n += 1) expect(table.add(address(n), 0, n + 1, 0)).not.toBeNull();
  expect(table.size).toBe(100_000);
  for (let n = 0; n < 1000; n += 1) expect(table.find(address(n), 0)?.mac).toBe(n + 1);
  expect(table.find(address(149_999), 0)?.mac).toBe(150_000);
  expect(table.find(address(1000), 0)).toBeNull();
  expect(table.find(address(149_999), 5)).toBeNull();
});

test.skipIf(!existsSync(CAPTURES))("quiet captures bring no incident", async () => {
  const loud: string[] = [];
  for (const name of readdirSync(CAPTURES).filter((file) => /\.pcap(?:ng)?$/.test(file) && !NOT_QUIET.test(file))) {
    const scene = createGuardScene({ guards: [createAddressGuard, createMacFloodingGuard] });
    for (const { bytes } of readCapture(readFileSync(`${CAPTURES}${name}`)).records) scene.hear(bytes);
    await scene.clock.advance(5000);
    for (const { kind } of scene.incidents()) loud.push(`${name}: ${kind}`);
  }
  expect(loud).toEqual([]);
});

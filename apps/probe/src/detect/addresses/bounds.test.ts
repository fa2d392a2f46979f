import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readCapture } from "@lanthorn/packets";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { createLearnedStore } from "../learned/learned-store.ts";
import { createGuardScene } from "../testing/guard-scene.ts";
import { createAddressGuard } from "./address-guard.ts";
import type { Binding } from "./binding.ts";
import { addressKey, createBindingTable } from "./binding-table.ts";
import { createMacFloodingGuard } from "../mac-flooding/mac-flooding.ts";
import { createSavedBindings } from "./saved-bindings.ts";
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
  for (let n = 0; n < 1000; n += 1) table.trust(table.add(address(n), 0, n + 1, 0) as never, 0);
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

test("a table full of trusted bindings takes newcomers in the place of those that nobody has claimed for an hour", () => {
  const table = createBindingTable(7);
  const address = (n: number) => Uint8Array.of(10, n >> 16, n >> 8, n);
  const trusted = (n: number, now: number) => {
    const binding = table.add(address(n), 0, n + 1, now);
    if (binding) table.trust(binding, now);
    return binding?.isTrusted;
  };
  for (let n = 0; n < 90_000; n += 1) expect(trusted(n, 0)).toBe(true);
  expect(trusted(90_000, 60_000)).toBe(false);
  const seen = table.find(address(0), 0);
  if (seen) seen.seenAt = 7_000_000;
  for (let n = 90_001; n < 90_101; n += 1) expect(trusted(n, 7_200_000)).toBe(true);
  expect([table.find(address(0), 0)?.isTrusted, table.find(address(10), 0)]).toEqual([true, null]);
});

test("a store full of made-up bindings takes a gateway's at once, and hosts' after a day", () => {
  const store = createLearnedStore(new Database(":memory:"));
  const table = createBindingTable(7);
  const gateway = Uint8Array.of(192, 168, 1, 1);
  const saved = createSavedBindings(store, { roleOf: ({ key }) => (key === addressKey(gateway) ? "gateway" : "host") });
  const save = (address: Uint8Array, now: number) => saved.save(table.add(address, 0, 1, now) as Binding, now);
  for (let n = 0; n < 16_400; n += 1) save(Uint8Array.of(10, 7, n >> 8, n), 0);
  save(gateway, 1000);
  save(Uint8Array.of(192, 168, 1, 5), 2000);
  save(Uint8Array.of(192, 168, 1, 6), 90_000_000);
  for (let writes = 0; writes < 40; writes += 1) store.flush();
  const keys = store.load("bindings").map(([key]) => key);
  expect([keys.length, ...["0 192.168.1.1", "0 192.168.1.5", "0 192.168.1.6"].map((key) => keys.includes(key))]).toEqual([16_384, true, false, true]);
});

test("what is no binding in the store is left out", () => {
  const store = createLearnedStore(new Database(":memory:"));
  for (const key of ["0 192.168.1.5", "x 192.168.1.6", "5000 192.168.1.7", "0", "", "0 192.168.1.8"]) store.put("bindings", key, key.endsWith("8") ? { mac: "1" } : [1]);
  store.flush();
  const table = createBindingTable(7);
  createSavedBindings(store, { roleOf: () => "host" }).load(table, 0);
  expect([table.size, table.find(Uint8Array.of(192, 168, 1, 5), 0)?.isTrusted]).toEqual([1, true]);
});

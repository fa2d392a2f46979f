import { describe, expect, test } from "vitest";
import { createBinding, createHost, type Host } from "../hosts/host.ts";
import { notePolled, noteSeen } from "../hosts/presence.ts";
import { duePolls, isStillNeeded } from "./due-polls.ts";

/** A host that was heard at each of its addresses at 0. */
function hostAt(...addresses: readonly string[]): Host {
  const host = createHost({ key: 0x00_11_32_00_00_00, vendor: "", foundAt: 0, silentFrom: 0 });
  noteSeen(host.watch, 0);
  for (const address of addresses) {
    const binding = createBinding(address, "arp", 0, 0);
    if (binding) host.bindings.push(binding);
  }
  return host;
}
const duesOf = (host: Host, now: number) => duePolls(host, now).map(({ about, binding, isDirected }) => [about, binding.address, isDirected]);

describe("polls of a host", () => {
  test("are due when it is silent, one at a time, to its own MAC and to everyone in turn", () => {
    const host = hostAt("10.0.0.7");
    expect(duesOf(host, 29_000)).toEqual([]);
    expect(duesOf(host, 40_000)).toEqual([["host", "10.0.0.7", true]]);
    host.watch.misses = 1;
    expect(duesOf(host, 40_000)).toEqual([["host", "10.0.0.7", false]]);
    notePolled(host.watch, 40_000);
    expect(duesOf(host, 41_000)).toEqual([]);
  });

  test("ask at its addresses in turn while it is silent, IPv4 first", () => {
    const host = hostAt("2001:db8::7", "10.0.0.7");
    const addresses = [0, 1, 2, 3].map((misses) => {
      host.watch.misses = misses;
      return duePolls(host, 60_000)[0]?.binding.address;
    });
    expect(addresses).toEqual(["10.0.0.7", "10.0.0.7", "2001:db8::7", "2001:db8::7"]);
  });

  test("end when it is known to be offline", () => {
    const host = hostAt("10.0.0.7");
    Object.assign(host, { presence: "offline", confirmedOffline: true });
    expect(duesOf(host, 1_000_000)).toEqual([]);
  });

  test("of an address in doubt are due at once, and the other addresses are witnesses soon", () => {
    const host = hostAt("10.0.0.7", "10.0.0.8");
    noteSeen(host.watch, 20_000);
    expect(duesOf(host, 25_000)).toEqual([]);
    const [first] = host.bindings;
    if (first) first.doubted = true;
    expect(duesOf(host, 5000)).toEqual([["address", "10.0.0.7", true]]);
    expect(duesOf(host, 25_000)).toEqual([["address", "10.0.0.7", true], ["address", "10.0.0.8", true]]);
  });

  test("are no longer needed when the host was heard meanwhile", () => {
    const host = hostAt("10.0.0.7");
    const [poll] = duePolls(host, 40_000);
    if (!poll) throw new Error("none is due");
    expect(isStillNeeded(poll, 41_000)).toBe(true);
    noteSeen(host.watch, 40_500);
    expect(isStillNeeded(poll, 41_000)).toBe(false);
  });
});

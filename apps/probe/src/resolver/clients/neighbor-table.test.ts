import { parseIp } from "@lanthorn/packets";
import { expect, test } from "vitest";
import { createNeighborTable, parseNeighbors, readKernelNeighbors } from "./neighbor-table.ts";

const ip = (text: string) => parseIp(text) as Uint8Array;
const ARP = `IP address       HW type     Flags       HW address            Mask     Device
192.168.1.7      0x1         0x2         AA:BB:CC:00:00:07     *        eth0
192.168.1.8      0x1         0x0         00:00:00:00:00:00     *        eth0
`;

test("the tables of the kernel are read, and what is incomplete or no table is left out", async () => {
  expect([...parseNeighbors(4, ARP).values()]).toEqual(["aa:bb:cc:00:00:07"]);
  expect([...parseNeighbors(6, "2001:db8::7 dev eth0.20 lladdr aa:bb:cc:00:00:08 router REACHABLE\nfe80::1 dev eth0 FAILED\nfe80::2 dev eth0 lladdr aa:bb:cc:00:00:09 STALE").values()]).toEqual(["aa:bb:cc:00:00:08", "aa:bb:cc:00:00:09"]);
  for (const text of ["", "\n\n", "x".repeat(100_000), `${"9".repeat(20)} 0x1 0x2 aa:bb:cc:00:00:07 * eth0`, "fe80::1 dev e lladdr ", " ".repeat(100_000)]) for (const family of [4, 6] as const) expect(parseNeighbors(family, text).size).toBe(0);
  const many = Array.from({ length: 20_000 }, (_, index) => `10.0.${index >> 8}.${index & 255} 0x1 0x2 aa:bb:cc:00:00:07 * e`).join("\n");
  expect(parseNeighbors(4, many).size).toBe(16_384);
  expect(await readKernelNeighbors(4)).toContain("IP address");
});

test("a table asks again for who is not there once a second, for all after ten, and keeps what it has where that fails", async () => {
  const reads: number[] = [];
  let [now, isBroken, text] = [0, false, ""];
  const table = createNeighborTable({ monotonic: () => now }, (family) => {
    reads.push(family);
    return isBroken ? Promise.reject(new Error("no")) : Promise.resolve(text);
  });
  const look = async (address: string) => {
    const found = table.macOf(ip(address));
    await table.settled();
    return found;
  };
  expect([await look("192.168.1.7"), await look("192.168.1.7"), reads]).toEqual([null, null, [4]]);
  [now, text] = [1001, ARP];
  expect([await look("192.168.1.7"), await look("192.168.1.7"), reads]).toEqual([null, "aa:bb:cc:00:00:07", [4, 4]]);
  [now, isBroken] = [12_000, true];
  expect([await look("192.168.1.7"), await look("192.168.1.7"), reads]).toEqual(["aa:bb:cc:00:00:07", "aa:bb:cc:00:00:07", [4, 4, 4]]);
  expect([await look("2001:db8::7"), reads]).toEqual([null, [4, 4, 4, 6]]);
});

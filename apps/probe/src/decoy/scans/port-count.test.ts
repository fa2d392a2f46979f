import { expect, test } from "vitest";
import { createLookTable } from "./look-table.ts";
import { createPortCount } from "./port-count.ts";

test("ports are reported once there are enough of them, and begin anew after their time", () => {
  const count = createPortCount(2, 1000);
  const at = (port: number, atMs: number) => count.add({ source: "192.0.2.66", address: "192.0.2.9" }, port, atMs);
  expect([at(1, 0), at(1, 1), at(2, 2), at(2, 3), at(3, 1000), at(4, 1001), at(3, 1002)]).toEqual([[], [], [1, 2], [], [3], [], [4, 3]]);
  expect(count.size).toBe(2);
});

test("many ports of many sources cost no more memory: who began first begins anew", () => {
  const count = createPortCount(2, 60_000);
  const looks = createLookTable();
  const address = "192.0.2.9";
  for (let host = 0; host < 1024; host += 1) {
    for (let port = 1; port <= 300; port += 1) {
      const source = `10.0.${host >> 8}.${host & 255}`;
      count.add({ source, address }, port, 0);
      looks.add({ kind: "ack-scan", source, address, sourcePort: 1, port }, 0);
    }
  }
  expect(count.size).toBeLessThanOrEqual(32_768);
  expect(count.add({ source: "10.0.3.255", address }, 301, 0)).toEqual([301]);
  expect([count.add({ source: "10.0.0.0", address }, 1, 0), count.add({ source: "10.0.0.0", address }, 2, 0)]).toEqual([[], [1, 2]]);
  const taken = looks.take(1024);
  expect(taken.length).toBe(1024);
  expect(taken.reduce((sum, { port_count: ports }) => sum + ports, 0)).toBe(1024 * 32 + 32_768);
  looks.add({ kind: "ack-scan", source: "10.0.0.0", address, sourcePort: 1, port: 1 }, 0);
  expect(looks.take(1)).toMatchObject([{ port_count: 1 }]);
});

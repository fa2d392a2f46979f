import { createServer } from "node:net";
import { expect, test } from "vitest";
import { findByConnecting, scanByConnecting, withZone } from "./connect-scan.ts";

const NOBODY = { holds: () => false, hasIpv6: false };

test("finds what is open, and never connects to an excluded address", async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)));
  const other = createServer();
  const closed = await new Promise<number>((resolve) =>
    other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port)));
  await new Promise((resolve) => void other.close(resolve));
  const found: string[] = [];
  const scan = (excluded: typeof NOBODY, signal = new AbortController().signal) =>
    scanByConnecting({
      hosts: ["127.0.0.1"], zone: "", ports: [closed, port, 9100, 515], excluded: () => excluded, signal,
      onPort: (ip, at) => void found.push(`${ip} ${at}`),
    });
  await scan({ holds: () => true, hasIpv6: false });
  expect([found, connections]).toEqual([[], 0]);
  await scan(NOBODY);
  expect([found, connections]).toEqual([[`127.0.0.1 ${port}`], 1]);
  await expect(scan(NOBODY, AbortSignal.abort(new Error("cancelled")))).rejects.toThrow("cancelled");
  await new Promise((resolve) => void server.close(resolve));
});

test("takes who refuses a connection for a host, once, and asks for no excluded one", async () => {
  const found: string[] = [];
  const search = (excluded: typeof NOBODY) => findByConnecting({
    hosts: ["127.0.0.1"], zone: "", excluded: () => excluded, signal: new AbortController().signal, onHost: (ip) => void found.push(ip),
  });
  await search({ holds: () => true, hasIpv6: false });
  expect(found).toEqual([]);
  await search(NOBODY);
  expect(found).toEqual(["127.0.0.1"]);
});

test("a link-local address is reached by its interface, every other as it is", () => {
  expect([withZone("fe80::1", "lan0"), withZone("fd00::1", "lan0"), withZone("10.0.0.1", "lan0")])
    .toEqual(["fe80::1%lan0", "fd00::1", "10.0.0.1"]);
});

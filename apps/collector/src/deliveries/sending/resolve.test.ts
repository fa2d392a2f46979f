import { createSocket, type Socket } from "node:dgram";
import { createFakeClock } from "@lanthorn/runtime";
import { afterEach, expect, test } from "vitest";
import { createHostResolver } from "./resolve.ts";

let socket: Socket | undefined;
afterEach(() => {
  socket?.close();
  socket = undefined;
});

/** A name server on loopback that knows IPv4 addresses, says nothing about names that begin with `mute`, and knows no others. */
async function startNameServer(addresses: Readonly<Record<string, readonly number[]>>) {
  const asked: string[] = [];
  const server = createSocket("udp4");
  socket = server;
  server.on("message", (query, { address, port }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.subarray(at + 1, at + 1 + length).toString());
      at += length + 1;
    }
    const name = labels.join(".");
    const isIpv4 = query.readUInt16BE(at + 1) === 1;
    asked.push(`${name} ${isIpv4 ? "A" : "AAAA"}`);
    if (name.startsWith("mute")) return;
    const found = addresses[name];
    const known = isIpv4 && found ? found : null;
    const head = Buffer.from(query.subarray(0, at + 5));
    head.writeUInt16BE(0x8180 | (found ? 0 : 3), 2);
    head.writeUInt16BE(known ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const record = known ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...known] : [];
    server.send(Buffer.concat([head, Buffer.from(record)]), port, address);
  });
  await new Promise<void>((resolve) => {
    server.bind(0, "127.0.0.1", resolve);
  });
  return { asked, servers: [`127.0.0.1:${server.address().port}`] };
}

test("a name is asked of the name servers, and again after five seconds", async () => {
  const clock = createFakeClock();
  const { asked, servers } = await startNameServer({ "hooks.example.com": [192, 0, 2, 7] });
  const resolve = createHostResolver({ clock }, { servers });
  expect(await Promise.all([resolve("hooks.example.com"), resolve("hooks.example.com")])).toEqual([["192.0.2.7"], ["192.0.2.7"]]);
  await clock.advance(4000);
  await resolve("hooks.example.com");
  expect(asked.length).toBe(2);
  await clock.advance(1000);
  await resolve("hooks.example.com");
  expect(asked.toSorted()).toEqual(["A", "A", "AAAA", "AAAA"].map((type) => `hooks.example.com ${type}`));
});

test("a name server that does not answer for some names delays no others", async () => {
  const { servers } = await startNameServer({ "hooks.example.com": [192, 0, 2, 7] });
  const resolve = createHostResolver({ clock: createFakeClock() }, { servers });
  let givenUp = 0;
  const mute = Array.from({ length: 20 }, (_, index) => resolve(`mute-${index}.example.com`).catch((error: NodeJS.ErrnoException) => {
    givenUp += 1;
    return error.code;
  }));
  expect(await resolve("hooks.example.com")).toEqual(["192.0.2.7"]);
  expect(givenUp).toBe(0);
  expect(new Set(await Promise.all(mute))).toEqual(new Set(["ETIMEOUT"]));
});

test("a name that the name servers do not know is looked up the system's way", async () => {
  const { servers } = await startNameServer({});
  expect(await createHostResolver({ clock: createFakeClock() }, { servers })("localhost")).toContain("127.0.0.1");
});

import { createFakeClock, type Log, silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { createProxyWarning } from "./unlisted-proxy.ts";

function setUp(trustedProxies: readonly string[] = []) {
  const clock = createFakeClock();
  const said: unknown[] = [];
  const note = createProxyWarning({
    trustedProxies, clock, log: { warn: (fields: unknown) => void said.push(fields) },
  });
  return { clock, said, note };
}

test("a proxy that is not listed is logged once an hour, by address", async () => {
  const { clock, said, note } = setUp();
  for (const address of ["10.0.0.1", "10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"]) note(address, { "x-forwarded-for": "192.0.2.1" });
  note("10.0.0.3", { forwarded: "for=192.0.2.1" });
  note("10.0.0.4", {});
  const first = [
    { address: "10.0.0.1", header: "x-forwarded-for" }, { address: "10.0.0.2", header: "x-forwarded-for" },
    { address: "10.0.0.3", header: "forwarded" },
  ];
  expect(said).toEqual(first);
  await clock.advance(3_599_999);
  note("10.0.0.1", { "x-forwarded-for": "192.0.2.1" });
  expect(said).toEqual(first);
  await clock.advance(1);
  note("10.0.0.1", { "x-forwarded-for": "192.0.2.1" });
  expect(said).toEqual([...first, first[0]]);
});

test("one that is listed, and another collector's gateway, are no reason to say anything", () => {
  const { said, note } = setUp(["10.0.0.0/8"]);
  note("10.0.0.1", { "x-forwarded-for": "192.0.2.1" });
  note("192.0.2.9", { "x-forwarded-for": "192.0.2.1", "x-lanthorn-identity": "e30" });
  expect(said).toEqual([]);
});

test("whoever sends the header from everywhere fills no log", () => {
  const { said, note } = setUp();
  for (let index = 0; index < 5000; index += 1) note(`10.${index >> 8}.${index & 255}.1`, { "x-forwarded-for": "192.0.2.1" });
  for (let index = 0; index < 5000; index += 1) note(`2001:db8::${index.toString(16)}`, { "x-forwarded-for": "192.0.2.1" });
  expect(said).toHaveLength(20);
});

test("the listener tells of it", async () => {
  const said: unknown[] = [];
  const log: Log = { ...silentLog, warn: (fields: unknown) => void said.push(fields) };
  const server = await startGateway({ log });
  await server.request("/health", { headers: { "x-forwarded-for": "192.0.2.1" } });
  expect(said).toEqual([{ address: "127.0.0.1", header: "x-forwarded-for" }]);
});

import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { EnrollResponse } from "@lanthorn/contract";
import { createFakeClock } from "@lanthorn/runtime";
import { afterEach, expect, test } from "vitest";
import { createRequest } from "../../certificates/testing/request.ts";
import { type Stack, startStack } from "./testing/stack.ts";

const held = new Set<Socket>();
let stack: Stack;
afterEach(async () => {
  for (const socket of held) socket.destroy();
  held.clear();
  await stack.close();
});

const keep = <S extends Socket>(socket: S): S => {
  held.add(socket.on("error", () => {}).on("close", () => held.delete(socket)).resume());
  return socket;
};

/** The first bytes of a ClientHello that goes on for 512. @see RFC 8446 sections 4 and 5.1 */
const HALF_HELLO = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);

/** A third of them silent, a third in the middle of their handshake, a third behind it. */
const besiege = (from: string, count: number) => Promise.all(Array.from({ length: count }, async (_, index) => {
  const at = { port: stack.httpsPort, host: "127.0.0.1", localAddress: from };
  const socket = keep(connectTcp(at));
  await once(socket, "connect");
  if (index % 3 === 1) socket.write(HALF_HELLO);
  if (index % 3 === 2) connectTls({ socket, rejectUnauthorized: false }).on("error", () => {});
}));

test("while a few addresses hold all the connections that they can, a probe enrolls, connects and renews, and a client works", async () => {
  stack = await startStack({ connections: { total: 90, perAddress: 60, strangersPerAddress: 40 } });
  for (const from of ["127.0.0.2", "127.0.0.3", "127.0.0.4"]) await besiege(from, 100);
  const { body: token } = await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: stack.siteId } });
  const first = await createRequest();
  const answer = await stack.call("POST", "/api/v1/agents/enroll", {
    body: { token: (token as { token: string }).token, certificate_request: first.request, name: "box" },
  });
  expect(answer.status).toBe(201);
  const { probe_id: probeId, certificate } = EnrollResponse.parse(answer.body);
  const identity = { key: first.key, certificate };
  const client = await stack.connect(probeId, identity);
  client.end(true);
  await besiege("127.0.0.2", 100);
  const { status } = await stack.call("POST", "/api/v1/agents/renew", {
    body: { certificate_request: (await createRequest()).request }, identity,
  });
  expect([status, (await stack.call("GET", "/api/v1/sites")).status]).toEqual([200, 200]);
});

test("connections that are silent, in the middle of their handshake or behind it, are dropped after ten seconds", async () => {
  const clock = createFakeClock(Date.now());
  stack = await startStack({ clock });
  await besiege("127.0.0.2", 30);
  // Each has arrived when one that came later is answered.
  expect((await stack.call("GET", "/health")).status).toBe(200);
  expect(held.size).toBe(30);
  await clock.advance(10_000);
  await expect.poll(() => held.size, { timeout: 300_000 }).toBe(0);
});

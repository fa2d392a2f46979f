import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { systemClock } from "@lanthorn/runtime";
import { expect, test, vi } from "vitest";
import { PERSONAS } from "../personas/table.ts";
import type { Service } from "../services/service.ts";
import { connectTo } from "../testing/converse.ts";
import { openSession } from "./session.ts";

/** @returns A client of the service, and the session's end of its connection. */
async function converseWith(service: Service): Promise<{ readonly client: Socket; readonly served: Socket }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const [client, [served]] = await Promise.all([connectTo((server.address() as AddressInfo).port), once(server, "connection") as Promise<[Socket]>]);
  server.close();
  openSession(served, {
    service, tls: null, address: "127.0.0.5", isBait: () => false, randomBytes: (octets) => Buffer.alloc(octets), clock: systemClock, onEnd: () => undefined, onFailure: (error) => expect(error).toBe(null),
    stage: { hostname: "files2", persona: PERSONAS.linux, ssh: null, files: { begin: () => null }, documents: [], startedMs: 0, derive: (_, octets) => Buffer.alloc(octets) },
    witness: { onStep: () => undefined, onPassword: () => undefined, onEvidence: () => undefined },
  });
  return { client, served };
}

test("what is said to a segment is written at once, however much it is", async () => {
  const { client, served } = await converseWith((peer) => () => {
    for (let line = 0; line < 2000; line += 1) peer.send("x".repeat(100));
  });
  const writes = vi.spyOn(served, "_write");
  let octets = 0;
  client.on("data", (bytes: Buffer) => (octets += bytes.length));
  client.write("x");
  await expect.poll(() => octets).toBe(200_000);
  expect(writes.mock.calls.length).toBe(0);
  client.destroy();
});

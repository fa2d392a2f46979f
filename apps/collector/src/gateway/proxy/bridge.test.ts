import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createFakeClock } from "@lanthorn/runtime";
import { afterEach, expect, test } from "vitest";
import { bridgeFrames } from "./bridge.ts";
import { encodeClose } from "./close-frame.ts";

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Both ends of a TCP connection. */
async function openPair(): Promise<readonly [Socket, Socket]> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<Socket>((resolve) => void server.once("connection", resolve));
  const one = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const other = await accepted;
  server.close();
  sockets.push(one, other);
  return [one, other];
}

/** An unmasked binary frame. @see RFC 6455 section 5.2 */
function encodeFrame(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x82, 126, payload.length >> 8, payload.length & 0xff]), payload]);
}

/** What a client gets when the bridge ends after so many bytes of a frame have gone over it. */
async function endedAfter(bytes: number): Promise<Buffer> {
  const [near, client] = await openPair();
  const [far, service] = await openPair();
  const end = bridgeFrames({ near, far, farHead: Buffer.alloc(0) }, createFakeClock());
  const frame = encodeFrame(Buffer.alloc(1000, 7));
  const received: Buffer[] = [];
  const ended = new Promise<void>((resolve) => void client.on("close", () => resolve()));
  const count = () => Buffer.concat(received).length;
  const there = new Promise<void>((resolve) => {
    if (bytes === 0) resolve();
    client.on("data", (chunk: Buffer) => {
      received.push(chunk);
      if (count() >= bytes) resolve();
    });
  });
  service.write(frame.subarray(0, bytes));
  await there;
  end({ code: 4401, reason: "revoked" });
  service.write(Buffer.concat([frame.subarray(bytes), frame]));
  await ended;
  return Buffer.concat(received);
}

test.each([0, 1, 3, 4, 500, 1003, 1004])("an end after %i bytes lets the frame end first, and then says why", async (bytes) => {
  const whole = bytes === 0 ? Buffer.alloc(0) : encodeFrame(Buffer.alloc(1000, 7));
  expect(await endedAfter(bytes)).toEqual(Buffer.concat([whole, encodeClose(4401, "revoked")]));
});

import { connect, createServer, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pause, systemClock } from "@lanthorn/runtime";
import * as z from "zod";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CHANNEL_CLOSED, CHANNEL_RATE, MAX_MESSAGE_BYTES, openChannel } from "./channel.ts";

const Message = z.object({ number: z.int(), text: z.string() });
type Message = z.infer<typeof Message>;

let folder: string;
let sockets: [Socket, Socket];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-channel-"));
  const path = join(folder, "socket");
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  const accepted = new Promise<Socket>((resolve) => void server.once("connection", resolve));
  sockets = [connect(path), await accepted];
  server.close();
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  rmSync(folder, { recursive: true });
});

function open(stream: Socket, rate = CHANNEL_RATE) {
  const messages: Message[] = [];
  const ends: string[] = [];
  const channel = openChannel<Message, Message>({
    stream, incoming: Message, rate, clock: systemClock, onMessage: (message) => messages.push(message), onEnd: (reason) => ends.push(reason),
  });
  return { channel, messages, ends };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await pause(systemClock, 5);
}

function framed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

test("messages of any length come whole and in order, whatever pieces they come in", async () => {
  const receiver = open(sockets[1]);
  const sent = Array.from({ length: 60 }, (_, number) => ({ number, text: "ä".repeat(number * 997) }));
  const bytes = Buffer.concat(sent.map((message) => framed(JSON.stringify(message))));
  for (let from = 0; from < bytes.length; from += 70_001) sockets[0].write(bytes.subarray(from, from + 70_001));
  await until(() => receiver.messages.length === sent.length);
  expect(receiver.messages).toEqual(sent);
  expect(receiver.channel.refused()).toBe(0);
});

test("another side that is gone with what it had not read has closed the channel", async () => {
  const { ends } = open(sockets[0]);
  sockets[1].pause();
  sockets[0].write(Buffer.alloc(4 * 1024 * 1024));
  await until(() => sockets[1].readableLength > 0);
  sockets[1].destroy();
  await until(() => ends.length > 0);
  expect(ends).toEqual([CHANNEL_CLOSED]);
});

test("what is no message is refused and counted, and after many of them the channel ends", async () => {
  const receiver = open(sockets[1]);
  sockets[0].write(framed("{"));
  sockets[0].write(framed('{"number":"one"}'));
  sockets[0].write(framed('{"number":1,"text":""}'));
  await until(() => receiver.messages.length === 1);
  expect([receiver.channel.refused(), receiver.ends]).toEqual([2, []]);
  for (let sent = 0; sent < 40; sent += 1) sockets[0].write(framed("[]"));
  await until(() => receiver.ends.length === 1);
});

test("a message that says to be longer than any may be ends the channel before it is read", async () => {
  const receiver = open(sockets[1]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(MAX_MESSAGE_BYTES + 1);
  sockets[0].write(length);
  await until(() => receiver.ends.length === 1);
  expect(receiver.messages).toEqual([]);
});

test("a flood waits with its sender: no more is read than the rate allows", async () => {
  const receiver = open(sockets[1], { messages: 100, bytes: 1_000_000 });
  const startedAt = systemClock.monotonic();
  const one = framed('{"number":1,"text":"flood"}');
  const many = Buffer.concat(Array.from({ length: 20_000 }, () => one));
  sockets[0].write(many);
  sockets[0].write(many);
  await until(() => receiver.messages.length >= 300);
  const seconds = (systemClock.monotonic() - startedAt) / 1000;
  expect(receiver.messages.length).toBeLessThanOrEqual(200 + 100 * (seconds + 0.1));
  expect(receiver.ends).toEqual([]);
});

test("what the other side does not read is not kept without end", () => {
  const sender = open(sockets[0]);
  sockets[1].pause();
  const text = "x".repeat(MAX_MESSAGE_BYTES / 2);
  let taken = 0;
  while (taken < 1000 && sender.channel.send({ number: taken, text })) taken += 1;
  expect(taken).toBeLessThan(20);
  expect(sender.channel.send({ number: 0, text: "x".repeat(MAX_MESSAGE_BYTES) })).toBe(false);
});

test("the end of the other side is noticed once, and one's own is none", async () => {
  const [one, other] = [open(sockets[0]), open(sockets[1])];
  one.channel.close();
  await until(() => other.ends.length === 1);
  await pause(systemClock, 20);
  expect([one.ends, other.ends.length]).toEqual([[], 1]);
  expect(one.channel.send({ number: 1, text: "" })).toBe(false);
});

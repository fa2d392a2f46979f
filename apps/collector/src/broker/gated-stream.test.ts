import { duplexPair } from "node:stream";
import { createFakeClock } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { DRAIN_TIMEOUT_MS, gateStream } from "./gated-stream.ts";

function open() {
  const [near, far] = duplexPair();
  const clock = createFakeClock(0);
  const { stream, hold, send } = gateStream<never, string>(near, {
    judge: () => ({ refused: "no" }), deadTopic: "dead", clock, onTaken: () => {}, onRefusal: () => {}, onFault: () => {},
  });
  const received: string[] = [];
  far.on("data", (chunk: Buffer) => received.push(chunk.toString()));
  const write = (text: string) => new Promise<void>((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve())));
  return { stream, hold, send, far, received, write, clock };
}

/** A packet that the gate lets through, as far as it reads it. */
const subscribe = (text: string) => Buffer.concat([Buffer.from([0x82, text.length]), Buffer.from(text)]);

test("answers that are written while a connection is held leave together when the hold ends", async () => {
  const { hold, received, write } = open();
  await write("before,");
  const [first, second] = [hold(), hold()];
  await write("puback,");
  await write("acknowledgement,");
  first();
  await write("late,");
  expect(received).toEqual(["before,"]);
  second();
  await expect.poll(() => received).toEqual(["before,", "puback,acknowledgement,late,"]);
  await write("after");
  await expect.poll(() => received.at(-1)).toBe("after");
});

test("what is too large to wait leaves at once, in its order", async () => {
  const { hold, received, write } = open();
  hold();
  await write("puback,");
  const large = "x".repeat(2000);
  await write(large);
  await expect.poll(() => received.join("")).toBe(`puback,${large}`);
});

test("a held connection is read one chunk further and no more, until it is let go", async () => {
  const { stream, hold, far } = open();
  const came: string[] = [];
  stream.on("data", (chunk: Buffer) => came.push(chunk.toString()));
  const say = (text: string) => new Promise<void>((resolve) => {
    far.write(subscribe(text), () => resolve());
  });
  const letters = () => came.join("").replaceAll(/[^a-z]/g, "");
  await say("a");
  await expect.poll(letters).toBe("a");
  const letGo = hold();
  await say("b");
  await expect.poll(letters).toBe("ab");
  void say("c");
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  expect(letters()).toBe("ab");
  letGo();
  await expect.poll(letters).toBe("abc");
});

test("a stream that ends while it is held has said everything", async () => {
  const { stream, hold, received, write } = open();
  hold();
  await write("puback");
  stream.end();
  await expect.poll(() => received).toEqual(["puback"]);
});

test("who does not read its answers is not read either, and is let go after some time", async () => {
  const { stream, hold, send, far, received, clock } = open();
  const came: string[] = [];
  stream.on("data", (chunk: Buffer) => came.push(chunk.toString("latin1")));
  const letters = () => came.join("").replaceAll(/[^a-z]/g, "");
  const leaveUnread = () => {
    far.pause();
    const letGo = hold();
    send(Buffer.alloc(512 * 1024, "x"));
    letGo();
  };
  far.write(subscribe("a"));
  await expect.poll(letters).toBe("a");
  leaveUnread();
  for (const text of ["b", "c"]) {
    far.write(subscribe(text));
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  }
  expect(letters()).toBe("ab");
  far.resume();
  await expect.poll(letters).toBe("abc");
  expect(received.join("")).toHaveLength(512 * 1024);
  await clock.advance(DRAIN_TIMEOUT_MS);
  expect(stream.destroyed).toBe(false);
  leaveUnread();
  await clock.advance(DRAIN_TIMEOUT_MS);
  expect(stream.destroyed).toBe(true);
});

test("what is sent to a connection that has ended goes nowhere", async () => {
  const { stream, send, received } = open();
  stream.destroy();
  send(Buffer.from("late"));
  await new Promise(setImmediate);
  expect(received).toEqual([]);
});

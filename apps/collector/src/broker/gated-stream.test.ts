import { duplexPair } from "node:stream";
import { expect, test } from "vitest";
import { createGate } from "./gate.ts";
import { gateStream } from "./gated-stream.ts";

function open() {
  const [near, far] = duplexPair();
  const { stream, hold } = gateStream(near, {
    gate: createGate<never>({ judge: () => null, deadTopic: "dead" }), onRefusal: () => {}, onFault: () => {},
  });
  const received: string[] = [];
  far.on("data", (chunk: Buffer) => received.push(chunk.toString()));
  const write = (text: string) => new Promise<void>((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve())));
  return { stream, hold, far, received, write };
}

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
    far.write(Buffer.concat([Buffer.from([0x30, 3, 0, 1]), Buffer.from(text)]), () => resolve());
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

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

test("a stream that ends while it is held has said everything", async () => {
  const { stream, hold, received, write } = open();
  hold();
  await write("puback");
  stream.end();
  await expect.poll(() => received).toEqual(["puback"]);
});

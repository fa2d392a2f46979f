import { expect, test } from "vitest";
import { encodeDeadPublish, encodePubAck, encodePublish } from "./mqtt-packets.ts";

test("a PUBACK is four bytes with its identifier", () => {
  expect([...encodePubAck(0xfffe)]).toEqual([0x40, 2, 0xff, 0xfe]);
});

test.each([[0, [3]], [124, [127]], [125, [0x80, 1]], [16_380, [0xff, 0x7f]], [16_381, [0x80, 0x80, 1]]])(
  "a PUBLISH with a payload of %i bytes says how long it is", (bytes, length) => {
    const payload = "p".repeat(bytes);
    expect(encodePublish("t", payload)).toEqual(
      Buffer.concat([Buffer.from([0x30, ...length, 0, 1]), Buffer.from(`t${payload}`)]),
    );
  },
);

test("a PUBLISH has its texts in UTF-8", () => {
  expect(encodePublish("ü", "€")).toEqual(Buffer.from([0x30, 7, 0, 2, 0xc3, 0xbc, 0xe2, 0x82, 0xac]));
});

test("a dead PUBLISH has the quality and identifier of the one in whose place it is, and is not retained", () => {
  expect([...encodeDeadPublish(0x3b, 0x0102, "x")]).toEqual([0x3a, 5, 0, 1, 0x78, 1, 2]);
  expect([...encodeDeadPublish(0x31, null, "x")]).toEqual([0x30, 3, 0, 1, 0x78]);
});

import { createHmac } from "node:crypto";
import { encodeTransferQuestion, TransferFault } from "@lanthorn/dns";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { signQuestion, type TsigKey } from "./tsig.ts";

const KEY: TsigKey = { name: "Transfer.Key", algorithm: "hmac-sha256", secret: Buffer.from("a secret of thirty-two bytes ....") };
const QUESTION = encodeTransferQuestion({ kind: "whole", zone: "rpz.example" }, 7);
/** @param code Of the response. */
const response = (code: number) => QUESTION.map((byte, at) => (at === 2 ? 0x80 : at === 3 ? code : byte));
const NOW = 1_700_000_000;

test("a question is signed over itself and the key's name in small letters", () => {
  const { bytes } = signQuestion(QUESTION, KEY, NOW);
  const name = Buffer.from("\x08transfer\x03key\0", "latin1");
  const algorithm = Buffer.from("\x0bhmac-sha256\0", "latin1");
  const time = Buffer.from(`0000${NOW.toString(16)}`, "hex");
  const signed = Buffer.concat([QUESTION, name, Buffer.from([0, 255, 0, 0, 0, 0]), algorithm, time, Buffer.from([300 >>> 8, 300 & 255, 0, 0, 0, 0])]);
  const mac = createHmac("sha256", KEY.secret).update(signed).digest();
  expect(Buffer.from(bytes).includes(mac)).toBe(true);
  expect(Buffer.from(bytes).readUInt16BE(10)).toBe(1);
});

test("an answer that is not signed, cut, changed or any bytes is refused", () => {
  const { bytes } = signQuestion(QUESTION, KEY, NOW);
  const check = (message: Uint8Array, now = NOW) => signQuestion(QUESTION, KEY, NOW).answer.check(message, now);
  expect(() => check(response(0))).toThrow("does not sign");
  // The question itself is signed, but not as an answer to it.
  expect(() => check(bytes)).toThrow("signature of its server's answer is wrong");
  expect(() => signQuestion(QUESTION, KEY, NOW).answer.end()).toThrow("does not sign the end");
  const refused = response(5);
  expect(check(refused)).toBe(refused);
  for (let length = 0; length < bytes.length; length += 1) expect(() => check(bytes.subarray(0, length))).toThrow(TransferFault);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (any) => {
    try {
      check(any);
    } catch (error) {
      expect(error).toBeInstanceOf(TransferFault);
    }
  }));
});

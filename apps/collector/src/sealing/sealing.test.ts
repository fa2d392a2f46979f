import { hpkeSeal } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { singleKey } from "./keyring.ts";
import { createSealing } from "./sealing.ts";

const [first, second] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const sealing = createSealing(singleKey(first));
const unreadable = expect.objectContaining({ code: "secret-unreadable" }) as Error;

test("a sealed secret opens for its owner only, with its key, and unchanged", () => {
  const sealed = sealing.seal("geheim ✓", "webhook 1");
  expect(sealed).not.toContain("geheim");
  expect(sealing.seal("geheim ✓", "webhook 1")).not.toBe(sealed);
  expect(sealing.open(sealed, "webhook 1")).toBe("geheim ✓");
  expect(() => sealing.open(sealed, "webhook 2")).toThrow(unreadable);
  expect(() => createSealing(singleKey(second)).open(sealed, "webhook 1")).toThrow(unreadable);
  const damaged = ["", "v1.", "v1.AAAA", `${sealed.slice(0, -2)}AA`, sealed.slice(0, 20)];
  for (const text of damaged) expect(() => sealing.open(text, "webhook 1")).toThrow(unreadable);
});

test("what others sealed for the public key opens with it and after one rotation, and with no other", () => {
  const context = { info: "passwords", aad: "incident" };
  const sent = hpkeSeal(Buffer.from(sealing.publicKey(), "base64"), Buffer.from("geheim ✓"), context)?.toString("base64") ?? "";
  const rotated = createSealing(() => [second, first]);
  expect([sealing, rotated].map((one) => one.openSent(sent, context))).toEqual(["geheim ✓", "geheim ✓"]);
  expect([sealing.openSent(sent, { ...context, aad: "another" }), createSealing(singleKey(second)).openSent(sent, context), sealing.openSent("AAAA", context)]).toEqual([null, null, null]);
  expect(rotated.publicKey()).toBe(createSealing(singleKey(second)).publicKey());
  expect(rotated.publicKey()).not.toBe(sealing.publicKey());
});

test("the key before still opens what it sealed, and seals nothing", () => {
  const before = sealing.seal("geheim", "webhook 1");
  const rotated = createSealing(() => [second, first]);
  expect(rotated.open(before, "webhook 1")).toBe("geheim");
  expect(() => sealing.open(rotated.seal("geheim", "webhook 1"), "webhook 1")).toThrow(unreadable);
});

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSealing, sealingKey } from "./sealing.ts";

const sealing = createSealing(new Uint8Array(32).fill(1));

test("a sealed secret opens for its owner only, with its key, and unchanged", () => {
  const sealed = sealing.seal("geheim ✓", "webhook 1");
  expect(sealed).not.toContain("geheim");
  expect(sealing.seal("geheim ✓", "webhook 1")).not.toBe(sealed);
  expect(sealing.open(sealed, "webhook 1")).toBe("geheim ✓");
  const unreadable = expect.objectContaining({ code: "secret-unreadable" }) as Error;
  expect(() => sealing.open(sealed, "webhook 2")).toThrow(unreadable);
  expect(() => createSealing(new Uint8Array(32).fill(2)).open(sealed, "webhook 1")).toThrow(unreadable);
  const damaged = ["", "v1.", "v1.AAAA", `${sealed.slice(0, -2)}AA`, sealed.slice(0, 20)];
  for (const text of damaged) expect(() => sealing.open(text, "webhook 1")).toThrow(unreadable);
});

test("the key is made once, for its owner's eyes, and one that is given must have its length", () => {
  const directory = mkdtempSync(join(tmpdir(), "lanthorn-seal-"));
  const key = sealingKey(directory, undefined);
  expect(key.length).toBe(32);
  expect(sealingKey(directory, undefined)).toEqual(key);
  expect(statSync(join(directory, "sealing-key")).mode & 0o777).toBe(0o600);
  expect(sealingKey(directory, Buffer.alloc(32, 5).toString("base64"))).toEqual(Buffer.alloc(32, 5));
  expect(() => sealingKey(directory, "c2hvcnQ=")).toThrow(expect.objectContaining({ code: "config-invalid" }) as Error);
  rmSync(directory, { recursive: true });
});

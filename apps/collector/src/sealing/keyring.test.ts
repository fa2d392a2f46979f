import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addKey, openKeyring } from "./keyring.ts";

const invalid = expect.objectContaining({ code: "config-invalid" }) as Error;
const base64 = (byte: number) => Buffer.alloc(32, byte).toString("base64");

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-keys-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("the key is made once, for its owner's eyes", () => {
  const [key, ...others] = openKeyring(directory, undefined)();
  expect([key.length, others]).toEqual([32, []]);
  expect(openKeyring(directory, undefined)()).toEqual([key]);
  expect(statSync(join(directory, "sealing-key")).mode & 0o777).toBe(0o600);
});

test("keys that are given must have their length, and there are two at most", () => {
  expect(openKeyring(directory, base64(5))()).toEqual([Buffer.alloc(32, 5)]);
  expect(openKeyring(directory, `${base64(6)}, ${base64(5)}`)()).toEqual([Buffer.alloc(32, 6), Buffer.alloc(32, 5)]);
  for (const wrong of ["c2hvcnQ=", "", `${base64(5)},`.repeat(3), `${base64(5)},c2hvcnQ=`]) {
    expect(() => openKeyring(directory, wrong)).toThrow(invalid);
  }
});

test("a key that is added comes first, without opening the keyring anew, and the one before the last is forgotten", () => {
  const keyring = openKeyring(directory, undefined);
  const [first] = keyring();
  addKey(directory);
  const [second, ...before] = keyring();
  expect([second.length, before]).toEqual([32, [first]]);
  addKey(directory);
  const [third, ...older] = keyring();
  expect([third.length, older]).toEqual([32, [second]]);
  expect(openKeyring(directory, undefined)()).toEqual([third, second]);
});

test("a file that was emptied is said to be so, and not made anew", () => {
  openKeyring(directory, undefined);
  writeFileSync(join(directory, "sealing-key"), "");
  expect(() => openKeyring(directory, undefined)).toThrow(invalid);
  expect(() => addKey(directory)).toThrow(invalid);
});

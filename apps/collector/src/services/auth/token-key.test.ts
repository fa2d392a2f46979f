import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readTokenKey } from "./token-key.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-token-key-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const pem = (key: KeyObject) => String(key.export({ type: "pkcs8", format: "pem" }));

test("takes an Ed25519 key in PEM, and no other", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  expect(readTokenKey(write("good", pem(privateKey))).equals(privateKey)).toBe(true);
  const bad = [
    write("rsa", pem(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey)),
    write("x25519", pem(generateKeyPairSync("x25519").privateKey)),
    write("public", String(publicKey.export({ type: "spki", format: "pem" }))), write("none", "no key"), join(directory, "missing"),
    directory,
  ];
  for (const path of bad) expect(() => readTokenKey(path)).toThrow(expect.objectContaining({ code: "token-key-unusable" }));
});

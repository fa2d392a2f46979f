import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUNDLE_PIECE_BYTES, BUNDLE_SIGNATURE_CONTEXT, type SignedBundle } from "@lanthorn/contract/uplink";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ProbeError } from "../errors.ts";
import { createTestCa } from "../identity/testing/collector.ts";
import { openBundleStore } from "./store.ts";
import { type BundleCollector, CLIENT_AUTH, MAX_BYTES, NAME, SERVER_AUTH, sha256, startBundleCollector } from "./testing/bundle-collector.ts";

let dataDir: string;
let collector: BundleCollector;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-bundles-"));
  collector = await startBundleCollector(dataDir);
});
afterEach(async () => {
  await collector.close();
  rmSync(dataDir, { recursive: true });
});

const refused = { code: "bundle-refused" };

describe("a bundle", () => {
  test("comes whole at first, and then only what is new of it; it is there after a restart", async () => {
    await collector.publish(1, { "a.rules": "one", "b.rules": "two" });
    expect(await collector.receive()).toEqual({ version: 1, fetched: 2, parts: 2 });
    await collector.publish(2, { "a.rules": "one", "b.rules": "new", "c.rules": "two" });
    expect(await collector.receive()).toMatchObject({ version: 2, fetched: 1, parts: 3 });
    expect(collector.fetched()).toBe(3);
    expect(collector.held()).toEqual([2, { "a.rules": "one", "b.rules": "new", "c.rules": "two" }]);
    expect(readdirSync(join(dataDir, NAME))).not.toContain("parts");
  });

  test("that breaks off in the middle goes on with what has come, and changes nothing until it is whole", async () => {
    await collector.publish(1, { "a.rules": "one" });
    await collector.receive();
    const contents = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}.rules`, `rule ${n}`]));
    await collector.publish(2, contents);
    for (const more of [6, 7, 4]) {
      collector.breakAt = collector.requests.length + more;
      await expect(collector.receive()).rejects.toMatchObject({ code: "unreachable" });
      expect(collector.held()).toEqual([1, { "a.rules": "one" }]);
    }
    collector.breakAt = Infinity;
    const before = collector.fetched();
    expect(await collector.receive()).toMatchObject({ version: 2, parts: 20 });
    expect(collector.fetched() - before).toBe(20 - 5 - 6 - 3);
    expect(collector.held()).toEqual([2, contents]);
  });

  test("with a large part comes in pieces, each at its time, and goes on in the middle of the part", async () => {
    const large = randomBytes(BUNDLE_PIECE_BYTES * 2).toString("hex");
    await collector.publish(1, { "a.rules": large, "b.rules": "small" });
    collector.breakAt = 3;
    await expect(collector.receive()).rejects.toMatchObject({ code: "unreachable" });
    collector.breakAt = Infinity;
    expect(await collector.receive()).toEqual({ version: 1, fetched: 2, parts: 2 });
    expect(collector.held()).toEqual([1, { "a.rules": large, "b.rules": "small" }]);
    // The manifest twice, two pieces, one that broke, the two others, and the small part.
    expect(collector.requests.length).toBe(2 + 2 + 1 + 2 + 1);
    expect(collector.paced).toEqual([...Array.from({ length: 5 }, () => BUNDLE_PIECE_BYTES), 5]);
  });

  test("that was changed on this disk before it was installed is refused, and fetched again", async () => {
    await collector.publish(1, { "a.rules": "good" });
    await collector.fetch();
    const file = (name: string) => join(dataDir, NAME, "parts", name);
    writeFileSync(file(sha256("good")), "bad!");
    await expect(collector.install()).rejects.toMatchObject({ code: "bundle-unavailable" });
    await collector.fetch();
    const signed = readFileSync(file("signed.json"), "utf8");
    writeFileSync(file("signed.json"), signed.replace("a.rules", "b.rules"));
    await expect(collector.install()).rejects.toMatchObject(refused);
    writeFileSync(file("signed.json"), signed.slice(0, 100));
    await expect(collector.install()).rejects.toMatchObject(refused);
    expect(collector.held()).toEqual([0, {}]);
    await collector.receive();
    expect(collector.held()).toEqual([1, { "a.rules": "good" }]);
  });

  test("that is larger than its kind may be is refused, though it is signed", async () => {
    await collector.publish(1, { "a.rules": "x".repeat(MAX_BYTES), "b.rules": "y" });
    await expect(collector.fetch()).rejects.toMatchObject(refused);
    expect(collector.fetched()).toBe(0);
  });

  test("with one flipped byte is refused, be it in the manifest, the signature, the certificate or a part", async () => {
    await collector.publish(1, { "a.rules": "good" });
    await collector.receive();
    await collector.publish(2, { "a.rules": "better" });
    const whole = collector.served as SignedBundle;
    const flip = (text: string, at: number) => `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
    for (const at of Array.from({ length: whole.manifest.length }, (_, n) => n)) {
      collector.served = { ...whole, manifest: flip(whole.manifest, at) };
      await expect(collector.receive()).rejects.toMatchObject(refused);
    }
    for (const at of [0, 20, 60]) {
      collector.served = { ...whole, signature: flip(whole.signature, at) };
      await expect(collector.receive()).rejects.toMatchObject(refused);
    }
    for (const at of [100, 200, 300]) {
      collector.served = { ...whole, certificate: flip(whole.certificate, at) };
      await expect(collector.receive()).rejects.toMatchObject(refused);
    }
    expect(collector.fetched()).toBe(1);
    collector.served = whole;
    collector.parts.set(sha256("better"), "bettar");
    await expect(collector.receive()).rejects.toMatchObject(refused);
    collector.parts.set(sha256("better"), "better and more");
    await expect(collector.receive()).rejects.toMatchObject(refused);
    expect(collector.held()).toEqual([1, { "a.rules": "good" }]);
    collector.parts.set(sha256("better"), "better");
    await collector.receive();
    expect(collector.held()).toEqual([2, { "a.rules": "better" }]);
  });

  test("of an older version, of the same one, and of another name is refused", async () => {
    await collector.publish(7, { "a.rules": "seven" });
    await collector.receive();
    for (const version of [6, 1, 7]) {
      await collector.publish(version, { "a.rules": "other" });
      await expect(collector.receive()).rejects.toMatchObject(refused);
    }
    await collector.publish(8, { "a.rules": "other" }, { name: "lists" });
    await expect(collector.receive()).rejects.toMatchObject(refused);
    expect(collector.held()).toEqual([7, { "a.rules": "seven" }]);
  });

  test("that another key has signed is refused: of another CA, of a probe or server of the same CA, self-made, and of another kind", async () => {
    await collector.publish(1, { "a.rules": "good" });
    await collector.receive();
    const contents = { "a.rules": "bad" };
    for (const bent of [
      { by: await createTestCa() }, { usage: CLIENT_AUTH }, { usage: SERVER_AUTH }, { key: "P-256" as const },
    ]) {
      await collector.publish(2, contents, bent);
      await expect(collector.receive()).rejects.toMatchObject(refused);
    }
    await collector.publish(2, contents);
    const { privateKey } = generateKeyPairSync("ed25519");
    const whole = collector.served as SignedBundle;
    collector.served = { ...whole, signature: sign(null, Buffer.from(`${BUNDLE_SIGNATURE_CONTEXT}${whole.manifest}`), privateKey).toString("base64") };
    await expect(collector.receive()).rejects.toMatchObject(refused);
    // Signed for something else: the context is missing.
    collector.served = { ...whole, signature: "" };
    await expect(collector.receive()).rejects.toMatchObject(refused);
    expect(collector.held()).toEqual([1, { "a.rules": "good" }]);
  });

  test("that leads out of its folder or names a file twice is refused, though it is signed", async () => {
    for (const path of ["../a", "/etc/passwd", "a/../../b", "a/b/c", ".hidden"]) {
      await collector.publish(1, { x: "text" }, { paths: () => path });
      await expect(collector.receive()).rejects.toMatchObject(refused);
    }
    await collector.publish(1, { x: "text", y: "other" }, { paths: () => "a" });
    await expect(collector.receive()).rejects.toMatchObject(refused);
    expect(collector.held()).toEqual([0, {}]);
  });

  test("that its consumer refuses to load is not taken, and the last good one stays", async () => {
    await collector.publish(1, { "a.rules": "good" });
    await collector.receive();
    await collector.publish(2, { "a.rules": "unusable" });
    const check = () => {
      throw new ProbeError("fingerprints-refused", "no rule in it");
    };
    await expect(collector.receive(check)).rejects.toMatchObject({ code: "fingerprints-refused" });
    expect(collector.held()).toEqual([1, { "a.rules": "good" }]);
  });

  test("that was damaged on this disk has the one before in its place", async () => {
    const store = openBundleStore(dataDir, NAME);
    expect(await store.findWholeFolder()).toBeNull();
    for (const [version, text] of [[1, "good"], [2, "better"]] as const) {
      await collector.publish(version, { "a.rules": text });
      await collector.receive();
    }
    const { current, previous } = store.versions();
    expect(await store.findWholeFolder()).toBe(join(dataDir, NAME, current ?? ""));
    writeFileSync(join(dataDir, NAME, current ?? "", "a.rules"), "damaged");
    expect([await store.findWholeFolder(), store.wholeFolder()]).toEqual([join(dataDir, NAME, previous ?? ""), join(dataDir, NAME, previous ?? "")]);
  });

  test("that was damaged on this disk is fetched again", async () => {
    await collector.publish(1, { "a.rules": "good", "b.rules": "kept" });
    await collector.receive();
    writeFileSync(join(openBundleStore(dataDir, NAME).wholeFolder() ?? "", "a.rules"), "damaged");
    expect(await openBundleStore(dataDir, NAME).isCurrentWhole()).toBe(false);
    expect(await openBundleStore(dataDir, NAME).findWholeFolder()).toBeNull();
    expect(await collector.receive()).toMatchObject({ version: 1, fetched: 1 });
    expect(collector.held()).toEqual([1, { "a.rules": "good", "b.rules": "kept" }]);
  });
});

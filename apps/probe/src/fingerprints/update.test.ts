import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256 } from "../bundles/manifest.ts";
import { FINGERPRINTS } from "../bundles/names.ts";
import { openBundleStore } from "../bundles/store.ts";
import { rollBackFingerprints, updateFingerprints } from "./update.ts";

const database = (version: string, said = version) => `<fingerprints matches="bell"><fingerprint pattern="^Bell (\\d+)$">
  <description>Bell</description><example bell.version="${said}">Bell ${version}</example><param pos="1" name="bell.version"/>
</fingerprint></fingerprints>`;

let folder: string;
let dataDir: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-source-"));
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-data-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  rmSync(dataDir, { recursive: true });
});

const update = (from: string, checksum: string | null = null) => updateFingerprints({ dataDir, from, sha256: checksum, fetch });
const held = () => {
  const current = openBundleStore(dataDir, FINGERPRINTS).wholeFolder();
  return current === null ? null : readFileSync(join(current, "bell.xml"), "utf8");
};
const refusedAs = (code: string) => expect.objectContaining({ code }) as unknown;

describe("updating from a folder", () => {
  test("takes what its own examples prove, and goes back to what was before", async () => {
    writeFileSync(join(folder, "bell.xml"), database("1"));
    const first = await update(folder);
    expect(first).toEqual({
      version: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown, unchanged: false, files: 1, fingerprints: 1, refused: 0, examples: 1,
      right: 1,
    });
    expect(await update(folder)).toEqual({ ...first, unchanged: true });
    expect(() => rollBackFingerprints(dataDir)).toThrow(expect.objectContaining({ code: "fingerprints-unavailable" }));

    writeFileSync(join(folder, "bell.xml"), database("2"));
    const second = await update(folder);
    expect(held()).toBe(database("2"));
    expect(rollBackFingerprints(dataDir)).toBe(first.version);
    expect(held()).toBe(database("1"));
    expect(rollBackFingerprints(dataDir)).toBe(second.version);
    expect(held()).toBe(database("2"));
  });

  test("keeps what is there when the new ones are damaged, and leaves nothing behind", async () => {
    writeFileSync(join(folder, "bell.xml"), database("1"));
    await update(folder);
    const entries = readdirSync(dataDir);
    for (const [text, code] of [
      [database("2", "3"), "fingerprints-refused"], ["<a>", "fingerprints-refused"], ["<fingerprints/>", "fingerprints-refused"],
    ] as const) {
      writeFileSync(join(folder, "bell.xml"), text);
      await expect(update(folder)).rejects.toEqual(refusedAs(code));
    }
    await expect(update(join(folder, "none"))).rejects.toEqual(refusedAs("fingerprints-unavailable"));
    expect(held()).toBe(database("1"));
    expect(readdirSync(dataDir)).toEqual(entries);
  });

  test("uses the version before when the current one was damaged on the disk", async () => {
    for (const version of ["1", "2"]) {
      writeFileSync(join(folder, "bell.xml"), database(version));
      await update(folder);
    }
    const current = openBundleStore(dataDir, FINGERPRINTS).wholeFolder() ?? "";
    writeFileSync(join(current, "bell.xml"), database("6"));
    expect(held()).toBe(database("1"));
    // The same update mends it.
    expect((await update(folder)).unchanged).toBe(true);
    expect(held()).toBe(database("2"));
  });
});

describe("updating from a server", () => {
  let server: Server;
  let url: string;
  let answers: Readonly<Record<string, string>>;
  beforeEach(async () => {
    server = createServer((request, response) => {
      const text = answers[request.url ?? ""];
      response.statusCode = text === undefined ? 404 : 200;
      response.end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  const sums = (text: string, name = "bell.xml") => `${sha256(text)}  ${name}\n`;

  test("takes what the manifest names, when it has the checksum that was given", async () => {
    const manifest = sums(database("1"));
    answers = { "/v1/SHA256SUMS": manifest, "/v1/bell.xml": database("1") };
    expect(await update(url, sha256(manifest))).toMatchObject({ version: sha256(manifest), files: 1 });
    expect(held()).toBe(database("1"));
  });

  test("refuses http without a checksum, a wrong checksum, and names that lead elsewhere", async () => {
    const manifest = sums(database("1"));
    answers = { "/v1/SHA256SUMS": manifest, "/v1/bell.xml": `${database("1")} ` };
    await expect(update(url)).rejects.toEqual(refusedAs("insecure-url"));
    await expect(update(url, "0".repeat(64))).rejects.toEqual(refusedAs("fingerprints-refused"));
    await expect(update(url, sha256(manifest))).rejects.toEqual(refusedAs("fingerprints-refused"));
    for (const name of ["../bell.xml", "/etc/passwd", "a/../../b", ".x", "a/b/c"]) {
      const hostile = sums(database("1"), name);
      answers = { "/v1/SHA256SUMS": hostile };
      await expect(update(url, sha256(hostile)), name).rejects.toEqual(refusedAs("fingerprints-refused"));
    }
    answers = { "/v1/SHA256SUMS": manifest };
    await expect(update(url, sha256(manifest))).rejects.toEqual(refusedAs("fingerprints-unavailable"));
    answers = {};
    await expect(update(url, sha256(manifest))).rejects.toEqual(refusedAs("fingerprints-unavailable"));
    await expect(update("http://127.0.0.1:1/", sha256(manifest))).rejects.toEqual(refusedAs("fingerprints-unavailable"));
    expect(held()).toBe(null);
  });

  test("stops reading when the databases are larger than they may be", async () => {
    const manifest = sums("");
    answers = { "/v1/SHA256SUMS": manifest, "/v1/bell.xml": "x".repeat(17 * 1024 * 1024) };
    await expect(update(url, sha256(manifest))).rejects.toEqual(refusedAs("fingerprints-refused"));
  });
});

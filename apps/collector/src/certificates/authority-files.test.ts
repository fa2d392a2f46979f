import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openAuthority } from "./authority.ts";
import { publishCaCertificate, writeBrokerCertificate } from "./authority-files.ts";

let dataDir = "";
beforeEach(() => void (dataDir = mkdtempSync(join(tmpdir(), "lanthorn-authority-"))));
afterEach(() => rmSync(dataDir, { recursive: true }));

const authority = () => openAuthority({ dataDir, clock: systemClock });
const write = (names: readonly string[], directory = join(dataDir, "out")) =>
  writeBrokerCertificate({ dataDir, authority, names, directory });

test("the authority's certificate is left in the data directory without its key", async () => {
  publishCaCertificate(dataDir, await authority());
  expect(readFileSync(join(dataDir, "ca.crt"), "utf8")).toBe((await authority()).certificate);
  expect(statSync(join(dataDir, "ca.crt")).mode & 0o777).toBe(0o644);
});

test("a broker's certificate is good for its names, under the authority, with a key that only its owner reads", async () => {
  publishCaCertificate(dataDir, await authority());
  const [certificate = "", key = "", ca = ""] = await write(["broker.example", "192.0.2.7"]);
  const issued = new X509Certificate(readFileSync(certificate));
  expect([issued.checkHost("broker.example"), issued.checkIP("192.0.2.7")]).toEqual(["broker.example", "192.0.2.7"]);
  expect(issued.verify(new X509Certificate(readFileSync(ca)).publicKey)).toBe(true);
  expect(issued.checkPrivateKey(createPrivateKey(readFileSync(key)))).toBe(true);
  expect(statSync(key).mode & 0o777).toBe(0o600);
});

test("no authority is made on the way, and no certificate for what is no name or cannot be written", async () => {
  await expect(write(["broker.example"])).rejects.toMatchObject({ code: "certificate-unusable" });
  expect(readdirSync(dataDir)).toEqual([]);
  publishCaCertificate(dataDir, await authority());
  await expect(write(["two words"])).rejects.toMatchObject({ code: "certificate-unusable" });
  await expect(write(["broker.example"], join(dataDir, "ca.crt", "below"))).rejects.toMatchObject({ code: "certificate-unusable" });
});

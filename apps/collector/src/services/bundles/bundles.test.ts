import { createHash, randomBytes, verify, X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUNDLE_PIECE_BYTES, BUNDLE_SIGNATURE_CONTEXT, BundleManifest, SignedBundle } from "@lanthorn/contract";
import { afterEach, beforeEach, expect, test } from "vitest";
import { enrollListening } from "../agents/testing/listening-probe.ts";
import { type Stack, startStack } from "../agents/testing/stack.ts";
import { createPublication, limitsOf, readBundleFolder } from "./publish.ts";

const AT = "2026-01-01T00:00:00.000Z";
const LIMITS = { maxBytes: 100, maxParts: 3, text: "", isOfSite: false };
let stack: Stack;
beforeEach(async () => void (stack = await startStack()));
afterEach(() => stack.close());

const publish = async (name: string, version: number, files: Readonly<Record<string, string>>) => {
  const bytes = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  return stack.bundles.publish(await createPublication(stack.authority, { name, version, files: bytes }), AT);
};
const digest = (text: string) => createHash("sha256").update(text).digest("hex");

test("a bundle is served to enrolled probes, signed by a key that the CA certifies for it alone", async () => {
  const probe = await enrollListening(stack);
  await publish("fingerprints", 1, { "a.xml": "1", "sub/b.txt": "2" });
  const { identity } = probe;
  const { status, body } = await stack.call("GET", "/api/v1/agents/bundles/fingerprints", { identity });
  expect(status).toBe(200);
  const { manifest, signature, certificate } = SignedBundle.parse(body);
  expect(BundleManifest.parse(JSON.parse(manifest))).toEqual({
    name: "fingerprints", version: 1,
    parts: [{ path: "a.xml", sha256: digest("1"), size: 1 }, { path: "sub/b.txt", sha256: digest("2"), size: 1 }],
  });
  const signer = new X509Certificate(certificate);
  const authority = new X509Certificate(stack.authority.certificate);
  expect([signer.checkIssued(authority), signer.verify(authority.publicKey), signer.keyUsage]).toEqual([true, true, ["1.3.6.1.5.5.7.3.3"]]);
  expect(verify(null, Buffer.from(`${BUNDLE_SIGNATURE_CONTEXT}${manifest}`), signer.publicKey, Buffer.from(signature, "base64"))).toBe(true);
  const part = (sha256: string) => `/api/v1/agents/bundles/fingerprints/parts/${sha256}`;
  expect(await stack.call("GET", part(digest("2")), { identity })).toMatchObject({ status: 200, body: 2 });
  expect((await stack.call("GET", part(digest("3")), { identity })).status).toBe(404);
  expect((await stack.call("GET", part("../../ca.pem"), { identity })).status).not.toBe(200);
  for (const path of ["/api/v1/agents/bundles/fingerprints", part(digest("1"))]) expect((await stack.call("GET", path)).status).toBe(401);
  await stack.call("POST", `/api/v1/agents/probes/${probe.probeId}/revoke`);
  expect((await stack.call("GET", "/api/v1/agents/bundles/fingerprints", { identity })).status).toBe(401);
  probe.end();
});

test("the next version takes the place of the one before, whose parts go unless another bundle has them", async () => {
  const probe = await enrollListening(stack);
  const { identity } = probe;
  await publish("fingerprints", 1, { a: "1", b: "2", c: "3" });
  await publish("lists", 1, { x: "2" });
  await publish("fingerprints", 2, { a: "1", b: "4" });
  expect(await stack.bundles.list()).toEqual([{ name: "fingerprints", version: 2 }, { name: "lists", version: 1 }]);
  const kept = await stack.database.db.selectFrom("bundle_pieces").select("sha256").execute();
  expect(kept.map(({ sha256 }) => sha256).toSorted()).toEqual([digest("1"), digest("2"), digest("4")].toSorted());
  // Another bundle's part is none of this one's.
  expect((await stack.call("GET", `/api/v1/agents/bundles/fingerprints/parts/${digest("2")}`, { identity })).status).toBe(404);
  probe.end();
});

test("a version takes the place of no higher one and not of itself, and operators see the newest of each", async () => {
  expect(await publish("fingerprints", 4, { a: "1", b: "22" })).toBe(true);
  for (const version of [4, 3]) expect(await publish("fingerprints", version, { a: "other" })).toBe(false);
  const { status, body } = await stack.call("GET", "/api/v1/agents/bundles", { role: "viewer" });
  expect([status, body]).toMatchObject([200, { data: [{ name: "fingerprints", version: 4, parts: 2, bytes: 3, published_at: AT }], meta: { total: 1 } }]);
  expect((await stack.database.db.selectFrom("bundle_parts").select("sha256").execute()).length).toBe(2);
});

test("a large part comes in pieces from any offset on, and an empty one is there too", async () => {
  const probe = await enrollListening(stack);
  const large = randomBytes(BUNDLE_PIECE_BYTES).toString("hex");
  await publish("fingerprints", 1, { large, empty: "" });
  const piece = async (text: string, offset: number) => {
    const found = await stack.bundles.piece("fingerprints", digest(text), offset);
    return found?.toString();
  };
  const half = BUNDLE_PIECE_BYTES;
  expect([await piece(large, 0), await piece(large, half), await piece(large, half + 7), await piece("", 0)])
    .toEqual([large.slice(0, half), large.slice(half), large.slice(half + 7), ""]);
  expect(await piece(large, 2 * half)).toBe(undefined);
  const path = `/api/v1/agents/bundles/fingerprints/parts/${digest(large)}`;
  expect((await stack.call("GET", `${path}?offset=${2 * half}`, { identity: probe.identity })).status).toBe(404);
  expect((await stack.call("GET", `${path}?offset=-1`, { identity: probe.identity })).status).toBe(400);
  probe.end();
});

test("probes read the newest versions in their configuration, and of none where there is none", async () => {
  const probe = await enrollListening(stack);
  expect(probe.received.at(-1)).not.toHaveProperty("bundles");
  await publish("fingerprints", 3, { a: "1" });
  await stack.ingest.configured({ probeIds: [probe.probeId] });
  expect((await probe.hears(({ bundles }) => bundles !== undefined)).bundles).toEqual([{ name: "fingerprints", version: 3 }]);
  probe.end();
});

test("a folder is taken with what a probe takes, and refused with what it would not", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-publish-"));
  const refused = expect.objectContaining({ code: "bundle-refused" }) as Error;
  expect(() => readBundleFolder(folder, LIMITS)).toThrow(refused);
  mkdirSync(join(folder, "sub"));
  for (const name of ["a.xml", "sub/b.txt", ".hidden", "SHA256SUMS"]) writeFileSync(join(folder, name), name);
  expect([...readBundleFolder(folder, LIMITS).keys()].toSorted()).toEqual(["a.xml", "sub/b.txt"]);
  writeFileSync(join(folder, "white space"), "x");
  expect(() => readBundleFolder(folder, LIMITS)).toThrow(refused);
  expect(() => readBundleFolder(join(folder, "none"), LIMITS)).toThrow(refused);
  rmSync(join(folder, "white space"));
  for (const small of [{ ...LIMITS, maxBytes: 13 }, { ...LIMITS, maxParts: 1 }]) expect(() => readBundleFolder(folder, small)).toThrow(refused);
  for (const kind of ["", "../x", "unknown", "toString", "ids"]) expect(() => limitsOf(kind)).toThrow(refused);
  expect(limitsOf("fingerprints").maxParts).toBeGreaterThan(0);
  rmSync(folder, { recursive: true });
});

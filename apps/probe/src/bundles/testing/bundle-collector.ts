import { createHash, createPrivateKey, sign, webcrypto } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { BUNDLE_PIECE_BYTES, BUNDLE_SIGNATURE_CONTEXT, type SignedBundle } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import { createKeyAndRequest } from "../../identity/certificate-request.ts";
import { createCollectorRequests } from "../../identity/collector-requests.ts";
import { createTestCa, type TestCa } from "../../identity/testing/collector.ts";
import { type Fetched, fetchBundle } from "../fetch.ts";
import { type BundleKind, installBundle } from "../install.ts";
import type { BundleFiles } from "../manifest.ts";
import { openBundleStore } from "../store.ts";

/** @see RFC 5280 section 4.2.1.12 */
export const [SERVER_AUTH, CLIENT_AUTH, CODE_SIGNING] = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.3"];
/** The bundle's name. */
export const NAME = "block-lists";
/** The most that it may have. */
export const MAX_BYTES = 2 * 1024 * 1024;

/** Of a text, in hexadecimal. */
export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** How a version that is published differs from a right one. */
interface Bent {
  readonly by?: TestCa;
  readonly usage?: string | undefined;
  readonly name?: string;
  readonly key?: "P-256";
  readonly paths?: (path: string) => string;
}

/** A collector's side of bundles over real HTTPS, and a probe's side that uses it. */
export interface BundleCollector {
  /** What is published; tests change it. */
  served: SignedBundle | null;
  parts: Map<string, string>;
  /** Paths that were asked for, without what they have in common. */
  readonly requests: string[];
  /** Requests after so many are cut off. */
  breakAt: number;
  /** What the pace was asked for. */
  readonly paced: number[];
  /** Does what the collector does when it publishes. */
  publish(version: number, contents: Readonly<Record<string, string>>, bent?: Bent): Promise<void>;
  fetch(name?: string, signal?: AbortSignal): Promise<Fetched>;
  install(kind?: Partial<BundleKind>): Promise<number>;
  /** Fetches and installs. */
  receive(check?: (files: BundleFiles) => void): Promise<Fetched>;
  /** Parts that were fetched, or pieces of them. */
  fetched(): number;
  /** Number and files of the version that the probe uses. */
  held(): readonly [number, Readonly<Record<string, string>>];
  close(): Promise<void>;
}

/** @param dataDir The probe's. */
export async function startBundleCollector(dataDir: string): Promise<BundleCollector> {
  const ca = await createTestCa();
  const server = createServer({ ...await ca.issueWithKey("collector"), ca: ca.pem, requestCert: true, rejectUnauthorized: true }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "https://collector");
    const path = pathname.replace(`/api/v1/agents/bundles/${NAME}`, "");
    collector.requests.push(path);
    const offset = Number(searchParams.get("offset"));
    const { served, parts } = collector;
    const body = path === "" ? served && JSON.stringify(served) : parts.get(path.replace("/parts/", ""))?.slice(offset, offset + BUNDLE_PIECE_BYTES);
    if (collector.requests.length > collector.breakAt) request.socket.destroy();
    else response.writeHead(body === null || body === undefined ? 404 : 200).end(body ?? "{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const probeId = createId();
  const { privateKey, certificateRequest } = await createKeyAndRequest(probeId);
  const identity = {
    probe_id: probeId, tenant_id: createId(), site_id: createId(), name: "box", trust: "pinned" as const, mqtt_url: "mqtts://127.0.0.1:1",
    collector_url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, private_key: privateKey,
    certificate: await ca.issueForRequest(probeId, certificateRequest), ca_certificate: ca.pem,
  };
  const wire = createCollectorRequests({ identity: () => identity, collectorUrl: null });
  const collector: BundleCollector = {
    served: null, parts: new Map(), requests: [], breakAt: Infinity, paced: [],
    async publish(version, contents, bent = {}) {
      collector.served = await signBundle(bent.by ?? ca, version, contents, bent);
      collector.parts = new Map(Object.values(contents).map((text) => [sha256(text), text]));
    },
    fetch: (name = NAME, signal = new AbortController().signal) => fetchBundle({
      name, dataDir, maxBytes: MAX_BYTES, caCertificate: ca.pem, requests: wire, signal,
      proceed: async (bytes) => void collector.paced.push(bytes), wait: async () => {},
    }),
    install: (kind) => installBundle({ name: NAME, maxBytes: MAX_BYTES, check: async () => {}, ...kind }, { dataDir, caCertificate: ca.pem }),
    async receive(check) {
      const fetched = await collector.fetch();
      await collector.install(check ? { check: async (files) => check(files) } : {});
      return fetched;
    },
    fetched: () => collector.requests.filter((path) => path.startsWith("/parts/")).length,
    held() {
      const store = openBundleStore(dataDir, NAME);
      const folder = store.wholeFolder();
      const names = folder === null ? [] : readdirSync(folder).filter((name) => name !== "SHA256SUMS");
      return [store.record().currentNumber, Object.fromEntries(names.map((name) => [name, readFileSync(join(folder ?? "", name), "utf8")]))];
    },
    async close() {
      wire.close();
      const closed = once(server, "close");
      server.closeAllConnections();
      server.close();
      await closed;
    },
  };
  return collector;
}

async function signBundle(ca: TestCa, version: number, contents: Readonly<Record<string, string>>, bent: Bent): Promise<SignedBundle> {
  const keys = bent.key
    ? await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: bent.key }, true, ["sign", "verify"])
    : await webcrypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"]) as webcrypto.CryptoKeyPair;
  const key = createPrivateKey({ key: Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)), format: "der", type: "pkcs8" });
  const certificate = await ca.issue({ name: "signer", key: keys.publicKey as Parameters<TestCa["issue"]>[0]["key"], usage: bent.usage ?? CODE_SIGNING ?? "" });
  const manifest = JSON.stringify({
    name: bent.name ?? NAME, version,
    parts: Object.entries(contents).map(([path, text]) => ({ path: (bent.paths ?? String)(path), sha256: sha256(text), size: text.length })),
  });
  const signature = sign(bent.key ? "sha256" : null, Buffer.from(`${BUNDLE_SIGNATURE_CONTEXT}${manifest}`), key).toString("base64");
  return { manifest, signature, certificate };
}

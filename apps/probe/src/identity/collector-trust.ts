import { createHash, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { connect, type DetailedPeerCertificate } from "node:tls";
import { ProbeError } from "../errors.ts";
import type { Identity } from "./identity.ts";
import { unreachable } from "./unreachable.ts";

/** Whom to believe at a collector's URL. */
export interface CollectorTrust {
  readonly kind: Identity["trust"];
  /** PEM; null for the machine's own trust store. */
  readonly ca: string | null;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** @returns SHA-256 of a certificate's SubjectPublicKeyInfo, base64url, as an enrollment token carries it. @see RFC 7469 section 2.4 */
export function pinOf(certificate: X509Certificate): string {
  return createHash("sha256").update(certificate.publicKey.export({ type: "spki", format: "der" })).digest("base64url");
}

/**
 * Finds out whether the collector at a URL is the one that the token was made by, before anything secret is sent to it.
 *
 * The first connection trusts nobody and only reads the certificates that are shown. One of them must have the pinned
 * key; it becomes the only trust of every later connection, so whoever shows it must also own a certificate under it.
 * Where none has it, something with a public certificate may stand in front of the collector; then the machine's trust
 * store decides, and the pin is held against the CA that comes with the answer.
 * @throws ProbeError `insecure-url`, `unreachable`, `not-a-collector` or `wrong-pin`.
 */
export async function findTrust(url: URL, caPin: string): Promise<CollectorTrust> {
  if (url.protocol === "http:") {
    if (isLoopback(url.hostname)) return { kind: "loopback", ca: null };
    throw new ProbeError("insecure-url", `${url.origin} is not encrypted, so others could read the token: use https://`);
  }
  if (url.protocol !== "https:") throw new ProbeError("insecure-url", `${url.href} is not a collector's address: use https://HOST:PORT`);
  const shown = await readCertificates(url);
  const ca = shown.certificates.find((certificate) => pinOf(certificate) === caPin);
  if (ca) return { kind: "pinned", ca: ca.toString() };
  if (shown.publiclyTrusted) return { kind: "public", ca: null };
  throw new ProbeError("wrong-pin", `${url.host} is not the collector that issued this token: none of its certificates has the key that the `
    + `token names. Check the address; if it is right, the connection may be intercepted`);
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
}

function readCertificates(url: URL): Promise<{ readonly certificates: readonly X509Certificate[]; readonly publiclyTrusted: boolean }> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const socket = connect({
      host, port: Number(url.port || 443), rejectUnauthorized: false, ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    const fail = (cause: unknown) => {
      socket.destroy();
      reject(unreachable(url, cause));
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => fail(Object.assign(new Error("no answer in time"), { code: "ETIMEDOUT" })));
    socket.on("error", fail);
    socket.on("secureConnect", () => {
      resolve({ certificates: chainOf(socket.getPeerCertificate(true)), publiclyTrusted: socket.authorized });
      socket.destroy();
    });
  });
}

/** A self-signed certificate is its own issuer, which ends the chain. */
function chainOf(leaf: DetailedPeerCertificate): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<string>();
  for (let next: DetailedPeerCertificate | undefined = leaf; next?.raw && !seen.has(next.fingerprint256); next = next.issuerCertificate) {
    seen.add(next.fingerprint256);
    chain.push(new X509Certificate(next.raw));
  }
  return chain;
}

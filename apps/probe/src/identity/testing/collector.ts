import "reflect-metadata";
import { createHash, randomBytes, webcrypto } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { EnrollRequest, formatEnrollmentToken, RenewRequest } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import * as x509 from "@peculiar/x509";

const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;

/** What a test can bend of the collector that a probe enrolls at. */
export interface TestCa {
  readonly pem: string;
  readonly pin: string;
  issue(options: {
    readonly name: string; readonly key: x509.PublicKeyType; readonly usage: string; readonly from?: number; readonly to?: number;
  }): Promise<string>;
  /** A client certificate for the key in a signing request. */
  issueForRequest(name: string, request: string, lifetime?: { readonly from?: number; readonly to?: number }): Promise<string>;
  issueWithKey(name: string, lifetime?: { readonly from?: number; readonly to?: number }): Promise<{
    readonly key: string; readonly cert: string;
  }>;
}

/** A CA of its own at each call; its certificates are valid from yesterday for 90 days where nothing else is given. */
export async function createTestCa(): Promise<TestCa> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(), name: "CN=Test CA", notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + 365 * DAY_MS),
    keys, signingAlgorithm: EC,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true), new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)],
  });
  const issue: TestCa["issue"] = async ({ name, key, usage, from, to }) => (await x509.X509CertificateGenerator.create({
    serialNumber: serial(), subject: `CN=${name}`, issuer: ca.subject, signingKey: keys.privateKey, publicKey: key, signingAlgorithm: EC,
    notBefore: new Date(from ?? Date.now() - DAY_MS), notAfter: new Date(to ?? Date.now() + 90 * DAY_MS),
    extensions: [new x509.ExtendedKeyUsageExtension([usage])],
  })).toString("pem");
  return {
    pem: ca.toString("pem"),
    pin: createHash("sha256").update(new Uint8Array(ca.publicKey.rawData)).digest("base64url"),
    issue,
    issueForRequest: (name, request, lifetime = {}) =>
      issue({ name, key: new x509.Pkcs10CertificateRequest(request).publicKey, usage: x509.ExtendedKeyUsage.clientAuth, ...lifetime }),
    async issueWithKey(name, lifetime = {}) {
      const pair = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
      const cert = await issue({ name, key: pair.publicKey, usage: x509.ExtendedKeyUsage.serverAuth, ...lifetime });
      const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", pair.privateKey), "PRIVATE KEY");
      return { key, cert: `${cert}\n${ca.toString("pem")}` };
    },
  };
}

/** Answers enrollment and renewal. Fields that are not readonly change its next answers. */
export interface TestCollector {
  readonly url: string;
  readonly token: string;
  readonly probeId: string;
  readonly requests: string[];
  /** How the next enrollments are answered. */
  refusal: string | null;
  /** Added to the `Date` of every answer. */
  aheadMs: number;
  /** The CA that enrollments are answered with, when not the collector's own. */
  answerWith: TestCa;
  /** Whose certificate it puts the probe's name on. */
  nameInCertificate: string;
  close(): Promise<void>;
}

/** @param options.plain HTTP in place of HTTPS. @param options.serverLifetime Of its own certificate. */
export async function startTestCollector(options: {
  readonly ca: TestCa; readonly plain?: boolean; readonly serverLifetime?: { readonly from?: number; readonly to?: number };
  readonly host?: string;
}): Promise<TestCollector> {
  const probeId = createId();
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    collector.requests.push(`${request.method} ${request.url}`);
    response.setHeader("date", new Date(Date.now() + collector.aheadMs).toUTCString());
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body: unknown = chunks.length === 0 ? null : JSON.parse(Buffer.concat(chunks).toString());
    const answer = (status: number, value: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    const issue = (pem: string) => collector.answerWith.issueForRequest(collector.nameInCertificate, pem);
    if (request.url === "/api/v1/agents/enroll") {
      if (collector.refusal !== null) {
        return answer(409, { error: { code: "CONFLICT", message: "no", details: { reason: collector.refusal } } });
      }
      const { certificate_request } = EnrollRequest.parse(body);
      return answer(201, {
        probe_id: probeId, tenant_id: createId(), site_id: createId(), certificate: await issue(certificate_request),
        ca_certificate: collector.answerWith.pem, mqtt_url: "mqtts://127.0.0.1:8883",
      });
    }
    if (request.url === "/api/v1/agents/renew") {
      const peer = (request.socket as TLSSocket).getPeerCertificate();
      if (peer.subject.CN !== probeId) return answer(401, { error: { code: "UNAUTHORIZED", message: "who are you", details: null } });
      return answer(200, {
        certificate: await issue(RenewRequest.parse(body).certificate_request), ca_certificate: collector.answerWith.pem,
      });
    }
    return answer(404, { error: { code: "NOT_FOUND", message: "nothing here", details: null } });
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => void handle(request, response);
  const server: Server = options.plain
    ? createHttpServer(listener)
    : createServer({
      ...await options.ca.issueWithKey("collector", options.serverLifetime), ca: options.ca.pem, requestCert: true,
      rejectUnauthorized: false,
    }, listener);
  server.listen(0, options.host ?? "127.0.0.1");
  await once(server, "listening");
  const collector: TestCollector = {
    url: `${options.plain ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: formatEnrollmentToken({ secret: randomBytes(32).toString("base64url"), caPin: options.ca.pin }),
    probeId,
    requests: [],
    refusal: null,
    aheadMs: 0,
    answerWith: options.ca,
    nameInCertificate: probeId,
    async close() {
      const closed = once(server, "close");
      server.closeAllConnections();
      server.close();
      await closed;
    },
  };
  return collector;
}

function serial(): string {
  return `40${randomBytes(8).toString("hex")}`;
}

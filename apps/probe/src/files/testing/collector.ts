import { createHash } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { FileBegin, FilePieceQuery } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import { createKeyAndRequest } from "../../identity/certificate-request.ts";
import type { Identity } from "../../identity/identity.ts";
import type { TestCa } from "../../identity/testing/collector.ts";

/** What it answers instead of what it should. */
type Instead = { readonly status: number; readonly body?: object; readonly headers?: Readonly<Record<string, string>> } | "break";

/** The collector's side of files, over real HTTPS that asks for a certificate. For tests. */
export interface FileCollector {
  readonly identity: Identity;
  /** `METHOD path`, with whose certificate it came, in order. */
  readonly requests: string[];
  /** Whole files by id, verified. */
  readonly received: Map<string, Buffer>;
  /** Called before each answer; null for the usual one. */
  instead: (request: string) => Instead | null;
  close(): Promise<void>;
}

/** On a free port of loopback. Requests with another certificate than `identity`'s are answered with 401. */
export async function startFileCollector(ca: TestCa): Promise<FileCollector> {
  const open = new Map<string, { readonly file: FileBegin; bytes: Buffer }>();
  const server = createServer({ ...await ca.issueWithKey("collector"), ca: ca.pem, requestCert: true, rejectUnauthorized: false }, (request, response) => {
    void handle(request, response);
  });
  const probeId = createId();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "https://x");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const name = `${request.method} ${url.pathname.replace("/api/v1/agents/files", "")}`;
    collector.requests.push(name);
    const answer = (status: number, value: object, headers: Readonly<Record<string, string>> = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    const refuse = (status: number, details: object) => answer(status, { error: { code: "CONFLICT", message: "no", details } });
    if ((request.socket as TLSSocket).getPeerCertificate().subject?.CN !== probeId) return void refuse(401, {});
    const instead = collector.instead(name);
    if (instead === "break") return void request.socket.destroy();
    if (instead) return void answer(instead.status, instead.body ?? {}, instead.headers);
    if (name === "POST ") {
      const file = FileBegin.parse(JSON.parse(body.toString()));
      if (!open.has(file.id)) open.set(file.id, { file, bytes: Buffer.alloc(0) });
      return progress(file.id);
    }
    const [, , id = "", verb] = name.split(/[ /]/);
    const held = open.get(id);
    if (!held) return void refuse(404, {});
    if (verb === "content") {
      const { offset, sha256 } = FilePieceQuery.parse(Object.fromEntries(url.searchParams));
      if (offset !== held.bytes.length) return void refuse(409, { reason: "wrong-offset", offset: held.bytes.length });
      if (createHash("sha256").update(body).digest("hex") !== sha256) return void refuse(400, { reason: "piece-damaged", offset });
      held.bytes = Buffer.concat([held.bytes, body]);
      return progress(id);
    }
    if (createHash("sha256").update(held.bytes).digest("hex") !== held.file.sha256) {
      held.bytes = Buffer.alloc(0);
      return void refuse(409, { reason: "file-damaged", offset: 0 });
    }
    collector.received.set(id, held.bytes);
    return progress(id);

    function progress(of: string): void {
      answer(200, { id: of, state: collector.received.has(of) ? "received" : "open", offset: open.get(of)?.bytes.length ?? 0 });
    }
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { privateKey, certificateRequest } = await createKeyAndRequest(probeId);
  const collector: FileCollector = {
    identity: {
      probe_id: probeId, tenant_id: createId(), site_id: createId(), name: "box", trust: "pinned", mqtt_url: "mqtts://127.0.0.1:1",
      collector_url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, private_key: privateKey,
      certificate: await ca.issueForRequest(probeId, certificateRequest), ca_certificate: ca.pem,
    },
    requests: [], received: new Map(), instead: () => null,
    async close() {
      const closed = once(server, "close");
      server.closeAllConnections();
      server.close();
      await closed;
    },
  };
  return collector;
}

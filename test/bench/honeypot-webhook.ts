import { createHmac, randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { RestClient } from "@lanthorn/client";
import { EVENTS, type EventData, WebhookPayload } from "@lanthorn/contract";

/** A hit, and when it came. */
export interface Arrived {
  readonly hit: EventData<"honeypot_hit">;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** Who is called for each hit. */
export interface HitReceiver {
  /** Those whose signature was right, in the order in which they came. */
  readonly calls: readonly Arrived[];
  close(): Promise<void>;
}

/** Listens on loopback, and subscribes at the collector to hits of decoys, with a key of its own. */
export async function receiveHits(rest: RestClient): Promise<HitReceiver> {
  const key = randomBytes(32);
  const calls: Arrived[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("error", () => undefined).on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
      const atMs = Date.now();
      const body = Buffer.concat(chunks);
      const isOurs = isSigned(key, request.headers, body);
      if (isOurs) calls.push({ atMs, hit: EVENTS.honeypot_hit.data.parse(WebhookPayload.parse(JSON.parse(body.toString())).data) });
      response.writeHead(isOurs ? 204 : 401).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  await rest.createWebhook({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, events: ["honeypot.hit"], active: true, secret: `whsec_${key.toString("base64")}` });
  return {
    calls,
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}

/** @see https://www.standardwebhooks.com/ "Signature scheme" */
function isSigned(key: Buffer, headers: IncomingHttpHeaders, body: Buffer): boolean {
  const [id, timestamp, signature] = [String(headers["webhook-id"]), String(headers["webhook-timestamp"]), String(headers["webhook-signature"])];
  return signature === `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}

import { Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent, request as tlsRequest } from "node:https";
import { ProbeError } from "../errors.ts";
import type { Identity } from "./identity.ts";
import { unreachable } from "./unreachable.ts";

/** A request to the collector. */
export interface CollectorRequest {
  readonly method: "GET" | "POST" | "PUT";
  /** With its query, from the root on. */
  readonly path: string;
  /** Bytes go as they are, an object as JSON. */
  readonly body?: Uint8Array | object;
  /** The longest answer that is read. */
  readonly maxAnswerBytes: number;
}

/** What the collector answered, whatever its status. */
export interface CollectorAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** What `Retry-After` says, in seconds; null without one. */
  readonly retryAfterSeconds: number | null;
}

/** Requests of a running daemon to its collector, under the certificate that the probe has at the moment. */
export interface CollectorRequests {
  /** @throws ProbeError `unreachable` without an answer, `not-a-collector` for one that is too long. */
  send(request: CollectorRequest, signal: AbortSignal): Promise<CollectorAnswer>;
  close(): void;
}

const ANSWER_WITHIN_MS = 60_000;

/**
 * By Node's own HTTPS, which is in memory already: undici, as enrollment and renewal use it in a process of their own, would cost the daemon
 * megabytes for a request now and then.
 * @param deps.collectorUrl Instead of the one that the probe was enrolled at.
 */
export function createCollectorRequests(
  deps: { readonly identity: () => Identity; readonly collectorUrl: string | null },
): CollectorRequests {
  let agent: { readonly of: Identity; readonly agent: PlainAgent } | null = null;

  function agentOf(identity: Identity, isPlain: boolean): PlainAgent {
    if (agent?.of === identity) return agent.agent;
    agent?.agent.destroy();
    const made = isPlain ? new PlainAgent({ keepAlive: true, maxSockets: 1 }) : new Agent({
      keepAlive: true, maxSockets: 1, minVersion: "TLSv1.2", cert: identity.certificate, key: identity.private_key,
      // As at renewal: the pinned CA certifies the collector's servers only, whose names may be any address of the site's.
      ...(identity.trust === "pinned" ? { ca: identity.ca_certificate, checkServerIdentity: () => undefined } : {}),
    });
    agent = { of: identity, agent: made };
    return made;
  }

  return {
    send({ method, path, body, maxAnswerBytes }, signal) {
      const identity = deps.identity();
      const url = new URL(path, deps.collectorUrl ?? identity.collector_url);
      const isPlain = url.protocol === "http:";
      const bytes = body === undefined || body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
      const headers = bytes === undefined ? {} : {
        "content-type": body instanceof Uint8Array ? "application/octet-stream" : "application/json", "content-length": bytes.length,
      };
      return new Promise((resolve, reject) => {
        const fail = (cause: unknown) => reject(cause instanceof ProbeError ? cause : unreachable(url, cause));
        const request = (isPlain ? plainRequest : tlsRequest)(url, {
          method, headers, agent: agentOf(identity, isPlain), signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
        }, (response) => {
          const chunks: Buffer[] = [];
          let length = 0;
          response.on("data", (chunk: Buffer) => {
            length += chunk.length;
            chunks.push(chunk);
            if (length > maxAnswerBytes) {
              request.destroy(new ProbeError("not-a-collector", `${url.origin} answers with more than ${maxAnswerBytes} bytes`));
            }
          });
          response.on("error", fail);
          response.on("end", () => resolve({
            status: response.statusCode ?? 0, body: Buffer.concat(chunks), retryAfterSeconds: secondsOf(response.headers["retry-after"]),
          }));
        });
        request.on("error", fail);
        request.end(bytes);
      });
    },
    close() {
      agent?.agent.destroy();
      agent = null;
    },
  };
}

/** Our collector says it in seconds, never as a date. */
function secondsOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { ErrorEnvelope, type ErrorCode } from "@lanthorn/contract";
import { parseJson } from "@lanthorn/runtime";
import { ApiError } from "../errors.ts";
import { answerHeaders } from "./headers.ts";

/** An envelope is short; more than this is none. */
const MAX_ENVELOPE_LENGTH = 65_536;

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** What a refusal without an envelope means. Whatever else: 4xx is the client's fault, 5xx the service's. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  403: "FORBIDDEN", 404: "NOT_FOUND", 405: "NOT_FOUND", 409: "CONFLICT", 410: "NOT_FOUND", 429: "RATE_LIMITED",
  // The service does not take the gateway's word: the client can do nothing about it.
  401: "BAD_GATEWAY", 500: "INTERNAL_ERROR", 503: "SERVICE_UNAVAILABLE",
};

/**
 * A service's answer as the client gets it: streamed, and a refusal always with the envelope.
 * @throws ApiError for a refusal that has no envelope of its own.
 */
export async function toAnswer(
  service: IncomingMessage, options: { readonly name: string; readonly origin: string; readonly isHead: boolean },
): Promise<Response> {
  const status = service.statusCode ?? 502;
  const headers = answerHeaders(service.headers, options.origin);
  if (status >= 400) {
    const text = await readShort(service);
    const envelope = ErrorEnvelope.safeParse(parseJson(text));
    if (!envelope.success) throw refusalOf(status, options.name, service.headers["retry-after"]);
    headers.delete("content-length");
    return Response.json(envelope.data, { status, headers });
  }
  if (options.isHead || WITHOUT_BODY.has(status)) {
    service.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(service) as ReadableStream<Uint8Array>, { status, headers });
}

function refusalOf(status: number, name: string, retryAfter: string | undefined): ApiError {
  const code = CODES[status] ?? (status >= 500 ? "BAD_GATEWAY" : "BAD_REQUEST");
  const wait = retryAfter ?? (code === "RATE_LIMITED" ? "1" : undefined);
  const message = code === "SERVICE_UNAVAILABLE"
    ? `the service ${name} is not ready`
    : `the service ${name} answered with status ${status}`;
  return new ApiError(code, message, {
    ...(status === 413 ? { status } : {}), ...(wait === undefined ? {} : { headers: { "retry-after": wait } }),
  });
}

/** @returns Empty for what is too long, or breaks off. */
async function readShort(service: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of service as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_ENVELOPE_LENGTH) return "";
      chunks.push(chunk);
    }
  } catch {
    return "";
  }
  return Buffer.concat(chunks).toString();
}

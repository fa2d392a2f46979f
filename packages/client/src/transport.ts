import { ErrorEnvelope } from "@lanthorn/contract";
import type * as z from "zod";
import { ClientError } from "./errors.ts";
import { parseJson } from "./json.ts";

/** As much of `fetch` as is used, so that a caller can bring one with its own trust. */
export type Fetch = (url: string, init: {
  readonly method: string; readonly headers: Record<string, string>; readonly body?: string | Uint8Array<ArrayBuffer>; readonly signal: AbortSignal;
}) => Promise<{
  readonly status: number; readonly headers: { get(name: string): string | null }; text(): Promise<string>;
  /** Needed for downloads alone. */
  readonly body?: ReadableStream<Uint8Array> | null;
}>;

/** Query values; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** What goes with a call beside its path. */
export interface CallOptions {
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** A table, sent as `text/csv` in place of `body`. */
  readonly csv?: string | undefined;
  /** A piece of a file, sent as it is in place of `body`. */
  readonly bytes?: Uint8Array<ArrayBuffer> | undefined;
}

/** One request and its parsed answer. */
export interface Transport {
  /** @param answer The schema of its JSON; undefined where it has none, whatever comes. */
  call(method: string, path: string, answer: z.ZodType | undefined, options?: CallOptions): Promise<unknown>;
  /** An answer that is no JSON, whole. */
  text(path: string, query?: Query): Promise<string>;
  /** An answer of any size, as it comes; to be read to its end, or cancelled. */
  download(path: string, query?: Query): Promise<ReadableStream<Uint8Array>>;
}

/** Where the collector is, and what each request to it carries. */
export interface TransportOptions {
  /** Scheme, host and port; a trailing slash does no harm. */
  readonly url: string;
  /** Read at each call, so that a refreshed one is used at once; null for calls that need none. An API key (`svc_live_…`) does as well. */
  readonly token: () => string | null;
  readonly fetch: Fetch;
  /** Is waited for before each call, whose time begins after it: what asks no faster than it may. What it throws the call throws. */
  readonly turn?: () => Promise<void>;
  /**
   * Read at each POST; null for none. The same key again within a day gets the first answer and does nothing twice, so that a
   * caller may ask again after a lost answer.
   */
  readonly idempotencyKey?: () => string | null;
  /**
   * Read at each PUT, PATCH and DELETE; null for none. An entity tag of `readTagged`: the write is done only where the record is
   * still in that state; else the call is refused with the code `CONFLICT`, and nothing is written.
   */
  readonly ifMatch?: () => string | null;
}

const CONDITIONAL: ReadonlySet<string> = new Set(["PUT", "PATCH", "DELETE"]);

/** Longer than the collector's own limit of 30 s for a request. */
const CALL_TIMEOUT_MS = 35_000;
/** A day: gigabytes over a slow line. */
const DOWNLOAD_TIMEOUT_MS = 86_400_000;
const API_KEY_PREFIX = "svc_live_";

/** @throws ClientError from every call: the collector's code, `unreachable`, or `not-an-answer` for a body of another shape. */
export function createTransport(options: TransportOptions): Transport {
  const base = options.url.replace(/(?<!\/)\/+$/, "");

  const ask = async (method: string, path: string, callOptions: CallOptions, accept: string, timeoutMs: number) => {
    await options.turn?.();
    const token = options.token();
    const content = contentOf(callOptions);
    const key = method === "POST" ? (options.idempotencyKey?.() ?? null) : null;
    const tag = CONDITIONAL.has(method) ? (options.ifMatch?.() ?? null) : null;
    const response = await options.fetch(`${base}${path}${queryText(callOptions.query)}`, {
      method,
      headers: {
        accept,
        ...(token === null ? {} : token.startsWith(API_KEY_PREFIX) ? { "x-api-key": token } : { authorization: `Bearer ${token}` }),
        ...(key === null ? {} : { "idempotency-key": key }),
        ...(tag === null ? {} : { "if-match": tag }),
        ...(content && { "content-type": content.type }),
      },
      ...(content && { body: content.body }),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((cause: unknown) => {
      throw new ClientError("unreachable", `no answer from ${base}`, { cause });
    });
    // The health of a collector that is not well is an answer too.
    if (response.status >= 400 && path !== "/api/v1/health") throw refusal(response, parseJson(await response.text()), base);
    return response;
  };
  const send = async (method: string, path: string, callOptions: CallOptions, accept: string) => {
    const response = await ask(method, path, callOptions, accept, CALL_TIMEOUT_MS);
    return { status: response.status, text: await response.text() };
  };

  return {
    async call(method, path, answer, callOptions = {}) {
      const { status, text } = await send(method, path, callOptions, "application/json");
      if (!answer) return undefined;
      const parsed = answer.safeParse(parseJson(text));
      if (parsed.success) return parsed.data;
      throw new ClientError("not-an-answer", `${base}${path} answered with status ${status} and a body that is not Lanthorn's`, {
        status, cause: parsed.error,
      });
    },
    text: async (path, query) => (await send("GET", path, { query }, "*/*")).text,
    async download(path, query) {
      const { status, body } = await ask("GET", path, { query }, "*/*", DOWNLOAD_TIMEOUT_MS);
      if (!body) throw new ClientError("not-an-answer", `${base}${path} answered with status ${status} and nothing`, { status });
      return body;
    },
  };
}

function contentOf({ body, csv, bytes }: CallOptions) {
  if (bytes !== undefined) return { type: "application/octet-stream", body: bytes };
  if (csv !== undefined) return { type: "text/csv", body: csv };
  return body !== undefined && { type: "application/json", body: JSON.stringify(body) };
}

function queryText(query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

function refusal({ status, headers }: Pick<Awaited<ReturnType<Fetch>>, "status" | "headers">, value: unknown, base: string): ClientError {
  // A proxy may say a date.
  const retryAfter = /^\d{1,9}$/.exec(headers.get("retry-after") ?? "");
  const known = { status, requestId: headers.get("x-request-id"), retryAfterSeconds: retryAfter && Number(retryAfter[0]) };
  const envelope = ErrorEnvelope.safeParse(value);
  if (!envelope.success) {
    return new ClientError(
      "not-an-answer", `${base} answered with status ${status} and no error envelope; is this a Lanthorn collector?`, known,
    );
  }
  const { code, message, details } = envelope.data.error;
  return new ClientError(code, message, { ...known, details });
}

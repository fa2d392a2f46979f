import { Agent, request } from "node:http";
import { exampleOf } from "../examples.ts";
import type { OpenApiDocument, Operation } from "../openapi.ts";

/** One call that the document names. */
export interface Call {
  /** `POST /api/v1/sites`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** What it needs: a scope, `signed-in`, `known`, `probe` or `anyone`. */
  readonly access: string;
  /** Names of what is in its path. */
  readonly parts: readonly string[];
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The `error` of an envelope, where it is one. */
  readonly error: { readonly code: string; readonly message: string; readonly details: unknown } | null;
}

interface Given {
  readonly headers?: Readonly<Record<string, string>>;
  /** Values for the path by their names; an id that nothing has where one is not given. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Text, or a value that is written as JSON. */
  readonly body?: unknown;
}

/** An id that nothing has. */
const NOBODY = "00000000-0000-7000-8000-000000000000";

/** Every call of the document; WebSockets are none. */
export function callsOf({ paths }: OpenApiDocument): readonly Call[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => !("101" in operation.responses))
      .map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        operation,
        access: accessOf(operation),
        parts: [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? ""),
      })),
  );
}

function accessOf({ security = [] }: Operation): string {
  const [first] = security;
  if (!first) return "anyone";
  if ("certificate" in first) return "probe";
  return first["bearer"]?.[0] ?? (security.some((scheme) => "apiKey" in scheme) ? "known" : "signed-in");
}

/** A body that fits, as the document shows it; undefined where the call has none. */
export function exampleBody({ operation }: Call, document: OpenApiDocument): unknown {
  const content = operation.requestBody?.content["application/json"];
  return content && (content.example ?? exampleOf(content.schema ?? {}, document.components.schemas));
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Connections that stay open: these tests make thousands of calls one after the other, and `fetch` takes twice as long for each. */
const agent = new Agent({ keepAlive: true });

/** Makes a call over the wire. */
export async function send(url: string, call: Pick<Call, "method" | "path">, given: Given): Promise<Answer> {
  const { headers = {}, path: values = {}, query = {}, body } = given;
  const filled = call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? NOBODY));
  const exchangeOnce = () => exchange(new URL(`${url}${filled}?${new URLSearchParams(query).toString()}`), {
    method: call.method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    body: typeof body === "string" || body === undefined ? body : JSON.stringify(body),
  });
  const { status, text } = await exchangeOnce().catch((error: unknown) => {
    if (error instanceof StaleConnection) return exchangeOnce();
    throw error;
  });
  return { status, text, error: errorIn(text) };
}

/** The collector has ended a connection that was idle, just as it was used again. */
class StaleConnection extends Error {}

function exchange(url: URL, { method, headers, body }: {
  readonly method: string; readonly headers: Readonly<Record<string, string>>; readonly body: string | undefined;
}): Promise<Pick<Answer, "status" | "text">> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const sent = request(url, { method, headers, agent }, (response) => {
      isAnswered = true;
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // A refusal may come before all of a body is sent.
      if (!isAnswered) reject(sent.reusedSocket && error.code === "ECONNRESET" ? new StaleConnection() : error);
    });
    sent.end(body);
  });
}

function errorIn(text: string): Answer["error"] {
  if (!text.startsWith('{"error":{')) return null;
  return (JSON.parse(text) as { readonly error: NonNullable<Answer["error"]> }).error;
}

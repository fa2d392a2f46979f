import { exampleOf } from "../examples.ts";
import { exchange } from "../../testing/exchange.ts";
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

/** Query parameters that must be there, as the document shows them. */
export function requiredQuery({ parameters = [] }: Operation): Record<string, string> {
  return Object.fromEntries(parameters.filter(({ in: place, required }) => place === "query" && required === true).map(({ name, example }) => [name, String(example)]));
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Makes a call over the wire. */
export async function send(url: string, call: Pick<Call, "method" | "path">, given: Given): Promise<Answer> {
  const { headers = {}, path: values = {}, query = {}, body } = given;
  const filled = call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? NOBODY));
  const { status, text } = await exchange(`${url}${filled}?${new URLSearchParams(query).toString()}`, {
    method: call.method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    body: typeof body === "string" || body === undefined ? body : JSON.stringify(body),
  });
  return { status, text, error: errorIn(text) };
}

function errorIn(text: string): Answer["error"] {
  if (!text.startsWith('{"error":{')) return null;
  return (JSON.parse(text) as { readonly error: NonNullable<Answer["error"]> }).error;
}

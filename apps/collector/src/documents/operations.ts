import { exampleOf } from "./examples.ts";
import { errorsOf, headersOf } from "./errors.ts";
import type { Content, Operation, Parameter, Response, Schema } from "./openapi.ts";

/** What a parameter of this name means, where its schema does not say it. */
const PARAMETERS: Readonly<Record<string, string>> = {
  action: "Whole, or its first part: `site` finds `site.create`.",
  cursor: "`meta.next_cursor` of the page before: reads a changing list to its end without gaps or repeats.",
  device_id: "Of this device.",
  events: "Names of events with commas between; all when left out.",
  is_online: "`true` or `false`.",
  os: "Part of the operating system, in any case.",
  page: "From 1. Ignored where a `cursor` is given.",
  per_page: "1 to 1000.",
  search: "Part of a text, in any case.",
  severity: "Of this severity.",
  since: "From then on: an ISO 8601 instant, or how long ago as `90s 15m 24h 7d 2w`.",
  site_id: "Of this site.",
  sort: "`field` ascends, `-field` descends; ties go by id.",
  source: "From this source.",
  status: "In this state.",
  until: "Before then, written as `since`.",
  vendor: "Part of the vendor's name, in any case.",
};

interface CompleteOptions {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  /** Whether the service may be another process, behind the gateway. */
  readonly isRemote: boolean;
  /** The components that `$ref` names. */
  readonly schemas: Readonly<Record<string, Schema>>;
}

const IDEMPOTENCY_KEY: Parameter = {
  name: "Idempotency-Key", in: "header", required: false, schema: { type: "string", minLength: 1, maxLength: 255 },
  description: "The same request again within 24 hours gets the first answer; another body under the same key is 409.",
};

/** Adds what follows from a route's declaration: its id, tag, errors, headers and examples. What the route itself says stays. */
export function completeOperation(operation: Operation, options: CompleteOptions): Operation {
  const { method, path, tag, schemas } = options;
  const own = Object.entries(operation.responses).filter(([status]) => status !== "default")
    .map(([status, response]) => [status, completeResponse(response, schemas)] as const);
  // A probe's own requests, and those without a token, are of nobody whose requests could be told apart.
  const isKeyed = method === "post" && (operation.security ?? []).some((scheme) => "bearer" in scheme);
  const parameters = [
    ...(operation.parameters ?? []).map((parameter) => completeParameter(parameter, schemas)), ...(isKeyed ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: operationIdOf(method, path),
    ...operation,
    tags: [tag],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(operation.requestBody
      ? { requestBody: { ...operation.requestBody, content: withExamples(operation.requestBody.content, schemas) } } : {}),
    responses: { ...errorsOf(method, path, operation, options.isRemote), ...Object.fromEntries(own) },
  };
}

function completeResponse(response: Response, schemas: CompleteOptions["schemas"]): Response {
  if ("$ref" in response) return response;
  const { headers, content } = response;
  return { ...response, headers: { ...headersOf(), ...headers }, ...(content ? { content: withExamples(content, schemas) } : {}) };
}

function withExamples(content: Content, schemas: CompleteOptions["schemas"]): Content {
  return Object.fromEntries(Object.entries(content).map(([type, media]) => {
    const { schema, example, examples } = media;
    const isMissing = schema !== undefined && example === undefined && examples === undefined && type.endsWith("json");
    return [type, isMissing ? { ...media, example: exampleOf(schema, schemas) } : media];
  }));
}

function completeParameter(parameter: Parameter, schemas: CompleteOptions["schemas"]): Parameter {
  const description = parameter.description ?? (parameter.in === "query" ? PARAMETERS[parameter.name] : undefined);
  return {
    ...parameter,
    ...(description === undefined ? {} : { description }),
    ...(parameter.in === "path" && parameter.example === undefined
      ? { example: exampleOf(parameter.schema, schemas, parameter.name) }
      : {}),
  };
}

const VERBS: Readonly<Record<string, string>> = { post: "create", put: "update", patch: "change", delete: "delete" };

/**
 * `GET /sites` → `listSites`, `GET /sites/{site_id}` → `readSite`, `POST /sites` → `createSite`,
 * `POST /sites/{site_id}/close` → `closeSite`. A route for which that reads badly names its own.
 */
function operationIdOf(method: string, path: string): string {
  const segments = path.replace(/^\/api(\/v1)?/, "").split("/").filter(Boolean);
  const words = segments.filter((segment) => !segment.startsWith("{"));
  const last = segments.at(-1) ?? "";
  const isItem = last.startsWith("{");
  // A word after an item is what is done to it, or a list that it has.
  const isAction = method === "post" && !isItem && segments.some((segment) => segment.startsWith("{"));
  if (isAction) return camelCase([last, ...words.slice(0, -1).map(singular)]);
  if (method === "get" && isItem) return camelCase(["read", ...words.map(singular)]);
  if (method === "get") return camelCase([last.endsWith("s") ? "list" : "read", ...words.slice(0, -1).map(singular), last]);
  return camelCase([VERBS[method] ?? method, ...words.map(singular)]);
}

function singular(word: string): string {
  return word.replace(/ies$/, "y").replace(/(x|ss)es$/, "$1").replace(/([^su])s$/, "$1");
}

function camelCase(words: readonly string[]): string {
  return words.flatMap((word) => word.split(/[^a-z\d]+/i)).filter(Boolean)
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join("");
}

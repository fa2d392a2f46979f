import { exampleOf } from "./examples.ts";
import { errorsOf, headersOf } from "./errors.ts";
import type { Content, Operation, Parameter, Response, Schema } from "./openapi.ts";

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
    ...withBodyExample(operation, schemas),
    tags: [tag],
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: { ...errorsOf(method, path, operation, options.isRemote), ...Object.fromEntries(own) },
  };
}

/** The operation with an example of its body. */
export function withBodyExample(operation: Operation, schemas: CompleteOptions["schemas"]): Operation {
  const { requestBody } = operation;
  return requestBody ? { ...operation, requestBody: { ...requestBody, content: withExamples(requestBody.content, schemas) } } : operation;
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
  if (parameter.in !== "path") return parameter;
  const thing = parameter.name.replace(/_id$/, "").replaceAll("_", " ");
  return {
    ...parameter,
    description: parameter.description ?? `The ${thing}'s id, as \`id\` in its record.`,
    example: parameter.example ?? exampleOf(parameter.schema, schemas, parameter.name),
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

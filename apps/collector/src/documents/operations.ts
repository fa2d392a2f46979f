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

/** Adds what follows from a route's declaration: its tag, errors, headers and examples. What the route itself says stays. */
export function completeOperation(operation: Operation, options: CompleteOptions): Operation {
  const { method, path, tag, schemas } = options;
  const own = Object.entries(operation.responses).filter(([status]) => status !== "default")
    .map(([status, response]) => [status, completeResponse(response, schemas)] as const);
  // A probe's own requests, and those without a token, have no caller by whom to distinguish them.
  const isKeyed = method === "post" && (operation.security ?? []).some((scheme) => "bearer" in scheme);
  const parameters = [
    ...(operation.parameters ?? []).map((parameter) => completeParameter(parameter, schemas)), ...(isKeyed ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
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

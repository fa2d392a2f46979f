import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { OpenApiDocument, Operation, Response, Schema } from "../openapi.ts";

export interface Answers {
  /** What is wrong with an answer, in words; empty where it is as the document says. */
  check(operation: Operation, answer: { readonly status: number; readonly headers: Headers; readonly text: string }): readonly string[];
}

/** Holds answers against the document's own schemas. A field that the document does not name is a fault as well. */
export function createAnswers(document: OpenApiDocument): Answers {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const components = closed(document.components);
  const compiled = new Map<Schema, ValidateFunction>();
  const compile = (schema: Schema) => {
    const validate = compiled.get(schema) ?? ajv.compile({ ...closed(schema), components } as object);
    compiled.set(schema, validate);
    return validate;
  };
  return {
    check(operation, { status, headers, text }) {
      const declared = resolve(operation.responses[String(status)], document);
      if (!declared) return [`answers ${status}, which is not declared: ${text.slice(0, 300)}`];
      const faults = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id"].filter((name) => !headers.has(name))
        .map((name) => `${status} has no ${name}`);
      const type = (headers.get("content-type") ?? "").split(";", 1)[0] ?? "";
      const content = declared.content?.[type];
      if (!declared.content) return text === "" ? faults : [...faults, `${status} has a body where none is declared`];
      if (!content) return [...faults, `${status} is of the type ${type}, which is not declared`];
      if (!type.endsWith("json") || !content.schema) return faults;
      const validate = compile(content.schema);
      return validate(JSON.parse(text)) ? faults : [...faults, `${status} does not fit its schema: ${ajv.errorsText(validate.errors)}`];
    },
  };
}

function resolve(response: Response | undefined, document: OpenApiDocument): Exclude<Response, { readonly $ref: string }> | undefined {
  if (!response || !("$ref" in response)) return response;
  return resolve(document.components.responses[response.$ref.split("/").at(-1) ?? ""], document);
}

/** With `additionalProperties: false` for every object that says which fields it has. */
function closed<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((member) => closed<unknown>(member)) as T;
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, key === "example" ? member : closed<unknown>(member)]),
  );
  return ("properties" in copy && !("additionalProperties" in copy) ? { ...copy, additionalProperties: false } : copy) as T;
}

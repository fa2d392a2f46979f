import type { OpenApiDocument, Operation, Schema } from "../openapi.ts";

/** One call that the document forbids. */
export interface WrongInput {
  readonly what: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly path?: Readonly<Record<string, string>>;
  /** Text of the body. */
  readonly body?: string;
}

/** Calls of an operation with one thing wrong in each, made from its own declaration. @param valid A body that is right. */
export function wrongInputs(operation: Operation, document: OpenApiDocument, valid: unknown): readonly WrongInput[] {
  return [...wrongParameters(operation), ...wrongBodies(operation, document, valid)];
}

function wrongParameters({ parameters = [] }: Operation): readonly WrongInput[] {
  // A header that is wrong in transport is no call at all.
  return parameters.filter((parameter) => parameter.in !== "header").flatMap((
    { name, in: place, schema },
  ): readonly WrongInput[] => wrongTexts(schema).map((text) => {
    const what = `${name}=${text}`;
    return place === "path" ? { what, path: { [name]: text } } : { what, query: { [name]: text } };
  }));
}

function wrongTexts(schema: Schema): readonly string[] {
  const types = new Set([schema.type ?? []].flat());
  if (types.has("integer") || types.has("number")) {
    const { minimum, maximum } = schema;
    return ["x", ...(minimum === undefined ? [] : [String(minimum - 1)]), ...(maximum === undefined ? [] : [String(maximum + 1)])];
  }
  if (types.has("boolean")) return ["yes", "1"];
  if (schema.enum || schema.format === "uuid" || schema.format === "date-time") return ["no such value"];
  return schema.maxLength === undefined || schema.maxLength > 4000 ? [] : ["a".repeat(schema.maxLength + 1)];
}

function wrongBodies({ requestBody }: Operation, document: OpenApiDocument, valid: unknown): readonly WrongInput[] {
  const declared = requestBody?.content["application/json"]?.schema;
  if (!declared) return [];
  const body = (what: string, value: unknown): WrongInput => ({ what, body: JSON.stringify(value) });
  const wrong = [{ what: "broken JSON", body: '{"a":' }, body("a text for a body", "text"), body("nothing for a body", null)];
  const schema = declared.$ref === undefined ? declared : document.components.schemas[declared.$ref.split("/").at(-1) ?? ""];
  if (!schema?.properties || typeof valid !== "object" || valid === null) return wrong;
  const { properties, required = [] } = schema;
  return [
    ...wrong,
    ...required.map((name) => body(`without ${name}`, Object.fromEntries(Object.entries(valid).filter(([key]) => key !== name)))),
    ...Object.entries(properties).filter(([, property]) => property.type !== undefined && !takesObjects(property))
      .map(([name]) => body(`an object for ${name}`, { ...valid, [name]: { no: "value" } })),
    ...(schema.additionalProperties === false ? [body("a field that is unknown", { ...valid, no_such_field: 1 })] : []),
  ];
}

function takesObjects({ type }: Schema): boolean {
  return [type ?? []].flat().includes("object");
}

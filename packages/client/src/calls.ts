import type { Operation } from "@lanthorn/contract";
import type * as z from "zod";
import type { Query, Transport } from "./transport.ts";

/** A text for each part of the path in braces. */
type PathArguments<Target extends string> = Target extends `${string}{${string}}${infer Rest}` ? [id: string, ...PathArguments<Rest>] : [];

type BodyArgument<O> = O extends { readonly bytes: true } ? [bytes: Uint8Array<ArrayBuffer>]
  : O extends { readonly body: infer Body extends z.ZodType } ? (object extends z.input<Body> ? [body?: z.input<Body>] : [body: z.input<Body>])
  : [];

/** The parameters of the schema; as texts too, as a command line has them. */
type QueryOf<Schema extends z.ZodType> = { readonly [name in keyof z.input<Schema>]: z.input<Schema>[name] | Query[string] };
type QueryArgument<O> = O extends { readonly query: infer Schema extends z.ZodType }
  ? (object extends z.input<Schema> ? [query?: QueryOf<Schema>] : [query: QueryOf<Schema>]) : [];

type AnswerOf<O> = O extends { readonly answer: infer Answer extends z.ZodType } ? z.infer<Answer>
  : O extends { readonly content: "text/csv" } ? string
  : O extends { readonly content: string } ? ReadableStream<Uint8Array> : void;

/** What calls an operation: first the path's parts in their order, then the body, then the query. */
export type Call<O extends Operation> = (
  ...values: [...PathArguments<O["target"]>, ...BodyArgument<O>, ...QueryArgument<O>]
) => Promise<AnswerOf<O>>;

/** The calls of a table of operations, by name. */
export type Calls<T extends Readonly<Record<string, Operation>>> = { readonly [name in keyof T]: Call<T[name]> };

/** Makes the calls of a table of operations; each throws as the transport does. */
export function callsOf<T extends Readonly<Record<string, Operation>>>(operations: T, transport: Transport): Calls<T> {
  const calls = Object.entries(operations).map(([name, operation]) =>
    [name, (...values: readonly unknown[]) => perform(operation, values, transport)]);
  return Object.fromEntries(calls) as Calls<T>;
}

async function perform(operation: Operation, values: readonly unknown[], transport: Transport): Promise<unknown> {
  const rest = [...values];
  const [method = "", template = ""] = operation.target.split(" ");
  const path = `/api/v1${template.replace(/\{\w+\}/g, () => encodeURIComponent(String(rest.shift())))}`;
  const body = operation.bytes || operation.body ? (rest.shift() ?? {}) : undefined;
  const query = (rest.shift() ?? {}) as Query;
  if (operation.content === "text/csv") return transport.text(path, query);
  if (operation.content !== undefined) return transport.download(path, query);
  if (operation.bytes) return transport.call(method, path, operation.answer, { query, bytes: body as Uint8Array<ArrayBuffer> });
  if (!operation.csv) return transport.call(method, path, operation.answer, { query, body });
  const { csv, ...settings } = body as Query & { readonly csv: string };
  return transport.call(method, path, operation.answer, { query: { ...settings, ...query }, csv });
}

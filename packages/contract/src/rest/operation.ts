import type * as z from "zod";

/** An operation of the REST interface: what a request holds and what the answer is. The collector serves it, the client calls it. */
export interface Operation {
  /** A verb and what it is done to, `listDevices`: the client's method, and `operationId` in the OpenAPI document. */
  readonly operationId: string;
  /** Method, and path below `/api/v1`, as `PUT /devices/{device_id}`. */
  readonly target: Target;
  /** The parts of the path in braces. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** The request's JSON. */
  readonly body?: z.ZodType;
  /** That the body's member `csv` can be sent by itself, as `text/csv`. */
  readonly csv?: true;
  /** That the body is octets, of no schema. */
  readonly bytes?: true;
  /** Of an answer that is no error. */
  readonly status: 200 | 201 | 202 | 204;
  /** The answer's JSON. */
  readonly answer?: z.ZodType;
  /** The media type of an answer that is not JSON. */
  readonly content?: "text/csv" | "application/octet-stream";
}

type Target = `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;

/** Operations by name, each of which knows its own. */
export type Operations<T extends Readonly<Record<string, Omit<Operation, "operationId">>>> = {
  readonly [name in keyof T]: T[name] & { readonly operationId: name };
};

/** A service's table of operations. @returns Each with its name in the table as its `operationId`. */
export function operations<const T extends Readonly<Record<string, Omit<Operation, "operationId">>>>(table: T): Operations<T> {
  return Object.fromEntries(Object.entries(table).map(([name, operation]) => [name, { ...operation, operationId: name }])) as Operations<T>;
}

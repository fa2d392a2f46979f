import type { RouteConfig } from "@hono/zod-openapi";
import * as z from "zod";
import type { ServiceName, ServiceRoutes } from "../gateway/services.ts";
import type { Content, OpenApiDocument, Operation, Parameter, Response } from "./openapi.ts";
import { type Direction, writeSchema } from "./schema.ts";

/** The operations of a service by path and method, as its routes declare them, below `/api/v1`. */
export function pathsOf(name: ServiceName, routes: ServiceRoutes): OpenApiDocument["paths"] {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const router of routes[name] ?? []) {
    for (const definition of router.openAPIRegistry.definitions) {
      if (definition.type !== "route") continue;
      const { route } = definition;
      (paths[`/api/v1${route.path}`] ??= {})[route.method] = operationOf(route);
    }
  }
  return paths;
}

function operationOf({ method: _method, path: _path, request, responses, ...rest }: RouteConfig): Operation {
  const body = request?.body;
  const parameters = [
    ...parametersOf("path", request?.params), ...parametersOf("query", request?.query), ...parametersOf("header", request?.headers),
  ];
  return {
    // `declareRoute` asks for the name.
    ...(rest as Pick<Operation, "operationId"> & Partial<Operation>),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body ? { requestBody: { required: body.required ?? false, content: contentOf(body.content as DeclaredContent, "input") } } : {}),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, responseOf(response as DeclaredResponse)]),
    ),
  };
}

interface DeclaredResponse {
  readonly description: string;
  readonly headers?: unknown;
  readonly content?: DeclaredContent;
}
type DeclaredContent = Readonly<Record<string, { readonly schema: unknown } | undefined>>;

function responseOf({ description, headers, content }: DeclaredResponse): Response {
  const declared = typeof headers === "object" && headers !== null && !(headers instanceof z.ZodType) ? { headers } : {};
  return { description, ...declared, ...(content ? { content: contentOf(content, "output") } : {}) };
}

function contentOf(content: DeclaredContent, direction: Direction): Content {
  return Object.fromEntries(Object.entries(content).map(([type, media]) => {
    const schema = media?.schema;
    return [type, { ...media, schema: schema instanceof z.ZodType ? (writeSchema(schema, direction) ?? {}) : (schema as object) }];
  }));
}

function parametersOf(place: "path" | "query" | "header", declared: unknown): readonly Parameter[] {
  if (!(declared instanceof z.ZodType)) return [];
  const schema = writeSchema(declared, "input");
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property;
    return {
      name, in: place, required: place === "path" || (schema?.required?.includes(name) ?? false),
      ...(description === undefined ? {} : { description }), schema: rest,
    };
  });
}

import type { OpenAPIHono, RouteConfig, RouteHandler, z } from "@hono/zod-openapi";
import type { Operation } from "@lanthorn/contract";
import type { GatewayEnvironment, SecretAnswer } from "./environment.ts";
import { type Access, createRouter, declareRoute, json, jsonBody } from "./route.ts";

type Responses = RouteConfig["responses"];
/** A body's media types, and the schema of each. */
type Content = Readonly<Record<string, { readonly schema: z.ZodType }>>;
type Answer = readonly [status: number, description: string, body?: z.ZodType | Content | undefined];
type Requested = NonNullable<RouteConfig["request"]>;

/** What the collector adds to an operation of the contract: its documentation, and what only the server knows. */
interface Served {
  readonly summary: string;
  readonly description?: string;
  /** That its answer holds a secret: it is never kept and never compressed. Left out where it holds none. */
  readonly "x-secret"?: SecretAnswer;
  /** What the answer is; one that is not JSON, in whole. */
  readonly answer: string | Answer;
  /** Other answers that are no errors, or errors that it has beside those of all. */
  readonly also?: Responses;
  /** A body that is not the contract's JSON alone. */
  readonly body?: Requested["body"];
  /** A body that the documentation shows instead of one made up from the schema. */
  readonly example?: object;
}

/** An operation with all that is said of it: the schemas check what comes, type its handler and make its entry in the OpenAPI document. */
interface EndpointShape extends Requested {
  readonly answer: Answer;
  readonly also?: Responses;
}

type JsonBody<B extends z.ZodType> = { required: true; content: { "application/json": { schema: B } } };
type BodyOf<O, S> = S extends { readonly body: infer B } ? { readonly body: B }
  : O extends { readonly body: infer B extends z.ZodType } ? { readonly body: JsonBody<B> } : unknown;
type AnswerPart<O, S> = S extends { readonly answer: infer A extends Answer } ? A
  : O extends { readonly status: infer Status extends number; readonly answer: infer B extends z.ZodType } ? readonly [Status, string, B]
  : O extends { readonly status: infer Status extends number } ? readonly [Status, string] : never;
/** What `EndpointShape` is of an operation `O` as it is served by `S`. */
type ShapeOf<O extends Operation, S extends Served> = Pick<O, keyof O & ("params" | "query")> & Pick<S, keyof S & "also"> & BodyOf<O, S>
  & { readonly answer: AnswerPart<O, S> } extends infer Shape extends EndpointShape ? Shape : never;

type ResponseOf<B> = B extends z.ZodType ? { description: string; content: { "application/json": { schema: B } } }
  : B extends Content ? { description: string; content: B } : { description: string };
type AlsoOf<S extends EndpointShape> = S["also"] extends Responses ? S["also"] : { readonly none?: never };

/** What `createRoute` would give for it, as far as the handler's types go. */
type RouteOf<S extends EndpointShape> = Omit<RouteConfig, "method" | "path" | "request" | "responses"> & {
  method: "get";
  path: string;
  request: { [part in keyof S & keyof Requested]: Exclude<S[part], undefined> };
  responses: {
    [status in S["answer"][0] | (keyof AlsoOf<S> & number)]:
      status extends keyof AlsoOf<S> ? Extract<AlsoOf<S>[status], Responses[number]> : ResponseOf<S["answer"][2]>;
  };
};
type HandlerOf<S extends EndpointShape> = RouteHandler<RouteOf<S>, GatewayEnvironment>;
/** What has no JSON is answered with a response of any kind. */
type AnswerOf<S extends EndpointShape> = ReturnType<HandlerOf<S>>
  | (S["answer"][2] extends z.ZodType ? S["also"] extends Responses ? Response | Promise<Response> : never : Response | Promise<Response>);
type Handler<S extends EndpointShape, Service> = (c: Parameters<HandlerOf<S>>[0], service: Service) => AnswerOf<S>;

type Endpoint<Service> = (router: OpenAPIHono<GatewayEnvironment>, service: Service) => void;

/** The words in which a service's endpoints are written, each where its handler is. `Service` is what the handlers get beside the request. */
export function endpointsOf<Service>() {
  return {
    /** @param access Who may use it. @param served What the document says of the operation. */
    endpoint<const O extends Operation, const S extends Served>(
      access: Access, operation: O, served: S, handler: Handler<ShapeOf<O, S>, Service>,
    ): Endpoint<Service> {
      const { operationId, params, query } = operation;
      const { summary, description, also, "x-secret": secret } = served;
      const [method = "", path = ""] = operation.target.split(" ");
      const answer: Answer = typeof served.answer === "string" ? [operation.status, served.answer, operation.answer] : served.answer;
      const route = declareRoute(access, {
        operationId, summary, ...defined({ description, "x-secret": secret }), method: method.toLowerCase() as "get", path,
        request: defined({ params, query, body: bodyOf(operation, served) }), responses: { [answer[0]]: responseOf(answer), ...also },
      });
      // The types of `operation` and `served` are those of the route: `Handler` has checked the handler against them.
      return (router, service) => void router.openapi(route, ((c: never) => handler(c, service)) as never);
    },
    /** The app of a service: its endpoints in the order in which a request is compared with their paths. */
    routes: (...endpoints: readonly Endpoint<Service>[]) => (service: Service): OpenAPIHono<GatewayEnvironment> => {
      const router = createRouter();
      for (const add of endpoints) add(router, service);
      return router;
    },
  };
}

function bodyOf({ body }: Operation, served: Served): Requested["body"] {
  return served.body ?? (body && jsonBody(body, served.example));
}

function responseOf([, description, body]: Answer): Responses[number] {
  if (body === undefined) return { description };
  return { description, content: isSchema(body) ? json(body) : body };
}

function isSchema(body: z.ZodType | Content): body is z.ZodType {
  return "safeParse" in body;
}

/** Without what is undefined. */
function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

import type { OpenAPIHono, RouteConfig, RouteHandler, z } from "@hono/zod-openapi";
import type { GatewayEnvironment, SecretAnswer } from "./environment.ts";
import { type Access, createRouter, declareRoute, json } from "./route.ts";

type Responses = RouteConfig["responses"];
/** A body's media types, and the schema of each. */
type Content = Readonly<Record<string, { readonly schema: z.ZodType }>>;
type Answer = readonly [status: number, description: string, body?: z.ZodType | Content];
type Requested = NonNullable<RouteConfig["request"]>;

/** What an endpoint takes and answers: the schemas check what comes, type its handler and make its entry in the OpenAPI document. */
interface EndpointShape extends Requested {
  /** A verb and what it is done to, `listDevices`: what a generated client calls the operation. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** That its answer holds a secret: it is never kept and never compressed. Left out where it holds none. */
  readonly "x-secret"?: SecretAnswer;
  /** Its status, what it is, and the schema of its JSON; a body of another type gives its `content`. */
  readonly answer: Answer;
  /** Other answers that are no errors, or errors that it has beside those of all. */
  readonly also?: Responses;
}

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
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The words in which a service's endpoints are written, each where its handler is. `Service` is what the handlers get beside the request. */
export function endpointsOf<Service>() {
  return {
    /** @param access Who may use it. @param target Method and path, as `PUT /devices/{device_id}`. */
    endpoint<const S extends EndpointShape>(
      access: Access, target: `${Method} /${string}`, shape: S, handler: Handler<S, Service>,
    ): Endpoint<Service> {
      const { answer, also, params, query, headers, cookies, body, description, "x-secret": secret, ...said } = shape;
      const [method = "", path = ""] = target.split(" ");
      const route = declareRoute(access, {
        ...said, ...defined({ description, "x-secret": secret }), method: method.toLowerCase() as "get", path,
        request: defined({ params, query, headers, cookies, body }), responses: { [answer[0]]: responseOf(answer), ...also },
      });
      // The types of `shape` are those of the route: `Handler` has checked the handler against them.
      return (router, service) => void router.openapi(route, ((c: Parameters<HandlerOf<S>>[0]) => handler(c, service)) as never);
    },
    /** The app of a service: its endpoints in the order in which a request is compared with their paths. */
    routes: (...endpoints: readonly Endpoint<Service>[]) => (service: Service): OpenAPIHono<GatewayEnvironment> => {
      const router = createRouter();
      for (const add of endpoints) add(router, service);
      return router;
    },
  };
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

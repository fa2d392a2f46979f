import { Hono } from "hono";
import type { GatewayEnvironment, ReadRecord } from "../environment.ts";
import { SERVICE_NAMES, type ServiceRoutes } from "../services.ts";

interface ReaderEnvironment {
  Bindings: GatewayEnvironment["Bindings"] & { readonly identity: GatewayEnvironment["Variables"]["identity"] };
  Variables: GatewayEnvironment["Variables"];
}

/**
 * The services' own routes once more, behind nothing but the identity of who writes. Whoever may write a record need not be
 * allowed to read it: what is read here is compared, and never answered to who only guesses.
 */
export function createRecordReader(services: ServiceRoutes): ReadRecord {
  const app = new Hono<ReaderEnvironment>();
  app.use(async (c, next) => {
    c.set("identity", c.env.identity);
    c.set("isOwnRead", true);
    c.set("doOnce", async (_, then) => {
      await then();
      return undefined;
    });
    await next();
  });
  app.onError((error) => {
    throw error;
  });
  app.notFound((c) => c.body(null, 404));
  for (const prefix of ["/api/v1", "/api"]) {
    for (const router of SERVICE_NAMES.flatMap((name) => services[name] ?? [])) app.route(prefix, router);
  }
  return async (c) => {
    const { peer } = c.env;
    const answer = await app.fetch(new Request(new URL(c.req.path, c.req.url)), { peer, identity: c.var.identity });
    // Every refusal is thrown: what comes back as one is nobody's.
    return answer.status === 200 ? answer.text() : null;
  };
}

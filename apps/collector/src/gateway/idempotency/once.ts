import { createMiddleware } from "hono/factory";
import type { GatewayEnvironment, SecretAnswer } from "../environment.ts";

/** A route's part of idempotency: behind its access check, so that a kept answer is for those only who may still ask for it. */
export function doOnce(secret: SecretAnswer | null) {
  return createMiddleware<GatewayEnvironment>(async (c, next) => {
    if (secret !== null) c.set("isPlain", true);
    return c.var.doOnce(c, next, secret);
  });
}

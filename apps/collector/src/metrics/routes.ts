import { createAddressSet } from "../gateway/http/address.ts";
import { identityOf } from "../gateway/environment.ts";
import { ApiError } from "../gateway/errors.ts";
import { createRouter } from "../gateway/route.ts";
import type { Metrics } from "./metrics.ts";

/**
 * `GET /metrics`, to be mounted at the root.
 *
 * It tells of all tenants together, so no tenant's token opens it: who asks must come from one of these addresses. A request
 * that another machine's proxy has brought is not one from its own address, even if nobody has named that proxy.
 * @param deps.allow Addresses and prefixes.
 */
export function metricsRoutes(deps: { readonly metrics: Metrics; readonly allow: readonly string[] }) {
  const isAllowed = createAddressSet(deps.allow);
  const router = createRouter();
  router.get("/metrics", async (c) => {
    const { address } = c.env.peer;
    const isBrought = c.req.header("x-forwarded-for") !== undefined || c.req.header("forwarded") !== undefined;
    const isLoopback = address === "::1" || address.startsWith("127.");
    if (!isAllowed(address) || (isBrought && isLoopback)) {
      identityOf(c);
      throw new ApiError("FORBIDDEN", "metrics are only for the addresses in metrics.allow");
    }
    return c.body(await deps.metrics.text(), 200, { "content-type": deps.metrics.contentType });
  });
  return router;
}

import type { Tiers } from "../app.ts";
import type { RateLimitSettings } from "../configuration.ts";

/** How much each kind of caller may ask, as the configuration says. */
export function tiersOf({ rate_limits: limits }: { readonly rate_limits: RateLimitSettings }): Tiers {
  const tier = ({ per_minute: perMinute, burst }: RateLimitSettings["standard"]) => ({ perMinute, burst });
  return { standard: tier(limits.standard), admin: tier(limits.admin), service: tier(limits.service), tokensPerUser: limits.tokens_per_user };
}

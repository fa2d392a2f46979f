import type { Tiers } from "../app.ts";
import type { RateLimitSettings } from "../configuration.ts";
import type { Tier } from "./rate-limit.ts";

/** How much each kind of caller may ask, as the configuration says. */
export function tiersOf({ rate_limits: limits }: { readonly rate_limits: RateLimitSettings }): Tiers {
  return { standard: tierOf(limits.standard), admin: tierOf(limits.admin), service: tierOf(limits.service), tokensPerUser: limits.tokens_per_user };
}

/** One tier, as the configuration writes it. */
export function tierOf({ per_minute: perMinute, burst }: RateLimitSettings["standard"]): Tier {
  return { perMinute, burst };
}

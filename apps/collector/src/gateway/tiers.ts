import type { Configuration } from "../configuration.ts";
import type { Tiers } from "./app.ts";

/** How much each kind of caller may ask, as the configuration says. */
export function tiersOf({ rate_limits: limits }: Configuration): Tiers {
  const tier = ({ per_minute: perMinute, burst }: Configuration["rate_limits"]["standard"]) => ({ perMinute, burst });
  return { standard: tier(limits.standard), admin: tier(limits.admin), service: tier(limits.service), tokensPerUser: limits.tokens_per_user };
}

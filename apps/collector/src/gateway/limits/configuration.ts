import * as z from "zod";
import type { ConnectionLimits } from "../http/connections.ts";
import type { StreamLimits } from "../stream-sessions.ts";

const Count = (fallback: number, max: number) => z.int().min(1).max(max).default(fallback);

/** `[connections]`: of HTTP and HTTPS together. An idle one takes some tens of kilobytes, with TLS twice that. */
export const ConnectionSettings = z.strictObject({
  total: Count(4096, 1_000_000),
  /** From one IPv4 address, or one /64 of IPv6. */
  per_address: Count(1024, 1_000_000),
  /** Of those: without a valid credential so far. */
  strangers_per_address: Count(64, 1_000_000),
  /** From one address in `trusted_proxies`. */
  per_proxy: Count(2048, 1_000_000),
}).prefault({});

/** `[streams]`: open WebSockets, own and proxied together. */
export const StreamSettings = z.strictObject({
  total: Count(1000, 100_000),
  per_tenant: Count(250, 100_000),
  /** Of one user, through tokens, tickets and API keys of the user's making. */
  per_user: Count(50, 100_000),
}).prefault({});

/** `[connections]` as the listeners take it. */
export function connectionLimits(settings: z.infer<typeof ConnectionSettings>): ConnectionLimits {
  return {
    total: settings.total, perAddress: settings.per_address, strangersPerAddress: settings.strangers_per_address,
    perProxy: settings.per_proxy,
  };
}

/** `[streams]` as the streams take it. */
export function streamLimits(settings: z.infer<typeof StreamSettings>): StreamLimits {
  return { total: settings.total, perTenant: settings.per_tenant, perUser: settings.per_user };
}

import type { Tiers } from "../gateway/app.ts";
import type { ConnectionLimits } from "../gateway/http/connections.ts";

const TIER = { perMinute: 100_000, burst: 100_000 };

/** Rate limits that no test meets unless it wants to. */
export const PLENTY: Tiers = { standard: TIER, admin: TIER, service: TIER };

/** Connections, likewise. */
export const PLENTY_OF_CONNECTIONS: ConnectionLimits = { total: 4096, perAddress: 4096, strangersPerAddress: 4096, perProxy: 4096 };

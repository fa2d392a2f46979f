import { isIPv6 } from "node:net";

/** Whether who listens there listens on every address. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** A host as a URL has it; who listens on every address is reached on this machine by the loopback one. */
export function urlHost(host: string): string {
  if (isWildcard(host)) return "127.0.0.1";
  return isIPv6(host) ? `[${host}]` : host;
}

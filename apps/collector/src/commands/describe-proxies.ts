import type { Configuration } from "../configuration.ts";
import { createAddressSet } from "../gateway/http/address.ts";

const isLoopbackAddress = createAddressSet(["127.0.0.0/8", "::1"]);

/** How `trusted_proxies` is set, in a line; where there are none and others than this machine may connect, what that means. */
export function describeProxies({ trusted_proxies: proxies, http, https }: Pick<Configuration, "trusted_proxies" | "http" | "https">): string {
  if (proxies.length > 0) return `trusted_proxies: ${proxies.join(", ")} may say in X-Forwarded-For who the client is`;
  const open = [...new Set([http, ...(https.enabled ? [https] : [])].map(({ host }) => host))]
    .filter((host) => host !== "localhost" && !isLoopbackAddress(host));
  const none = "trusted_proxies: none. A client is known by the address of its connection";
  if (open.length === 0) return none;
  return `${none}. The gateway listens on ${open.join(" and ")}: if a reverse proxy is in front of it, add the proxy's address. Until then all `
    + "of its clients count as one address, for rate limits, connections and the audit log";
}

import type { IncomingHttpHeaders } from "node:http";
import type { Clock, Log } from "@lanthorn/runtime";
import { createAddressSet, limitGroup, plainAddress } from "./address.ts";
import { IDENTITY_HEADER } from "../proxy/identity.ts";

const SAY_AGAIN_MS = 3_600_000;
/** Anybody can send the header from anywhere: in an hour the log gets no more lines than this. */
const MAX_LINES = 20;

/**
 * Watches for a proxy that nobody has named: to the collector all of its clients are one address, with one rate limit, one
 * share of the connections and one place in the audit log. The log says so once an hour for each address.
 * @returns To be called with each request's headers and the address of its connection.
 */
export function createProxyWarning(options: {
  readonly trustedProxies: readonly string[]; readonly clock: Pick<Clock, "monotonic">; readonly log: Pick<Log, "warn">;
}): (socketAddress: string | undefined, headers: IncomingHttpHeaders) => void {
  const { clock, log } = options;
  const isTrusted = createAddressSet(options.trustedProxies);
  const saidAt = new Map<string, number>();
  return (socketAddress, headers) => {
    const header = ["x-forwarded-for", "forwarded"].find((name) => headers[name] !== undefined);
    // Another collector's gateway says who asks in a header of its own.
    if (header === undefined || headers[IDENTITY_HEADER] !== undefined) return;
    const address = plainAddress(socketAddress ?? "");
    if (address === "" || isTrusted(address)) return;
    const now = clock.monotonic();
    for (const [known, at] of saidAt) if (now - at >= SAY_AGAIN_MS) saidAt.delete(known);
    const group = limitGroup(address);
    if (saidAt.has(group) || saidAt.size >= MAX_LINES) return;
    saidAt.set(group, now);
    log.warn(
      { address, header },
      `a request came with ${header} from an address that is not in trusted_proxies. If ${address} is your reverse proxy, add it there: `
      + "until then all of its clients count as one address for rate limits, connections and the audit log",
    );
  };
}

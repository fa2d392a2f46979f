/** Router advertisements for tests. */
import { ip, mac, ndpFrame } from "../../../observe/testing/frames.ts";

/** The link's own router. */
export const ROUTER = { router: "fe80::1", from: "00:aa:bb:cc:dd:01", prefix: "2001:db8:1::", dns: "2001:db8:1::53" } as const;
/** One that does not belong here. */
export const ROGUE = { router: "fe80::66", from: "00:aa:bb:cc:dd:66", prefix: "2001:db8:66::", dns: "2001:db8:66::53" } as const;

/** What an advertisement says. */
export interface Said {
  readonly router: string;
  readonly from: string;
  readonly prefix?: string | undefined;
  readonly dns?: string | undefined;
  readonly lifetime?: number;
  readonly preference?: "low" | "medium" | "high";
  readonly isManaged?: boolean;
  /** Prefix of a route option of 64 bits, or `::` for everything. */
  readonly route?: string;
}

/** A frame of it, to all nodes. */
export function advert({ router, from, prefix, dns, lifetime = 1800, preference = "medium", isManaged = false, route }: Said): Uint8Array {
  return ndpFrame({
    kind: "router-advertisement", hopLimit: 64, isManaged, hasOtherConfiguration: false, preference, routerLifetimeSeconds: lifetime, reachableTimeMs: 0,
    retransmissionTimerMs: 0,
    options: [
      { kind: "source-link-layer-address", address: mac(from) },
      ...(prefix ? [{
        kind: "prefix-information", prefixLength: 64, isOnLink: true, isAutonomous: true, validLifetimeSeconds: 7200, preferredLifetimeSeconds: 3600, prefix: ip(prefix),
      } as const] : []),
      ...(dns ? [{ kind: "recursive-dns-servers", lifetimeSeconds: 600, servers: [ip(dns)] } as const] : []),
      ...(route ? [{ kind: "unknown", type: 24, data: Uint8Array.of(route === "::" ? 0 : 64, 0, 0, 0, 7, 8, ...ip(route)) } as const] : []),
    ],
  }, router, "ff02::1", { from });
}

/** A MAC of its own for each number below 65,536. */
export function macOf(n: number): string {
  return `02:12:34:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`;
}

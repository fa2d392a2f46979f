import type { Severity } from "@lanthorn/contract/uplink";
import type { GuardDeps } from "../guard.ts";
import { FLOOD_SUBJECT } from "../incidents/incident.ts";
import { type Advert, advertFacts } from "./advert.ts";
import type { KnownRouter } from "./known-routers.ts";

/** Reports routers that do not belong to the link. */
export interface UnknownRouters {
  /** @param known Routers that are known in its VLAN. */
  accuse(advert: Advert, known: readonly KnownRouter[]): void;
  /** It says that it is no router any more, or somebody says that it is right. */
  end(router: string): void;
  isOpen(router: string): boolean;
  /** Whether it was heard more than a moment ago already, as a forged sender of a flood was not. */
  isRepeated(router: string): boolean;
  /** Whether an incident goes on. */
  isAny(): boolean;
  tick(now: number): void;
}

interface Unknown {
  readonly firstAt: number;
  at: number;
  reportedAt: number;
  expiresAt: number;
}

const KINDS = ["router_advertisement", "unexpected_ipv6"] as const;
const PAUSE_MS = 1000;
const REPEATED_MS = 1000;
/** Who is heard once only makes room after this. */
const MEMORY_MS = 60_000;
const MAX_UNKNOWN = 128;

/** At most 128 at once are followed to their end; those known longest stay. */
export function createUnknownRouters({ clock, incidents, link }: Pick<GuardDeps, "clock" | "incidents" | "link">): UnknownRouters {
  const unknown = new Map<string, Unknown>();
  const isOpen = (router: string) => KINDS.some((kind) => incidents.isOpen(kind, router));
  function end(router: string): void {
    unknown.delete(router);
    for (const kind of KINDS) if (incidents.isOpen(kind, router)) incidents.end(kind, router);
  }
  const isRepeated = (router: string) => clock.monotonic() - (unknown.get(router)?.firstAt ?? Number.POSITIVE_INFINITY) >= REPEATED_MS;
  /** The kind of the incident that goes on: the probe itself may have taken an address from an unknown router. */
  function kindOf(router: string, known: readonly KnownRouter[]): typeof KINDS[number] {
    const open = KINDS.find((kind) => incidents.isOpen(kind, router)) ?? KINDS.find((kind) => incidents.isAnyOpen(kind, isRouterOrMany));
    if (open) return open;
    const isIpv4Only = known.length === 0 && !(link()?.addresses ?? []).some(({ ip }) => /^[23]/.test(ip) && ip.includes(":"));
    return isIpv4Only ? "unexpected_ipv6" : "router_advertisement";
  }
  /** @returns Whether it is to be reported now. */
  function note(router: string, lifetimeSeconds: number): boolean {
    const now = clock.monotonic();
    const known = unknown.get(router);
    const expiresAt = lifetimeSeconds > 0 ? now + lifetimeSeconds * 1000 : Number.POSITIVE_INFINITY;
    if (!known) {
      if (unknown.size < MAX_UNKNOWN) unknown.set(router, { firstAt: now, at: now, reportedAt: now, expiresAt });
      return true;
    }
    known.at = now;
    known.expiresAt = expiresAt;
    if (now - known.reportedAt < PAUSE_MS) return false;
    known.reportedAt = now;
    return true;
  }
  return {
    accuse(advert, known) {
      const { router, mac, vlanId } = advert;
      if (!note(router, advert.lifetimeSeconds)) return;
      const [severity, why] = judge(advert, known);
      incidents.report({
        kind: kindOf(router, known), subject: router, mayBeForged: !isRepeated(router), severity, ip: router, mac, vlanId, packet: advert.packet,
        expectedMacs: [...new Set(known.flatMap(({ macs }) => macs))], facts: advertFacts(advert),
        detail: `The unknown IPv6 router ${router} (${mac}) advertises itself${known.length === 0 ? " on a network that has had no IPv6 router" : ""}. ${why} `
          + "Find the switch port of this MAC address and switch its router advertisements off (RA guard), or allow it in routers if it belongs here.",
      });
    },
    end,
    isOpen,
    isRepeated,
    isAny: () => [...unknown.keys()].some(isOpen),
    tick(now) {
      for (const [router, { at, firstAt, expiresAt }] of unknown) {
        if (now >= expiresAt) end(router);
        else if (now - at >= MEMORY_MS && at === firstAt && !isOpen(router)) unknown.delete(router);
      }
    },
  };
}

/** The subjects of this guard's incidents about unknown routers: their link-local addresses. */
function isRouterOrMany(subject: string): boolean {
  return subject === FLOOD_SUBJECT || /^fe[89ab]/.test(subject);
}

function judge({ isDefault, preference, dns, prefixes }: Advert, known: readonly KnownRouter[]): readonly [Severity, string] {
  if (isDefault && preference === "high" && known.length > 0) return ["critical", "It asks hosts to prefer it to the known router, so it can read and change their traffic."];
  if (isDefault) return ["high", "Hosts may send their traffic to it."];
  if (dns.length > 0) return ["high", `It gives hosts the name servers ${dns.join(", ")}.`];
  return ["medium", `It gives hosts the networks ${prefixes.join(", ")}.`];
}

import { DHCP_OPTION, type DhcpMessage, type Frame, formatMac } from "@lanthorn/packets";
import { createBoundedMap } from "../../bounded-map.ts";
import type { GuardDeps } from "../guard.ts";
import { createLatestMacs } from "./latest-macs.ts";

/** Notices who asks for addresses under many names until none is left. */
export interface Exhaustion {
  /** A client asks. @param client Its MAC as a number. @param packet The frame, of which a copy is kept. */
  asked(client: number, message: DhcpMessage, at: { readonly frame: Frame; readonly packet: Uint8Array }): void;
  /** A host has sent something else than DHCP. @param mac As a number. */
  lives(mac: number): void;
  tick(now: number): void;
  /** Whether an attack goes on. */
  isOpen(): boolean;
}

interface Newcomer {
  readonly at: number;
  /** The same for clients that one program or one host has made up. */
  readonly source: string;
  readonly vlanId: number | null;
  isAlive: boolean;
}

const WINDOW_MS = 60_000;
/** A host sends its first ARP or IPv6 packet within this of its first question for an address. */
const LIFE_MS = 2000;
/** After a power cut hundreds of hosts ask at once, and live; the telephones of a meeting are fewer than this a minute. */
const MIN_NEWCOMERS = 30;
/** Of those that had time to show life; below this share those who ask are nobody. */
const MIN_JUDGED = 20;
const ALIVE_SHARE = 0.2;
/** An attack that goes on makes up so many more; telephones that come after it are fewer. */
const MIN_MORE = 10;
/** Made up by one source: a program asks in one way, or from one MAC address. */
const SOURCE_SHARE = 0.8;
/** So many of unlike clients are made up nevertheless: a hall of people whose access point answers ARP for them brings fewer a minute. */
const MIN_UNLIKE = 120;
const MAX_NEWCOMERS = 2048;
/** Hosts that are known to live or to have asked; those heard of first make room. */
const MAX_KNOWN = 16_384;
const MAX_OPTION_BYTES = 64;
const SUBJECT = "pool";

/** At most 2048 newcomers of the last minute, and 16,384 hosts that are known. */
export function createExhaustion(deps: Pick<GuardDeps, "clock" | "incidents">): Exhaustion {
  const { clock, incidents } = deps;
  const alive = createLatestMacs(MAX_KNOWN);
  const asked = createBoundedMap<number, true>(MAX_KNOWN);
  /** In the order of their first question. Those that a report has counted are not here any more: a later one needs others. */
  const newcomers = new Map<number, Newcomer>();
  let packet: Uint8Array | null = null;
  let wasOpen = false;
  const isOpen = () => incidents.isOpen("dhcp_exhaustion", SUBJECT);

  /** Those of the last minute that had time to show life. */
  function judge(now: number): readonly Newcomer[] {
    for (const [client, { at }] of newcomers) {
      if (now - at < WINDOW_MS) break;
      newcomers.delete(client);
    }
    return [...newcomers.values()].filter(({ at }) => now - at >= LIFE_MS);
  }

  function report(judged: readonly Newcomer[], source: string | null): void {
    const mac = source?.startsWith(BY_MAC) ? source.slice(BY_MAC.length) : "";
    incidents.report({
      kind: "dhcp_exhaustion", subject: SUBJECT, severity: "high", ip: "", mac, vlanId: judged[0]?.vlanId ?? null, packet, facts: {},
      detail: `${newcomers.size} clients that nobody has seen before asked for addresses within a minute, and hardly any of them sent anything else. Somebody drains the `
        + `DHCP server's pool${mac ? ` from ${mac}` : ""}. Find the switch port with so many MAC addresses and limit them (port security, DHCP snooping with a rate limit).`,
    });
    for (const [client, { at }] of newcomers) if (clock.monotonic() - at >= LIFE_MS) newcomers.delete(client);
    packet = null;
  }

  return {
    asked(client, message, { frame, packet: bytes }) {
      if (asked.has(client)) return;
      asked.put(client, true);
      if (alive.has(client) || newcomers.size >= MAX_NEWCOMERS) return;
      newcomers.set(client, { at: clock.monotonic(), source: sourceOf(message, frame), vlanId: frame.vlanTags.at(-1)?.vlanId || null, isAlive: false });
      if (newcomers.size >= MIN_NEWCOMERS) packet ??= bytes.slice();
    },
    lives(mac) {
      if (alive.has(mac)) return;
      alive.add(mac);
      const newcomer = newcomers.size > 0 ? newcomers.get(mac) : undefined;
      if (newcomer) newcomer.isAlive = true;
    },
    isOpen,
    tick(now) {
      const goesOn = isOpen();
      // What was left of an attack that is over is no part of another.
      if (wasOpen && !goesOn) newcomers.clear();
      wasOpen = goesOn;
      if (newcomers.size < (goesOn ? MIN_MORE : MIN_NEWCOMERS)) return;
      const judged = judge(now);
      const living = judged.filter(({ isAlive }) => isAlive).length;
      if (judged.length < (goesOn ? MIN_MORE : MIN_JUDGED) || living > judged.length * ALIVE_SHARE) return;
      const source = commonSource(judged);
      if (source !== null || goesOn || judged.length >= MIN_UNLIKE) report(judged, source);
    },
  };
}

const BY_MAC = "mac ";

/** Another MAC that speaks for the client, else the way in which the client asks. @see RFC 2132 sections 9.8 and 9.13 */
function sourceOf({ chaddr, options }: DhcpMessage, { sourceMac, sourcePort }: Frame): string {
  if (sourceMac && sourceMac.some((byte, at) => byte !== chaddr[at])) return BY_MAC + formatMac(sourceMac);
  const [parameters, vendor] = [DHCP_OPTION.parameterRequestList, DHCP_OPTION.vendorClassIdentifier]
    .map((code) => Buffer.from(options.get(code)?.subarray(0, MAX_OPTION_BYTES) ?? []).toString("latin1"));
  return `port ${sourcePort} ${parameters} ${vendor}`;
}

/** The source of nearly all of them; null for none. */
function commonSource(newcomers: readonly Newcomer[]): string | null {
  const counts = new Map<string, number>();
  for (const { source } of newcomers) counts.set(source, (counts.get(source) ?? 0) + 1);
  for (const [source, count] of counts) if (count >= newcomers.length * SOURCE_SHARE) return source;
  return null;
}

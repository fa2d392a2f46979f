import { formatMac } from "@lanthorn/packets";
import type { GuardDeps } from "../guard.ts";

/** Notices who asks for addresses under many names until none is left. */
export interface Exhaustion {
  /** A client asks. @param client Its MAC as a number. @param sender The MAC that the frame comes from. */
  asked(client: number, sender: Uint8Array, at: { readonly vlanId: number | null; readonly packet: Uint8Array }): void;
  /** A host has sent something else than DHCP. @param mac As a number. */
  lives(mac: number): void;
  tick(now: number): void;
  /** Whether an attack goes on. */
  isOpen(): boolean;
}

interface Newcomer {
  readonly at: number;
  readonly sender: string;
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
const MAX_NEWCOMERS = 2048;
/** Hosts that are known to live or to have asked; those heard of first make room. */
const MAX_KNOWN = 16_384;
const REPORT_MS = 1000;
const SUBJECT = "pool";

/** At most 2048 newcomers of the last minute, and 16,384 hosts that are known. */
export function createExhaustion(deps: Pick<GuardDeps, "clock" | "incidents">): Exhaustion {
  const { clock, incidents } = deps;
  const alive = new Set<number>();
  /** In the order of their first question. */
  const newcomers = new Map<number, Newcomer>();
  const asked = new Set<number>();
  let packet: Uint8Array | null = null;
  let reportAt = 0;
  let isChanged = false;
  return {
    asked(client, sender, at) {
      if (asked.has(client)) return;
      remember(asked, client);
      if (alive.has(client) || newcomers.size >= MAX_NEWCOMERS) return;
      newcomers.set(client, { at: clock.monotonic(), sender: formatMac(sender), vlanId: at.vlanId, isAlive: false });
      isChanged = true;
      if (newcomers.size >= MIN_NEWCOMERS) packet ??= at.packet.slice();
    },
    lives(mac) {
      if (alive.has(mac)) return;
      remember(alive, mac);
      const newcomer = newcomers.size > 0 ? newcomers.get(mac) : undefined;
      if (newcomer) newcomer.isAlive = true;
    },
    isOpen: () => incidents.isOpen("dhcp_exhaustion", SUBJECT),
    tick(now) {
      for (const [client, { at }] of newcomers) {
        if (now - at < WINDOW_MS) break;
        newcomers.delete(client);
      }
      if (newcomers.size < MIN_NEWCOMERS || now < reportAt || !isChanged) return;
      const judged = [...newcomers.values()].filter(({ at }) => now - at >= LIFE_MS);
      const living = judged.filter(({ isAlive }) => isAlive).length;
      if (judged.length < MIN_JUDGED || living > judged.length * ALIVE_SHARE) return;
      reportAt = now + REPORT_MS;
      isChanged = judged.length < newcomers.size;
      const senders = new Set(judged.map(({ sender }) => sender));
      const [sender = ""] = senders.size === 1 ? senders : [];
      incidents.report({
        kind: "dhcp_exhaustion", subject: SUBJECT, severity: "high", ip: "", mac: sender, vlanId: judged[0]?.vlanId ?? null, packet, facts: {},
        detail: `${newcomers.size} clients that nobody has seen before asked for addresses within a minute, and hardly any of them sent anything else. Somebody drains the `
          + `DHCP server's pool${sender ? ` from ${sender}` : ""}. Find the switch port with so many MAC addresses and limit them (port security, DHCP snooping with a rate limit).`,
      });
      packet = null;
    },
  };
}

function remember(set: Set<number>, mac: number): void {
  if (set.size >= MAX_KNOWN) for (const oldest of set) {
    set.delete(oldest);
    break;
  }
  set.add(mac);
}

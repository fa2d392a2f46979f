import type { GuardKind } from "@lanthorn/contract/uplink";
import { DHCP_PORT } from "@lanthorn/packets";
import type { Guard, GuardDeps, GuardFrame } from "../guard.ts";
import { createSeenMacs } from "./seen-macs.ts";

/** New MACs in half a second, in each of several ticks in a row. Macof makes thousands; after a power cut a large network shows fewer, for shorter. */
const MIN_NEW = 150;
const TICKS = 4;
/** At first everybody is new. */
const FIRST_TICKS = 10;
const LEARNING_MS = 15_000;
const SOURCE_MAC_AT = 6;

/** Attacks on ARP and the like have guards of their own, which report them within this: one attack is one incident. */
const MORE_TICKS = 3;
const OTHER_KINDS: readonly GuardKind[] = [
  "arp_storm", "arp_spoofing", "ndp_spoofing", "address_scan", "router_advertisement", "unexpected_ipv6", "spanning_tree", "neighbor_spoofing", "vlan_hopping", "dhcp_exhaustion",
];

/** New MACs of frames of one sort. */
interface Tally {
  fresh: number;
  inRow: number;
  inAll: number;
  packet: Uint8Array | null;
}

/** Frames from forged MACs, which make a switch forget where its hosts are and send everything to every port. */
export function createMacFloodingGuard({ clock, incidents }: Pick<GuardDeps, "clock" | "incidents">): Guard {
  const seen = createSeenMacs();
  const create = (): Tally => ({ fresh: 0, inRow: 0, inAll: 0, packet: null });
  /** Those of IP, and those of ARP, NDP and what is not IP. */
  const [plain, guarded] = [create(), create()];
  let startedAt: number | null = null;
  const hear = (tally: Tally, { bytes }: GuardFrame["captured"], sourceMacAt: number) => {
    if (!seen.add(bytes, sourceMacAt)) return;
    tally.fresh += 1;
    if (tally.fresh === MIN_NEW) tally.packet = bytes.slice();
  };
  const settle = (tally: Tally) => {
    const isFlooded = tally.fresh >= MIN_NEW;
    tally.inRow = isFlooded ? tally.inRow + 1 : 0;
    tally.inAll = isFlooded ? tally.inAll + tally.fresh : 0;
    tally.fresh = 0;
  };
  const report = ({ inAll, inRow, packet }: Tally) => incidents.report({
    kind: "mac_flooding", subject: "link", severity: "high", ip: "", mac: "", packet, facts: {},
    detail: `${inAll} source MAC addresses that were never seen before came within ${inRow / 2} seconds. No network grows so fast: somebody forges them to `
      + "fill the switch's address table, after which it sends all traffic to all ports. Find the switch port with thousands of addresses, shut it "
      + "down, and limit the addresses of each access port (port security).",
  });
  return {
    name: "MAC flooding",
    onAny({ captured, frame }: GuardFrame) {
      if (isDhcp(frame.sourcePort) || isDhcp(frame.destinationPort)) return;
      hear(frame.ipLength === 0 || frame.transport === "icmpv6" ? guarded : plain, captured, frame.sourceMacOffset);
    },
    // Macof's frames end before the TCP header that they claim to have.
    onUnreadable: (captured) => hear(plain, captured, SOURCE_MAC_AT),
    tick(now) {
      startedAt ??= now;
      settle(plain);
      settle(guarded);
      const ticks = clock.monotonic() - startedAt < LEARNING_MS ? FIRST_TICKS : TICKS;
      if (plain.inRow >= ticks) report(plain);
      else if (guarded.inRow >= ticks + MORE_TICKS && !OTHER_KINDS.some((kind) => incidents.isAnyOpen(kind, () => true))) report(guarded);
    },
  };
}

function isDhcp(port: number): boolean {
  return port === DHCP_PORT.server || port === DHCP_PORT.client;
}

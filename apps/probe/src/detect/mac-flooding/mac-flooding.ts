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

/** Frames from forged MACs, which make a switch forget where its hosts are and send everything to every port. */
export function createMacFloodingGuard({ clock, incidents }: Pick<GuardDeps, "clock" | "incidents">): Guard {
  const seen = createSeenMacs();
  let fresh = 0;
  let inRow = 0;
  let inAll = 0;
  let startedAt: number | null = null;
  let packet: Uint8Array | null = null;
  const hear = ({ bytes }: GuardFrame["captured"], sourceMacAt: number) => {
    if (!seen.add(bytes, sourceMacAt)) return;
    fresh += 1;
    if (fresh === MIN_NEW) packet = bytes.slice();
  };
  return {
    name: "MAC flooding",
    onAny({ captured, frame }: GuardFrame) {
      // ARP, NDP, DHCP and what switches say have guards of their own: one attack is one incident.
      if (frame.ipLength === 0 || frame.transport === "icmpv6" || isDhcp(frame.sourcePort) || isDhcp(frame.destinationPort)) return;
      hear(captured, frame.sourceMacOffset);
    },
    // Macof's frames end before the TCP header that they claim to have.
    onUnreadable: (captured) => hear(captured, SOURCE_MAC_AT),
    tick(now) {
      startedAt ??= now;
      const isFlooded = fresh >= MIN_NEW;
      inRow = isFlooded ? inRow + 1 : 0;
      inAll = isFlooded ? inAll + fresh : 0;
      fresh = 0;
      if (inRow < (clock.monotonic() - startedAt < LEARNING_MS ? FIRST_TICKS : TICKS)) return;
      incidents.report({
        kind: "mac_flooding", subject: "link", severity: "high", ip: "", mac: "", packet, facts: {},
        detail: `${inAll} source MAC addresses that were never seen before came within ${inRow / 2} seconds. No network grows so fast: somebody forges them to `
          + "fill the switch's address table, after which it sends all traffic to all ports. Find the switch port with thousands of addresses, shut it "
          + "down, and limit the addresses of each access port (port security).",
      });
    },
  };
}

function isDhcp(port: number): boolean {
  return port === DHCP_PORT.server || port === DHCP_PORT.client;
}

import type { ProbeEvent } from "@lanthorn/contract/uplink";
import { decodeArp, ETHER_TYPE, formatIp, formatMac } from "@lanthorn/packets";
import type { BusClock } from "../bus-clock.ts";
import type { BusModule } from "../frame-bus.ts";

/** As long as a machine keeps the address, it is reported once an hour. */
const REPEAT_MS = 3_600_000;
/** Who makes up one MAC after the other is reported as often, and costs no more memory. */
const MAX_REPORTED = 64;
/** What is behind an ARP packet is padding. */
const MAX_EVIDENCE_BYTES = 64;

/**
 * Reports another machine that uses the probe's own address: the sender of its ARP packets.
 * @param deps.own Our own MAC and IPv4 addresses, as texts.
 * @see RFC 5227 section 2.4
 */
export function createOwnAddressGuard(deps: {
  readonly clock: Pick<BusClock, "now" | "monotonic">;
  readonly own: () => { readonly mac: string; readonly addresses: readonly string[] };
  readonly publish: (events: readonly ProbeEvent[]) => boolean;
}): BusModule {
  const { clock } = deps;
  const reportedAt = new Map<string, number>();
  const isDue = (mac: string) => clock.monotonic() - (reportedAt.get(mac) ?? Number.NEGATIVE_INFINITY) >= REPEAT_MS;
  return {
    name: "own address guard",
    onFrame(frame) {
      const decoded = frame.decoded();
      if (!decoded.ok || decoded.value.etherType !== ETHER_TYPE.arp) return;
      const arp = decodeArp(decoded.value.networkBytes);
      if (!arp.ok || arp.value.hardwareType !== 1 || arp.value.protocolType !== ETHER_TYPE.ipv4) return;
      const ip = formatIp(arp.value.senderProtocolAddress);
      const mac = formatMac(arp.value.senderHardwareAddress);
      const own = deps.own();
      if (mac === own.mac || !own.addresses.includes(ip) || !isDue(mac)) return;
      if (reportedAt.size >= MAX_REPORTED) reportedAt.clear();
      const isWritten = deps.publish([{
        type: "rogue_detected", occurred_at: new Date(clock.now()).toISOString(),
        data: {
          kind: "duplicate_ip", severity: "high", ip, mac, expected_macs: [own.mac], vlan_id: null,
          detail: `${mac} uses the probe's own address ${ip}. Give one of them another address.`,
          packets: [Buffer.from(frame.bytes.subarray(0, MAX_EVIDENCE_BYTES)).toString("base64")],
        },
      }]);
      // What cannot be written is reported with the next packet.
      if (isWritten) reportedAt.set(mac, clock.monotonic());
    },
  };
}

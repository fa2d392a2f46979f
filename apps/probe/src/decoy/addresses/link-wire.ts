/** An interface on which decoys have addresses of their own: what is said there of addresses, and a way to say it. */
import { openCapture, openInjector } from "@lanthorn/packet-io";
import { type ArpPacket, ipv4Number } from "@lanthorn/packets";
import type { Clock } from "@lanthorn/runtime";
import { readArpFrame } from "./arp-frames.ts";
import { type NeighborClaim, readNeighborClaim } from "./neighbor-claims.ts";

/** Frames that go to the MAC addresses of links on top of the interface are seen here, too. */
const FILTER = "arp or (icmp6 and ip6[7] == 255 and (ip6[40] == 135 or ip6[40] == 136))";
const SNAP_LENGTH = 256;
/** Of Ethernet and ARP between Ethernet and IPv4. @see RFC 826 */
const [ETHER_TYPE_OFFSET, ARP_TYPE, ARP_SENDER_OFFSET, ARP_TARGET_OFFSET, ARP_FRAME_OCTETS] = [12, 0x0806, 28, 38, 42];

/** Open until it is closed, or lost. */
export interface LinkWire {
  /** What cannot be sent is lost: who sends tries again, or finds out by the capture's loss. */
  send(frame: Uint8Array): void;
  close(): Promise<void>;
}

/**
 * @param deps.isConcerned Whether an IPv4 address, as a number, is one that is waited for; ARP of others is left out before it is copied.
 * @param deps.onLost The interface went down or away.
 * @throws PacketIoError as `openCapture` does.
 */
export function openLinkWire(name: string, { isConcerned, onArp, onClaim, onLost, clock }: {
  readonly isConcerned: (address: number) => boolean; readonly onArp: (arp: ArpPacket) => void; readonly onClaim: (claim: NeighborClaim) => void; readonly onLost: (reason: Error) => void; readonly clock: Clock;
}): LinkWire {
  const capture = openCapture({
    interface: name, filter: FILTER, snapLength: SNAP_LENGTH, promiscuous: false, clock, onLost,
    isLeftOut(bytes, length) {
      if (length < ARP_FRAME_OCTETS) return true;
      if (((bytes[ETHER_TYPE_OFFSET] ?? 0) << 8 | (bytes[ETHER_TYPE_OFFSET + 1] ?? 0)) !== ARP_TYPE) return false;
      return !isConcerned(ipv4Number(bytes, ARP_SENDER_OFFSET)) && !isConcerned(ipv4Number(bytes, ARP_TARGET_OFFSET));
    },
    onFrames(batch) {
      for (const { bytes } of batch) {
        const arp = readArpFrame(bytes);
        if (arp) onArp(arp);
        else {
          const claim = readNeighborClaim(bytes);
          if (claim) onClaim(claim);
        }
      }
    },
  });
  const injector = openInjector({ interface: name, clock });
  return {
    send: (frame) => void injector.send([frame]).catch(() => undefined),
    async close() {
      injector.close();
      await capture.close();
    },
  };
}

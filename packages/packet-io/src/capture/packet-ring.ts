import { PacketIoError } from "../errors.ts";
import { LINUX, loadLibc } from "../libc.ts";
import { attachFilter, scanAnswers } from "./packet-filter.ts";
import { bindToInterface, openPacketSocket } from "../send/packet-socket.ts";

/** Enough of a frame for the headers of both IP versions and the beginning of what is in it. */
const FRAME_OCTETS = 512;
const BLOCK_OCTETS = 1 << 20;
/** 8 MiB: 16,384 frames, 50 ms of 300 k/s. Given back when the ring is closed. */
const BLOCKS = 8;
const FRAMES = (BLOCK_OCTETS / FRAME_OCTETS) * BLOCKS;

/** A `struct tpacket2_hdr`: status, octets on the wire, octets kept, offset of the frame. @see linux/if_packet.h */
const STATUS_WORD = 0;
const KEPT_AT = 8;
const MAC_AT = 12;
const TPACKET_V2 = 1;
const TP_STATUS_KERNEL = 0;
const TP_STATUS_USER = 1;

/** Frames that came in, read where the kernel wrote them. */
export interface PacketRing {
  /**
   * Hands over every waiting frame; costs next to nothing when there is none, so ask often.
   * @param onFrame Must not keep `bytes`: the frame from `offset` on, `length` octets of it, is the kernel's again afterwards.
   * @returns How many there were.
   */
  read(onFrame: (bytes: Uint8Array, offset: number, length: number) => void): number;
  /** Frames that found the ring full, since the last call. */
  dropped(): number;
  /** Not from within `read`. */
  close(): void;
}

/**
 * Opens a ring that takes what answers a scan: ARP, ICMP, and TCP and UDP to one port of ours; not what this host sends.
 * @throws PacketIoError `interface-missing`, `interface-down`, `permission-denied`, `capture-lost` or `library-missing`.
 */
export function openPacketRing(options: { readonly interface: string; readonly port: number }): PacketRing {
  const libc = loadLibc();
  const socket = openPacketSocket(options.interface, 0);
  const set = (option: number, values: readonly number[]) =>
    libc.setsockopt(socket, LINUX.SOL_PACKET, option, new Uint8Array(Uint32Array.from(values).buffer), values.length * 4) === 0;
  const isReady =
    set(LINUX.PACKET_VERSION, [TPACKET_V2]) && set(LINUX.PACKET_RX_RING, [BLOCK_OCTETS, BLOCKS, FRAME_OCTETS, FRAMES]) &&
    attachFilter(socket, scanAnswers(options.port));
  const memory = isReady ? libc.map(socket, BLOCK_OCTETS * BLOCKS) : null;
  if (memory === null) {
    const errno = libc.errno();
    libc.close(socket);
    throw new PacketIoError("capture-lost", `cannot make a packet ring on ${options.interface} (errno ${errno})`);
  }
  set(LINUX.PACKET_IGNORE_OUTGOING, [1]);
  try {
    bindToInterface(socket, options.interface, LINUX.ETH_P_ALL);
  } catch (error) {
    libc.unmap(memory);
    throw error;
  }
  const bytes = new Uint8Array(memory);
  const words = new Int32Array(memory);
  let next = 0;
  let open = true;
  return {
    read(onFrame) {
      if (!open) return 0;
      let count = 0;
      // One round at most, so that a flood cannot hold the caller.
      while (count < FRAMES) {
        const at = next * FRAME_OCTETS;
        // Atomic, for its ordering: what the kernel wrote before the status is there to be read after it.
        if ((Atomics.load(words, (at >>> 2) + STATUS_WORD) & TP_STATUS_USER) === 0) break;
        const kept = words[(at + KEPT_AT) >>> 2] as number;
        const offset = (bytes[at + MAC_AT] as number) | ((bytes[at + MAC_AT + 1] as number) << 8);
        onFrame(bytes, at + offset, Math.min(kept, FRAME_OCTETS - offset));
        Atomics.store(words, (at >>> 2) + STATUS_WORD, TP_STATUS_KERNEL);
        next = (next + 1) % FRAMES;
        count += 1;
      }
      return count;
    },
    dropped() {
      const statistics = new Uint32Array(2);
      const length = new Uint32Array([8]);
      const [into, size] = [new Uint8Array(statistics.buffer), new Uint8Array(length.buffer)];
      if (open) libc.getsockopt(socket, LINUX.SOL_PACKET, LINUX.PACKET_STATISTICS, into, size);
      return statistics[1] as number;
    },
    close() {
      if (!open) return;
      open = false;
      libc.unmap(memory);
      libc.close(socket);
    },
  };
}

import { endianness } from "node:os";
import type { AddressSet } from "../address-set.ts";
import { PacketIoError } from "../errors.ts";
import { LINUX, loadLibc } from "../libc.ts";
import { linkError, readLinkState } from "../interface/link-state.ts";
import { bindToInterface, openPacketSocket } from "./packet-socket.ts";
import { mayPass } from "./egress-filter.ts";

/** Frames that one system call takes; 256 at once lost no reply, 65 k lost 58 k. */
export const RAW_BATCH_FRAMES = 256;
/** The longest frame that fits: of what scanners ask, Web Services Discovery is the longest, 543 over IPv6. */
export const RAW_FRAME_OCTETS = 640;

/** A `struct mmsghdr` and a `struct iovec` of 64-bit Linux. @see sendmmsg(2) */
const MESSAGE_OCTETS = 64;
const IOVEC_OCTETS = 16;
const MIN_FRAME_LENGTH = 14;

/**
 * Sends frames in batches of one system call, past the kernel's queues: for what goes out by the hundred thousand. The frames are written
 * straight into its memory: take a place with `place`, fill `bytes` from there on, and `commit` it.
 *
 * Nothing leaves that goes to or asks for an excluded address, is for a print port (9100–9107, 515), or is not understood.
 */
export interface RawSender {
  /** Places for 256 frames of at most 640 octets. */
  readonly bytes: Uint8Array;
  /** Where the next frame is to begin in `bytes`, or -1 while all places are taken: `flush` then. Its old content is still there. */
  place(): number;
  /** Takes the frame at the last `place` into the batch. @returns False where it may not leave; the place is free again. */
  commit(length: number): boolean;
  /**
   * Sends what was committed.
   * @returns False where the interface's queue is full and frames are left: flush again a millisecond later.
   * @throws PacketIoError `interface-down`, `interface-missing` or `send-failed`.
   */
  flush(): boolean;
  /** Frames sent, and frames that were kept back since it was opened. */
  counters(): { readonly sent: number; readonly refused: number };
  close(): void;
}

/**
 * @param options.excluded Asked for each frame, so that a change holds at once.
 * @throws PacketIoError `interface-missing`, `interface-down`, `permission-denied` or `library-missing`.
 */
export function openRawSender(options: { readonly interface: string; readonly excluded: () => AddressSet }): RawSender {
  const libc = loadLibc();
  if (endianness() !== "LE") throw new PacketIoError("library-missing", "raw links work on little-endian machines only");
  const socket = openPacketSocket(options.interface, 0);
  const one = Uint8Array.of(1, 0, 0, 0);
  libc.setsockopt(socket, LINUX.SOL_PACKET, LINUX.PACKET_QDISC_BYPASS, one, 4);
  bindToInterface(socket, options.interface, 0);
  // Their addresses are in the kernel's structures: these buffers stay referenced as long as the sender.
  const slab = Buffer.allocUnsafeSlow(RAW_BATCH_FRAMES * RAW_FRAME_OCTETS).fill(0);
  const vectors = Buffer.allocUnsafeSlow(RAW_BATCH_FRAMES * IOVEC_OCTETS).fill(0);
  const messages = Buffer.allocUnsafeSlow(RAW_BATCH_FRAMES * MESSAGE_OCTETS).fill(0);
  const lengths = new Uint32Array(vectors.buffer, vectors.byteOffset, vectors.length / 4);
  const slabAt = libc.addressOf(slab);
  const vectorsAt = libc.addressOf(vectors);
  for (let index = 0; index < RAW_BATCH_FRAMES; index += 1) {
    vectors.writeBigUInt64LE(slabAt + BigInt(index * RAW_FRAME_OCTETS), index * IOVEC_OCTETS);
    messages.writeBigUInt64LE(vectorsAt + BigInt(index * IOVEC_OCTETS), index * MESSAGE_OCTETS + 16);
    messages.writeBigUInt64LE(1n, index * MESSAGE_OCTETS + 24);
  }
  let count = 0;
  let first = 0;
  let sent = 0;
  let refused = 0;
  let open = true;

  const fail = (errno: number): PacketIoError => {
    const link = readLinkState(options.interface);
    if (link.state !== "up") return linkError(options.interface, link.state);
    return new PacketIoError("send-failed", `${options.interface}: the kernel did not take a frame (errno ${errno})`);
  };
  return {
    bytes: slab,
    place: () => (count === RAW_BATCH_FRAMES ? -1 : count * RAW_FRAME_OCTETS),
    commit(length) {
      if (length < MIN_FRAME_LENGTH || length > RAW_FRAME_OCTETS || count === RAW_BATCH_FRAMES) return false;
      if (!mayPass(slab, count * RAW_FRAME_OCTETS, length, options.excluded())) {
        refused += 1;
        return false;
      }
      lengths[(count * IOVEC_OCTETS + 8) >>> 2] = length;
      count += 1;
      return true;
    },
    flush() {
      if (!open) throw new PacketIoError("send-failed", "the sender was closed before the frame was sent");
      while (first < count) {
        const taken = libc.sendmmsg(socket, messages.subarray(first * MESSAGE_OCTETS), count - first, LINUX.MSG_DONTWAIT);
        if (taken > 0) {
          first += taken;
          sent += taken;
          continue;
        }
        const errno = libc.errno();
        if (errno === LINUX.EAGAIN || errno === LINUX.ENOBUFS) return false;
        if (errno === LINUX.EINTR) continue;
        count = 0;
        first = 0;
        throw fail(errno);
      }
      count = 0;
      first = 0;
      return true;
    },
    counters: () => ({ sent, refused }),
    close() {
      if (open) libc.close(socket);
      open = false;
    },
  };
}

import type { BpfInstruction } from "@lanthorn/packets";
import { attachFilter } from "../capture/packet-filter.ts";
import { PacketIoError } from "../errors.ts";
import { type Libc, LINUX, loadLibc } from "../libc.ts";
import { bindToInterface, openPacketSocket } from "../send/packet-socket.ts";

/**
 * 16 MiB in blocks of 256 KiB, resident in this process: smaller ones cost more for each frame, larger ones do not stay in the processor's own cache. Each
 * block that the kernel closes by its time, however empty, is used up until it is given back: 64 of them let this process stand still for a
 * second on a quiet link, and for 20 ms of 800 MB/s.
 */
const BLOCK_OCTETS = 1 << 18;
const BLOCKS = 64;
/** Octets of the kernel's ring of a capture; they count as this process's memory. */
export const KERNEL_RING_OCTETS = BLOCK_OCTETS * BLOCKS;
/** Only its divisibility matters to TPACKET_V3, whose frames are as long as they are. */
const FRAME_OCTETS = 2048;
/** A block is closed so long after its first frame, full or not: the most that a frame waits for in the kernel. */
const RETIRE_MS = 16;
/** For a VLAN tag that is put back. */
const RESERVED_OCTETS = 4;
const TPACKET_V3 = 2;
const TP_STATUS_KERNEL = 0;
const TP_STATUS_USER = 1;

/** Of a block's head: status, number of frames, where the first one is, octets used. @see `struct tpacket_hdr_v1` of linux/if_packet.h */
const STATUS_AT = 8;
const FRAMES_AT = 12;
const FIRST_AT = 16;
const USED_AT = 20;

/** A `struct sockaddr_ll` and where it has the hardware's type. */
const ADDRESS_OCTETS = 20;
const HARDWARE_TYPE_AT = 8;

/** A block that the kernel has closed, where the kernel wrote it. */
export interface KernelBlock {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly end: number;
  readonly frames: number;
}

/** The kernel's ring of blocks of one interface. */
export interface BlockRing {
  readonly socket: number;
  /**
   * Hands over the next block that is ready, and gives it back to the kernel.
   * @param onBlock Must not keep it.
   * @returns False where none is ready.
   */
  take(onBlock: (block: KernelBlock) => void): boolean;
  /** Blocks that wait, as a share of all: 0 to 1. */
  load(): number;
  /** Frames that found no room, since the last call. */
  dropped(): number;
  /** Not from within `take`. */
  close(): void;
}

/**
 * @param options.program Says of each frame how many octets to keep.
 * @throws PacketIoError `interface-missing`, `interface-down`, `interface-unsupported`, `permission-denied`, `capture-lost` or `library-missing`.
 */
export function openBlockRing(options: {
  readonly interface: string; readonly program: readonly BpfInstruction[]; readonly promiscuous: boolean;
}): BlockRing {
  const libc = loadLibc();
  const socket = openPacketSocket(options.interface, 0);
  const memory = mapRing(libc, socket, options);
  try {
    bindToInterface(socket, options.interface, LINUX.ETH_P_ALL);
  } catch (error) {
    libc.unmap(memory);
    throw error;
  }
  const close = () => {
    libc.unmap(memory);
    libc.close(socket);
  };
  const hardware = hardwareTypeOf(libc, socket);
  if (hardware !== LINUX.ARPHRD_ETHER && hardware !== LINUX.ARPHRD_LOOPBACK) {
    close();
    throw new PacketIoError("interface-unsupported", `interface ${options.interface} carries frames of type ${hardware}, not Ethernet frames; choose another`);
  }
  return readRing({ libc, socket, memory, close });
}

/** The filter comes first, and nothing is bound yet: no frame passes it by. */
function mapRing(
  libc: Libc, socket: number, options: { readonly interface: string; readonly program: readonly BpfInstruction[]; readonly promiscuous: boolean },
): ArrayBuffer {
  const set = (option: number, values: readonly number[]) =>
    libc.setsockopt(socket, LINUX.SOL_PACKET, option, new Uint8Array(Uint32Array.from(values).buffer), values.length * 4) === 0;
  // The index of the interface, PACKET_MR_PROMISC in 16 bits and no address. @see packet(7)
  const membership = [libc.if_nametoindex(options.interface), LINUX.PACKET_MR_PROMISC, 0, 0];
  const isReady = set(LINUX.PACKET_VERSION, [TPACKET_V3]) && set(LINUX.PACKET_RESERVE, [RESERVED_OCTETS]) &&
    set(LINUX.PACKET_RX_RING, [BLOCK_OCTETS, BLOCKS, FRAME_OCTETS, (BLOCK_OCTETS / FRAME_OCTETS) * BLOCKS, RETIRE_MS, 0, 0]) &&
    attachFilter(socket, options.program) && (!options.promiscuous || set(LINUX.PACKET_ADD_MEMBERSHIP, membership));
  const memory = isReady ? libc.map(socket, KERNEL_RING_OCTETS) : null;
  if (memory !== null) return memory;
  const errno = libc.errno();
  libc.close(socket);
  throw new PacketIoError("capture-lost", `cannot make a packet ring on ${options.interface} (errno ${errno})`);
}

function hardwareTypeOf(libc: Libc, socket: number): number {
  const address = Buffer.alloc(ADDRESS_OCTETS);
  libc.getsockname(socket, address, new Uint8Array(Uint32Array.of(ADDRESS_OCTETS).buffer));
  return address.readUInt16LE(HARDWARE_TYPE_AT);
}

function readRing({ libc, socket, memory, close }: {
  readonly libc: Libc; readonly socket: number; readonly memory: ArrayBuffer; readonly close: () => void;
}): BlockRing {
  const bytes = Buffer.from(memory);
  const words = new Int32Array(memory);
  const statistics = new Uint32Array(3);
  const length = new Uint32Array(1);
  let next = 0;
  let open = true;
  // Atomic, for its ordering: what the kernel wrote before the status is there to be read after it.
  const isReady = (block: number) => (Atomics.load(words, (block * BLOCK_OCTETS + STATUS_AT) >>> 2) & TP_STATUS_USER) !== 0;
  return {
    socket,
    take(onBlock) {
      if (!open || !isReady(next)) return false;
      const at = next * BLOCK_OCTETS;
      next = (next + 1) % BLOCKS;
      const word = (field: number) => words[(at + field) >>> 2] as number;
      try {
        if (word(FRAMES_AT) > 0) onBlock({ bytes, offset: at + word(FIRST_AT), end: at + word(USED_AT), frames: word(FRAMES_AT) });
      } finally {
        if (open) Atomics.store(words, (at + STATUS_AT) >>> 2, TP_STATUS_KERNEL);
      }
      return true;
    },
    load() {
      if (!open) return 0;
      // Blocks that wait lie behind each other: how many, is found by doubling and then by halving, as mostly there are few, which are read next.
      let waiting = 0;
      let step = 1;
      const areMore = () => waiting + step <= BLOCKS && isReady((next + waiting + step - 1) % BLOCKS);
      for (; areMore(); step *= 2) waiting += step;
      for (; step >= 1; step /= 2) if (areMore()) waiting += step;
      return waiting / BLOCKS;
    },
    dropped() {
      length[0] = statistics.byteLength;
      statistics.fill(0);
      if (open) libc.getsockopt(socket, LINUX.SOL_PACKET, LINUX.PACKET_STATISTICS, new Uint8Array(statistics.buffer), new Uint8Array(length.buffer));
      return statistics[1] as number;
    },
    close() {
      if (open) close();
      open = false;
    },
  };
}

import type { BpfInstruction } from "@lanthorn/packets";
import type { PacketIoClock } from "../capture/capture-types.ts";
import { PacketIoError } from "../errors.ts";
import { linkError, readLinkState, readSysfs } from "../interface/link-state.ts";
import { openBlockRing } from "./block-ring.ts";
import { compileForKernel } from "./compile-filter.ts";
import { createLookPace } from "./look-pace.ts";
import { openPcapTraffic } from "./pcap-traffic.ts";
import { sharedReadiness } from "./readiness.ts";
import type { TrafficCapture, TrafficCaptureOptions } from "./traffic-types.ts";

/** One turn of the event loop takes blocks for so long; then the rest of the process has its turn. */
const TURN_MS = 2;
/** To read what the driver counts costs two files of the kernel. */
const DROPS_EVERY_MS = 1000;
const RETURN_CONSTANT = 0x06;

/**
 * Captures all traffic of an interface, those frames included that this host sends, block by block: a block of the kernel's ring is copied
 * once, into memory that `allocate` gives, and given back at once. While the interface is quiet the process is woken twice a second.
 * A capture that is open keeps the process alive.
 * @throws PacketIoError `interface-missing`, `interface-down`, `interface-unsupported`, `permission-denied`, `filter-invalid`,
 * `capture-lost` or `library-missing`.
 */
export function openTrafficCapture(options: TrafficCaptureOptions): TrafficCapture {
  const snapLength = Math.min(Math.max(Math.trunc(options.snapLength), 64), 262_144);
  return options.reader === "pcap" ? openPcapTraffic({ ...options, snapLength }) : openRingTraffic({ ...options, snapLength });
}

function openRingTraffic(options: TrafficCaptureOptions): TrafficCapture {
  const ring = openBlockRing({ interface: options.interface, promiscuous: options.promiscuous, program: kernelProgram(options) });
  const interfaceDrops = createInterfaceDrops(options.interface, options.clock);
  let isOpen = true;
  let frames = 0;
  let droppedByKernel = 0;

  const stop = () => {
    if (!isOpen) return;
    isOpen = false;
    stopWatching();
    droppedByKernel += ring.dropped();
    interfaceDrops.read(true);
    ring.close();
  };
  /** @returns False where no block is ready, or the ring is closed. */
  const takeBlock = (): boolean => {
    let copied: Parameters<typeof options.onBlock>[0] | null = null;
    const isReady = ring.take((block) => {
      const octets = block.end - block.offset;
      const { bytes, offset } = options.allocate(octets);
      block.bytes.copy(bytes, offset, block.offset, block.end);
      copied = { bytes, offset, end: offset + octets, frames: block.frames };
      frames += block.frames;
    });
    if (copied) options.onBlock(copied);
    return isReady;
  };
  const pace = createLookPace(options.clock);
  let [blocksOfLook, framesBefore] = [0, 0];
  const stopWatching = sharedReadiness(options.clock).watch(ring.socket, (isBroken) => {
    const end = options.clock.monotonic() + TURN_MS;
    if (!isBroken) {
      while (takeBlock()) {
        blocksOfLook += 1;
        if (options.clock.monotonic() >= end) return 0;
      }
      const next = pace.looked(blocksOfLook, frames - framesBefore);
      [blocksOfLook, framesBefore] = [0, frames];
      return next;
    }
    // A ring that was closed by its reader gives no more.
    while (takeBlock());
    if (!isOpen) return null;
    stop();
    options.onLost(lossOf(options.interface));
    return null;
  });
  return {
    counters() {
      if (isOpen) droppedByKernel += ring.dropped();
      return { frames, droppedByKernel, droppedByInterface: interfaceDrops.read() };
    },
    load: () => ring.load(),
    close: stop,
  };
}

/** What the kernel runs on each frame; it says how much of it to keep. */
function kernelProgram(options: TrafficCaptureOptions): readonly BpfInstruction[] {
  const { filter = "", snapLength } = options;
  if (filter.trim() === "") return [[RETURN_CONSTANT, 0, 0, snapLength]];
  const program = compileForKernel(filter, { interface: options.interface, snapLength });
  if (program) return program;
  const { state } = readLinkState(options.interface);
  if (state !== "up") throw linkError(options.interface, state);
  throw new PacketIoError("permission-denied", `libpcap cannot open ${options.interface} to compile a filter for it; it needs the capability CAP_NET_RAW`);
}

/** A socket reports an error when its interface goes down or away, and is deaf from then on until the interface comes back. */
function lossOf(name: string): PacketIoError {
  const { state } = readLinkState(name);
  return state === "up" ? new PacketIoError("capture-lost", `the capture on ${name} went deaf; open it again`) : linkError(name, state);
}

/** Since the capture was opened; the last figure stands when the interface is gone. Where sysfs is another namespace's there is none. */
function createInterfaceDrops(name: string, clock: PacketIoClock): { read(isLast?: boolean): number } {
  const now = () => {
    const counts = ["statistics/rx_missed_errors", "statistics/rx_fifo_errors"].map((attribute) => readSysfs(name, attribute));
    return counts.every((count) => count === null) ? null : counts.reduce((sum, count) => sum + Number(count ?? 0), 0);
  };
  let known = now();
  let sum = 0;
  let readAt = clock.monotonic();
  return {
    read(isLast = false) {
      if (!isLast && clock.monotonic() - readAt < DROPS_EVERY_MS) return sum;
      readAt = clock.monotonic();
      const count = now();
      if (count !== null) {
        sum += Math.max(0, count - (known ?? count));
        known = count;
      }
      return sum;
    },
  };
}

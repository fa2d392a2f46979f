import { type BlockPlace, type FrameBlock, type openTrafficCapture, PacketIoError, type TrafficCapture, type TrafficCounters } from "@lanthorn/packet-io";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";

/** One interface, through everything that happens to it. */
export interface InterfaceReader {
  /** Which part of the kernel's ring waits: 0 to 1. */
  load(): number;
  /** Reports what the kernel dropped meanwhile, and opens the interface again when it is due. */
  tick(): void;
  state(): InterfaceState;
  close(): void;
}

/** Sums since the process began. */
export interface InterfaceState {
  readonly name: string;
  readonly up: boolean;
  /** Why nothing is read; null while it is. */
  readonly problem: string | null;
  readonly frames: number;
  readonly octets: number;
  readonly droppedByKernel: number;
  readonly droppedByInterface: number;
}

/** An interface that is not there is looked for this often; a look costs two system calls. */
const RETRY_MS = 500;

/**
 * Opens an interface now or when it comes, and again after each loss.
 * @param deps.onMissing The kernel dropped so many frames, or (0) frames of unknown number were not seen.
 */
export function createInterfaceReader(deps: {
  readonly name: string;
  readonly snapLength: number;
  readonly open: typeof openTrafficCapture;
  readonly allocate: (octets: number) => BlockPlace;
  /** @returns Octets of the block's frames on the wire. */
  readonly onBlock: (block: FrameBlock) => number;
  readonly onMissing: (frames: number, why: string) => void;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
}): InterfaceReader {
  const { name, clock, log } = deps;
  let capture: TrafficCapture | null = null;
  let problem: string | null = "it was not opened yet";
  let wasRead = false;
  let triedAt = Number.NEGATIVE_INFINITY;
  let octets = 0;
  const sums = createSums(deps.onMissing);

  function forget(): void {
    if (capture) sums.end(capture.counters());
    capture = null;
  }

  function fail(reason: string): void {
    if (reason !== problem) log.warn({ interface: name, reason }, "this interface's traffic is not read; trying again");
    problem = reason;
  }

  function open(): void {
    triedAt = clock.monotonic();
    try {
      capture = deps.open({
        interface: name, snapLength: deps.snapLength, promiscuous: true, clock, allocate: deps.allocate,
        onBlock(block) {
          octets += deps.onBlock(block);
        },
        onLost(reason) {
          forget();
          triedAt = clock.monotonic();
          fail(describeError(reason));
        },
      });
    } catch (error) {
      if (!(error instanceof PacketIoError)) throw error;
      fail(describeError(error));
      return;
    }
    problem = null;
    log.info({ interface: name }, "reading all traffic");
    if (wasRead) deps.onMissing(0, `${name} was down or away until now`);
    wasRead = true;
  }

  open();
  return {
    load: () => capture?.load() ?? 0,
    tick() {
      if (capture) sums.report(capture.counters());
      else if (clock.monotonic() - triedAt >= RETRY_MS) open();
    },
    state() {
      return { name, up: capture !== null, problem, octets, ...sums.read(capture?.counters() ?? NOTHING) };
    },
    close() {
      capture?.close();
      forget();
    },
  };
}

const NOTHING: TrafficCounters = { frames: 0, droppedByKernel: 0, droppedByInterface: 0 };

/** Adds up what the captures of an interface count one after the other, and reports what the kernel dropped. */
function createSums(onMissing: (frames: number, why: string) => void) {
  let before = NOTHING;
  let reported = 0;
  const read = (now: TrafficCounters): TrafficCounters => ({
    frames: before.frames + now.frames, droppedByKernel: before.droppedByKernel + now.droppedByKernel,
    droppedByInterface: before.droppedByInterface + now.droppedByInterface,
  });
  function report({ droppedByKernel }: TrafficCounters): void {
    if (droppedByKernel > reported) onMissing(droppedByKernel - reported, "the kernel dropped them: this process did not read them in time");
    reported = droppedByKernel;
  }
  return {
    read, report,
    end(last: TrafficCounters): void {
      report(last);
      before = read(last);
      reported = 0;
    },
  };
}

import { type InterfaceFacts, type OnFrames, type PacedSender, PacketIoError, type watchInterface } from "@lanthorn/packet-io";
import { type Clock, createBackoff, describeError, type Log } from "@lanthorn/runtime";
import { createCaptureProblem } from "./capture-problem.ts";
import { type CaptureCounters, type CaptureIo, createInterfaceCapture } from "./interface-capture.ts";

/** What of @lanthorn/packet-io is used; a test brings its own. */
export interface PacketIo extends CaptureIo {
  readonly watchInterface: typeof watchInterface;
}

/** The watched interface, through everything that happens to it. */
export interface LanWatch {
  /** `up` only while frames are captured: what is asked while nobody listens says nothing. Another object only after a change. */
  facts(): InterfaceFacts | null;
  /** Resolves when the interface was read for the first time, whatever was found: before, nothing is known of it. */
  readonly firstRead: Promise<void>;
  /** Fails while the interface is not there. */
  readonly sender: Pick<PacedSender, "send">;
  counters(): CaptureCounters;
  /** Why nothing is captured; null while it is. */
  problem(): string | null;
  close(): Promise<void>;
}

const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 30_000;

interface LanWatchDependencies {
  readonly interface: string;
  readonly packetIo: PacketIo;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly onFrames: OnFrames;
  readonly onDenied: (reason: PacketIoError) => void;
}

/**
 * Captures for as long as the interface is there and up, and begins again whenever it comes back.
 * @param deps.onDenied The process may not capture at all; that does not change while it runs.
 */
export function createLanWatch(deps: LanWatchDependencies): LanWatch {
  const { packetIo, clock, log, interface: name } = deps;
  const backoff = createBackoff({ firstMs: RETRY_FIRST_MS, longestMs: RETRY_LONGEST_MS, random: deps.random });
  let kernel: InterfaceFacts | null = null;
  let facts: InterfaceFacts | null = null;
  /** The MAC that the capture was opened for last: the kernel's filter knows our frames by it. */
  let openFor = "";
  let closed = false;
  let cancelRetry = () => {};
  let noteFirstRead = () => {};
  const firstRead = new Promise<void>((resolve) => {
    noteFirstRead = resolve;
  });
  const problem = createCaptureProblem(name, log);
  const capture = createInterfaceCapture({
    interface: name, packetIo, clock, onFrames: deps.onFrames,
    onLost(reason) {
      problem.set(describeError(reason));
      updateFacts();
      cancelRetry = clock.after(backoff.next(), open);
    },
  });

  function updateFacts(): void {
    const now = kernel && { ...kernel, up: kernel.up && capture.isOpen };
    if (JSON.stringify(now) !== JSON.stringify(facts)) facts = now;
  }

  function open(): void {
    cancelRetry();
    if (closed || kernel?.up !== true || (capture.isOpen && kernel.mac === openFor)) return;
    openFor = kernel.mac;
    try {
      capture.open(kernel.mac);
    } catch (error) {
      problem.set(describeError(error));
      if (error instanceof PacketIoError && error.code === "permission-denied") deps.onDenied(error);
      else cancelRetry = clock.after(backoff.next(), open);
      return;
    }
    backoff.reset();
    problem.clear();
    const addresses = kernel.addresses.map(({ ip, prefixLength }) => `${ip}/${prefixLength}`);
    log.info({ interface: name, mac: kernel.mac, addresses }, "capturing");
    updateFacts();
  }

  const watch = packetIo.watchInterface({
    interface: name,
    clock,
    onChange(now) {
      kernel = now;
      if (now === null) problem.set(`there is no interface ${name}; see: ip link`);
      else if (!now.up && !capture.isOpen) problem.set(`${name} is down or has no carrier`);
      open();
      updateFacts();
      noteFirstRead();
    },
    onFailure(reason) {
      problem.set(describeError(reason));
      noteFirstRead();
    },
  });

  return {
    facts: () => facts,
    firstRead,
    sender: capture.sender,
    counters: () => capture.counters(),
    problem: () => problem.text,
    async close() {
      closed = true;
      problem.close();
      cancelRetry();
      watch.close();
      await capture.close();
    },
  };
}

import { type Clock, nextTurn, pause } from "@lanthorn/runtime";
import type { ScanLink } from "./scan-link.ts";
import type { ScanRate } from "./scan-rate.ts";

/** Puts one frame at `at` into `bytes`. @returns Its length; 0 for none this time, -1 when there are no more. */
export type WriteFrame = (bytes: Uint8Array, at: number) => number;

/** Sends at a rate while it reads the answers, in turns with the rest of the process. */
export interface ScanPump {
  /**
   * Sends frames until `write` has no more, and the last is out.
   * @throws PacketIoError as `RawSender.flush` does, and the signal's reason.
   */
  send(write: WriteFrame, rate: ScanRate): Promise<void>;
  /** Reads answers until `isOver`, at most `timeoutMs`. @throws The signal's reason. */
  listen(timeoutMs: number, isOver: () => boolean): Promise<void>;
  /** Reads the answers that wait. @returns How many there were. */
  read(): number;
  /** Queues a frame that goes before the next others: a RST. */
  urgent(write: WriteFrame): void;
  /** Frames sent so far. */
  readonly sent: number;
}

/** How often an idle pump looks for answers. */
const LOOK_MS = 2;
/** A pause of the process is not made up for by a burst longer than this. */
const LATENESS_MS = 3;
/** Frames between two turns of the event loop. */
const BURST = 256;
/** A full queue of the interface: frames leave it by the thousand in a millisecond. */
const QUEUE_FULL_MS = 1;
/** Places that need no frame: looked through for so many before the process does something else. */
const MAX_SKIPPED = 16_384;

/** Nothing is sent or read before `send` or `listen` is called. `deps.link` stays the caller's to close. */
export function createScanPump(deps: {
  readonly link: ScanLink;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** An answer, where the kernel wrote it: nothing of `bytes` may be kept. */
  readonly onFrame: (bytes: Uint8Array, offset: number, length: number) => void;
  /** There is nothing to send or to read now. */
  readonly onIdle?: (now: number) => void;
}): ScanPump {
  const { clock, signal } = deps;
  const { sender, ring } = deps.link;
  const waiting: WriteFrame[] = [];
  const sentAtStart = sender.counters().sent;

  const read = () => ring.read(deps.onFrame);
  const flush = async (rate: ScanRate | null) => {
    while (!sender.flush()) {
      rate?.backOff();
      await pause(clock, QUEUE_FULL_MS);
      read();
      signal.throwIfAborted();
    }
  };
  const writeUrgent = () => {
    while (waiting.length > 0) {
      const at = sender.place();
      if (at < 0) return;
      const length = (waiting.pop() as WriteFrame)(sender.bytes, at);
      if (length > 0) sender.commit(length);
    }
  };
  return {
    async send(write, rate) {
      let credit = 1;
      let last = clock.monotonic();
      const onCommit = () => {
        credit -= 1;
        rate.sent();
      };
      for (let isDone = false; !isDone; ) {
        signal.throwIfAborted();
        // What has come is read before more is asked for: else answers would find the ring full, and be asked for again.
        read();
        const now = clock.monotonic();
        rate.look(now, ring.dropped);
        const perMs = rate.framesPerSecond / 1000;
        credit = Math.min(credit + (now - last) * perMs, Math.max(1, LATENESS_MS * perMs));
        last = now;
        writeUrgent();
        isDone = !rate.isWaiting && fill(sender, write, Math.min(Math.floor(credit), BURST), onCommit);
        await flush(rate);
        if (isDone || (credit >= 1 && !rate.isWaiting)) await nextTurn();
        else {
          deps.onIdle?.(now);
          await pause(clock, rate.isWaiting ? LOOK_MS : Math.max(1, Math.min(100, (1 - credit) / perMs)));
        }
      }
    },
    async listen(timeoutMs, isOver) {
      const startedAt = clock.monotonic();
      for (;;) {
        signal.throwIfAborted();
        read();
        writeUrgent();
        await flush(null);
        const now = clock.monotonic();
        if (isOver() || now - startedAt >= timeoutMs) return;
        deps.onIdle?.(now);
        await pause(clock, LOOK_MS);
      }
    },
    read,
    urgent(write) {
      waiting.push(write);
    },
    get sent() {
      return sender.counters().sent - sentAtStart;
    },
  };
}

/** Queues at most `room` frames. @returns Whether there were no more. */
function fill(sender: ScanLink["sender"], write: WriteFrame, room: number, onCommit: () => void): boolean {
  let left = room;
  for (let skipped = 0; left > 0 && skipped < MAX_SKIPPED; ) {
    const at = sender.place();
    if (at < 0) return false;
    const length = write(sender.bytes, at);
    if (length < 0) return true;
    if (length === 0 || !sender.commit(length)) {
      skipped += 1;
      continue;
    }
    left -= 1;
    onCommit();
  }
  return false;
}

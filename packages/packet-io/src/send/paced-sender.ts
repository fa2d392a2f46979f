import type { PacketIoClock } from "../capture/capture-types.ts";
import { PacketIoError } from "../errors.ts";
import { BURST_FRAMES, type Injector, nextTurn } from "./injector.ts";

/** How late a timer may be without the rate falling behind; also what bounds a burst after a pause. Timers are 1 to 2 ms late. */
const LATENESS_MS = 4;

/** The rate of one `send` and how to end it early. */
export interface PacedSendOptions {
  /** 1 to 200,000; outside, the nearest. In any stretch of T seconds at most `framesPerSecond × (T + 0.004) + 1` go out. */
  readonly framesPerSecond: number;
  /** Ends the sending; the promise fails with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Sends at a steady rate; one of them for an interface, so that everything that is sent there shares the rate. */
export interface PacedSender {
  /**
   * Sends frames in order, one after another at the asked rate, in bursts of at most 256 where the rate is so high. Overlapping calls take
   * turns, burst by burst, so that a few frames need not wait for a long sweep.
   * @param frames Read one ahead of their turn, so they can be made one by one.
   * @throws PacketIoError as `Injector.send` does, and `send-failed` after `close`.
   */
  send(frames: Iterable<Uint8Array>, options: PacedSendOptions): Promise<void>;
  /** Fails what is not sent yet. The injector stays open. */
  close(): void;
}

interface Job {
  readonly frames: Iterator<Uint8Array>;
  /** One ahead, so that the last frame is known to be the last. */
  next: IteratorResult<Uint8Array>;
  readonly millisecondsPerFrame: number;
  readonly signal: AbortSignal | undefined;
  resolve(): void;
  reject(reason: unknown): void;
}

/** @param deps.injector Stays the caller's: `close` of the sender does not close it. */
export function createPacedSender(deps: { readonly injector: Pick<Injector, "send">; readonly clock: PacketIoClock }): PacedSender {
  let jobs: Job[] = [];
  let nextDueAt = deps.clock.monotonic();
  let running = false;
  let open = true;

  /** Sends what is due of one job, and takes it from the list when it is done. */
  const sendDue = async (job: Job, due: number) => {
    const burst: Uint8Array[] = [];
    try {
      job.signal?.throwIfAborted();
      while (burst.length < due && job.next.done !== true) {
        burst.push(job.next.value);
        job.next = job.frames.next();
      }
      nextDueAt += burst.length * job.millisecondsPerFrame;
      await deps.injector.send(burst);
      if (job.next.done !== true) return;
      job.resolve();
    } catch (error) {
      job.reject(error);
    }
    jobs = jobs.filter((other) => other !== job);
  };
  const run = async () => {
    running = true;
    for (let job = jobs[0]; job !== undefined; job = jobs[0]) {
      const now = deps.clock.monotonic();
      nextDueAt = Math.max(nextDueAt, now - LATENESS_MS);
      if (now < nextDueAt && job.signal?.aborted !== true) {
        await waitFor(deps.clock, nextDueAt - now);
        continue;
      }
      jobs = [...jobs.slice(1), job];
      await sendDue(job, Math.min(Math.floor((now - nextDueAt) / job.millisecondsPerFrame) + 1, BURST_FRAMES));
      await nextTurn();
    }
    running = false;
  };
  return {
    async send(frames, options) {
      if (!open) throw closedError();
      // Also 1 for what is no number.
      const rate = options.framesPerSecond > 1 ? Math.min(options.framesPerSecond, 200_000) : 1;
      await new Promise<void>((resolve, reject) => {
        const iterator = frames[Symbol.iterator]();
        jobs.push({
          frames: iterator, next: iterator.next(), millisecondsPerFrame: 1000 / rate, signal: options.signal, resolve, reject,
        });
        if (!running) void run();
      });
    },
    close() {
      open = false;
      for (const job of jobs) job.reject(closedError());
      jobs = [];
    },
  };
}

function closedError(): PacketIoError {
  return new PacketIoError("send-failed", "the sender was closed before the frame was sent");
}

function waitFor(clock: PacketIoClock, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.after(delayMs, resolve));
}

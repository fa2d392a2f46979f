import { type Clock, createBackoff, type Log } from "@lanthorn/runtime";
import { CHANNEL_CLOSED, CHANNEL_RATE, type Channel, openChannel } from "../../channel/channel.ts";
import { FromProcess, type ToProcess } from "../messages.ts";
import type { StartedProcess } from "./start-process.ts";

/** A process that runs, and is followed by another one when it ends. */
export interface Runner {
  /** @returns False where none runs, or it does not take it. */
  send(message: ToProcess): boolean;
  /** `starting` until it has said how it is; `failed` while none runs. */
  state(): "running" | "starting" | "failed";
  rssBytes(): number;
  /** The process has said how it is. */
  heard(): void;
  /** Ends it: it has some seconds to finish what it does. */
  close(): Promise<void>;
}

/** It says how it is every second. On a machine that swaps, a turn of its loop has been seen to take three. */
const HANG_MS = 10_000;
/** Loading its code takes half a second, on a loaded machine some. */
const MAX_START_MS = 30_000;
const CHECK_MS = 1000;
/** So often in a row it must be too large: the garbage of a moment is none. */
const MAX_LARGE = 3;
/** One that has lived for so long is started again at once. */
const STABLE_MS = 1000;
/** One that has worked, but not for so long, is followed soon, unless that goes on and on. */
const SHORT_RETRY_MS = 250;
const MAX_SHORT_LIVES = 30;
const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 30_000;
/** Within the daemon's own time for each part. */
const CLOSE_MS = 3500;

interface Running {
  readonly process: StartedProcess;
  readonly channel: Channel<ToProcess>;
  readonly startedAt: number;
  /** Monotonic milliseconds of its last word and of its first; null before it. */
  heardAt: number | null;
  firstHeardAt: number | null;
  /** How often in a row it was too large. */
  large: number;
  /** Why we ended it. */
  killedFor: string | null;
  cancelLate: () => void;
}

/** What a runner needs. */
interface RunnerDeps {
  readonly start: () => StartedProcess;
  readonly maxBytes: number;
  readonly onMessage: (message: FromProcess) => void;
  /** A process begins; what it is sent now it reads first. */
  readonly onStart: (send: (message: ToProcess) => boolean) => void;
  /** It ended, in words how. Another one follows. */
  readonly onEnd: (how: string) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Log, "warn">;
}

/** Starts the process, and starts it again whenever it ends, hangs or grows too large. */
export function createRunner(deps: RunnerDeps): Runner {
  const { clock } = deps;
  const backoff = createBackoff({ firstMs: RETRY_FIRST_MS, longestMs: RETRY_LONGEST_MS, random: deps.random });
  let running: Running | null = null;
  let isClosed = false;
  /** How many in a row worked, but not for long. */
  let shortLives = 0;
  let cancelRetry = () => {};

  function start(): void {
    let begun: Running;
    try {
      begun = begin(deps, (how) => end(begun, how));
    } catch (error) {
      end(null, error instanceof Error ? error.message : String(error));
      return;
    }
    running = begun;
    deps.onStart((message) => begun.channel.send(message));
  }

  /** @param one Null where it could not even be started. */
  function end(one: Running | null, how: string): void {
    if (one !== running) return;
    one?.cancelLate();
    one?.channel.close();
    running = null;
    if (isClosed) return;
    deps.onEnd(how);
    const hasWorked = one !== null && one.firstHeardAt !== null;
    const isStable = hasWorked && clock.monotonic() - (one.firstHeardAt ?? 0) >= STABLE_MS;
    if (isStable) backoff.reset();
    shortLives = isStable || !hasWorked ? 0 : shortLives + 1;
    const waitMs = isStable ? 0 : Math.min(backoff.next(), hasWorked && shortLives <= MAX_SHORT_LIVES ? SHORT_RETRY_MS : RETRY_LONGEST_MS);
    deps.log.warn({ reason: how, restart_in_ms: waitMs }, "the traffic process ended; starting it again");
    if (isStable) start();
    else cancelRetry = clock.after(waitMs, start);
  }

  start();
  const stopChecks = clock.every(CHECK_MS, () => running && check(running, deps));
  return {
    send: (message) => running?.channel.send(message) ?? false,
    state: () => (running === null ? "failed" : running.firstHeardAt === null ? "starting" : "running"),
    rssBytes: () => running?.process.rssBytes() ?? 0,
    heard() {
      if (!running) return;
      running.heardAt = clock.monotonic();
      running.firstHeardAt ??= running.heardAt;
    },
    async close() {
      isClosed = true;
      cancelRetry();
      stopChecks();
      if (running) await endInTime(running, clock);
    },
  };
}

function begin({ start, clock, onMessage }: RunnerDeps, onEnd: (how: string) => void): Running {
  const process = start();
  const begun: Running = {
    process, startedAt: clock.monotonic(), heardAt: null, firstHeardAt: null, large: 0, killedFor: null, cancelLate: () => {},
    channel: openChannel<FromProcess, ToProcess>({
      stream: process.stream, incoming: FromProcess, rate: CHANNEL_RATE, clock, onMessage,
      onEnd(reason) {
        // A process that ends closes it first: how it ended is known a moment later.
        if (reason === CHANNEL_CLOSED) begun.cancelLate = clock.after(CHECK_MS, () => process.kill());
        else kill(begun, reason);
      },
    }),
  };
  void process.ended.then((how) => onEnd(begun.killedFor ?? how));
  return begun;
}

function kill(one: Running, reason: string): void {
  one.killedFor ??= reason;
  one.channel.close();
  one.process.kill();
}

function check(one: Running, { clock, maxBytes }: RunnerDeps): void {
  const now = clock.monotonic();
  const isHung = one.heardAt === null ? now - one.startedAt > MAX_START_MS : now - one.heardAt > HANG_MS;
  one.large = one.process.rssBytes() > maxBytes ? one.large + 1 : 0;
  if (isHung) kill(one, "it hung");
  else if (one.large >= MAX_LARGE) kill(one, `it took more memory than memory_megabytes allows, ${maxBytes / 1024 / 1024} MiB`);
}

/** Its channel's end is what makes it finish its files and end. */
async function endInTime({ channel, process }: Running, clock: Pick<Clock, "after">): Promise<void> {
  channel.close();
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(CLOSE_MS, () => {
      process.kill();
      resolve();
    });
  });
  await Promise.race([process.ended, late]);
  cancel();
}

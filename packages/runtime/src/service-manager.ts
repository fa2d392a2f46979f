import { execFile } from "node:child_process";
import type { Clock } from "./clock.ts";
import { describeError } from "./errors.ts";
import type { Log } from "./log.ts";

/** What a daemon tells the service manager; says nothing where there is none. */
export interface ServiceManager {
  /** The service is up; from here on the watchdog is fed, if the unit has one. */
  ready(status: string): void;
  /** One line for `systemctl status`. Repeating the last one costs nothing. */
  status(text: string): void;
  /** The service begins to stop; resolves when that is said. */
  stopping(): Promise<void>;
  close(): void;
}

/** A fork that takes longer means a machine that does not run any more; the next one may get through. */
const NOTIFY_TIMEOUT_MS = 10_000;

/**
 * Speaks systemd's notification protocol through the `systemd-notify` command.
 *
 * Node has no datagram sockets for UNIX addresses. The packages that add them are native addons, to be compiled for each
 * Node; the command comes with systemd itself, and a process started twice a minute does not show in the daemon's cost.
 * It needs `NotifyAccess=all` in the unit, since the message comes from a child.
 * @param options.alive Asked before the watchdog is fed: false, a rejection or no answer means that the daemon's work
 * hangs, and then nothing is said, so that the service manager restarts it.
 * @param options.environment `NOTIFY_SOCKET` and `WATCHDOG_USEC` as the unit sets them.
 * @see sd_notify(3), sd_watchdog_enabled(3)
 */
export function createServiceManager(options: {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly alive: () => boolean | Promise<boolean>;
  /** The command, for a test. */
  readonly command?: string;
}): ServiceManager {
  const { clock, log } = options;
  const socket = options.environment["NOTIFY_SOCKET"] ?? "";
  const watchdogMs = Number(options.environment["WATCHDOG_USEC"] ?? 0) / 1000;
  let said = "";
  let cancelWatchdog: (() => void) | undefined;

  const send = (lines: readonly string[]): Promise<void> => new Promise((resolve) => {
    execFile(options.command ?? "systemd-notify", [...lines], {
      env: { PATH: options.environment["PATH"], NOTIFY_SOCKET: socket }, timeout: NOTIFY_TIMEOUT_MS,
    }, (error) => {
      if (error) log.warn({ reason: describeError(error) }, "cannot notify the service manager");
      resolve();
    });
  });
  /** One at a time: two processes started together arrive in any order, and STOPPING must not overtake READY. */
  let last = Promise.resolve();
  const notify = (...lines: readonly string[]): Promise<void> => {
    if (socket !== "") last = last.then(() => send(lines));
    return last;
  };
  const feed = async () => {
    try {
      if (await options.alive()) await notify("WATCHDOG=1");
      else log.error({}, "the daemon's work does not move; the watchdog is not fed");
    } catch (error) {
      log.error({ reason: describeError(error) }, "the daemon's work could not be looked at; the watchdog is not fed");
    }
  };

  return {
    ready(status) {
      said = status;
      void notify("READY=1", `STATUS=${oneLine(status)}`);
      // Half of the limit, as sd_watchdog_enabled(3) advises.
      if (socket !== "" && watchdogMs > 0) cancelWatchdog ??= clock.every(watchdogMs / 2, () => void feed());
    },
    status(text) {
      if (text === said) return;
      said = text;
      void notify(`STATUS=${oneLine(text)}`);
    },
    async stopping() {
      cancelWatchdog?.();
      await notify("STOPPING=1", "STATUS=stopping");
    },
    close() {
      cancelWatchdog?.();
    },
  };
}

/** A line break would begin another assignment. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").slice(0, 200);
}

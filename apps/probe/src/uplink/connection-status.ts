import { type Clock, describeError, type Log } from "@lanthorn/runtime";

/** Whether the probe is connected, and since when. */
export interface ConnectionState {
  readonly connected: boolean;
  /** When it last connected or was disconnected, milliseconds since the epoch; null before the first connection. */
  readonly since: number | null;
  /** Why the last attempt or connection ended; null while there is one. */
  readonly problem: string | null;
}

/** Keeps and logs what became of attempts to connect. */
export interface ConnectionStatus {
  readonly state: ConnectionState;
  connected(): void;
  /** An attempt or a connection ended. @returns Whether it was a connection. */
  ended(error: unknown): boolean;
  /** The probe ends the connection itself: nothing more is logged. */
  closed(): void;
}

/** A site may be cut off for days: there is one line for each new reason, not for each attempt. */
export function createConnectionStatus({ clock, log }: { readonly clock: Clock; readonly log: Log }): ConnectionStatus {
  let state: ConnectionState = { connected: false, since: null, problem: "not connected yet" };
  let isQuiet = false;
  return {
    get state() {
      return state;
    },
    connected() {
      state = { connected: true, since: clock.now(), problem: null };
      log.info({}, "connected to the collector's broker");
    },
    ended(error) {
      const { connected, since, problem } = state;
      const reason = describeError(error);
      if (!isQuiet && (connected || reason !== problem)) {
        log.warn({ reason }, connected ? "lost the collector's broker" : "cannot reach the collector's broker; trying again until it answers");
      }
      state = { connected: false, since: connected ? clock.now() : since, problem: reason };
      return connected;
    },
    closed() {
      isQuiet = true;
    },
  };
}

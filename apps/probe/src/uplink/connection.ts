import { type Clock, createBackoff, type Log } from "@lanthorn/runtime";
import { type BrokerClient, type Credentials, type Message, openBrokerClient } from "./broker-client.ts";
import { type ConnectionState, createConnectionStatus } from "./connection-status.ts";

/** A connection to the broker. When it ends, it is made again. */
export interface Connection {
  /** @returns False when there is no connection, or it ended before the broker had the message. The message is not kept. */
  publish(message: Message): Promise<boolean>;
  state(): ConnectionState;
  /** Connects again, with the credentials as they are now. */
  restart(): void;
  /** Publishes `lastWords` if there is a connection, and disconnects. */
  close(lastWords?: Message): Promise<void>;
}

const RETRY_FIRST_MS = 1000;
const RETRY_LONGEST_MS = 60_000;
/** A connection that ends sooner does not reset the backoff: a broker that cuts each one must not be tried at full speed. */
const STABLE_MS = 30_000;
const LAST_WORDS_MS = 2000;

/**
 * @param deps.credentials Read at each attempt, so that the next one uses a renewed certificate.
 * @param deps.will What the broker publishes when it loses the probe.
 * @param deps.onConnected Called when the broker has granted the subscriptions.
 */
export function createConnection(deps: {
  readonly credentials: () => Credentials;
  readonly subscriptions: readonly string[];
  readonly will: () => Message;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly onConnected: () => void;
  readonly onDisconnected: () => void;
  readonly onMessage: (topic: string, payload: Buffer) => void;
}): Connection {
  const { clock } = deps;
  const backoff = createBackoff({ firstMs: RETRY_FIRST_MS, longestMs: RETRY_LONGEST_MS, random: deps.random });
  const status = createConnectionStatus(deps);
  let client: BrokerClient | null = null;
  let closed = false;
  let cancelRetry = () => {};
  let cancelStable = () => {};

  function open(): void {
    try {
      client = openBrokerClient({
        credentials: deps.credentials(), will: deps.will(), subscriptions: deps.subscriptions,
        onReady, onEnd: retry, onMessage: deps.onMessage,
      });
    } catch (error) {
      retry(error);
    }
  }

  function onReady(): void {
    cancelStable = clock.after(STABLE_MS, () => backoff.reset());
    status.connected();
    deps.onConnected();
  }

  function retry(reason: unknown): void {
    leave(reason);
    if (closed) return;
    cancelRetry();
    cancelRetry = clock.after(backoff.next(), open);
  }

  function leave(reason: unknown): void {
    client = null;
    cancelStable();
    if (status.ended(reason)) deps.onDisconnected();
  }

  open();
  return {
    async publish(message) {
      if (!client || !status.state.connected) return false;
      return client.publish(message).then(() => true, () => false);
    },
    state: () => status.state,
    restart() {
      if (closed) return;
      cancelRetry();
      client?.destroy();
      leave(new Error("connecting anew"));
      open();
    },
    async close(lastWords) {
      if (closed) return;
      closed = true;
      status.closed();
      cancelRetry();
      cancelStable();
      const current = client;
      if (current && status.state.connected) {
        const published = lastWords ? current.publish(lastWords) : Promise.resolve();
        await within(clock, LAST_WORDS_MS, published.then(() => current.disconnect()));
      }
      current?.destroy();
      client = null;
      status.ended(new Error("the probe stops"));
    },
  };
}

/** Waits for work to end, well or not, but no longer than `ms`. */
async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  await Promise.race([work.catch(() => undefined), late]);
  cancel();
}

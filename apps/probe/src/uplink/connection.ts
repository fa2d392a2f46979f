import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Clock, createBackoff, describeError, type Log } from "@lanthorn/runtime";
import { MqttClient } from "mqtt";
import { writeToStream } from "mqtt-packet";

/** Where the broker is, and who we are to it. PEM texts. */
export interface Credentials {
  readonly url: string;
  readonly clientId: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

export interface Message {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
}

export interface ConnectionState {
  readonly connected: boolean;
  /** When it came to be or went, milliseconds since the epoch; null before the first. */
  readonly since: number | null;
  /** Why the last attempt or connection ended; null while there is one. */
  readonly problem: string | null;
}

/** A connection to the broker that is made again for as long as it takes. */
export interface Connection {
  /** @returns False when there is no connection, or it ended before the broker had the message. Keeps nothing for later. */
  publish(message: Message): Promise<boolean>;
  state(): ConnectionState;
  /** Connects anew, with the credentials as they are now. */
  restart(): void;
  /** Leaves in good order, after `lastWords` if there is still a connection. */
  close(lastWords?: Message): Promise<void>;
}

const KEEPALIVE_SECONDS = 30;
const CONNECT_TIMEOUT_MS = 15_000;
const RETRY_FIRST_MS = 1000;
const RETRY_LONGEST_MS = 60_000;
/** Only a connection that held this long begins the waits anew: one that is cut at once must not be tried at full speed. */
const STABLE_MS = 30_000;
const LAST_WORDS_MS = 2000;

/**
 * @param deps.credentials Read at each attempt, so that a renewed certificate is used at the next.
 * @param deps.will What the broker publishes when it loses us.
 * @param deps.onConnected Called once the subscriptions hold.
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
  const { clock, log } = deps;
  const backoff = createBackoff({ firstMs: RETRY_FIRST_MS, longestMs: RETRY_LONGEST_MS, random: deps.random });
  let client: MqttClient | null = null;
  let up = false;
  let closed = false;
  let since: number | null = null;
  let problem: string | null = "not connected yet";
  let cancelTimer = () => {};
  let cancelStable = () => {};

  function open(): void {
    let current: MqttClient;
    try {
      current = connectWith(deps.credentials(), deps.will());
    } catch (error) {
      fail(error);
      retry();
      return;
    }
    client = current;
    // mqtt.js tells a failure by `error` and the end by `close`, once or both, in any order; `ended` makes one of it.
    let ended = false;
    const end = (error?: unknown) => {
      if (ended) return;
      ended = true;
      current.end(true);
      if (client !== current) return;
      client = null;
      fail(error ?? new Error("the broker closed the connection"));
      if (!closed) retry();
    };
    current.on("error", end);
    current.on("close", () => end());
    current.on("message", (topic, payload) => {
      if (client === current) deps.onMessage(topic, payload);
    });
    const subscribe = async () => {
      const grants = await current.subscribeAsync([...deps.subscriptions], { qos: 1 });
      const refused = grants.find((grant) => grant.qos >= 128);
      if (refused) throw new Error(`the broker refused the subscription to ${refused.topic}`);
      if (client === current) succeed();
    };
    current.on("connect", () => void subscribe().catch(end));
  }

  function succeed(): void {
    up = true;
    since = clock.now();
    problem = null;
    cancelStable = clock.after(STABLE_MS, () => backoff.reset());
    log.info({}, "connected to the collector's broker");
    deps.onConnected();
  }

  function fail(error: unknown): void {
    const reason = describeError(error);
    // A site may be cut off for days: one line for each new reason, not for each attempt.
    if (!closed && (up || reason !== problem)) {
      log.warn({ reason }, up ? "lost the collector's broker" : "cannot reach the collector's broker; trying again until it answers");
    }
    cancelStable();
    problem = reason;
    if (!up) return;
    up = false;
    since = clock.now();
    deps.onDisconnected();
  }

  function retry(): void {
    cancelTimer();
    cancelTimer = clock.after(backoff.next(), open);
  }

  // mqtt.js would keep every 16-bit number as a buffer of its own, 65,536 of them: 10 MB for a few messages a minute.
  writeToStream.cacheNumbers = false;
  open();
  return {
    async publish({ topic, payload, qos, retain }) {
      if (!client || !up) return false;
      try {
        await client.publishAsync(topic, payload, { qos, retain });
        return true;
      } catch {
        return false;
      }
    },
    state: () => ({ connected: up, since, problem }),
    restart() {
      if (closed) return;
      cancelTimer();
      const current = client;
      client = null;
      current?.end(true);
      fail(new Error("connecting anew"));
      open();
    },
    async close(lastWords) {
      if (closed) return;
      closed = true;
      cancelTimer();
      cancelStable();
      const current = client;
      if (current && up) {
        const said = lastWords && current.publishAsync(lastWords.topic, lastWords.payload, {
          qos: lastWords.qos, retain: lastWords.retain,
        });
        // With a DISCONNECT the broker drops the last will.
        await within(clock, LAST_WORDS_MS, (said ?? Promise.resolve()).then(() => current.endAsync(false)));
      }
      client = null;
      up = false;
      current?.end(true);
    },
  };
}

function connectWith(credentials: Credentials, will: Message): MqttClient {
  return new MqttClient((own) => openStream(credentials).on("error", (error) => own.emit("error", error)), {
    // The collector's embedded broker speaks 3.1.1; every external one does as well.
    protocolVersion: 4,
    clientId: credentials.clientId,
    // What must not be lost is in our own queue, and configuration is retained: a session on the broker would add nothing.
    clean: true,
    keepalive: KEEPALIVE_SECONDS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    will: { topic: will.topic, payload: will.payload, qos: will.qos, retain: will.retain },
  });
}

/** Not by mqtt.js's own `connect`: it would load WebSocket and SOCKS too. */
function openStream({ url, ca, certificate, key }: Credentials): Socket {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol !== "mqtts:") return connectTcp({ host, port: Number(port || 1883) });
  return connectTls({
    host, port: Number(port || 8883), ...(isIP(host) === 0 ? { servername: host } : {}), ca, cert: certificate, key,
    minVersion: "TLSv1.2", rejectUnauthorized: true,
    // Trust is the CA alone, pinned at enrollment: it is the collector's own and certifies its servers only (probes
    // get client certificates, and OpenSSL checks the extended key usage). The name may be any address of the site's.
    checkServerIdentity: () => undefined,
  });
}

async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  await Promise.race([work.catch(() => undefined), late]);
  cancel();
}

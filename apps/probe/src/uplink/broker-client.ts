import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { MqttClient } from "mqtt";
import { writeToStream } from "mqtt-packet";

/** Where the broker is, and the identity that the probe shows it. PEM texts. */
export interface Credentials {
  readonly url: string;
  readonly clientId: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** One MQTT message. */
export interface Message {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
}

/** One MQTT session, from the attempt to connect until its end. It does not reconnect. */
export interface BrokerClient {
  /** Rejects when the session ended before the broker had the message. */
  publish(message: Message): Promise<void>;
  /** Ends the session with a DISCONNECT, on which the broker drops the last will. */
  disconnect(): Promise<void>;
  /** Ends the session at once. `onEnd` is not called for it. */
  destroy(): void;
}

const KEEPALIVE_SECONDS = 30;
const CONNECT_TIMEOUT_MS = 15_000;

/**
 * @param deps.will What the broker publishes when it loses the probe.
 * @param deps.onReady The broker has granted all subscriptions.
 * @param deps.onEnd Called once, when connecting failed or the session ended. Nothing else is called after it.
 * @throws Error for credentials that cannot be used.
 */
export function openBrokerClient(deps: {
  readonly credentials: Credentials;
  readonly will: Message;
  readonly subscriptions: readonly string[];
  readonly onReady: () => void;
  readonly onEnd: (reason: unknown) => void;
  readonly onMessage: (topic: string, payload: Buffer) => void;
}): BrokerClient {
  // mqtt.js would keep every 16-bit number as a buffer of its own, 65,536 of them: 10 MB for a few messages a minute.
  writeToStream.cacheNumbers = false;
  const client = createClient(deps.credentials, deps.will);
  // mqtt.js reports a failure by `error` and the end by `close`, once or both, in any order; `hasEnded` makes one of it.
  let hasEnded = false;
  const end = (reason: unknown) => {
    if (hasEnded) return;
    hasEnded = true;
    client.end(true);
    deps.onEnd(reason);
  };
  client.on("error", end);
  client.on("close", () => end(new Error("the broker closed the connection")));
  client.on("message", (topic, payload) => {
    if (!hasEnded) deps.onMessage(topic, payload);
  });
  const subscribe = async () => {
    const grants = await client.subscribeAsync([...deps.subscriptions], { qos: 1 });
    const refused = grants.find((grant) => grant.qos >= 128);
    if (refused) throw new Error(`the broker refused the subscription to ${refused.topic}`);
    if (!hasEnded) deps.onReady();
  };
  client.on("connect", () => void subscribe().catch(end));
  return {
    publish: async ({ topic, payload, qos, retain }) => void (await client.publishAsync(topic, payload, { qos, retain })),
    disconnect: () => client.endAsync(false),
    destroy() {
      hasEnded = true;
      client.end(true);
    },
  };
}

function createClient(credentials: Credentials, will: Message): MqttClient {
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

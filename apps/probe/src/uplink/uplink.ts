import {
  Acknowledgement, MESSAGE_VERSION, type ProbeChannel, type ProbeHealth, type ProbeStatus, probeTopic,
} from "@lanthorn/contract/uplink";
import { type Clock, createId, type Log, toInstant } from "@lanthorn/runtime";
import type { Outbox } from "../queue/outbox.ts";
import { createClockOffset } from "./clock-offset.ts";
import type { Credentials, Message } from "./broker-client.ts";
import { type CommandHandlers, createCommands } from "./commands.ts";
import { createConnection } from "./connection.ts";
import type { ConnectionState } from "./connection-status.ts";
import { createDelivery } from "./delivery.ts";
import { decodeMessage } from "./payload.ts";
import { createReplies } from "./replies.ts";

/** The connection to the collector as it is now. */
export interface UplinkState extends ConnectionState {
  readonly lastAcknowledgedAt: number | null;
  /** How far the collector's clock is ahead of ours. */
  readonly clockOffsetMs: number | null;
}

/** Everything that the probe and the collector send each other by MQTT. */
export interface Uplink {
  /** The outbox has something new. */
  wake(): void;
  /** Sends it if there is a connection. Without one, the last report is sent when there is. */
  publishHealth(health: ProbeHealth): void;
  state(): UplinkState;
  /** Everything in the queue has been acknowledged. */
  drained(): boolean;
  /** Connects again, with a renewed certificate. */
  restart(): void;
  /** Publishes the status `stopped` and disconnects. */
  close(): Promise<void>;
}

interface UplinkDependencies {
  readonly outbox: Outbox;
  readonly identity: { readonly tenantId: string; readonly probeId: string };
  readonly credentials: () => Credentials;
  readonly version: string;
  readonly handlers: CommandHandlers;
  readonly onConfiguration: (payload: Uint8Array) => void;
  readonly onConnected: () => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/**
 * @param deps.identity Who this probe is, in its topics.
 * @param deps.onConnected Called at each new connection, before the queue is sent.
 * @param deps.onConfiguration What came on the `config` topic, unread.
 */
export function createUplink(deps: UplinkDependencies): Uplink {
  const { clock, log, outbox } = deps;
  const runId = createId();
  const topic = (channel: ProbeChannel) => probeTopic(deps.identity.tenantId, deps.identity.probeId, channel);
  const message = (channel: ProbeChannel, value: object, retain = false): Message =>
    ({ topic: topic(channel), payload: Buffer.from(JSON.stringify(value)), qos: 1, retain });
  const status = (state: ProbeStatus["state"]): Message =>
    message("status", { v: MESSAGE_VERSION, state, version: deps.version, run_id: runId, at: toInstant(clock.now()) }, true);
  const offset = createClockOffset(() => clock.monotonic());
  const offsetMs = () => offset.offsetMs(clock.monotonic());
  const delivery = createDelivery({ outbox, clock, random: deps.random, log });
  const replies = createReplies((reply) => connection.publish(message("replies", reply)));
  let lastHealth: ProbeHealth | null = null;

  const commands = createCommands({
    handlers: deps.handlers,
    collectorNow: () => clock.now() + (offsetMs() ?? 0),
    log,
    reply: (reply) => replies.add(reply),
  });

  function onAcknowledgement(payload: Uint8Array): void {
    const receivedAt = clock.now();
    const ack = decodeMessage(Acknowledgement, payload);
    if (!ack) {
      log.warn({ bytes: payload.length }, "an acknowledgement could not be read");
      return;
    }
    const tookMs = delivery.onAcknowledgement(ack);
    if (tookMs !== null) offset.addSample(ack, receivedAt, tookMs);
  }

  function sendHealth(): void {
    if (lastHealth) void connection.publish({ ...message("health", lastHealth), qos: 0 });
  }

  const connection = createConnection({
    credentials: deps.credentials,
    subscriptions: [topic("acks"), topic("commands"), topic("config")],
    will: () => status("lost"),
    clock,
    random: deps.random,
    log,
    onConnected() {
      void connection.publish(status("online"));
      sendHealth();
      deps.onConnected();
      delivery.connected((payload) => void connection.publish({ topic: topic("events"), payload, qos: 1, retain: false }));
      void replies.send();
    },
    onDisconnected: () => delivery.disconnected(),
    onMessage(from, payload) {
      if (from === topic("acks")) onAcknowledgement(payload);
      else if (from === topic("commands")) commands.onMessage(payload);
      else if (from === topic("config")) deps.onConfiguration(payload);
    },
  });

  return {
    wake: () => delivery.wake(),
    publishHealth(health) {
      lastHealth = health;
      sendHealth();
    },
    state: () => ({ ...connection.state(), lastAcknowledgedAt: delivery.lastAcknowledgedAt(), clockOffsetMs: offsetMs() }),
    drained: () => delivery.drained(),
    restart: () => connection.restart(),
    async close() {
      delivery.close();
      await connection.close(status("stopped"));
    },
  };
}

import { createHmac, timingSafeEqual } from "node:crypto";
import { accessTopic, COLLECTOR_LOST_TOPIC, parseAccessTopic, parseStreamTopic, streamTopic, TOPIC_PREFIX } from "@lanthorn/contract";
import type { Clock, Log } from "@lanthorn/runtime";
import type { IPublishPacket, MqttClient } from "mqtt";
import type { Peers } from "./broker.ts";

/** What is committed within this is announced once. */
const ANNOUNCE_AFTER_MS = 20;
const QOS = 1;

/** What collectors at one external broker say to each other. */
export interface PeerMessages {
  /** Topics that bring it, of which the group shares the first. */
  topics(group: string): readonly string[];
  /** @returns Whether the packet was from another collector, and is dealt with. */
  hear(packet: IPublishPacket): boolean;
  /** See `Broker`. */
  announce(tenantId: string): void;
  announceAccess(tenantId: string): void;
}

/**
 * @param deps.client Null while the broker is away.
 * @param deps.peers Who hears it; null where there can be no other collector.
 */
export function createPeerMessages(
  { name, announcementKey, clock, log, client, peers }: {
    readonly name: string; readonly announcementKey: Uint8Array; readonly clock: Pick<Clock, "after">; readonly log: Log;
    readonly client: () => MqttClient | null; readonly peers: () => Peers | null;
  },
): PeerMessages {
  let toAnnounce = new Set<string>();
  /** Nothing in it keeps it from being sent again: all that it brings about is one more look at who may have a stream. */
  const signAccess = (tenantId: string, from: string) => createHmac("sha256", announcementKey).update(`${tenantId} ${from}`).digest("hex");
  const hearAccess = (tenantId: string, payload: string) => {
    const [from = "", signature = ""] = payload.split(" ");
    if (from === name) return;
    const [given, expected] = [Buffer.from(signature), Buffer.from(signAccess(tenantId, from))];
    if (given.length === expected.length && timingSafeEqual(given, expected)) peers()?.accessChanged(tenantId);
    else log.warn({ tenant_id: tenantId }, "a message that claims to be from another collector has no valid signature, and is dropped");
  };
  const announceAll = () => {
    const tenants = toAnnounce;
    toAnnounce = new Set();
    for (const tenantId of tenants) client()?.publish(streamTopic(tenantId), name, { qos: 0 });
  };
  return {
    topics: (group) => (
      peers() ? [`$share/${group}/${COLLECTOR_LOST_TOPIC}`, `${TOPIC_PREFIX}/+/stream`, `${TOPIC_PREFIX}/+/access`] : []
    ),
    hear(packet) {
      if (packet.topic === COLLECTOR_LOST_TOPIC) peers()?.lost();
      const tenantId = parseStreamTopic(packet.topic);
      if (tenantId !== null && packet.payload.toString() !== name) peers()?.committed(tenantId);
      const accessOf = parseAccessTopic(packet.topic);
      if (accessOf !== null) hearAccess(accessOf, packet.payload.toString());
      return packet.topic === COLLECTOR_LOST_TOPIC || tenantId !== null || accessOf !== null;
    },
    announce(tenantId) {
      if (toAnnounce.size === 0) clock.after(ANNOUNCE_AFTER_MS, announceAll);
      toAnnounce.add(tenantId);
    },
    announceAccess(tenantId) {
      client()?.publish(accessTopic(tenantId), `${name} ${signAccess(tenantId, name)}`, { qos: QOS }, (error) => {
        if (error) log.debug({ reason: error.message }, "cannot notify other collectors of a change of access");
      });
    },
  };
}

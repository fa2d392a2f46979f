/** The last part of a topic between one probe and the collector. */
export const PROBE_CHANNELS = {
  events: "up", acks: "down", commands: "down", replies: "up", config: "down", status: "up", health: "up",
} as const;
/** A key of `PROBE_CHANNELS`. */
export type ProbeChannel = keyof typeof PROBE_CHANNELS;

/** The first two levels of every MQTT topic of Lanthorn. */
export const TOPIC_PREFIX = "lanthorn/v1";

/** @throws RangeError for an identity with a level separator or a wildcard in it. */
export function probeTopic(tenantId: string, probeId: string, channel: ProbeChannel): string {
  return `${TOPIC_PREFIX}/${identity(tenantId)}/${identity(probeId)}/${channel}`;
}

/** Committed events, from the replica that committed them to the others. */
export function streamTopic(tenantId: string): string {
  return `${TOPIC_PREFIX}/${identity(tenantId)}/stream`;
}

/** @returns The tenant of a stream topic, or null for any other topic. */
export function parseStreamTopic(topic: string): string | null {
  return /^lanthorn\/v1\/([^/+#]+)\/stream$/.exec(topic)?.[1] ?? null;
}

/** That somebody of the tenant may do less than before, from the replica that changed it to the others. */
export function accessTopic(tenantId: string): string {
  return `${TOPIC_PREFIX}/${identity(tenantId)}/access`;
}

/** @returns The tenant of an access topic, or null for any other topic. */
export function parseAccessTopic(topic: string): string | null {
  return /^lanthorn\/v1\/([^/+#]+)\/access$/.exec(topic)?.[1] ?? null;
}

/** Says that a collector is gone without a word; its last will. */
export const COLLECTOR_LOST_TOPIC = `${TOPIC_PREFIX}/collectors/lost`;

/** @returns The parts of a probe's topic, or null for any other topic. */
export function parseProbeTopic(topic: string): {
  readonly tenantId: string; readonly probeId: string; readonly channel: ProbeChannel;
} | null {
  const parts = /^lanthorn\/v1\/([^/+#]+)\/([^/+#]+)\/([a-z]+)$/.exec(topic);
  const [, tenantId, probeId, channel] = parts ?? [];
  if (!tenantId || !probeId || !channel || !Object.hasOwn(PROBE_CHANNELS, channel)) return null;
  return { tenantId, probeId, channel: channel as ProbeChannel };
}

/** MQTT reads `+ # /` in a topic as structure (MQTT 3.1.1 section 4.7), so no identity may hold one. */
function identity(value: string): string {
  if (!/^[^+#/\s]+$/.test(value)) throw new RangeError(`${JSON.stringify(value)} cannot be part of a topic`);
  return value;
}

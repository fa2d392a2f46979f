import { ALL_EVENTS, EVENTS, type EventOrigin, type EventType, type WebhookEvent, type WebhookPayload } from "@lanthorn/contract";
import type { StoredEvent } from "../../events/log-store.ts";

/** Something to be sent: the raw bytes of a payload and the id by which a receiver knows it again. */
export interface Message {
  readonly id: string;
  readonly body: Buffer;
}

/** The webhook event that a stored event becomes; null for one that stays inside. */
export function webhookEventOf(type: string): WebhookEvent | null {
  return Object.hasOwn(EVENTS, type) ? EVENTS[type as EventType].webhook : null;
}

/** Event types that become one of these webhook events; with `*`, every one that becomes any. */
export function typesOf(events: ReadonlySet<string>): readonly EventType[] {
  const takesAll = events.has(ALL_EVENTS);
  return (Object.keys(EVENTS) as EventType[]).filter((type) => {
    const { webhook } = EVENTS[type];
    return webhook !== null && (takesAll || events.has(webhook));
  });
}

/** What a payload takes of a stored event. */
export type PayloadSource = Pick<StoredEvent, "id" | "tenant_id" | "occurred_at" | "site_id" | "probe_id" | "device_id"> & {
  readonly event: WebhookEvent; readonly data: object;
};

/** The bytes that are sent and signed. The same event is the same bytes at each attempt. */
export function toMessage(source: PayloadSource): Message {
  const origin: EventOrigin = { site_id: source.site_id, probe_id: source.probe_id, device_id: source.device_id };
  const payload: WebhookPayload = {
    id: source.id, event: source.event, timestamp: source.occurred_at, tenant_id: source.tenant_id, data: { ...source.data, ...origin },
  };
  return { id: source.id, body: Buffer.from(JSON.stringify(payload)) };
}

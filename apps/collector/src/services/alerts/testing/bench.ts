import { Alert, AlertMute, type EventData, type EventType, listEnvelope } from "@lanthorn/contract";
import { createFakeClock, type FakeClock, toInstant } from "@lanthorn/runtime";
import { expect } from "vitest";
import type * as z from "zod";
import type { NewEvent } from "../../../events/log.ts";
import { type Answer, startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";

export type NewFact = Partial<NewEvent> & { readonly type: EventType };

/** A gateway whose events raise alerts, a clock that stands at the first of June, and an operator. For tests. */
export interface AlertsBench {
  readonly server: TestGateway;
  readonly clock: FakeClock;
  readonly tenant: TestTenant;
  now(): string;
  append(events: readonly NewFact[]): Promise<void>;
  list(query?: string, of?: TestTenant): Promise<z.infer<typeof AlertList>>;
  /** The one alert that there is. */
  single(): Promise<Alert>;
  /** What was said of alerts, in order: `alert_created rogue_dhcp`. */
  published(): Promise<readonly string[]>;
  post(path: string, body?: unknown, of?: TestTenant, method?: string): Promise<Answer>;
  /** Mutes for an hour. */
  mute(what: object): Promise<AlertMute>;
}

const AlertList = listEnvelope(Alert);

/** @param options.maxOpenAlerts Of a type at the site; 1000 where it is left out. */
export async function createAlertsBench(options: { readonly maxOpenAlerts?: number } = {}): Promise<AlertsBench> {
  const clock = createFakeClock(Date.UTC(2026, 5, 1));
  const server = await startTestGateway({ clock, alerts: true, ...options });
  const tenant = await server.createTenant("operator");
  const now = () => toInstant(clock.now());
  const list: AlertsBench["list"] = async (query = "", of = tenant) => {
    const answer = await server.get(`/api/v1/alerts${query}`, of.token);
    expect([query, answer.status]).toEqual([query, 200]);
    return AlertList.parse(answer.body);
  };
  const post: AlertsBench["post"] = (path, body, of = tenant, method = "POST") => server.request(`/api/v1/alerts${path}`, {
    method, headers: { authorization: `Bearer ${of.token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    server, clock, tenant, now, list, post,
    append: (events) => server.append(tenant, events.map((event) => ({ occurredAt: now(), ...event }))),
    async single() {
      const { data } = await list();
      expect(data).toHaveLength(1);
      return data[0] as Alert;
    },
    async published() {
      const rows = await server.db.selectFrom("events").select(["type", "data"]).where("type", "in", ["alert_created", "alert_resolved"])
        .orderBy("seq").execute();
      return rows.map(({ type, data }) => `${type} ${(JSON.parse(data) as { type: string }).type}`);
    },
    async mute(what) {
      const answer = await post("/mutes", { expires_at: toInstant(clock.now() + 3_600_000), ...what });
      expect(answer.status).toBe(201);
      return AlertMute.parse(answer.body);
    },
  };
}

export function rogue(values: Partial<EventData<"rogue_detected">> = {}): NewFact {
  const data: EventData<"rogue_detected"> = {
    kind: "dhcp_server", severity: "high", ip: "192.0.2.66", mac: "02:00:00:00:00:66", expected_macs: [], vlan_id: null, detail: "offers",
    packets: ["AAAA"], ...values,
  };
  return { type: "rogue_detected", data };
}

export function ids(values: Partial<EventData<"ids_alert">> = {}): NewFact {
  const data: EventData<"ids_alert"> = {
    signature_id: 7, revision: 1, signature: "SCAN 100% sure_thing", category: "scan", severity: "medium", source_ip: "192.0.2.9",
    source_port: 1, destination_ip: "192.0.2.1",
    destination_port: 22, protocol: "tcp", mitre_techniques: ["T1046"], packets: [], ...values,
  };
  return { type: "ids_alert", data };
}

export function health(state: "raised" | "cleared", probeId: string): NewFact {
  const data: EventData<"probe_health_alert"> = {
    metric: "disk", state, severity: "high", value: 96, threshold: 95, unit: "%", message: "the disk is full",
  };
  return { type: "probe_health_alert", probeId, data };
}

export function silent(probeId: string, cleanStop = false): NewFact {
  const data: EventData<"probe_silent"> = {
    code: "probe-silent", message: "nothing was heard", name: "store", last_heard_at: null, clean_stop: cleanStop,
  };
  return { type: "probe_silent", probeId, data };
}

export function returned(probeId: string): NewFact {
  const data: EventData<"probe_returned"> = { name: "store", silent_since: "2026-06-01T00:00:00.000Z" };
  return { type: "probe_returned", probeId, data };
}

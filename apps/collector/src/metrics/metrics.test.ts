import { createId } from "@lanthorn/runtime";
import { describe, expect, test } from "vitest";
import type { TestGateway } from "../testing/gateway.ts";
import { startGateway } from "../testing/gateway-for-test.ts";
import { agentMetrics } from "../services/agents/metrics.ts";
import { deviceMetrics } from "../services/devices/metrics.ts";
import { deliveryMetrics } from "../services/diplomat/metrics.ts";
import { createMetrics } from "./metrics.ts";
import { readingsOf } from "./readings.ts";

/** @returns Values by series, as `name{labels}`. */
async function scrape({ url }: TestGateway): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${url}/metrics`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  return series(await response.text());
}

function series(text: string): ReadonlyMap<string, number> {
  return new Map(text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).map((line) => {
    const at = line.lastIndexOf(" ");
    return [line.slice(0, at), Number(line.slice(at + 1))];
  }));
}

describe("metrics", () => {
  test("count requests by the route's template, whatever the path, the spelling or the method", async () => {
    const server = await startGateway();
    const { token } = await server.createTenant("viewer");
    for (const path of [`/api/v1/devices/${createId()}`, `/api/devices/${createId()}`]) await server.get(path, token);
    await server.get("/api/v1/devices", token);
    await server.get("/api/devices");
    for (let count = 0; count < 3; count += 1) await server.get(`/api/v1/no/such/${createId()}`, token);
    await server.request("/api/v1/devices", { method: "PROPFIND", headers: { authorization: `Bearer ${token}` } });
    const found = await scrape(server);
    expect(found.get('lanthorn_http_requests_total{method="GET",route="/api/v1/devices/{device_id}",status="404"}')).toBe(2);
    expect(found.get('lanthorn_http_requests_total{method="GET",route="/api/v1/devices",status="200"}')).toBe(1);
    expect(found.get('lanthorn_http_requests_total{method="GET",route="/api/v1/devices",status="401"}')).toBe(1);
    expect(found.get('lanthorn_http_requests_total{method="GET",route="none",status="404"}')).toBe(3);
    expect(found.get('lanthorn_http_requests_total{method="other",route="none",status="405"}')).toBe(1);
    expect(found.get('lanthorn_http_request_duration_seconds_count{method="GET",route="/api/v1/devices"}')).toBe(2);
    expect([...found.keys()].filter((key) => key.includes("no/such"))).toEqual([]);
  });

  test("are shown to the addresses that are allowed, and to no tenant's administrator", async () => {
    const server = await startGateway();
    const admin = await server.createTenant("admin");
    const status = async (headers: Record<string, string>) => (await server.request("/metrics", { headers })).status;
    expect(await status({ "x-forwarded-for": "203.0.113.9" })).toBe(401);
    expect(await status({ forwarded: "for=203.0.113.9", authorization: `Bearer ${admin.token}` })).toBe(403);
    const guarded = await startGateway({ metricsAllow: ["192.0.2.0/24", "2001:db8::/32"], trustedProxies: ["127.0.0.1"] });
    const statusBehind = async (from: string) => (await fetch(`${guarded.url}/metrics`, { headers: { "x-forwarded-for": from } })).status;
    expect([await statusBehind("192.0.2.7"), await statusBehind("2001:db8::1"), await statusBehind("192.0.3.7")]).toEqual([200, 200, 401]);
    expect((await guarded.get("/metrics")).status).toBe(401);
    const closed = await startGateway({ metricsAllow: [] });
    expect([(await closed.get("/metrics")).status, (await closed.get("/metrics", (await closed.createTenant("admin")).token)).status]).toEqual([
      401, 403,
    ]);
  });

  test("tell what is in the database and what waits, and nothing of what is gone", async () => {
    const server = await startGateway();
    const tenant = await server.createTenant();
    await server.createDevice(tenant, { ip: "192.0.2.1" });
    await server.createDevice(tenant, { ip: "192.0.2.2", is_online: 0 });
    const metrics = createMetrics();
    let sessions: number | null = 3;
    metrics.watch([...agentMetrics(server.reads), ...deviceMetrics(server.reads), ...deliveryMetrics(server.reads)]);
    metrics.watch(readingsOf({
      ingest: { waiting: () => ({ messages: 2, oldestMs: 1500 }) },
      broker: { sessions: () => sessions, health: () => ({ status: "degraded", detail: "" }) }, streams: { open: () => 4 },
      connections: { count: () => ({ anonymous: 5, known: 6 }) },
    }));
    const found = series(await metrics.text());
    expect(
      Object.fromEntries([...found].filter(([name]) => /devices|waiting|wait_seconds|stream|broker|probes|connections/.test(name))),
    ).toMatchObject({
      'lanthorn_devices{presence="online"}': 1, 'lanthorn_devices{presence="offline"}': 1, lanthorn_ingest_waiting_messages: 2,
      lanthorn_ingest_oldest_wait_seconds: 1.5, lanthorn_stream_consumers: 4, lanthorn_broker_up: 0, lanthorn_broker_sessions: 3,
      'lanthorn_connections{kind="stranger"}': 5, 'lanthorn_connections{kind="known"}': 6,
      'lanthorn_probes{state="silent"}': 0, 'lanthorn_webhook_deliveries_waiting{lane="retry"}': 0,
    });
    sessions = null;
    expect(series(await metrics.text()).has("lanthorn_broker_sessions")).toBe(false);
  });

  test("go on when one number cannot be read", async () => {
    const metrics = createMetrics();
    metrics.watch([
      { name: "broken", help: "b", read: () => Promise.reject<number>(new Error("no")) }, { name: "whole", help: "w", read: () => 1 },
    ]);
    const found = series(await metrics.text());
    expect([found.get("whole"), found.has("broken")]).toEqual([1, false]);
  });
});

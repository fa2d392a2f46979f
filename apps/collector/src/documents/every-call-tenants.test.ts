import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EnrollmentToken, EnrollResponse, probeTopic } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import type { MqttClient } from "mqtt";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { connectProbe } from "../broker/testing/bench.ts";
import { createRequest } from "../certificates/testing/request.ts";
import type { OpenApiDocument } from "./openapi.ts";
import { type RunningCollector, startCollector } from "./testing/collector.ts";
import { type Answer, bearer, type Call, callsOf, exampleBody, send } from "./testing/every-call.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const SAMPLES = join(import.meta.dirname, "../../../../packages/contract/samples/v1/events");
/** What makes devices, ports and an alert of a probe's word. */
const EVENTS = ["host_found", "port_found", "ids_alert", "rogue_detected"];

/** The neighbour has one of everything that can be made over the wire; the stranger tries to get at it. */
let collector: RunningCollector;
let document: OpenApiDocument;
let calls: readonly Call[];
let neighbour: string;
let stranger: string;
let client: MqttClient;
/** Of the neighbour's things, by the name that paths have for them. */
let known: ReadonlyMap<string, string>;
let idsOfNeighbour: ReadonlySet<string>;

beforeAll(async () => {
  collector = await startCollector();
  document = await collector.read("/api/v1/docs/openapi.json");
  calls = callsOf(document).filter(({ access }) => access !== "anyone" && access !== "probe");
  neighbour = await collector.login();
  stranger = await createStranger();
  client = await speakAsProbe();
  known = await fill();
  idsOfNeighbour = new Set((await readEverything(neighbour)).flatMap(({ text }) => text.match(UUID) ?? []));
});
afterAll(async () => {
  client.end(true);
  await collector.stop();
});

const as = (token: string, call: Call, given: Omit<Parameters<typeof send>[2], "headers"> = {}) =>
  send(collector.url, call, { ...given, headers: bearer(token) });
const isList = (call: Call) => call.method === "GET" && call.parts.length === 0;

describe("another tenant", () => {
  test("has things of every kind that a path can name", () => {
    const named = new Set(calls.flatMap(({ parts }) => parts));
    expect([...named].filter((name) => !known.has(name))).toEqual([]);
    expect(idsOfNeighbour.size).toBeGreaterThan(10);
  });

  test("is not there, for every call that names a thing of its own", async () => {
    const before = await readEverything(neighbour);
    const faults: string[] = [];
    for (const call of calls.filter(({ parts }) => parts.length > 0)) {
      const answer = await as(stranger, call, { path: Object.fromEntries(known), body: bodyFor(call) });
      if (answer.status !== 404 || answer.error?.code !== "NOT_FOUND") faults.push(faultOf(call, answer));
    }
    expect(faults).toEqual([]);
    expect(await readEverything(neighbour)).toEqual(before);
  });

  test("gives nothing to who names its things in a body or a query", async () => {
    const before = await readEverything(neighbour);
    const faults: string[] = [];
    for (const call of calls.filter(({ parts }) => parts.length === 0)) {
      const body = bodyFor(call) as object | undefined;
      const isForeign = Object.entries(body ?? {}).some(([name, value]) => known.get(name) === value);
      if (isForeign) {
        const answer = await as(stranger, call, { body });
        if (answer.status < 400 || answer.status >= 500) faults.push(faultOf(call, answer));
      }
      for (const { name } of (call.operation.parameters ?? []).filter(({ in: place }) => place === "query")) {
        const value = known.get(name);
        if (value === undefined) continue;
        const answer = await as(stranger, call, { query: { [name]: value } });
        const isEmpty = answer.status === 200 && (JSON.parse(answer.text) as { readonly data?: readonly unknown[] }).data?.length === 0;
        if (!isEmpty && answer.status !== 404) faults.push(`?${name}: ${faultOf(call, answer)}`);
      }
    }
    expect(faults).toEqual([]);
    expect(await readEverything(neighbour)).toEqual(before);
  });

  test("shows none of its ids in any list", async () => {
    const faults: string[] = [];
    for (const call of calls.filter(isList)) {
      const { text } = await as(stranger, call, { query: { per_page: "1000" } });
      const shown = (text.match(UUID) ?? []).filter((id) => idsOfNeighbour.has(id));
      if (shown.length > 0) faults.push(`${call.name} shows ${shown.join(" ")}`);
    }
    expect(faults).toEqual([]);
  });
});

async function createStranger(): Promise<string> {
  await collector.run("admin", "create-tenant", "Strangers");
  const made = await collector.run("admin", "create-user", "stranger", "--tenant", "Strangers", "--role", "admin");
  const password = /password (\S+)/.exec(made)?.[1] ?? "";
  const answer = await send(collector.url, { method: "POST", path: "/api/v1/auth/login" }, { body: { username: "stranger", password } });
  return (JSON.parse(answer.text) as { readonly access_token: string }).access_token;
}

/** An enrolled probe at the neighbour's site, which has told of a host, its port and two alarms. */
async function speakAsProbe(): Promise<MqttClient> {
  const post = async (path: string, body: object) =>
    JSON.parse((await send(collector.url, { method: "POST", path }, { headers: bearer(neighbour), body })).text) as unknown;
  const sites = JSON.parse((await send(collector.url, { method: "GET", path: "/api/v1/sites" }, { headers: bearer(neighbour) })).text) as {
    data: { id: string }[];
  };
  const { token } = EnrollmentToken.parse(await post("/api/v1/agents/tokens", { site_id: sites.data[0]?.id }));
  const { key, request } = await createRequest();
  const probe = EnrollResponse.parse(await post("/api/v1/agents/enroll", { token, certificate_request: request, name: "box" }));
  const session = await connectProbe(
    collector.mqttPort,
    probe.ca_certificate,
    { key, certificate: probe.certificate },
    { clientId: probe.probe_id },
  );
  const topic = (channel: "events" | "status") => probeTopic(probe.tenant_id, probe.probe_id, channel);
  const at = toInstant(Date.now());
  const events = EVENTS.map((type, index) => ({
    seq: index + 1,
    type,
    occurred_at: at,
    data: (JSON.parse(readFileSync(join(SAMPLES, `${type}.json`), "utf8")) as { readonly data: unknown }).data,
  }));
  await session.publishAsync(topic("status"), JSON.stringify({ v: 1, state: "online", version: "1", run_id: createId(), at }), { qos: 1 });
  await session.publishAsync(topic("events"), JSON.stringify({ v: 1, queue_id: createId(), after: 0, sent_at: at, events }), { qos: 1 });
  return session;
}

/** Makes one of everything that a call makes, and learns the ids of all that is listed. */
async function fill(): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const names = new Set(calls.flatMap(({ parts }) => parts));
  const learn = (call: Call, { text, status }: Answer) => {
    if (status >= 300 || !text.startsWith("{")) return;
    const body = JSON.parse(text) as { readonly id?: string; readonly data?: readonly { readonly id?: string }[] };
    const below = calls
      .filter(({ path }) => path.startsWith(`${call.path}/{`))
      .map(({ path }) => /^\{(\w+)\}/.exec(path.slice(call.path.length + 1))?.[1]);
    const id = body.id ?? (Array.isArray(body.data) ? body.data.at(-1)?.id : undefined);
    for (const name of below) if (name !== undefined && id !== undefined && names.has(name)) ids.set(name, id);
  };
  await vi.waitFor(
    async () => {
      for (const call of calls.filter(isList)) learn(call, await as(neighbour, call));
      if (!ids.has("device_id") || !ids.has("alert_id")) throw new Error(`what the probe said is not there yet: ${collector.log()}`);
    },
    { timeout: 10_000, interval: 100 },
  );
  for (const call of calls.filter(({ method, parts }) => method === "POST" && parts.length === 0)) {
    if (call.access === "signed-in" && call.operation.requestBody === undefined) continue;
    learn(call, await as(neighbour, call, { body: bodyFor(call, ids) }));
  }
  // Work on what is there makes things below it, as a webhook's deliveries.
  for (const call of calls.filter(({ method, parts }) => method === "POST" && parts.length > 0)) {
    await as(neighbour, call, { path: Object.fromEntries(ids), body: bodyFor(call, ids) });
  }
  for (const call of calls.filter(({ method, parts }) => method === "GET" && parts.length > 0)) {
    learn(call, await as(neighbour, call, { path: Object.fromEntries(ids) }));
  }
  return ids;
}

/** The document's example, about things that are there, and not in the past. */
function bodyFor(call: Call, ids: ReadonlyMap<string, string> = known): unknown {
  const body = exampleBody(call, document);
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  return Object.fromEntries(
    Object.entries(body).map(([name, value]: [string, unknown]) => [name, name === "expires_at" ? soon : (ids.get(name) ?? value)]),
  );
}

/** Every answer to a GET, of lists and of single things. What changes by itself meanwhile is left out. */
async function readEverything(token: string): Promise<readonly { readonly name: string; readonly text: string }[]> {
  const all = [];
  for (const call of calls.filter(({ method, path }) => method === "GET" && !/docs|deliveries/.test(path))) {
    const { text } = await as(token, call, { path: Object.fromEntries(known ?? []), query: { per_page: "1000" } });
    all.push({ name: call.name, text: text.replaceAll(/"(last_used_at|time|last_delivery_at|status)":("[^"]*"|null)/g, "") });
  }
  return all;
}

function faultOf(call: Call, { status, text }: Answer): string {
  return `${call.name}: ${status} ${text.slice(0, 200)}`;
}

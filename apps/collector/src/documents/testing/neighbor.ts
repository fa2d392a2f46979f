import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, EnrollmentToken, EnrollResponse, probeTopic } from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import type { MqttClient } from "mqtt";
import { vi } from "vitest";
import { connectProbe } from "../../broker/testing/bench.ts";
import { createRequest } from "../../certificates/testing/request.ts";
import type { OpenApiDocument } from "../openapi.ts";
import type { RunningCollector } from "./collector.ts";
import { addDifference } from "./difference.ts";
import { sendProbeFile } from "./probe-file.ts";
import { type Answer, bearer, type Call, callsOf, exampleBody, send } from "./every-call.ts";

/** The first tenant's administrator, who has one of everything that can be made over the wire. */
export interface Neighbor {
  readonly token: string;
  /** Calls that want a token. */
  readonly calls: readonly Call[];
  /** Ids of what there is, by the name that paths have for them. */
  readonly known: ReadonlyMap<string, string>;
  /** The document's example for a call, about things that are there, and not in the past. */
  readonly bodyFor: (call: Call) => unknown;
  readonly ask: (call: Pick<Call, "method" | "path">, given?: Omit<Parameters<typeof send>[2], "headers">) => Promise<Answer>;
  close(): void;
}

/** Asked about each call that changes something: what it does with it, it does while nothing else happens. */
export type Watch = (call: Call, make: () => Promise<Answer>) => Promise<Answer>;

const SAMPLES = join(import.meta.dirname, "../../../../../packages/contract/samples/v1");
/** What makes devices, ports, alerts, anomalies and sessions at decoys of a probe's word. */
const EVENTS = ["host_found", "port_found", "ids_alert", "rogue_detected", "honeypot_hit-session", "honeypot_credentials", "anomaly_detected-device"];

export async function settleNeighbor(
  collector: RunningCollector, document: OpenApiDocument, watch: Watch = (_, make) => make(),
): Promise<Neighbor> {
  const token = await collector.login();
  const calls = callsOf(document).filter(({ access }) => access !== "anyone" && access !== "probe");
  const known = new Map<string, string>();
  const ask: Neighbor["ask"] = (call, given = {}) => send(collector.url, call, { ...given, headers: bearer(token) });
  const bodyFor = (call: Call) => withIds(exampleBody(call, document), known);
  const learn = (call: Call, { text, status }: Answer) => {
    if (status >= 300 || !text.startsWith("{")) return;
    const body = JSON.parse(text) as { readonly id?: string; readonly data?: readonly { readonly id?: string }[] };
    const id = body.id ?? (Array.isArray(body.data) ? body.data.at(-1)?.id : undefined);
    // The first site stays: the probe is there.
    for (const name of namesBelow(call, calls)) if (id !== undefined && (name !== "site_id" || !known.has(name))) known.set(name, id);
  };
  const client = await speakAsProbe(collector, token);

  const readLists = async (isWanted: (call: Call) => boolean = () => true) => {
    for (const call of calls.filter((one) => one.method === "GET" && one.parts.length === 0 && isWanted(one))) learn(call, await ask(call));
  };
  await vi.waitFor(async () => {
    await readLists();
    if (!known.has("device_id") || !known.has("alert_id")) throw new Error(`what the probe said is not there yet: ${collector.log()}`);
  }, { timeout: 300_000, interval: 100 });
  // The plan has the probe's network, too: that a device is outside of the plan would become an alert some minutes later.
  await ask({ method: "POST", path: "/api/v1/ipam/prefixes" }, { body: { prefix: "10.77.0.0/16" } });
  for (const call of calls.filter(({ method, parts }) => method === "POST" && parts.length === 0)) {
    if (endsSession(call)) continue;
    learn(call, await watch(call, () => ask(call, { body: bodyFor(call) })));
  }
  await addDifference(collector.dataDir);
  await readLists();
  // Work on what is there makes things below it, as a webhook's deliveries.
  for (const call of calls.filter(({ method, parts }) => method === "POST" && parts.length > 0)) {
    await watch(call, () => ask(call, { path: Object.fromEntries(known), body: bodyFor(call) }));
  }
  await readLists((call) => namesBelow(call, calls).some((name) => !known.has(name)));
  const { text: conflicts } = await ask({ method: "GET", path: "/api/v1/ipam/conflicts" });
  if ((JSON.parse(conflicts) as { readonly data: readonly unknown[] }).data.length > 0) throw new Error(`the plan differs from the network, of which alerts come later: ${conflicts}`);
  // What was begun has ended, and nothing changes any more but by who asks.
  await vi.waitFor(async () => {
    const { text } = await ask({ method: "GET", path: "/api/v1/backups" });
    if (text.includes('"running"')) throw new Error(`a backup has not ended: ${text}`);
  }, { timeout: 300_000, interval: 100 });
  for (const call of calls.filter(({ method, parts }) => method === "GET" && parts.length > 0)) {
    learn(call, await ask(call, { path: Object.fromEntries(known) }));
  }
  return { token, calls, known, bodyFor, ask, close: () => void client.end(true) };
}

/** Of what is made by a collection's POST or shown by its list, in the paths below the collection. */
function namesBelow({ path }: Call, calls: readonly Call[]): readonly string[] {
  return calls.filter((other) => other.path.startsWith(`${path}/{`))
    .flatMap((other) => /^\{(\w+)\}/.exec(other.path.slice(path.length + 1))?.[1] ?? []);
}

/** A logout, and what wants the password that the neighbor logs in with. */
function endsSession({ access, operation, path }: Call): boolean {
  return access === "signed-in" && (operation.requestBody === undefined || path.endsWith("/password"));
}

function withIds(body: unknown, known: ReadonlyMap<string, string>): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  return Object.fromEntries(
    Object.entries(body).map(([name, value]: [string, unknown]) => [name, /^(?:expires|ends)_at$/.test(name) ? soon : (known.get(name) ?? value)]),
  );
}

/** A probe at the first site, as it is just enrolled and connected. */
export async function enrollProbe(collector: RunningCollector, token: string) {
  const call = async (method: string, path: string, body?: object) =>
    JSON.parse((await send(collector.url, { method, path }, { headers: bearer(token), body })).text) as unknown;
  const sites = (await call("GET", "/api/v1/sites")) as { readonly data: readonly { readonly id: string }[] };
  const site_id = sites.data[0]?.id ?? "";
  // So that the document's example of a scan may be started.
  await call("PUT", `/api/v1/sites/${site_id}`, { scan_networks: ["192.0.2.0/24"] });
  const enrollment = EnrollmentToken.parse(await call("POST", "/api/v1/agents/tokens", { site_id }));
  const { key, request } = await createRequest();
  const wish = { token: enrollment.token, certificate_request: request, name: "box" };
  const probe = EnrollResponse.parse(await call("POST", "/api/v1/agents/enroll", wish));
  const identity = { key, certificate: probe.certificate };
  const session = await connectProbe(collector.mqttPort, probe.ca_certificate, identity, { clientId: probe.probe_id });
  await sendProbeFile({ httpsUrl: collector.httpsUrl, ...identity, ca: probe.ca_certificate });
  return { session, topic: (channel: Parameters<typeof probeTopic>[2]) => probeTopic(probe.tenant_id, probe.probe_id, channel) };
}

/** A probe that has reported a host, its port, alerts, an anomaly and a decoy with its session, and answers orders. */
async function speakAsProbe(collector: RunningCollector, token: string): Promise<MqttClient> {
  const { session, topic } = await enrollProbe(collector, token);
  session.on("message", (_topic, payload) => {
    const reply = { v: 1, command_id: Command.parse(JSON.parse(payload.toString())).id, ok: true, error: null, data: { hosts_total: 1, frames: [], missed: 0, next: 1 } };
    session.publish(topic("replies"), JSON.stringify(reply), { qos: 1 });
  });
  await session.subscribeAsync(topic("commands"), { qos: 1 });
  const at = toInstant(Date.now());
  const events = EVENTS.map((name, index) => ({ ...sample(`events/${name}`), seq: index + 1, occurred_at: at }));
  await session.publishAsync(topic("status"), JSON.stringify({ v: 1, state: "online", version: "1", run_id: createId(), at }), { qos: 1 });
  await session.publishAsync(topic("health"), JSON.stringify({ ...sample("health-decoys"), at }), { qos: 1 });
  await session.publishAsync(topic("events"), JSON.stringify({ v: 1, queue_id: createId(), after: 0, sent_at: at, events }), { qos: 1 });
  return session;
}

function sample(name: string): object {
  return JSON.parse(readFileSync(join(SAMPLES, `${name}.json`), "utf8")) as object;
}

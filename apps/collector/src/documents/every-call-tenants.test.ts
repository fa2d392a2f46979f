import { AuditRecord, listEnvelope } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningCollector, startCollector } from "./testing/collector.ts";
import { type Answer, bearer, type Call, requiredQuery, send } from "./testing/every-call.ts";
import { type Neighbor, settleNeighbor } from "./testing/neighbor.ts";

/** Names in paths of what is the same for all tenants. */
const OF_ALL: ReadonlySet<string> = new Set(["cve_id", "signature_id", "ruleset_version", "dns_list_version"]);
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

let collector: RunningCollector;
let neighbor: Neighbor;
/** An administrator of another tenant, who tries to get at what is the neighbor's. */
let stranger: string;
let idsOfNeighbor: ReadonlySet<string>;

beforeAll(async () => {
  collector = await startCollector();
  stranger = await createStranger();
  neighbor = await settleNeighbor(collector, await collector.read("/api/v1/docs/openapi.json"));
  idsOfNeighbor = new Set((await readEverything()).flatMap(({ text }) => text.match(UUID) ?? []));
});
afterAll(async () => {
  neighbor.close();
  await collector.stop();
});

const tryIt = (call: Call, given: Omit<Parameters<typeof send>[2], "headers">) =>
  send(collector.url, call, { ...given, headers: bearer(stranger) });

describe("another tenant", () => {
  test("has things of every kind that a path can name", () => {
    const named = new Set(neighbor.calls.flatMap(({ parts }) => parts));
    expect([...named].filter((name) => !neighbor.known.has(name) && !OF_ALL.has(name))).toEqual([]);
    expect(idsOfNeighbor.size).toBeGreaterThan(10);
  });

  test("is not there, for every call that names a thing of its own", async () => {
    const before = await readStanding();
    const faults: string[] = [];
    for (const call of neighbor.calls.filter(({ parts }) => parts.length > 0)) {
      const answer = await tryIt(call, { path: Object.fromEntries(neighbor.known), body: neighbor.bodyFor(call) });
      if (answer.status !== 404 || answer.error?.code !== "NOT_FOUND") faults.push(faultOf(call, answer));
    }
    expect(faults).toEqual([]);
    expect(await readStanding()).toEqual(before);
  });

  test("gives nothing to who names its things in a body or a query", async () => {
    const before = await readStanding();
    const faults: string[] = [];
    for (const call of neighbor.calls.filter(({ parts }) => parts.length === 0)) {
      const body = neighbor.bodyFor(call) as object | undefined;
      if (Object.entries(body ?? {}).some(([name, value]) => neighbor.known.get(name) === value)) {
        const answer = await tryIt(call, { body });
        if (answer.status < 400 || answer.status >= 500) faults.push(faultOf(call, answer));
      }
      for (const { name } of (call.operation.parameters ?? []).filter(({ in: place }) => place === "query")) {
        const value = neighbor.known.get(name);
        if (value === undefined) continue;
        const answer = await tryIt(call, { query: { ...requiredQuery(call.operation), [name]: value } });
        if (!isEmptyList(answer) && answer.status !== 404) faults.push(`?${name}: ${faultOf(call, answer)}`);
      }
    }
    expect(faults).toEqual([]);
    expect(await readStanding()).toEqual(before);
  });

  test("shows none of its ids in any list", async () => {
    const faults: string[] = [];
    for (const call of neighbor.calls.filter(({ method, parts }) => method === "GET" && parts.length === 0)) {
      const { text } = await tryIt(call, { query: { per_page: "1000" } });
      const shown = ((call.path.endsWith("/audit") ? withoutOwnTries(text) : text).match(UUID) ?? []).filter((id) => idsOfNeighbor.has(id));
      if (shown.length > 0) faults.push(`${call.name} shows ${shown.join(" ")}`);
    }
    expect(faults).toEqual([]);
  });
});

/** What the stranger tried above and was refused stands in its own audit log, with the ids that it named. */
function withoutOwnTries(text: string): string {
  const { data } = listEnvelope(AuditRecord).parse(JSON.parse(text));
  return JSON.stringify(data.filter(({ action, after }) => !(action.startsWith("pcap.") && Number(after?.["status"]) >= 400)));
}

async function createStranger(): Promise<string> {
  await collector.run("admin", "create-tenant", "Strangers");
  const made = await collector.run("admin", "create-user", "stranger", "--tenant", "Strangers", "--role", "admin");
  const password = /password (\S+)/.exec(made)?.[1] ?? "";
  const answer = await send(collector.url, { method: "POST", path: "/api/v1/auth/login" }, { body: { username: "stranger", password } });
  return (JSON.parse(answer.text) as { readonly access_token: string }).access_token;
}

/**
 * Baselines are compared twice a minute, the topology is drawn every two seconds, and what changed is counted since a moment that moves on.
 * What people change of them is in the audit log.
 */
const CHANGES_BY_ITSELF = /topology$|\/changes$|baselines(?!\/(?:acceptances|templates|windows))/;

/** Every answer to a GET, of lists and of single things. What passes meanwhile is left out. */
async function readEverything(isLeftOut = (_path: string) => false): Promise<readonly { readonly name: string; readonly text: string }[]> {
  const all = [];
  // A download of a file and a look at a transcript are in the audit log, which is read here too; a live view is another one each time.
  for (const call of neighbor.calls.filter(({ method, path }) => method === "GET" && !/docs|deliveries|\/content$|\/download$|\/transcript$|pcap\/watch/.test(path) && !isLeftOut(path))) {
    const { text } = await neighbor.ask(call, { path: Object.fromEntries(neighbor.known), query: { per_page: "1000" } });
    all.push({ name: call.name, text: text.replaceAll(/"(last_used_at|time|last_delivery_at|status)":("[^"]*"|null)/g, "") });
  }
  return all;
}

function readStanding() {
  return readEverything((path) => CHANGES_BY_ITSELF.test(path));
}

function isEmptyList({ status, text }: Answer): boolean {
  if (status === 200 && !text.startsWith("{")) return text.trimEnd().split("\r\n").length === 1;
  const { data, total, ...facets } = JSON.parse(text) as { readonly data?: readonly unknown[]; readonly total?: number };
  if (total === 0) return status === 200 && Object.values(facets).every((values) => Array.isArray(values) && values.length === 0);
  return status === 200 && data?.length === 0;
}

function faultOf(call: Call, { status, text }: Answer): string {
  return `${call.name}: ${status} ${text.slice(0, 200)}`;
}

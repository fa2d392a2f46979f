import { AuditRecord, listEnvelope } from "@lanthorn/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningCollector, startCollector } from "./testing/collector.ts";
import { bearer, send } from "./testing/every-call.ts";
import { type Neighbor, settleNeighbor, type Watch } from "./testing/neighbor.ts";

/** What changes no record: a session goes on, a connection is opened with what one has already, or what is not locked is unlocked. */
const UNRECORDED: ReadonlySet<string> = new Set([
  "POST /api/auth/refresh", "POST /api/v1/auth/refresh", "POST /api/v1/auth/session", "POST /api/v1/auth/session/resume", "POST /api/v1/ws/ticket",
  "POST /api/v1/pcap/{pcap_id}/unlock",
]);

let collector: RunningCollector;
let neighbor: Neighbor;
let token: string;
const written: string[] = [];
const unwritten: string[] = [];
/** What requests and answers held that is nobody's to read. */
const secrets = new Set<string>();

beforeAll(async () => {
  collector = await startCollector();
  token = await collector.login();
  neighbor = await settleNeighbor(collector, await collector.read("/api/v1/docs/openapi.json"), watch);
});
afterAll(async () => {
  neighbor.close();
  await collector.stop();
});

const recorded = async () => {
  const call = { method: "GET", path: "/api/v1/audit" };
  const { text } = await send(collector.url, call, { headers: bearer(token), query: { per_page: "1000" } });
  return listEnvelope(AuditRecord).parse(JSON.parse(text));
};

const watch: Watch = async (call, make) => {
  const before = (await recorded()).meta.total;
  const answer = await make();
  if (answer.status < 300 && !UNRECORDED.has(call.name)) {
    const after = (await recorded()).meta.total;
    (after > before ? written : unwritten).push(call.name);
    for (const secret of secretsIn(answer.text)) secrets.add(secret);
  }
  return answer;
};

test("every call that changes something is in the audit log, and no secret is", async () => {
  for (const method of ["PUT", "DELETE"]) {
    // Last what others stand on: a site is deleted when it is empty.
    for (const call of neighbor.calls.filter((other) => other.method === method).toSorted((a, b) => b.parts.length - a.parts.length)) {
      await watch(call, () => neighbor.ask(call, { path: Object.fromEntries(neighbor.known), body: neighbor.bodyFor(call) }));
    }
  }
  expect(unwritten).toEqual([]);
  expect(written.length).toBeGreaterThan(15);
  const log = JSON.stringify((await recorded()).data);
  expect(secrets.size).toBeGreaterThan(2);
  expect([...secrets, collector.credentials.password, "correct horse battery staple"].filter((secret) => log.includes(secret))).toEqual([]);
  expect(log).not.toMatch(/argon2|svc_live_[0-9a-f]{48}|whsec_/);
});

/** Texts under names that say what they are. */
function secretsIn(text: string): readonly string[] {
  const names = /"(?:key|secret|token|access_token|password|ticket)":"([^"]{12,})"/g;
  return [...text.matchAll(names)].map((match) => match[1] ?? "");
}

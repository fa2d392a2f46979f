import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenApiDocument } from "./openapi.ts";
import { type RunningCollector, startCollector } from "./testing/collector.ts";
import { bearer, type Call } from "./testing/every-call.ts";
import { type Neighbor, settleNeighbor } from "./testing/neighbor.ts";

let collector: RunningCollector;
let document: OpenApiDocument;
let owner: Neighbor;
beforeAll(async () => {
  collector = await startCollector(`[webhooks]\nallow = ["127.0.0.1"]\n`);
  document = await collector.read("/api/v1/docs/openapi.json");
  owner = await settleNeighbor(collector, document);
});
afterAll(async () => {
  owner.close();
  await collector.stop();
});

const urlOf = ({ path }: Call) => `${collector.url}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => owner.known.get(name) ?? "none")}`;

async function ask(call: Call, method: string, more: { readonly body?: string; readonly headers?: Record<string, string> } = {}) {
  const response = await fetch(urlOf(call), {
    method, headers: { ...bearer(owner.token), "content-type": "application/json", ...more.headers },
    ...(more.body === undefined ? {} : { body: more.body }),
  });
  const text = await response.text();
  return { status: response.status, etag: response.headers.get("etag"), text, code: /"code":"(\w+)"/.exec(text)?.[1] };
}

const writes = (method: string) => owner.calls.filter((call) => call.method === method);

/** Every record that has a PUT, also those that are added later. */
describe("every PUT of the merged document", () => {
  test("takes the record that its GET gave, and changes nothing by it", async () => {
    const faults: string[] = [];
    for (const call of writes("PUT")) {
      const before = await ask(call, "GET");
      const answer = await ask(call, "PUT", { body: before.text });
      const after = await ask(call, "GET");
      if (before.status !== 200 || before.etag === null) faults.push(`GET ${call.path} is ${before.status} with the tag ${before.etag}`);
      if (answer.status !== 200) faults.push(`${call.name} answers its own record ${answer.status}: ${answer.text.slice(0, 200)}`);
      if (after.text !== before.text) faults.push(`${call.name} changed ${before.text} to ${after.text}`);
    }
    expect(faults).toEqual([]);
    expect(writes("PUT").length).toBeGreaterThan(9);
  });

  test("refuses a read-only field that is changed, and names it", async () => {
    for (const call of writes("PUT")) {
      const record = JSON.parse((await ask(call, "GET")).text) as Record<string, unknown>;
      if (!("id" in record)) continue;
      const { status, text } = await ask(call, "PUT", { body: JSON.stringify({ ...record, id: "00000000-0000-7000-8000-000000000009" }) });
      const { error } = JSON.parse(text) as { readonly error: { readonly details: readonly { readonly path: string }[] } };
      expect([call.name, status, error.details.map(({ path }) => path)]).toEqual([call.name, 400, ["id"]]);
    }
  });

  test("is refused with the tag of another state, and taken with the record's own", async () => {
    for (const call of writes("PUT")) {
      const { etag, text } = await ask(call, "GET");
      const stale = await ask(call, "PUT", { body: text, headers: { "if-match": '"another-state"' } });
      expect([call.name, stale.status, stale.code, stale.etag]).toEqual([call.name, 409, "CONFLICT", etag]);
      for (const tag of [etag, `"x", ${etag}`, `W/${etag}`, "*"]) {
        const answer = await ask(call, "PUT", { body: text, headers: { "if-match": tag ?? "" } });
        expect([call.name, tag, answer.status]).toEqual([call.name, tag, 200]);
      }
      expect([call.name, (await ask(call, "PUT", { body: text, headers: { "if-match": "no tag" } })).status]).toEqual([call.name, 400]);
    }
  });

  test("has a GET that answers 304 to who has its state, and 200 to who has another", async () => {
    for (const call of writes("PUT")) {
      const { etag } = await ask(call, "GET");
      for (const [known, status] of [[etag, 304], [`"x", W/${etag}`, 304], ["*", 304], ['"x"', 200]] as const) {
        const answer = await ask(call, "GET", { headers: { "if-none-match": known ?? "" } });
        expect([call.path, known, answer.status, answer.text === "", answer.etag])
          .toEqual([call.path, known, status, status === 304, etag]);
      }
    }
  });
});

test("every DELETE with the tag of another state is refused, and the record stays", async () => {
  for (const call of writes("DELETE")) {
    const before = await ask(call, "GET");
    const answer = await ask(call, "DELETE", { headers: { "if-match": '"another-state"' } });
    // What has no GET has no tag, and a write that asks for one cannot be bound to it.
    const isGone = before.status === 404 && owner.calls.some(({ method, path }) => method === "GET" && path === call.path);
    expect([call.name, answer.status, answer.code]).toEqual([call.name, ...(isGone ? [404, "NOT_FOUND"] : [409, "CONFLICT"])]);
    expect([call.name, (await ask(call, "GET")).status]).toEqual([call.name, before.status]);
  }
});

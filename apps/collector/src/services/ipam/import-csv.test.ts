import { IpamImported, listEnvelope, IpamPrefix } from "@lanthorn/contract";
import { asyncProperty, assert, string, tuple } from "fast-check";
import { beforeEach, expect, test } from "vitest";
import type { TestGateway, TestTenant } from "../../testing/gateway.ts";
import { startGateway } from "../../testing/gateway-for-test.ts";
import { createIpam } from "./ipam.ts";

let gateway: TestGateway;
let admin: TestTenant;
beforeEach(async () => {
  gateway = await startGateway({ modules: (parts) => [createIpam(parts)] });
  admin = await gateway.createTenant("admin");
});

const send = (what: string, body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>> = {}) =>
  gateway.request(`/api/v1/ipam/${what}`, {
    method: "POST", headers: { authorization: `Bearer ${admin.token}`, "content-type": "text/csv", ...headers }, body,
  });
const exported = async (list: string) => (await fetch(
  `${gateway.url}/api/v1/ipam/${list}/export`, { headers: { authorization: `Bearer ${admin.token}` } },
)).text();
const call = (method: string, path: string, body?: unknown) => gateway.call(method, `/api/v1/ipam${path}`, admin.token, body);
const prefixes = async () => listEnvelope(IpamPrefix).parse((await call("GET", "/prefixes")).body).data;

test("what was exported is imported without change, whatever the texts are", async () => {
  // U+0000 is refused everywhere, and half of a surrogate pair is no text.
  const text = string({ unit: "grapheme-composite", maxLength: 60 });
  await assert(asyncProperty(tuple(text, text), async ([name, description]) => {
    const texts = { name: `'=${name}`, description: `"\r\n,${description}\r` };
    expect((await call("POST", "/prefixes", { prefix: "10.0.0.0/24", ...texts })).status).toBe(201);
    const [{ id, ...kept } = expect.fail("no prefix")] = await prefixes();
    const csv = await exported("prefixes");
    expect(IpamImported.parse((await send("prefixes/import", csv)).body)).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
    await call("DELETE", `/prefixes/${id}`);
    expect(IpamImported.parse((await send("prefixes/import", csv)).body)).toMatchObject({ created: 1, updated: 0, unchanged: 0 });
    const [{ id: again, created_at: _created, updated_at: _updated, ...written } = expect.fail("no prefix")] = await prefixes();
    expect(kept).toMatchObject(written);
    await call("DELETE", `/prefixes/${again}`);
  }), { numRuns: 40, seed: 7 });
});

test("addresses go out and come in as well", async () => {
  await call("POST", "/addresses", { ip: "10.0.0.5", mac: "00:00:5e:00:53:05", hostname: "printer", description: "-1 \"a\",\nb" });
  await call("POST", "/addresses", { ip: "2001:db8::1", status: "reserved" });
  const csv = await exported("addresses");
  expect(IpamImported.parse((await send("addresses/import", csv)).body)).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
});

test.each([
  ["with a byte order mark and CRLF", "\uFEFFprefix,name\r\n10.0.0.0/8,a\r\n", {}],
  ["in another order of columns", "name,prefix\na,10.0.0.0/8\n", {}],
  ["with its charset named", "prefix,name\n10.0.0.0/8,a", { "content-type": 'Text/CSV; header=present; charset="UTF-8"' }],
])("a table %s is taken", async (_, csv, headers) => {
  expect(IpamImported.parse((await send("prefixes/import", csv, headers)).body)).toMatchObject({ created: 1 });
  expect((await prefixes()).map(({ prefix, name }) => [prefix, name])).toEqual([["10.0.0.0/8", "a"]]);
});

test("dry_run stands in the query, and counts beside JSON too", async () => {
  const csv = "prefix\n10.0.0.0/8\n";
  expect(IpamImported.parse((await send("prefixes/import?dry_run=true", csv)).body)).toMatchObject({ created: 1, dry_run: true });
  expect(IpamImported.parse((await call("POST", "/prefixes/import?dry_run=true", { csv })).body)).toMatchObject({ dry_run: true });
  expect((await send("prefixes/import?dry_run=perhaps", csv)).error).toMatchObject({ code: "BAD_REQUEST", details: [{ path: "dry_run" }] });
  expect(await prefixes()).toEqual([]);
});

test("the same request again under an Idempotency-Key gets the first answer, and another table is 409", async () => {
  const key = { "idempotency-key": "once" };
  const answers = [
    await send("prefixes/import", "prefix\n10.0.0.0/8\n", key), await send("prefixes/import", "prefix\n10.0.0.0/8\n", key),
    await send("prefixes/import", "prefix\n11.0.0.0/8\n", key),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 409]);
  expect(answers[1]?.body).toEqual(answers[0]?.body);
});

test.each([
  ["in Latin-1", new Uint8Array(Buffer.from("prefix,name\n10.0.0.0/8,Caf\u00E9\n", "latin1")), {}],
  ["that says it is in Latin-1", "prefix\n10.0.0.0/8\n", { "content-type": "text/csv; charset=iso-8859-1" }],
  ["with U+0000 in it", "prefix,name\n10.0.0.0/8,\0\n", {}],
  ["with nothing in it", "", {}],
])("a table %s is refused", async (_, csv, headers) => {
  const { status, error } = await send("prefixes/import", csv, headers);
  expect([status, error.code, (error.details as { readonly path: string }[])[0]?.path]).toEqual([400, "BAD_REQUEST", "csv"]);
  expect(await prefixes()).toEqual([]);
});

test("no other route takes CSV", async () => {
  expect((await send("prefixes", "prefix\n10.0.0.0/8\n")).status).toBe(400);
  expect(await prefixes()).toEqual([]);
});

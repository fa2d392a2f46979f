import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DnsCheck, DnsList } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { allowName, checkName, pauseFiltering, setPolicyMode } from "./dns.ts";
import { addDnsList, listDnsVersions } from "./dns-lists.ts";
import { listQuerySettings, setQuerySettings } from "./dns-queries.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const connect = (calls: object) => ({ rest: calls }) as unknown as Connection;
const page = <T>(data: readonly T[]) => ({ data, meta: { page: 1, per_page: 100, total: data.length, next_cursor: null } });
const NOBODY = { device_id: null, group: null, site_id: null, vlan: null };

test("a check says what is done, by which rule, and how to allow it", async () => {
  const matched = { list_id: ID, list: "Ads\u001B[2J", category: "advertising", rule: "ads.example", record: "x.ads.example", section: "cname", effect: "block", is_observed: false, first_seen: "2026-01-01" };
  const result: DnsCheck = {
    name: "shop.example", site_id: ID, device_id: null, action: "block", reason: "rule", answer: "nxdomain", extended_error: "15: Ads (advertising)", policy_id: ID, policy: "Everyone", rule: matched, observed: null,
    matches: [matched], allow_name: "x.ads.example", steps: [{ step: "policy", record: null, text: "Everyone counts" }],
  };
  const queries: unknown[] = [];
  const answer = await checkName(connect({ checkDnsName: (query: unknown) => Promise.resolve((queries.push(query), result)) }), "shop.example", { cname: ["a.example", "x.ads.example"] });
  expect(queries).toEqual([{ name: "shop.example", cname: "a.example,x.ads.example" }]);
  expect(formatAnswer(answer, false).split("\n")).toEqual([
    "shop.example: block, answered with nxdomain (rule)", "Policy: Everyone", "Rule: ads.example of Ads?[2J (advertising), first seen 2026-01-01, cname x.ads.example", "The client reads: 15: Ads (advertising)",
    "To allow it for an hour: lanthorn dns allow x.ads.example", "", "policy: Everyone counts",
  ]);
});

test("an allowance and a pause name whom they are for and when they end", async () => {
  const wishes: unknown[] = [];
  const take = (wish: object) => Promise.resolve((wishes.push(wish), { id: ID, ...NOBODY, name: "x.ads.example", expires_at: "1970-01-01T08:00:00.000Z", ...wish, ...("name" in wish ? { name: "x.ads.example" } : {}) }));
  const connection = connect({ createDnsAllowance: take, createDnsPause: take });
  expect((await allowName(connection, "shop.example", { for: "8h", cname: ["x.ads.example"], group: "staff", reason: "" }, 0)).text).toContain("behind shop.example");
  expect((await pauseFiltering(connection, { reason: "test" }, 0)).text).toContain("everyone");
  expect(wishes).toEqual([{ name: "shop.example", has_subdomains: true, reason: "", group: "staff", cname: ["x.ads.example"], expires_at: "1970-01-01T08:00:00.000Z" }, { reason: "test" }]);
  await expect(pauseFiltering(connection, { vlan: "x", reason: "" }, 0)).rejects.toMatchObject({ code: "bad-option" });
});

test("a list comes from one place, its versions say what was not understood, and a policy that only observes is named", async () => {
  await expect(addDnsList(connect({}), "a", { category: "other" })).rejects.toMatchObject({ code: "bad-option" });
  const list = { id: ID, name: "ads", category: "other", kind: "url", active: null, checked_at: null, enabled: true, error: null } as unknown as DnsList;
  const version = { version: 2, is_active: false, is_held: true, note: "it shrinks", format: "hosts", rules: 5, refused: 1, refusals: [{ line: 7, text: "x", reason: "is none" }], added: 0, removed: 6, created_at: "2026-01-01T00:00:00.000Z" };
  const connection = connect({
    createDnsList: () => Promise.resolve(list), listDnsPolicies: () => Promise.resolve(page([{ id: ID, name: "Everyone", mode: "observe" }])), listDnsLists: () => Promise.resolve(page([list])),
    listDnsListVersions: () => Promise.resolve(page([version])), updateDnsPolicy: (_: string, change: object) => Promise.resolve({ name: "Everyone", ...change }),
  });
  expect(formatAnswer(await addDnsList(connection, "ads", { url: "https://lists.example.org/", category: "other" }), false)).toContain('lanthorn dns policies enforce "Everyone"');
  expect(formatAnswer(await listDnsVersions(connection, "ads"), false)).toContain("line 7 is none: x");
  expect((await setPolicyMode(connection, "Everyone", "enforce")).text).toContain("enforces");
  await expect(listDnsVersions(connection, "none")).rejects.toMatchObject({ code: "not-found" });
});

test("a zone is added with the key of a file, and what is no key is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-key-"));
  const sent: unknown[] = [];
  const connection = connect({
    createDnsList: (wish: unknown) => Promise.resolve((sent.push(wish), { id: ID, name: "zone", category: "malware", kind: "url", active: null, checked_at: null, enabled: true, error: null })),
    listDnsPolicies: () => Promise.resolve(page([])),
  });
  const add = async (text: string) => {
    writeFileSync(join(folder, "key"), text);
    return addDnsList(connection, "zone", { url: "axfr://192.0.2.53/rpz.example", tsig: join(folder, "key"), category: "malware" });
  };
  try {
    await add("hmac-sha512:transfer:c2VjcmV0\n");
    await add("transfer:c2VjcmV0");
    expect(sent).toMatchObject([{ tsig: { algorithm: "hmac-sha512", name: "transfer", secret: "c2VjcmV0" } }, { tsig: { algorithm: "hmac-sha256", name: "transfer" } }]);
    await expect(add("secret")).rejects.toMatchObject({ code: "bad-option" });
    await expect(add("a:b:c:d")).rejects.toMatchObject({ code: "bad-option" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("how much is reported and kept of queries is decided for one site, and what was left out stays", async () => {
  const sent: unknown[] = [];
  const setting = { site_id: ID, level: "blocked", keep_days: null, changed_by: "eve\u001B[2J", changed_at: "2026-01-01T00:00:00.000Z" };
  const connection = connect({
    listSites: () => Promise.resolve(page([{ id: ID, name: "Home" }])), listDnsQuerySettings: () => Promise.resolve(page([setting])),
    updateDnsQuerySettings: (id: string, change: object) => Promise.resolve((sent.push([id, change]), { ...setting, ...change })),
  });
  expect((await setQuerySettings(connection, { level: "counts" })).text).toContain("at most counts");
  expect((await setQuerySettings(connection, { site: "Home", level: "own", keepDays: "3" })).text).toContain("3 days");
  expect(sent).toEqual([[ID, { level: "counts" }], [ID, { level: null, keep_days: 3 }]]);
  for (const options of [{}, { keepDays: "0" }, { keepDays: "x" }]) await expect(setQuerySettings(connection, options)).rejects.toMatchObject({ code: "bad-option" });
  expect(formatAnswer(await listQuerySettings(connection), false)).toMatch(/Home +blocked +own +eve\?/);
});

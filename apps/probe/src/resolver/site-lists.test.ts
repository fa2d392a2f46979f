import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DNS_RESPONSE_CODE, DNS_TYPE } from "@lanthorn/packets";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSharing, everyone, siteFiles } from "../dns-lists/testing/site-bundle.ts";
import { ask } from "./testing/ask.ts";
import { address, createOpened, edns, extendedError } from "./testing/opened.ts";

const opened = createOpened();
let folder: string;
let sharing: ReturnType<typeof createSharing>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-site-"));
  sharing = createSharing(folder);
});
afterEach(async () => {
  await opened.close();
  rmSync(folder, { recursive: true });
});

const [BLOCKED, RESOLVED] = [DNS_RESPONSE_CODE.nameError, DNS_RESPONSE_CODE.noError];
const SOON = 4_102_444_800_000;

async function start(more: Record<string, unknown> = {}) {
  const upstream = await opened.server(({ questions: [asked] }) => ({ answers: [address(1, 60, asked?.name)] }));
  const resolver = await opened.resolverOver([upstream], { collector_directory: sharing.directory, ...more });
  await resolver.refreshLists();
  const of = (name: string) => ask(resolver.port, { questions: [{ name, type: DNS_TYPE.a }], additionals: [edns()] });
  return { ...resolver, of, code: async (name: string) => (await of(name)).responseCode };
}

describe("the collector's lists", () => {
  test("block by the collector's policy, name the list, and are there again after a restart", async () => {
    await sharing.leave(siteFiles({ ads: ["#day 20000\nads.example\n", "#day 20001\nmore.example\n"] }));
    for (let starts = 2; starts > 0; starts -= 1) {
      const { of, code } = await start();
      const message = await of("ads.example");
      expect([message.responseCode, extendedError(message)]).toMatchObject([BLOCKED, { code: 15, text: "List ads (advertising)" }]);
      expect([await code("more.example"), await code("other.example")]).toEqual([BLOCKED, RESOLVED]);
    }
  });

  test("that are new, allowed for an hour or paused take over by themselves; nothing there lets all resolve", async () => {
    const { code } = await start();
    expect(await code("ads.example")).toBe(RESOLVED);
    const allowances = [{ id: "01939f6e-2a10-7c3e-8f00-000000000002", name: "ads.example", has_subdomains: true, scope: { kind: "everyone" } as const, until_ms: SOON }];
    for (const [files, expected] of [
      [siteFiles({ ads: ["ads.example\n"] }), BLOCKED], [siteFiles({ ads: ["ads.example\n"] }, { allowances }), RESOLVED], [siteFiles({ ads: ["ads.example\nx.example\n"] }), BLOCKED],
      [siteFiles({ ads: ["ads.example\n"] }, { pauses: [{ scope: { kind: "site" }, until_ms: SOON }] }), RESOLVED], [siteFiles({ ads: ["ads.example\n"] }, { pauses: [{ scope: { kind: "site" }, until_ms: 1 }] }), BLOCKED],
    ] as const) {
      await sharing.leave(files);
      await expect.poll(() => code("ads.example")).toBe(expected);
    }
  });

  test("that are damaged, cut or of another manifest leave those before as they were", async () => {
    const { code, refreshLists } = await start();
    await sharing.leave(siteFiles({ ads: ["ads.example\n"] }));
    await refreshLists();
    for (const damage of [
      (version: string) => truncateSync(join(version, "lists", readdirSync(join(version, "lists"))[0] ?? ""), 9),
      (version: string) => writeFileSync(join(version, "policy.json"), "{}"),
      (version: string) => writeFileSync(join(version, "SHA256SUMS"), ""),
      (version: string) => rmSync(join(version, "lists.json")),
      (version: string) => rmSync(version, { recursive: true }),
    ]) {
      const version = await sharing.leave(siteFiles({ ads: [`new${damage.length}.example\nx${String(damage).length}.example\n`] }));
      damage(version);
      await refreshLists();
      expect([await code("ads.example")]).toEqual([BLOCKED]);
    }
    writeFileSync(join(sharing.directory, "current"), "../../etc/passwd");
    await refreshLists();
    await sharing.leave(siteFiles({ ads: ["last.example\n"] }));
    await refreshLists();
    expect([await code("ads.example"), await code("last.example")]).toEqual([RESOLVED, BLOCKED]);
  });

  test("stand beside those of the machine, whose exceptions count as well; a device has its own policy", async () => {
    const local = join(folder, "local.txt");
    writeFileSync(local, "local.example\n");
    const { code } = await start({ lists: [{ name: "local", file: local, format: "domains" }], filter: { allow: ["good.example"] } });
    expect(await code("local.example")).toBe(BLOCKED);
    await sharing.leave(siteFiles({ ads: ["ads.example\ngood.example\n"], adult: ["adult.example\n"] }, { policies: [everyone("ads")] }));
    await expect.poll(() => code("ads.example")).toBe(BLOCKED);
    expect([await code("local.example"), await code("good.example"), await code("adult.example")]).toEqual([BLOCKED, RESOLVED, RESOLVED]);
    const child = { ...everyone("adult"), id: "p2", name: "Children", scope: { kind: "group", id: "children" } as const };
    const devices = [{ id: "01939f6e-2a10-7c3e-8f00-000000000003", name: "tablet", groups: ["children"], ips: ["127.0.0.1"], macs: [] }];
    await sharing.leave(siteFiles({ ads: ["ads.example\ngood.example\n"], adult: ["adult.example\n"] }, { policies: [everyone("ads"), child], devices }));
    await expect.poll(() => code("adult.example")).toBe(BLOCKED);
    expect([await code("ads.example"), await code("local.example")]).toEqual([RESOLVED, BLOCKED]);
  });
});

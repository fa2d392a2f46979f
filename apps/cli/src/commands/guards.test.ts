import type { RestClient } from "@lanthorn/client";
import type { SiteGuards } from "@lanthorn/contract";
import { describe, expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { setGuards } from "./guards-set.ts";
import { allow, disallow, learnGuards, listExceptions, showGuards } from "./guards.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const AT = "2026-11-20T08:15:30.250Z";
const NOW = Date.parse(AT);
const GUARDS: SiteGuards = {
  site_id: ID, enabled: true, active: true, learning_minutes: null, quiet_seconds: 600, dhcp_servers: ["10.0.0.2"], routers: [], roaming_gateways: true,
  exceptions: 2,
  probes: [
    { probe_id: ID, name: "box", is_online: true, state: { enabled: true, active: false, learning_until: "2026-11-20T09:00:00.000Z" }, learning: null },
    { probe_id: ID, name: "old", is_online: true, state: null, learning: { asked_at: AT, asked_by: "admin", status: "no_answer", error: null } },
  ],
};
const EXCEPTION = {
  id: ID, site_id: ID, kind: "arp_spoofing" as const, ip: "10.0.0.0/28", mac: null, reason: "a cluster", created_by: "admin", created_at: AT, expires_at: null,
};
const meta = { page: 1, per_page: 20, total: 1, next_cursor: null };
const connect = (rest: Partial<RestClient>, ...sites: readonly string[]) => ({
  rest: { listSites: () => Promise.resolve({ data: sites.map((name) => ({ id: ID, name })), meta }), ...rest },
}) as unknown as Connection;
const lines = (answer: Parameters<typeof formatAnswer>[0]) => formatAnswer(answer, false).split("\n");

describe("guards", () => {
  test("are shown for the only site, each probe with how it is, and what is set", async () => {
    const shown = lines(await showGuards(connect({ readSiteGuards: () => Promise.resolve(GUARDS) }, "Office"), undefined, NOW));
    expect(shown.slice(1, 3)).toEqual([
      "box    on            listens only  until 2026-11-20T09:00:00Z  -",
      "old    not reported  -             -                           2026-11-20T08:15:30Z by admin: no answer; ask again",
    ]);
    const gone = { ...GUARDS, probes: GUARDS.probes.map((probe) => ({ ...probe, is_online: false })) };
    expect(lines(await showGuards(connect({ readSiteGuards: () => Promise.resolve(gone) }, "Office"), undefined, NOW))[1]).toMatch(/^box +probe is silent /);
    const empty = { ...GUARDS, probes: [] };
    expect(lines(await showGuards(connect({ readSiteGuards: () => Promise.resolve(empty) }, "Office"), undefined, NOW))).toContain("The site has no probe: nothing is watched.");
    expect(shown.slice(4).join(" ")).toMatch(/as the probe's file says\. .*600 seconds.*DHCP servers 10\.0\.0\.2.*MAC changes.*Exceptions: 2/);
  });

  test("learn anew at the site that is named", async () => {
    const asked: string[] = [];
    const connection = connect({ learnSiteGuards: (id) => (asked.push(id), Promise.resolve({ probes: GUARDS.probes })) }, "Office", "Store");
    await learnGuards(connection, "Office", NOW);
    expect(asked).toEqual([ID]);
    await expect(learnGuards(connection, undefined, NOW)).rejects.toMatchObject({ code: "bad-option" });
  });

  test("are set by name, and what is not named stays", async () => {
    const asked: unknown[] = [];
    const connection = connect({ updateSiteGuards: (...of) => (asked.push(...of.slice(0, 2)), Promise.resolve(GUARDS)), readSiteGuards: () => Promise.resolve(GUARDS) }, "Office");
    const set = async (...settings: readonly string[]) => {
      asked.length = 0;
      const answer = await setGuards(connection, settings, "Office", NOW);
      expect([asked[0], answer.json]).toEqual([ID, GUARDS]);
      return asked[1];
    };
    expect(await set("enabled=on", "active=false", "roaming-gateways=off")).toEqual({ enabled: true, active: false, roaming_gateways: false });
    expect(await set("learning_minutes=1440", "quiet_seconds=default")).toEqual({ learning_minutes: 1440, quiet_seconds: null });
    expect(await set("dhcp_servers=10.0.0.2, 2001:db8::2", "routers=none")).toEqual({ dhcp_servers: ["10.0.0.2", "2001:db8::2"], routers: [] });
  });

  test.each([
    ["enabled"], ["=on"], ["enabled=maybe"], ["colour=red"], ["toString=1"], ["learning_minutes=-1"], ["learning_minutes=43201"], ["learning_minutes="], ["quiet_seconds=0"],
    ["quiet_seconds=1e3"], ["dhcp_servers="], ["dhcp_servers=10.0.0.2,nonsense"], ["routers=10.0.0.0/24"], ["active=on active=off"],
    [`routers=${"10.0.0.1,".repeat(256)}10.0.0.1`],
  ])("refuse to set %s", async (text) => {
    const connection = connect({ updateSiteGuards: () => Promise.reject(new Error("it was asked for")) }, "Office");
    await expect(setGuards(connection, text.split(" "), undefined, NOW)).rejects.toMatchObject({ code: "bad-option" });
  });

  test("do not report what is allowed until it expires", async () => {
    const asked: unknown[] = [];
    const connection = connect({ createGuardException: (id, exception) => (asked.push(id, exception), Promise.resolve(EXCEPTION)) }, "Office");
    const answer = await allow(connection, { kind: "arp_spoofing", ip: "10.0.0.0/28", mac: "00-1B-21-AA-BB-07", reason: "a cluster", expires: "8h" }, NOW);
    expect(asked).toEqual([ID, {
      kind: "arp_spoofing", ip: "10.0.0.0/28", mac: "00:1b:21:aa:bb:07", reason: "a cluster", expires_at: "2026-11-20T16:15:30.250Z",
    }]);
    expect(lines(answer)[1]).toBe(`arp_spoofing  10.0.0.0/28  any  no end  a cluster  admin  ${ID}`);
    await allow(connection, { mac: "00:1b:21:aa:bb:07", reason: "a test", expires: "2026-12-31" }, NOW);
    expect(asked[3]).toMatchObject({ expires_at: "2026-12-31T00:00:00.000Z" });
  });

  test.each([
    [{ reason: "all" }], [{ kind: "bad", reason: "a" }], [{ mac: "nonsense", reason: "a" }], [{ ip: "10.0.0.1", reason: "a", expires: "soon" }],
    [{ ip: "10.0.0.1", reason: "a", expires: "2020-01-01" }], [{ ip: "10.0.0.1", reason: "a", expires: "2026-12-31T10:00" }],
  ])("refuse to allow %j", async (options) => {
    const connection = connect({ createGuardException: () => Promise.reject(new Error("it was asked for")) }, "Office");
    await expect(allow(connection, options, NOW)).rejects.toMatchObject({ code: "bad-option" });
  });

  test("list exceptions and delete them", async () => {
    const deleted: unknown[] = [];
    const connection = connect({
      listGuardExceptions: () => Promise.resolve({ data: [EXCEPTION], meta }), deleteGuardException: async (...ids) => void deleted.push(ids.slice(0, 2)),
    }, "Office");
    expect((await listExceptions(connection, undefined)).json).toEqual([EXCEPTION]);
    await disallow(connection, ID, "Office");
    expect(deleted).toEqual([[ID, ID]]);
  });
});

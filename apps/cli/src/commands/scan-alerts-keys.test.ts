import type { RestClient } from "@lanthorn/client";
import type { Alert, ApiKey, List, Scan, ScanHost } from "@lanthorn/contract";
import { describe, expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { acknowledgeAlerts, listAlerts, listMutes, muteAlerts, resolveAlerts, showAlert, unmuteAlerts } from "./alerts.ts";
import { createKey } from "./keys-create.ts";
import { listKeys } from "./keys-list.ts";
import { revokeKey } from "./keys-revoke.ts";
import { startScan } from "./scan.ts";

const ID = "01939f6e-2a10-7c3e-8f00-000000000001";
const AT = "2026-11-20T08:15:30.250Z";
const NOW = Date.parse(AT);
const SCAN: Scan = {
  id: ID, tenant_id: ID, site_id: ID, probe_id: ID, target: "10.0.0.0/24", profile: "quick", status: "queued", progress: 0,
  requested_by: "admin",
  created_at: AT, started_at: AT, finished_at: null, hosts_total: 254, hosts_up: 0, ports_open: 0, error: null, remarks: [],
};
const HOST: ScanHost = { ip: "10.0.0.1", mac: "", device_id: null, hostname: "nas", seen_at: AT, port_counts: null, ports: [] };
const ALERT = {
  id: ID, severity: "high", status: "open", muted: true, source: "rogue", title: "a second\u001B[2J DHCP server", count: 3, last_seen: AT,
} as unknown as Alert;
const KEY: ApiKey = {
  id: ID, name: "script", hint: "svc_live_0000", scopes: ["devices:read"], created_by: { user_id: ID, username: "admin" }, created_at: AT,
  last_used_at: null, expires_at: null,
} as unknown as ApiKey;

const listOf = <T>(...pages: readonly (readonly T[])[]) => (
  query: { readonly cursor?: unknown } = {}
): Promise<{ data: T[]; meta: List<T>["meta"] }> => {
  const at = query.cursor === undefined ? 0 : Number(query.cursor);
  return Promise.resolve({
    data: [...(pages[at] ?? [])],
    meta: { page: 1, per_page: 1000, total: pages.flat().length, next_cursor: at + 1 < pages.length ? String(at + 1) : null },
  });
};
/** On a screen of 80 columns. */
const widest = (answer: Parameters<typeof formatAnswer>[0]) => Math.max(...formatAnswer(answer, false, 80).split("\n").map(({ length }) => length));
const connect = (rest: Partial<RestClient>) => ({ rest }) as unknown as Connection;

describe("scan", () => {
  const deps = (said: string[] = []) => ({
    clock: { after: (_ms: number, run: () => void) => (setImmediate(run), () => {}) }, note: (line: string) => void said.push(line),
    view: null, stopped: () => new Promise<never>(() => {}),
  });

  test("that is not watched says that it was begun", async () => {
    const asked: unknown[] = [];
    const connection = connect({ startScan: async (wish) => (asked.push(wish), SCAN) });
    const answer = await startScan(connection, "10.0.0.0/24", { profile: "quick", watch: false }, deps());
    expect(formatAnswer(answer, false)).toBe(`the scan ${ID} of 10.0.0.0/24 is queued`);
    expect([answer.json, asked]).toEqual([SCAN, [{ target: "10.0.0.0/24", profile: "quick" }]]);
  });

  test("that is watched says how far it is, once for each step, and then who answered", async () => {
    const said: string[] = [];
    const looks: Scan[] = [
      { ...SCAN, status: "running", progress: 0.5, hosts_up: 1 }, { ...SCAN, status: "running", progress: 0.5, hosts_up: 1 },
      { ...SCAN, status: "completed", progress: 1, hosts_up: 1, finished_at: "2026-11-20T08:15:32.250Z" },
    ];
    const connection = connect({
      startScan: async () => SCAN, readScan: async () => looks.shift() ?? SCAN, listScanResults: (_id, query) => listOf([HOST])(query),
    });
    const ended = await startScan(connection, "10.0.0.0/24", { profile: "quick", watch: true }, deps(said));
    const lines = formatAnswer(ended, false).split("\n");
    expect(said).toEqual([
      "the scan of 10.0.0.0/24 waits for the probe", "the scan of 10.0.0.0/24 is at 50 %, 1 of 254 addresses answered",
    ]);
    expect([lines[1]?.startsWith("10.0.0.1"), lines.at(-3), lines.at(-1)]).toEqual([
      true, "The scan is complete: 1 of 254 addresses answered, 0 open ports, 2.0 s.",
      expect.stringContaining("lanthorn devices show ADDRESS"),
    ]);
  });

  test("that fails while it is watched is an error with the reason", async () => {
    const connection = connect({ startScan: async () => ({ ...SCAN, status: "failed", error: "the probe has restarted" }) });
    await expect(startScan(connection, "10.0.0.0/24", { profile: "quick", watch: true }, deps()))
      .rejects.toMatchObject({ code: "ended", message: "the scan of 10.0.0.0/24 failed: the probe has restarted" });
  });
});

describe("alerts", () => {
  test("are listed to the last page, with nothing that moves the cursor", async () => {
    const asked: unknown[] = [];
    const pages = listOf([ALERT], [{ ...ALERT, muted: false }]);
    const answer = await listAlerts(connect({ listAlerts: (query) => (asked.push(query), pages(query)) }), { status: "open" });
    expect(formatAnswer(answer, false).split("\n").slice(1)).toEqual([
      `high      a second?[2J DHCP server  ${ID}  open, muted  2026-11-20T08:15:30Z  3      rogue`,
      `high      a second?[2J DHCP server  ${ID}  open         2026-11-20T08:15:30Z  3      rogue`,
    ]);
    expect(formatAnswer(answer, false, 80).split("\n")[0]).toMatch(/SEVERITY +TITLE +ID +STATUS$/);
    expect(widest(answer)).toBeLessThanOrEqual(80);
    expect(asked).toMatchObject([{ status: "open" }, { status: "open", cursor: "1" }]);
  });

  test("are acknowledged and resolved one by one, and shown as they are then", async () => {
    const done: string[] = [];
    const connection = connect({
      acknowledgeAlert: async (id) => (done.push(`ack ${id}`), { ...ALERT, status: "acknowledged" }),
      resolveAlert: async (id) => (done.push(`resolve ${id}`), { ...ALERT, status: "resolved" }),
    });
    expect((await acknowledgeAlerts(connection, ["a", "b"])).json).toMatchObject([{ status: "acknowledged" }, { status: "acknowledged" }]);
    expect((await resolveAlerts(connection, ["a"])).json).toMatchObject([{ status: "resolved" }]);
    expect(done).toEqual(["ack a", "ack b", "resolve a"]);
  });

  test("get a note, and it is said where it was not kept", async () => {
    const asked: unknown[] = [];
    const done: string[] = [];
    const connection = connect({
      changeAlerts: async (body) => (asked.push(body), { matched: 1, changed: body.ids?.[0] === "a" ? 1 : 0, unchanged: body.ids?.[0] === "a" ? 0 : 1, gone: 0 }),
      readAlert: async (id) => (done.push(`read ${id}`), { ...ALERT, status: "resolved" }),
      resolveAlert: async (id) => (done.push(`resolve ${id}`), { ...ALERT, status: "resolved" }),
    });
    const answer = await resolveAlerts(connection, ["a", "b"], { note: "the new printer" });
    expect(asked).toMatchObject(["a", "b"].map((id) => ({ ids: [id], expected_count: 1, change: { status: "resolved", note: "the new printer" } })));
    expect(done).toEqual(["read a", "resolve b"]);
    expect(answer.notes).toEqual(["b was resolved already: the note was not kept"]);
  });

  test("are shown with what to do, where it is explained, and the facts of the newest event", async () => {
    const alert = {
      ...ALERT, description: "Another\u001B device claims it.", type: "arp_spoofing", subject: "10.0.0.7", device_ip: "10.0.0.7", site_id: null, first_seen: AT,
      resolved_at: null, acknowledged_at: AT, acknowledged_by: "admin", mitre_techniques: ["T1557.002"], guide: "apps/probe/README.md#arp-and-ndp",
      evidence: [{ data: { facts: { "sent from": "port 1" } } }, { data: {
        kind: "arp_spoofing", mac: "02:00:00:00:00:66", expected_macs: ["00:1b:21:aa:bb:07"], facts: { "sent from": "port 2", victims: Array.from({ length: 30 }, () => "10.0.0.7").join(", ") },
      } }],
    } as unknown as Alert;
    const history = [{ id: ID, action: "muted" as const, at: AT, by: "admin", note: "moves\u001B", muted_until: AT }, { id: ID, action: "acknowledged" as const, at: AT, by: "admin", note: "", muted_until: null }];
    const answer = await showAlert(connect({ readAlert: async () => alert, listAlertHistory: (_id, query) => listOf(history)(query) }), ID);
    expect(widest(answer)).toBeLessThanOrEqual(80);
    const shown = formatAnswer(answer, false).split("\n");
    expect(shown).toEqual(expect.arrayContaining(["kind          arp_spoofing", "MAC           02:00:00:00:00:66", "expected MAC  00:1b:21:aa:bb:07"]));
    expect(shown[2]).toBe("Another? device claims it.");
    expect(shown).toContain("explained in  apps/probe/README.md#arp-and-ndp");
    expect(shown).toContain("sent from     port 2");
    expect(shown).toEqual(expect.arrayContaining(["muted         2026-11-20T08:15:30Z by admin, until 2026-11-20T08:15:30Z: moves?", "acknowledged  2026-11-20T08:15:30Z by admin"]));
    expect(answer.json).toEqual({ ...alert, history });
    expect(shown).toContain(`status        open, muted, acknowledged by admin ${AT.slice(0, 19)}Z`);
  });

  test("are muted until a moment, and the mutes are listed and ended", async () => {
    const asked: unknown[] = [];
    const mute = { id: ID, source: "rogue" as const, type: null, subject: "10.0.0.*", site_id: null, reason: "", created_by: "admin", created_at: AT, expires_at: AT };
    const connection = connect({
      createAlertMute: async (wish) => (asked.push(wish), mute), listAlertMutes: listOf([mute]), deleteAlertMute: async (id) => void asked.push(id),
    });
    const made = await muteAlerts(connection, { source: "rogue", subject: "10.0.0.*", site: ID, expires: "8h" }, NOW);
    await unmuteAlerts(connection, ID);
    expect(asked).toEqual([{ source: "rogue", subject: "10.0.0.*", site_id: ID, reason: "", expires_at: "2026-11-20T16:15:30.250Z" }, ID]);
    expect(made.json).toEqual(mute);
    expect(formatAnswer(await listMutes(connection), false).split("\n")[1]).toBe(`rogue   any   10.0.0.*  any   2026-11-20T08:15:30Z  -       admin  ${ID}`);
  });

  test.each([[{ expires: "8h" }], [{ source: "bad", expires: "8h" }], [{ type: "a", expires: "soon" }]])("are not muted by %j", async (options) => {
    const connection = connect({ createAlertMute: () => Promise.reject(new Error("it was asked for")) });
    await expect(muteAlerts(connection, options, NOW)).rejects.toMatchObject({ code: "bad-option" });
  });
});

describe("keys", () => {
  test("are made with their scopes and an end, and shown this once", async () => {
    const asked: unknown[] = [];
    const connection = connect({
      createApiKey: async (wish) => (asked.push(wish), { ...KEY, key: "svc_live_secret", expires_at: wish.expires_at ?? null }),
    });
    const answer = await createKey(connection, "script", { scope: ["devices:read"], ttl: "90d" }, NOW);
    expect(asked).toEqual([{ name: "script", scopes: ["devices:read"], expires_at: "2027-02-18T08:15:30.250Z" }]);
    expect(formatAnswer(answer, false).split("\n")[0]).toBe("svc_live_secret");
  });

  test.each([
    [{ scope: ["devices:read"], ttl: "soon" }, "--ttl"], [{ scope: ["everything"] }, "--scope"],
  ])("are not asked for with %o", async (options, name) => {
    const connection = connect({ createApiKey: () => Promise.reject(new Error("it was asked for")) });
    await expect(createKey(connection, "script", options, NOW)).rejects.toMatchObject({
      code: "bad-option", message: expect.stringContaining(name) as string,
    });
  });

  test("are listed without the key itself, and revoked", async () => {
    const ended: string[] = [];
    const connection = connect({ listApiKeys: listOf([KEY]), revokeApiKey: async (id) => void ended.push(id) });
    expect(formatAnswer(await listKeys(connection), false).split("\n")[1]).toBe(
      `script  svc_live_0000…  admin  devices:read  never      -      ${ID}`,
    );
    expect([formatAnswer(await revokeKey(connection, ID), false), ended]).toEqual([`revoked ${ID}`, [ID]]);
  });
});

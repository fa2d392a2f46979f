import { readFileSync } from "node:fs";
import { type ApiKeyCreated, type Device, listEnvelope, AuditRecord, ROLE_SCOPES, type Scope } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type RunningCollector, startCollector } from "./testing/collector.ts";
import { type Answer, bearer, callsOf, send } from "./testing/every-call.ts";

/** What an attacker with one scope alone asks. */
type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

const PAGE = readFileSync(new URL("../../../../SECURITY.md", import.meta.url), "utf8");
const FOREIGN = createId();
const SNMP = { type: "snmp", name: "access", secret: { community: "a community of ours" }, networks: ["10.1.0.0/16"] };

let collector: RunningCollector;
let token = "";
let siteId = "";
let deviceId = "";
let credentialId = "";
beforeAll(async () => {
  collector = await startCollector();
  token = await collector.login();
  const admin = clientOf({ headers: bearer(token) });
  siteId = (read<{ data: { id: string }[] }>(await admin("GET", "/sites"))).data[0]?.id ?? "";
  deviceId = read<Device>(await admin("POST", "/devices", { site_id: siteId, ip: "10.1.0.1" })).id;
  credentialId = read<{ id: string }>(await admin("POST", "/vault/credentials", SNMP)).id;
});
afterAll(() => collector.stop());

const read = <T>({ text }: Answer) => JSON.parse(text) as T;
const clientOf = (given: { readonly headers: Record<string, string> }): Ask =>
  (method, path, body) => {
    const [place = "", query] = path.split("?");
    return send(collector.url, { method, path: `/api/v1${place}` }, { ...given, query: Object.fromEntries(new URLSearchParams(query)), body });
  };
const only = async (scope: Scope): Promise<Ask> => {
  const made = await clientOf({ headers: bearer(token) })("POST", "/auth/keys", { name: scope, scopes: [scope] });
  return clientOf({ headers: { "x-api-key": read<ApiKeyCreated>(made).key } });
};
const audited = async (action: string) => listEnvelope(AuditRecord)
  .parse(read(await clientOf({ headers: bearer(token) })("GET", `/audit?action=${action}`))).data.length;
const required = ({ status, error }: Answer) => [status, (error?.details as { readonly required?: unknown } | undefined)?.required];

/** The bound of each row of the page's table, as it is met by who has that one scope. */
const ROWS: Readonly<Partial<Record<Scope, (ask: Ask) => Promise<void>>>> = {
  async "devices:read"(ask) {
    expect((await ask("GET", "/events")).status).toBe(200);
    expect(required(await ask("GET", "/events?types=alert.created"))).toEqual([403, "alerts:read"]);
    expect(required(await ask("GET", "/events?types=backup.completed"))).toEqual([403, "backups:read"]);
  },
  async "agents:read"(ask) {
    const { data } = read<{ data: { devices: { total: number } }[] }>(await ask("GET", "/sites/summary"));
    expect(data.map(({ devices }) => devices.total > 0)).toContain(true);
    expect([(await ask("GET", `/sites/${FOREIGN}/summary`)).status, required(await ask("GET", "/devices")), required(await ask("GET", "/alerts"))])
      .toEqual([404, [403, "devices:read"], [403, "alerts:read"]]);
  },
  async "cve:write"(ask) {
    expect((await ask("POST", "/cve/update")).status).toBe(202);
    expect(required(await ask("GET", "/cve/db-info"))).toEqual([403, "cve:read"]);
    expect(await audited("cve.update")).toBe(1);
  },
  async "sensors:read"(ask) {
    expect((await ask("GET", `/dns/queries?site_id=${siteId}`)).status).toBe(200);
    expect((await ask("GET", `/dns/queries?site_id=${FOREIGN}`)).status).toBe(404);
    expect(required(await ask("POST", "/dns/pause", { site_id: siteId, minutes: 1 }))).toEqual([403, "sensors:write"]);
    expect([(await ask("GET", "/honeypots/credentials")).status, required(await ask("GET", `/honeypots/sessions/${FOREIGN}/transcript`))]).toEqual([200, [403, "vault:reveal"]]);
  },
  async "sensors:write"(ask) {
    const made = await ask("POST", "/ids/rulesets", { name: "ours", rules: 'alert tcp any any -> any any (msg:"A"; sid:1;)' });
    expect([made.status, (await ask("POST", "/ids/rulesets", { name: "x", site_id: FOREIGN, url: "https://rules.example.com/" })).status]).toEqual([201, 404]);
    expect((await ask("POST", "/ids/rulesets", { name: "x", file: "../../etc/passwd" })).status).toBe(400);
    expect((await ask("POST", "/ids/suppressions", { reason: "all of them" })).status).toBe(400);
    expect((await ask("POST", "/ids/suppressions", { signature_id: 1, site_id: FOREIGN, reason: "known" })).status).toBe(404);
    expect((await ask("POST", "/ids/suppressions", { signature_id: 1, reason: "known" })).status).toBe(201);
    expect(required(await ask("GET", "/ids/rules"))).toEqual([403, "sensors:read"]);
    expect(await audited("ids_suppression.create")).toBe(1);
  },
  async "devices:write"(ask) {
    expect((await ask("PUT", `/devices/${deviceId}`, { hostname: "renamed" })).status).toBe(200);
    expect((await ask("PUT", `/devices/${FOREIGN}`, { hostname: "renamed" })).status).toBe(404);
    expect(await audited("device.update")).toBe(1);
    const facts = [{ kind: "port", key: "tcp/443", value: "open" }];
    expect((await ask("POST", "/baselines/templates", { name: "web", tag: "web", facts, site_id: FOREIGN })).status).toBe(404);
    expect((await ask("POST", "/baselines/templates", { name: "web", tag: "web", facts })).status).toBe(201);
    expect((await ask("POST", `/baselines/${FOREIGN}/approve`, { take_differences: true })).status).toBe(404);
    expect(await audited("baseline_template.create")).toBe(1);
  },
  async "alerts:write"(ask) {
    const until = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    expect((await ask("POST", "/alerts/mutes", { source: "ids", expires_at: until(367) })).status).toBe(400);
    expect((await ask("POST", "/alerts/mutes", { site_id: FOREIGN, expires_at: until(1) })).status).toBe(404);
    expect((await ask("POST", "/alerts/mutes", { source: "ids", expires_at: until(1) })).status).toBe(201);
    expect(await audited("alert_mute.create")).toBe(1);
    const exceptions = (site: string) => `/sites/${site}/guards/exceptions`;
    expect((await ask("POST", exceptions(siteId), { ip: "10.1.0.1" })).status).toBe(400);
    expect((await ask("POST", exceptions(FOREIGN), { ip: "10.1.0.1", reason: "known" })).status).toBe(404);
    expect((await ask("POST", exceptions(siteId), { ip: "10.1.0.1", reason: "known" })).status).toBe(201);
    expect(required(await ask("PUT", `/sites/${siteId}/guards`, { enabled: false }))).toEqual([403, "agents:write"]);
    expect(await audited("guard_exception.create")).toBe(1);
    const window = (site: string, days: number) => ({ site_id: site, begins_at: until(0), ends_at: until(days), reason: "maintenance" });
    expect((await ask("POST", "/baselines/windows", window(siteId, 367))).status).toBe(400);
    expect((await ask("POST", "/baselines/windows", window(FOREIGN, 1))).status).toBe(404);
    expect((await ask("POST", "/baselines/windows", window(siteId, 1))).status).toBe(201);
    expect((await ask("POST", `/baselines/differences/${FOREIGN}/accept`, { reason: "known" })).status).toBe(404);
    expect(required(await ask("POST", `/baselines/${FOREIGN}/reset`, { reason: "known" }))).toEqual([403, "devices:write"]);
    expect(await audited("baseline_window.create")).toBe(1);
  },
  async "webhooks:write"(ask) {
    for (const url of ["http://203.0.113.1/", "https://10.0.0.1/", "https://127.0.0.1/", "https://169.254.169.254/", "https://[::1]/"]) {
      expect([url, (await ask("POST", "/integrations/webhooks", { url, events: ["*"] })).status]).toEqual([url, 400]);
    }
    expect((await ask("POST", "/integrations/webhooks", { url: "https://hooks.example.com/", events: ["*"] })).status).toBe(201);
  },
  async "agents:write"(ask) {
    expect((await ask("POST", "/agents/tokens", { site_id: FOREIGN })).status).toBe(404);
    expect((await ask("POST", "/agents/tokens", { site_id: siteId })).status).toBe(201);
    expect(await audited("enrollment_token.create")).toBe(1);
    expect(required(await ask("GET", "/vault/credentials"))).toEqual([403, "vault:read"]);
    // What is downloaded of an own probe is audited: services/files/files.test.ts.
    const capture = `/agents/probes/${FOREIGN}/files/${createId()}/content`;
    expect((await ask("GET", capture)).status).toBe(404);
    expect(required(await (await only("agents:read"))("GET", capture))).toEqual([403, "agents:write"]);
  },
  async "ipam:write"(ask) {
    expect((await ask("POST", "/ipam/prefixes", { site_id: FOREIGN, prefix: "10.9.0.0/16" })).status).toBe(404);
    expect((await ask("POST", "/ipam/prefixes", { site_id: siteId, prefix: "10.9.0.0/16" })).status).toBe(201);
  },
  async "license:write"(ask) {
    expect((await ask("PUT", "/license", { license: "eyJhbGciOiJub25lIn0.e30." })).error?.code).toMatch(/^(?:BAD_REQUEST|CONFLICT)$/);
  },
  async "vault:write"(ask) {
    const made = await ask("POST", "/vault/credentials", { ...SNMP, name: "another" });
    expect([made.status, made.text.includes(SNMP.secret.community)]).toEqual([201, false]);
    expect(required(await ask("POST", `/vault/credentials/${credentialId}/reveal`))).toEqual([403, "vault:reveal"]);
  },
  async "vault:reveal"(ask) {
    for (const count of [1, 2]) {
      expect((await ask("POST", `/vault/credentials/${credentialId}/reveal`)).text).toContain(SNMP.secret.community);
      expect(await audited("credential.reveal")).toBe(count);
    }
    expect(required(await ask("PUT", `/vault/credentials/${credentialId}`, { name: "x" }))).toEqual([403, "vault:write"]);
    // What is shown of an own session is audited: services/honeypots/evidence/evidence.test.ts.
    expect((await ask("GET", `/honeypots/sessions/${FOREIGN}/transcript`)).status).toBe(404);
  },
  async "scans:write"(ask) {
    expect((await ask("POST", "/scans/start", { target: "203.0.113.0/24", profile: "quick", site_id: siteId })).status).not.toBe(202);
    expect((await ask("POST", "/scans/start", { target: "10.0.0.0/8", profile: "quick", site_id: siteId })).status).toBe(400);
    expect((await ask("POST", "/scans/start", { target: "10.0.0.0/24", profile: "quick", site_id: FOREIGN })).status).toBe(404);
    expect(required(await ask("PUT", `/sites/${siteId}`, { scan_networks: ["203.0.113.0/24"] }))).toEqual([403, "agents:write"]);
  },
  async "config:write"(ask) {
    const versions = (id: string) => `/cmod/devices/${id}/versions`;
    expect((await ask("POST", versions(deviceId), { content: "hostname a" })).status).toBe(201);
    expect((await ask("POST", versions(FOREIGN), { content: "hostname a" })).status).toBe(404);
    expect(required(await ask("GET", versions(deviceId)))).toEqual([403, "config:read"]);
  },
  async "pcap:write"(ask) {
    expect((await ask("POST", "/pcap", { site_id: FOREIGN })).status).toBe(404);
    // The site has no probe that is online.
    expect((await ask("POST", "/pcap", { site_id: siteId })).status).toBe(503);
    expect((await ask("DELETE", `/pcap/${FOREIGN}`)).status).toBe(404);
    expect(required(await ask("GET", `/pcap/${FOREIGN}/download`))).toEqual([403, "pcap:download"]);
    expect(required(await ask("POST", "/pcap/watch", { site_id: siteId }))).toEqual([403, "pcap:download"]);
    expect(required(await ask("PUT", `/pcap/settings/${siteId}`, { require_reason: false }))).toEqual([403, "agents:write"]);
  },
  async "pcap:download"(ask) {
    expect((await ask("GET", `/pcap/${FOREIGN}/download`)).status).toBe(404);
    expect((await ask("POST", "/pcap/watch", { site_id: FOREIGN })).status).toBe(404);
    expect(required(await ask("GET", "/pcap"))).toEqual([403, "pcap:read"]);
    expect(required(await ask("DELETE", `/pcap/${FOREIGN}`))).toEqual([403, "pcap:write"]);
    // What is downloaded is audited: services/pcap/downloads.test.ts.
  },
  async "users:write"(ask) {
    for (const role of ["admin", "operator", "viewer"] as const) {
      const answer = await ask("POST", "/users", { username: `by-key-${role}`, password: "a long password of theirs", role });
      expect(required(answer)).toEqual([403, ROLE_SCOPES[role].find((scope) => scope !== "users:write")]);
    }
    expect(required(await ask("POST", "/auth/keys", { name: "x", scopes: ["users:write"] }))).toEqual([403, "signed-in"]);
  },
  async "backups:write"(ask) {
    for (const recipients of [["age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"], []]) {
      expect((await ask("PUT", "/backups/settings", { recipients })).status).toBe(400);
    }
    expect((await ask("POST", "/backups")).status).toBe(202);
  },
  async "backups:read"(ask) {
    const list = async () => read<{ readonly data: readonly { readonly id: string; readonly status: string }[] }>(await ask("GET", "/backups"));
    const made = await vi.waitFor(async () => {
      const [backup] = (await list()).data;
      if (backup?.status !== "completed") throw new Error(`the backup is not complete: ${JSON.stringify(backup)}`);
      return backup;
    }, { timeout: 300_000, interval: 100 });
    const path = `/backups/${made.id}/download`;
    expect((await ask("GET", path)).status).toBe(403);
    expect((await clientOf({ headers: bearer(token) })("GET", path)).status).toBe(403);
  },
};

describe("one scope alone", () => {
  test.each(Object.keys(ROWS) as Scope[])("%s is bounded as the security page says", async (scope) => {
    await ROWS[scope]?.(await only(scope));
  });

  test("of those that the page calls empty opens no route", async () => {
    const calls = callsOf(await collector.read("/api/v1/docs/openapi.json"));
    const empty: readonly Scope[] = ["audit:write"];
    expect(calls.filter(({ access }) => (empty as readonly string[]).includes(access))).toEqual([]);
  });

  test("has a row on the page if it writes, reveals or has a test here, and no row is without a test", () => {
    const table = PAGE.slice(PAGE.indexOf("## What a scope reaches indirectly"), PAGE.indexOf("## Keys"));
    const named = new Set([...table.matchAll(/`([a-z]+:(?:read|write|reveal|download))`(?=[^\n|]*\|[^\n]*\|[^\n]*\|)/g)].map(([, scope]) => scope));
    const writing = ROLE_SCOPES.admin.filter((scope) => !scope.endsWith(":read"));
    expect([...writing, ...Object.keys(ROWS)].filter((scope) => !named.has(scope))).toEqual([]);
    const shown = new Set<string>([...Object.keys(ROWS), "audit:write"]);
    const rows = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell]) => [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ""));
    expect(rows.filter((scope) => !shown.has(scope))).toEqual([]);
  });
});

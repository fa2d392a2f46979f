import {
  BATCH_MAX_EVENTS, Command, type EventData, Honeypot, HoneypotCredential, HoneypotExemption, HoneypotSession, HoneypotSessionDetail, listEnvelope, MAX_DECOY_EXEMPTIONS,
  MAX_EXEMPT_ADDRESSES, MAX_EXEMPT_PORTS, MAX_TRIED_CREDENTIALS, probeTopic, SEALED_PASSWORDS_INFO,
} from "@lanthorn/contract";
import { createId, hpkeSeal } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { enrollListening, type ListeningProbe } from "../agents/testing/listening-probe.ts";
import { type Stack, startStack } from "../agents/testing/stack.ts";
import { MAX_COMMUNITIES_OF_SITE, MAX_ROWS_OF_SITE } from "./sessions/reaction.ts";
import { appendOfDecoys, GUESS, HIT, INCIDENT } from "./testing/decoy-events.ts";

type Tried = EventData<"honeypot_credentials">;

let stack: Stack;
let probe: ListeningProbe;
/** Events for which webhooks would be called. */
let delivered: string[];
beforeEach(async () => {
  stack = await startStack();
  probe = await enrollListening(stack);
  delivered = [];
});
afterEach(async () => {
  probe.end();
  await stack.close();
});

type Options = Parameters<Stack["call"]>[2];
const call = (method: string, rest = "", options: Options = {}) => stack.call(method, `/api/v1/honeypots${rest}`, options);
const sessions = async (query = "") => listEnvelope(HoneypotSession).parse((await call("GET", `/sessions${query}`)).body);
const append = (type: "honeypot_hit" | "honeypot_credentials", all: readonly object[]) => appendOfDecoys(stack, probe.probeId, type, all, { onDelivered: (types) => delivered.push(...types) });

describe("the decoys of a site", () => {
  const takeCommands = async (answer: object) => {
    const commands: Command[] = [];
    const client = await stack.connect(probe.probeId, probe.identity);
    client.on("message", (_, payload) => {
      const command = Command.parse(JSON.parse(payload.toString()));
      commands.push(command);
      client.publish(probeTopic(stack.tenantId, probe.probeId, "replies"), JSON.stringify({ v: 1, command_id: command.id, ok: true, error: null, data: {}, ...answer }), { qos: 1 });
    });
    await client.subscribeAsync(probeTopic(stack.tenantId, probe.probeId, "commands"), { qos: 1 });
    return commands;
  };
  const report = {
    is_running: true, sessions: 0, connections: 3, failures: 0, vanished: 0, exempt: [{ name: "this machine", connections: 2 }],
    decoys: [{ name: "files2", address: "192.0.2.9", persona: "nas", hostname: "files2", services: [{ service: "ssh", port: 22, problem: null }, { service: "http", port: 80, problem: "port 80 is in use" }] }],
  };
  const list = async (query = "") => listEnvelope(Honeypot).parse((await call("GET", query)).body).data;

  test("have addresses that are kept for them, until their probe reports others; one that knows nothing of them changes nothing", async () => {
    const kept = async () => (await stack.database.db.selectFrom("honeypot_addresses").select(["ip", "site_id", "decoy"]).orderBy("ip_key").execute()).map(({ ip, site_id: site, decoy }) => [ip, site === stack.siteId, decoy]);
    const decoy = (address: string, name: string) => ({ persona: "nas", hostname: "files", services: [], address, name });
    await probe.report({ decoys: { ...report, decoys: [decoy("192.0.2.9", "files2"), decoy("2001:DB8::00:9", "six"), decoy("nonsense", "none")] } });
    await expect.poll(kept).toEqual([["192.0.2.9", true, "files2"], ["2001:db8::9", true, "six"]]);
    const own = (state: "probing" | "in_use" | "failed") => ({ own_address: { interface: "eth0", mac: "00:11:32:00:00:01", state, used_by: null, is_mac_refused: null, problem: null } });
    await probe.report({ decoys: { ...report, decoys: [{ ...decoy("192.0.2.9", "files2"), ...own("probing") }, { ...decoy("192.0.2.11", "files4"), ...own("in_use") }, { ...decoy("192.0.2.12", "files5"), ...own("failed") }] } });
    await expect.poll(kept).toEqual([["192.0.2.9", true, "files2"]]);
    await probe.report({});
    await probe.report({ decoys: { ...report, is_running: false, decoys: [decoy("192.0.2.10", "files3")] } });
    await expect.poll(kept).toEqual([["192.0.2.10", true, "files3"]]);
    await probe.report({ decoys: { ...report, decoys: [] } });
    await expect.poll(kept).toEqual([]);
  });

  test("are what the probe beside them reports, with their state", async () => {
    await probe.report({ decoys: report });
    await expect.poll(() => list()).toMatchObject([{ site_id: stack.siteId, probe_id: probe.probeId, name: "files2", persona: "nas", address: "192.0.2.9", state: "partly" }]);
    const [before] = await list(`?site_id=${stack.siteId}`);
    await probe.report({ decoys: { ...report, is_running: false } });
    await expect.poll(() => list()).toMatchObject([{ id: before?.id, state: "stopped" }]);
    await stack.database.db.updateTable("probes").set({ state: "silent" }).execute();
    expect(await list()).toMatchObject([{ id: before?.id, state: "silent" }]);
    expect((await call("GET", `?site_id=${createId()}`)).status).toBe(404);
    expect(listEnvelope(Honeypot).parse((await call("GET", "", { tenantId: createId() })).body).data).toEqual([]);
  });

  test("are tested by their probe, and show what came of it and the session", async () => {
    await probe.report({ decoys: report });
    await expect.poll(() => list()).toHaveLength(1);
    const [decoy] = await list();
    const incident = createId();
    const commands = await takeCommands({ data: { incident_id: incident, service: "ssh", port: 22 } });
    const asked = await call("POST", `/${decoy?.id}/test`);
    expect([asked.status, Honeypot.parse(asked.body).test]).toMatchObject([202, { asked_by: "tester" }]);
    const last = async () => Honeypot.parse((await call("GET", `/${decoy?.id}`)).body).test;
    await expect.poll(last).toMatchObject({ status: "done", error: null, session_id: null });
    expect(commands).toMatchObject([{ type: "decoy_test", data: { decoy: "files2" } }]);
    await append("honeypot_hit", [{ ...HIT, incident_id: incident, is_test: true }]);
    expect((await last())?.session_id).toBe((await sessions()).data[0]?.id);
    await stack.database.db.updateTable("honeypot_tests").set({ status: "sent", answer_by: "2026-01-01T00:00:00.000Z" }).execute();
    expect(await last()).toMatchObject({ status: "no_answer" });
    for (const [method, rest] of [["GET", ""], ["POST", "/test"]] as const) expect((await call(method, `/${decoy?.id}${rest}`, { tenantId: createId() })).status).toBe(404);
  });

  test("are not tested where the probe or their process is away, and say why where the probe refuses", async () => {
    await probe.report({ decoys: { ...report, is_running: false } });
    await expect.poll(() => list()).toMatchObject([{ state: "stopped" }]);
    const [decoy] = await list();
    expect((await call("POST", `/${decoy?.id}/test`)).body.error.code).toBe("CONFLICT");
    await probe.report({ decoys: report });
    await expect.poll(() => list()).toMatchObject([{ state: "partly" }]);
    await takeCommands({ ok: false, error: { code: "refused", message: "the decoy files2 does not answer" } });
    await call("POST", `/${decoy?.id}/test`);
    await expect.poll(() => list()).toMatchObject([{ test: { status: "failed", error: "the decoy files2 does not answer" } }]);
  });
});

describe("what is done at a decoy", () => {
  test("is one session for each incident, with a rung for each rise, and the event that says so", async () => {
    await append("honeypot_hit", [HIT, GUESS]);
    await append("honeypot_hit", [{ ...GUESS, report: "summary", count: 900, credentials: 899, detail: "900 connections" }, { ...HIT, count: 2 }]);
    const { data } = await sessions();
    expect(data).toMatchObject([{
      decoy: "files2", stage: "credential", severity: "high", connections: 900, credentials: 899, usernames: ["root"], services: ["ssh", "ftp"], mitre_techniques: ["T1046", "T1110.001"], is_test: false,
    }]);
    const read = HoneypotSessionDetail.parse((await call("GET", `/sessions/${data[0]?.id}`)).body);
    expect(read.rungs).toMatchObject([{ stage: "touch", service: "ssh", destination_port: 22 }, { stage: "credential", service: "ftp", username: "root", detail: GUESS.detail }]);
    const events = await stack.database.db.selectFrom("events").select("id").where("type", "=", "honeypot_hit").execute();
    expect(events.map(({ id }) => id)).toEqual(expect.arrayContaining(read.rungs.map(({ event_id: id }) => id)));
    expect((await call("GET", `/sessions/${createId()}`)).status).toBe(404);
    expect((await call("GET", `/sessions/${read.id}`, { tenantId: createId() })).status).toBe(404);
  });

  test("of a test is kept as one, raises no alert and calls nobody", async () => {
    await append("honeypot_hit", [{ ...HIT, is_test: true, incident_id: createId() }]);
    expect([delivered, await stack.database.db.selectFrom("alerts").select("id").execute()]).toEqual([[], []]);
    await append("honeypot_hit", [HIT]);
    expect(delivered).toContain("honeypot_hit");
    expect(await stack.database.db.selectFrom("alerts").select("type").execute()).toEqual([{ type: "honeypot_hit" }]);
    expect([(await sessions("?is_test=true")).meta.total, (await sessions("?is_test=false")).meta.total]).toEqual([1, 1]);
  });

  test("of who answers for names that no host has is one alert for each source, beside that of what it did at a decoy", async () => {
    const poisoning: typeof HIT = { ...HIT, stage: "name_poisoning", severity: "high", service: "llmnr", services: ["llmnr"], destination_port: 5355, source_mac: "02:00:00:00:00:09", mitre_techniques: ["T1557.001"], incident_id: createId() };
    await append("honeypot_hit", [{ ...HIT, source_mac: poisoning.source_mac }, poisoning, { ...poisoning, decoy: "camera", incident_id: createId() }]);
    const alerts = await stack.database.db.selectFrom("alerts").select(["severity", "title"]).orderBy("severity").execute();
    expect(alerts).toEqual([
      { severity: "high", title: "192.0.2.66 answered for a host that does not exist to the decoy files2 (llmnr)" }, { severity: "low", title: "192.0.2.66 touched the decoy files2 (ssh)" },
    ]);
    expect((await sessions("?stage=name_poisoning")).data).toMatchObject([{ decoy: "camera" }, { decoy: "files2", mitre_techniques: ["T1557.001"] }]);
  });

  test("is found by what it was and by time, page by page", async () => {
    await append("honeypot_hit", [
      HIT, { ...GUESS, incident_id: createId(), decoy: "camera", source_ip: "192.0.2.67" }, { ...HIT, incident_id: createId(), source_ip: "2001:db8::7" },
    ]);
    const totals = await Promise.all(
      ["?decoy=camera", "?source_ip=2001:db8::7", "?stage=touch", "?since=1h", "?until=2026-01-01T00:00:00.000Z", `?site_id=${stack.siteId}`].map(async (query) => (await sessions(query)).meta.total),
    );
    expect(totals).toEqual([1, 1, 2, 3, 0, 3]);
    const first = await sessions("?per_page=2");
    const second = await sessions(`?per_page=2&cursor=${first.meta.next_cursor}`);
    expect([...first.data, ...second.data].map(({ source_ip: ip }) => ip)).toEqual(["2001:db8::7", "192.0.2.67", "192.0.2.66"]);
    expect((await call("GET", `/sessions?site_id=${createId()}`)).status).toBe(404);
  });

  test("by a probe that makes up incidents has a bound: the oldest go", async () => {
    for (let left = MAX_ROWS_OF_SITE + 3; left > 0; left -= BATCH_MAX_EVENTS) {
      await append("honeypot_hit", Array.from({ length: Math.min(left, BATCH_MAX_EVENTS) }, () => ({ ...HIT, incident_id: createId(), is_test: true })));
    }
    expect((await sessions("?per_page=1")).meta.total).toBe(MAX_ROWS_OF_SITE);
  });
});

describe("credentials that were tried", () => {
  const TRIED: Tried = {
    incident_id: INCIDENT, decoy: "files2", tried: [{ service: "ftp", username: "root", password: "Summer-2026!", is_bait: false }, { service: "ftp", username: "backup", password: "Blue-Heron-4", is_bait: true }],
  };
  const list = async (query = "") => listEnvelope(HoneypotCredential).parse((await call("GET", `/credentials${query}`)).body).data;

  test("are sealed: nothing shows a password but revealing it, which is for vault:reveal and in the audit log", async () => {
    await append("honeypot_hit", [GUESS]);
    await append("honeypot_credentials", [TRIED]);
    const [session] = (await sessions()).data;
    const all = await list(`?session_id=${session?.id}`);
    expect(all).toMatchObject([{ username: "backup", is_bait: true, session_id: session?.id }, { username: "root", is_bait: false, service: "ftp", decoy: "files2" }]);
    const rows = JSON.stringify([await stack.database.db.selectFrom("events").selectAll().execute(), await stack.database.db.selectFrom("honeypot_credentials").selectAll().execute(), all]);
    expect(rows).not.toContain("Summer-2026!");
    expect(await list("?username=root")).toHaveLength(1);
    expect(await list("?is_bait=true")).toHaveLength(1);
    const path = `/credentials/${all[1]?.id}/reveal`;
    expect((await call("POST", path)).body).toMatchObject({ username: "root", password: "Summer-2026!" });
    expect((await call("POST", path, { role: "viewer" })).body.error.details).toEqual({ required: "vault:reveal" });
    expect((await call("POST", path, { tenantId: createId() })).status).toBe(404);
    const audit = await stack.database.db.selectFrom("audit").select(["action", "after"]).where("action", "=", "honeypot_credential.reveal").execute();
    expect(audit).toHaveLength(1);
    expect(audit[0]?.after).not.toContain("Summer");
  });

  test("that are communities of forged sources have a bound of their own, and bait is none of them", async () => {
    const community = (password: string, bait = false) => ({ service: "snmp", username: "", password, is_bait: bait });
    await append("honeypot_credentials", [{ ...TRIED, tried: [...TRIED.tried, community("bait", true)] }]);
    const forged = Array.from({ length: Math.ceil((MAX_COMMUNITIES_OF_SITE + 3) / MAX_TRIED_CREDENTIALS) }, () => ({
      ...TRIED, incident_id: createId(), tried: Array.from({ length: MAX_TRIED_CREDENTIALS }, (_, index) => community(`c${index}`)),
    }));
    await append("honeypot_credentials", forged);
    expect(listEnvelope(HoneypotCredential).parse((await call("GET", "/credentials?per_page=1")).body).meta.total).toBe(MAX_COMMUNITIES_OF_SITE + 3);
    expect(await list("?is_bait=true")).toHaveLength(2);
  });

  test("come sealed for the key that probes are sent, of their own incident alone", async () => {
    const key = (await probe.hears(({ password_key: given }) => given !== undefined)).password_key ?? "";
    const send = (aad: string, passwords: unknown) => append("honeypot_credentials", [{
      ...TRIED, tried: TRIED.tried.map((one) => ({ ...one, password: null })),
      passwords_sealed: hpkeSeal(Buffer.from(key, "base64"), Buffer.from(JSON.stringify(passwords)), { info: SEALED_PASSWORDS_INFO, aad })?.toString("base64"),
    }]);
    const passwords = TRIED.tried.map(({ password }) => password);
    await send(createId(), passwords);
    await send(INCIDENT, { none: "of them" });
    expect(await list()).toEqual([]);
    await send(INCIDENT, passwords);
    const revealed = await Promise.all((await list()).map(async ({ id }) => (await call("POST", `/credentials/${id}/reveal`)).body.password as string));
    expect(revealed).toEqual(["Blue-Heron-4", "Summer-2026!"]);
    expect(JSON.stringify(await stack.database.db.selectFrom("events").selectAll().execute())).not.toContain("passwords_sealed");
  });

  test("of a session that is not kept any more stay without it", async () => {
    await append("honeypot_credentials", [TRIED]);
    expect(await list()).toMatchObject([{ session_id: null }, { session_id: null }]);
    expect((await call("GET", `/credentials?session_id=${createId()}`)).status).toBe(404);
  });
});

describe("who may touch decoys", () => {
  const body = (more: object = {}) => ({ site_id: stack.siteId, name: "scanner", addresses: ["10.0.0.9/28", "2001:DB8::1"], ports: [80], hours: "22:00-04:30", reason: "scans every night", ...more });
  const add = (more: object = {}) => call("POST", "/exemptions", { body: body(more) });

  test("is sent to the site's probes without its reason, and taken back", async () => {
    expect(probe.received.at(-1)?.decoys).toBeUndefined();
    const made = HoneypotExemption.parse((await add()).body);
    expect(made).toMatchObject({ addresses: ["10.0.0.0/28", "2001:db8::1"], created_by: "tester", expires_at: null });
    const sent = await probe.hears(({ decoys }) => decoys !== undefined);
    expect(sent.decoys).toEqual({ exemptions: [{ name: "scanner", addresses: ["10.0.0.0/28", "2001:db8::1"], ports: [80], hours: "22:00-04:30" }] });
    expect(listEnvelope(HoneypotExemption).parse((await call("GET", `/exemptions?site_id=${stack.siteId}`)).body).data).toEqual([made]);
    expect((await call("GET", `/exemptions/${made.id}`)).body).toEqual(made);
    for (const method of ["GET", "DELETE"]) expect((await call(method, `/exemptions/${made.id}`, { tenantId: createId() })).status).toBe(404);
    expect((await call("DELETE", `/exemptions/${made.id}`)).status).toBe(204);
    const next = await probe.hears(({ revision, decoys }) => decoys === undefined && revision > sent.revision);
    expect(next.revision).toBeGreaterThan(sent.revision);
  });

  test("is refused where it says nothing, is past, is of another tenant or is too many; a name counts once", async () => {
    expect((await add({ site_id: createId() })).status).toBe(404);
    for (const wrong of [{ addresses: [] }, { addresses: ["10.0.0.0/33"] }, { hours: "25:00-26:00" }, { ports: [0] }, { reason: " " }, { expires_at: "2020-01-01T00:00:00.000Z" }]) {
      expect((await add(wrong)).status, JSON.stringify(wrong)).toBe(400);
    }
    expect([(await add()).status, (await add()).status]).toEqual([201, 409]);
    const most = Array.from({ length: MAX_EXEMPT_ADDRESSES }, (_, index) => `2001:db8:${index.toString(16)}:aaaa:bbbb:cccc:dddd:0/112`);
    for (let number = 1; number < MAX_DECOY_EXEMPTIONS; number += 1) await add({ name: `${number}`.padEnd(64, "x"), addresses: most, ports: Array.from({ length: MAX_EXEMPT_PORTS }, (_, port) => 65_535 - port) });
    expect((await add({ name: "one more" })).status).toBe(409);
    const sent = await probe.hears(({ decoys }) => decoys?.exemptions.length === MAX_DECOY_EXEMPTIONS);
    // Guards and credentials take the most of a configuration.
    expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(64 * 1024);
  });
});

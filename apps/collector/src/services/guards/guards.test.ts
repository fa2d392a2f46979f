import { Command, GuardExceptionRecord, GuardsLearnAnswer, listEnvelope, MAX_GUARD_EXCEPTIONS, PAYLOAD_MAX_BYTES, probeTopic, SiteGuards } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { enrollListening, type ListeningProbe } from "../agents/testing/listening-probe.ts";
import { type Stack, startStack } from "../agents/testing/stack.ts";

const VIRTUAL = { kind: "arp_spoofing", ip: "10.0.0.9/28", mac: "00-00-5E-00-01-07", reason: "the firewalls' virtual address" };

let stack: Stack;
let probe: ListeningProbe;
beforeEach(async () => {
  stack = await startStack();
  probe = await enrollListening(stack);
});
afterEach(async () => {
  probe.end();
  await stack.close();
});

type Options = Parameters<Stack["call"]>[2];
const call = (method: string, rest = "", options: Options = {}) => stack.call(method, `/api/v1/sites/${stack.siteId}/guards${rest}`, options);
const read = async () => SiteGuards.parse((await call("GET")).body);
const add = async (exception: object = VIRTUAL) => GuardExceptionRecord.parse((await call("POST", "/exceptions", { body: exception })).body);
const list = async () => listEnvelope(GuardExceptionRecord).parse((await call("GET", "/exceptions")).body).data;
const audited = async () => (await stack.database.db.selectFrom("audit").select(["action", "actor_name", "before", "after"]).orderBy("id").execute())
  .filter(({ action }) => action.startsWith("guard"));

describe("the settings of a site's guards", () => {
  test("are those of the probes' own files until they are set, and then reach the probe with every change", async () => {
    expect(await read()).toEqual({
      site_id: stack.siteId, enabled: true, active: true, learning_minutes: null, quiet_seconds: null, dhcp_servers: [], routers: [], roaming_gateways: false,
      exceptions: 0,
      probes: [{ probe_id: probe.probeId, name: "box", is_online: true, state: null, learning: null }],
    });
    expect(probe.received.at(-1)?.guards).toBeUndefined();
    const changed = await call("PUT", "", { body: { active: false, quiet_seconds: 600, routers: ["FE80::1", "fe80:0::1"] } });
    expect([changed.status, changed.body]).toMatchObject([200, { active: false, enabled: true, quiet_seconds: 600, routers: ["fe80::1"] }]);
    const sent = await probe.hears(({ guards }) => guards !== undefined);
    expect(sent.guards).toEqual({ enabled: true, active: false, quiet_seconds: 600, dhcp_servers: [], routers: ["fe80::1"], roaming_gateways: false, exceptions: [] });
    await call("PUT", "", { body: { dhcp_servers: ["10.0.0.2"], quiet_seconds: null, roaming_gateways: true } });
    const next = await probe.hears(({ guards }) => guards?.dhcp_servers?.length === 1);
    expect(next.guards).toEqual({ enabled: true, active: false, dhcp_servers: ["10.0.0.2"], routers: ["fe80::1"], roaming_gateways: true, exceptions: [] });
    expect(next.revision).toBeGreaterThan(sent.revision);
    expect((await audited()).map(({ action, actor_name }) => [action, actor_name])).toEqual([["guards.update", "tester"], ["guards.update", "tester"]]);
  });

  test("are changed only by who has read them as they are", async () => {
    const { headers } = await call("GET");
    expect((await call("PUT", "", { body: { quiet_seconds: 100 }, headers: { "if-match": String(headers["etag"]) } })).status).toBe(200);
    expect((await call("PUT", "", { body: { quiet_seconds: 200 }, headers: { "if-match": String(headers["etag"]) } })).body.error.code).toBe("CONFLICT");
    expect((await read()).quiet_seconds).toBe(100);
  });

  test("show how each probe's guards are, as it reported", async () => {
    const state = { enabled: true, active: false, learning_until: "2026-11-20T09:15:30.250Z" };
    await probe.report({ guards: state });
    await expect.poll(async () => (await read()).probes[0]?.state).toEqual(state);
    await stack.database.db.updateTable("probes").set({ state: "silent" }).execute();
    expect((await read()).probes).toMatchObject([{ is_online: false, state }]);
  });

  test.each([
    [{ quiet_seconds: 0 }, "quiet_seconds"], [{ dhcp_servers: ["10.0.0.0/24"] }, "dhcp_servers.0"], [{ exceptions: [] }, "exceptions"],
    [{ roaming_gateways: "yes" }, "roaming_gateways"],
    [{ learning_minutes: 50_000 }, "learning_minutes"], [{ enabled: null }, "enabled"],
  ])("refuse %j", async (body, path) => {
    const { status, body: answer } = await call("PUT", "", { body });
    expect([status, answer.error.details[0].path]).toEqual([400, path]);
  });
});

describe("an exception", () => {
  test("is kept with its author and reason, sent to the probe, and ends when it is deleted", async () => {
    const made = await add();
    expect(made).toMatchObject({ ip: "10.0.0.0/28", mac: "00:00:5e:00:01:07", created_by: "tester", expires_at: null, reason: VIRTUAL.reason });
    const { guards } = await probe.hears((configuration) => configuration.guards?.exceptions?.length === 1);
    expect(guards?.exceptions).toEqual([{ kind: "arp_spoofing", ip: "10.0.0.0/28", mac: "00:00:5e:00:01:07", reason: "" }]);
    expect([await list(), (await read()).exceptions, (await call("GET", `/exceptions/${made.id}`)).body]).toEqual([[made], 1, made]);
    expect((await call("DELETE", `/exceptions/${made.id}`)).status).toBe(204);
    await probe.hears((configuration) => configuration.guards === undefined);
    expect([(await call("DELETE", `/exceptions/${made.id}`)).status, (await call("GET", `/exceptions/${made.id}`)).status]).toEqual([404, 404]);
    const [created, deleted] = await audited();
    expect([created?.action, JSON.parse(created?.after ?? ""), deleted?.action, JSON.parse(deleted?.before ?? "")])
      .toEqual(["guard_exception.create", made, "guard_exception.delete", made]);
  });

  test("ends by itself, and says so to the probe", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const made = await add({ ip: "10.0.0.7", reason: "an upgrade", expires_at: expiresAt });
    const { guards } = await probe.hears((configuration) => configuration.guards?.exceptions?.length === 1);
    expect(guards?.exceptions).toMatchObject([{ until: expiresAt }]);
    await stack.database.db.updateTable("guard_exceptions").set({ expires_at: "2026-01-01T00:00:00.000Z" }).where("id", "=", made.id).execute();
    expect([await list(), (await read()).exceptions, (await call("GET", `/exceptions/${made.id}`)).status]).toEqual([[], 0, 404]);
    await add();
    expect(await stack.database.db.selectFrom("guard_exceptions").select("reason").execute()).toEqual([{ reason: VIRTUAL.reason }]);
  });

  test.each([
    ["no reason", { ip: "10.0.0.7" }, "reason"], ["a blank reason", { ip: "10.0.0.7", reason: " " }, "reason"],
    ["nothing that it is about", { reason: "all" }, ""], ["a kind that there is not", { kind: "bad", reason: "a" }, "kind"],
    ["an end that is past", { ip: "10.0.0.7", reason: "a", expires_at: "2020-01-01T00:00:00.000Z" }, "expires_at"],
  ])("is refused with %s", async (_, body, path) => {
    const { status, body: answer } = await call("POST", "/exceptions", { body });
    expect([status, answer.error.details[0].path]).toEqual([400, path]);
    expect(await list()).toEqual([]);
  });

  test("is refused where the site has a thousand, which fit what a broker takes beside all that a configuration may have", async () => {
    const long = (n: number) => `2001:db8:${n + 4096}:1111:1111:1111:1111:1111`;
    const rows = Array.from({ length: MAX_GUARD_EXCEPTIONS - 1 }, (_, n) => ({
      id: createId(), tenant_id: stack.tenantId, site_id: stack.siteId, kind: "router_advertisement", ip: `${long(n)}/128`, mac: "00:00:5e:00:01:07",
      reason: "\u0001".repeat(255), created_by: "a", created_at: "2026-01-01T00:00:00.000Z", expires_at: "2036-01-01T00:00:00.000Z",
    }));
    for (let at = 0; at < rows.length; at += 250) await stack.database.db.insertInto("guard_exceptions").values(rows.slice(at, at + 250)).execute();
    const all = (length: number) => Array.from({ length }, (_, n) => long(n));
    await stack.call("PUT", `/api/v1/sites/${stack.siteId}`, { body: { excluded: all(4096) } });
    await call("PUT", "", { body: { dhcp_servers: all(256), routers: all(256) } });
    const answers = await Promise.all(Array.from({ length: 5 }, () => call("POST", "/exceptions", { body: VIRTUAL })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const sent = await probe.hears(({ guards }) => guards?.exceptions?.some(({ kind }) => kind === VIRTUAL.kind) === true);
    expect([sent.guards?.exceptions?.length, sent.excluded.length]).toEqual([MAX_GUARD_EXCEPTIONS, 4096]);
    // The rest is for credentials.
    expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(PAYLOAD_MAX_BYTES - 640 * 1024);
  });
});

describe("to learn anew", () => {
  /** Takes the probe's commands. */
  const takeCommands = async (answer: object | null): Promise<Command[]> => {
    const commands: Command[] = [];
    const client = await stack.connect(probe.probeId, probe.identity);
    client.on("message", (_, payload) => {
      const command = Command.parse(JSON.parse(payload.toString()));
      commands.push(command);
      const reply = { v: 1, command_id: command.id, ok: true, error: null, data: {}, ...answer };
      if (answer) client.publish(probeTopic(stack.tenantId, probe.probeId, "replies"), JSON.stringify(reply), { qos: 1 });
    });
    await client.subscribeAsync(probeTopic(stack.tenantId, probe.probeId, "commands"), { qos: 1 });
    return commands;
  };
  const learning = async () => (await read()).probes[0]?.learning;

  test("is a command to each probe of the site, whose answer is shown", async () => {
    const commands = await takeCommands({});
    const asked = await call("POST", "/learn");
    expect([asked.status, GuardsLearnAnswer.parse(asked.body).probes]).toMatchObject([202, [{ probe_id: probe.probeId, learning: { asked_by: "tester" } }]]);
    await expect.poll(learning).toMatchObject({ status: "done", error: null });
    expect(commands).toMatchObject([{ type: "guards_learn", data: {} }]);
    expect(await audited()).toMatchObject([{ action: "guards.learn", after: JSON.stringify({ probes: [probe.probeId] }) }]);
  });

  test("fails with the probe's reason", async () => {
    await takeCommands({ ok: false, error: { code: "refused", message: "the guards are turned off" } });
    await call("POST", "/learn");
    await expect.poll(learning).toMatchObject({ status: "failed", error: "the guards are turned off" });
  });

  test("has no answer when the time for it is over", async () => {
    await takeCommands(null);
    await call("POST", "/learn");
    expect(await learning()).toMatchObject({ status: "sent" });
    await stack.database.db.updateTable("guard_learning").set({ answer_by: "2026-01-01T00:00:00.000Z" }).execute();
    expect(await learning()).toMatchObject({ status: "no_answer" });
  });

  test("is refused where no probe could", async () => {
    await stack.call("POST", `/api/v1/agents/probes/${probe.probeId}/revoke`);
    expect((await call("POST", "/learn")).body.error.code).toBe("CONFLICT");
  });
});

describe("of another tenant, or without the right", () => {
  const all = (id: string) => [
    ["GET", ""], ["PUT", "", {}], ["POST", "/learn"], ["GET", "/exceptions"], ["POST", "/exceptions", VIRTUAL], ["GET", `/exceptions/${id}`],
    ["DELETE", `/exceptions/${id}`],
  ] as const;

  test("nothing is there", async () => {
    const made = await add();
    for (const [method, rest, body] of all(made.id)) expect((await call(method, rest, { body, tenantId: createId() })).status).toBe(404);
    expect(await list()).toEqual([made]);
  });

  test("a viewer reads, an operator adds exceptions, and an administrator changes the settings", async () => {
    const made = await add();
    const statuses = async (role: "viewer" | "operator") => {
      const answers: number[] = [];
      for (const [method, rest, body] of all(made.id)) answers.push((await call(method, rest, { body, role })).status);
      return answers;
    };
    expect(await statuses("viewer")).toEqual([200, 403, 403, 200, 403, 200, 403]);
    expect(await statuses("operator")).toEqual([200, 403, 403, 200, 201, 200, 204]);
  });
});

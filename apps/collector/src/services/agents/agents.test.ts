import { X509Certificate } from "node:crypto";
import { EnrollmentToken, EnrollResponse, parseEnrollmentToken, Probe, probeTopic, RenewResponse } from "@lanthorn/contract";
import { createFakeClock, createId, toInstant } from "@lanthorn/runtime";
import type { MqttClient } from "mqtt";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KeyAndCertificate } from "../../certificates/authority.ts";
import { publicKeyOf } from "../../certificates/peer.ts";
import { createRequest } from "../../certificates/testing/request.ts";
import { type Answer, type Stack, startStack } from "./testing/stack.ts";

let stack: Stack;
beforeEach(async () => void (stack = await startStack()));
afterEach(() => stack.close());

const makeToken = async (ttl_seconds = 3600) => EnrollmentToken.parse(
  (await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: stack.siteId, ttl_seconds } })).body,
);
const enroll = (token: string, certificate_request: string, name = "box") => stack.call(
  "POST", "/api/v1/agents/enroll", { body: { token, certificate_request, name } },
);
const refusal = ({ status, body }: Answer) => [status, body.error.code, body.error.details.reason];
const enrolled = async () => {
  const { key, request } = await createRequest();
  const identity = EnrollResponse.parse((await enroll((await makeToken()).token, request)).body);
  return { probeId: identity.probe_id, identity: { key, certificate: identity.certificate }, answer: identity };
};
/** Asks for a new certificate with a key of its own. */
const renew = async (identity: KeyAndCertificate) => {
  const { key, request } = await createRequest();
  const { status, body } = await stack.call("POST", "/api/v1/agents/renew", { body: { certificate_request: request }, identity });
  return { status, body, key };
};
const renewal = async (identity: KeyAndCertificate): Promise<KeyAndCertificate> => {
  const { body, key } = await renew(identity);
  return { key, certificate: RenewResponse.parse(body).certificate };
};
const keysOf = async (probeId: string) => Object.values(
  await stack.database.db.selectFrom("probes").select(["public_key", "previous_public_key"]).where("id", "=", probeId)
    .executeTakeFirstOrThrow(),
);
const record = async (probeId: string) => Probe.parse((await stack.call("GET", `/api/v1/agents/probes/${probeId}`)).body);

describe("an enrollment token", () => {
  test("carries the pin of the CA, is kept as a hash only, and needs the scope and a site of the tenant", async () => {
    const token = await makeToken();
    const parts = parseEnrollmentToken(token.token);
    expect(parts?.caPin).toBe(stack.authority.pin);
    const rows = JSON.stringify(await stack.database.db.selectFrom("enrollment_tokens").selectAll().execute());
    expect(rows).not.toContain(parts?.secret);
    expect((await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: stack.siteId }, role: "operator" })).status).toBe(403);
    expect((await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: createId() } })).status).toBe(404);
    expect((await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: stack.siteId }, tenantId: createId() })).status).toBe(404);
    expect((await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: stack.siteId, ttl_seconds: 1 } })).status).toBe(400);
  });

  test("enrolls one probe, whose certificate the broker takes", async () => {
    const { probeId, identity, answer } = await enrolled();
    expect(new X509Certificate(answer.certificate).subject).toBe(`CN=${probeId}`);
    expect(answer).toMatchObject({
      tenant_id: stack.tenantId, site_id: stack.siteId, ca_certificate: stack.authority.certificate,
      mqtt_url: `mqtts://127.0.0.1:${stack.broker.port()}`,
    });
    const client = await stack.connect(probeId, identity);
    expect(client.connected).toBe(true);
    client.end(true);
    expect(await record(probeId)).toMatchObject({ id: probeId, name: "box", state: "enrolled", watermark: 0, refused: {}, health: null });
  });

  test("is good once, also for two at the same moment", async () => {
    const { token } = await makeToken();
    const requests = await Promise.all(Array.from({ length: 4 }, () => createRequest()));
    const answers = await Promise.all(requests.map(({ request }) => enroll(token, request)));
    expect(answers.filter((answer) => answer.status === 201).length).toBe(1);
    expect(answers.filter((answer) => answer.status !== 201).map(refusal)).toEqual(
      Array.from({ length: 3 }, () => [401, "UNAUTHORIZED", "token-used"]),
    );
    expect((await stack.database.db.selectFrom("probes").select("id").execute()).length).toBe(1);
    expect(refusal(await enroll(token, (await createRequest()).request))).toEqual([401, "UNAUTHORIZED", "token-used"]);
  });

  test("that is unknown, another collector's, or past its time is refused with the reason", async () => {
    const { request } = await createRequest();
    const { token, id } = await makeToken();
    const [, secret, pin] = token.split(".") as [string, string, string];
    for (const wrong of ["x", `lt1.${"A".repeat(43)}.${pin}`, `lt1.${secret}.${"A".repeat(43)}`]) {
      expect(refusal(await enroll(wrong, request))).toEqual([401, "UNAUTHORIZED", "token-unknown"]);
    }
    await stack.database.db.updateTable("enrollment_tokens").set({ expires_at: toInstant(Date.now() - 1) }).where("id", "=", id).execute();
    expect(refusal(await enroll(token, request))).toEqual([401, "UNAUTHORIZED", "token-expired"]);
  });

  test("stays good when the certificate request is not", async () => {
    const { token } = await makeToken();
    expect(refusal(await enroll(token, "nonsense"))).toEqual([400, "BAD_REQUEST", "bad-certificate-request"]);
    expect((await enroll(token, (await createRequest()).request)).status).toBe(201);
  });

  test("cannot be guessed at speed", async () => {
    await stack.close();
    stack = await startStack({ clock: createFakeClock(Date.now()) });
    const { request } = await createRequest();
    const answers = await Promise.all(Array.from({ length: 10 }, () => enroll("x", request)));
    const limited = answers.filter((answer) => answer.status === 429);
    expect(limited.length).toBe(5);
    expect(limited[0]?.headers["retry-after"]).toMatch(/^\d+$/);
  });
});

describe("a certificate", () => {
  test("is renewed for its holder, over TLS with the old one, also for a new key", async () => {
    const { probeId, identity } = await enrolled();
    const fresh = await createRequest({ kind: "Ed25519" });
    const { status, body } = await stack.call("POST", "/api/v1/agents/renew", { body: { certificate_request: fresh.request }, identity });
    expect(status).toBe(200);
    const { certificate } = RenewResponse.parse(body);
    expect(new X509Certificate(certificate).subject).toBe(`CN=${probeId}`);
    expect(new X509Certificate(certificate).serialNumber).not.toBe(new X509Certificate(identity.certificate).serialNumber);
    for (const one of [identity, { key: fresh.key, certificate }]) {
      const client = await stack.connect(probeId, one);
      client.end(true);
    }
  });

  test("ends with the first use of the one that renewed it: its session is cut, and it gets in nowhere", async () => {
    const { probeId, identity } = await enrolled();
    const old = await stack.connect(probeId, identity);
    const renewed = await renewal(identity);
    expect(old.connected).toBe(true);
    const cut = new Promise<void>((resolve) => old.once("close", resolve));
    const client = await stack.connect(probeId, renewed);
    await cut;
    await expect(stack.connect(probeId, identity)).rejects.toMatchObject({ code: 5 });
    expect((await renew(identity)).status).toBe(401);
    expect(client.connected).toBe(true);
    expect(await keysOf(probeId)).toEqual([publicKeyOf(renewed.certificate), null]);
    client.end(true);
  });

  test("ends with the first use of the next one also when that is to renew", async () => {
    const { probeId, identity } = await enrolled();
    const old = await stack.connect(probeId, identity);
    const cut = new Promise<void>((resolve) => old.once("close", resolve));
    const second = await renewal(identity);
    const third = await renewal(second);
    await cut;
    expect((await renew(identity)).status).toBe(401);
    await expect(stack.connect(probeId, identity)).rejects.toMatchObject({ code: 5 });
    for (const one of [second, third]) (await stack.connect(probeId, one)).end(true);
    await expect(stack.connect(probeId, second)).rejects.toMatchObject({ code: 5 });
  });

  test("stays good when the answer to its renewal is lost, and can ask again; what was in the lost answer never counts", async () => {
    const { probeId, identity } = await enrolled();
    const lost = await renewal(identity);
    (await stack.connect(probeId, identity)).end(true);
    const renewed = await renewal(identity);
    await expect(stack.connect(probeId, lost)).rejects.toMatchObject({ code: 5 });
    expect((await renew(lost)).status).toBe(401);
    (await stack.connect(probeId, renewed)).end(true);
    expect((await renew(identity)).status).toBe(401);
  });

  test("is renewed for nobody else: not by a token, not with another authority's, not when revoked", async () => {
    const { probeId, identity } = await enrolled();
    const { request } = await createRequest();
    const body = { certificate_request: request };
    expect((await stack.call("POST", "/api/v1/agents/renew", { body })).status).toBe(401);
    const other = await startStack();
    const stranger = await createRequest();
    const foreign = await other.authority.issueToProbe(probeId, stranger.request);
    if (!foreign.ok) throw new Error(foreign.message);
    expect(
      (await stack.call(
        "POST", "/api/v1/agents/renew", { body, identity: { key: stranger.key, certificate: foreign.issued.certificate } },
      )).status,
    ).toBe(401);
    await other.close();
    expect((await stack.call("POST", `/api/v1/agents/probes/${probeId}/revoke`)).status).toBe(204);
    expect((await stack.call("POST", "/api/v1/agents/renew", { body, identity })).status).toBe(401);
    expect(
      refusal(
        await stack.call("POST", "/api/v1/agents/renew", { body: { certificate_request: "x" }, identity: (await enrolled()).identity }),
      )[2],
    ).toBe("bad-certificate-request");
  });
});

describe("a revocation", () => {
  test("cuts the live session at once, is for good, and may be repeated", async () => {
    const { probeId, identity } = await enrolled();
    const client = await stack.connect(probeId, identity);
    const closed = new Promise<void>((resolve) => client.once("close", resolve));
    expect((await stack.call("POST", `/api/v1/agents/probes/${probeId}/revoke`, { role: "operator" })).status).toBe(403);
    expect((await stack.call("POST", `/api/v1/agents/probes/${probeId}/revoke`, { tenantId: createId() })).status).toBe(404);
    expect(client.connected).toBe(true);
    expect((await stack.call("POST", `/api/v1/agents/probes/${probeId}/revoke`)).status).toBe(204);
    await closed;
    await expect(stack.connect(probeId, identity)).rejects.toMatchObject({ code: 5 });
    expect((await stack.call("POST", `/api/v1/agents/probes/${probeId}/revoke`)).status).toBe(204);
    expect((await record(probeId)).state).toBe("revoked");
  });
});

describe("a probe over the real broker", () => {
  const clients: MqttClient[] = [];
  afterEach(() => clients.splice(0).forEach((client) => client.end(true)));

  test("is acknowledged what is committed; what is not taken is counted in its record, and the session goes on", async () => {
    const { probeId, identity } = await enrolled();
    const client = await stack.connect(probeId, identity);
    clients.push(client);
    const topic = (channel: "events" | "acks" | "health" | "status") => probeTopic(stack.tenantId, probeId, channel);
    const acks: { watermark: number; refused: { code: string } | null }[] = [];
    client.on("message", (_topic, payload) => acks.push(JSON.parse(payload.toString())));
    await client.subscribeAsync(topic("acks"), { qos: 1 });
    const queue_id = createId();
    const batch = (after: number) => JSON.stringify({
      v: 1, queue_id, after, sent_at: toInstant(Date.now()),
      events: [{ seq: after + 1, type: "error", occurred_at: toInstant(Date.now()), data: { code: "x", message: "y" } }],
    });
    await client.publishAsync(topic("events"), batch(0), { qos: 1 });
    await expect.poll(() => acks).toMatchObject([{ watermark: 1, refused: null }]);
    await client.publishAsync(topic("events"), "no batch", { qos: 1 });
    await client.publishAsync(topic("events"), batch(7), { qos: 1 });
    // What is too large is refused at once, without a look into the database, and may so overtake.
    await expect.poll(() => acks.length).toBe(3);
    await client.publishAsync(topic("events"), Buffer.alloc(10 * 1024 * 1024), { qos: 1 });
    await client.publishAsync(probeTopic(stack.tenantId, createId(), "events"), batch(1), { qos: 1 });
    await client.publishAsync(topic("health"), "{}", { qos: 1 });
    await client.publishAsync(topic("events"), batch(1), { qos: 1 });
    await expect.poll(() => acks.map((ack) => ack.refused?.code ?? ack.watermark)).toEqual([1, "not-a-batch", "gap", "too-large", 2]);
    await expect.poll(() => record(probeId)).toMatchObject({
      state: "online", watermark: 2, refused: { "not-a-batch": 1, gap: 1, "too-large": 1, "wrong-topic": 1, "not-a-health": 1 },
    });
    expect(client.connected).toBe(true);
  });
});

describe("sites", () => {
  test("are made, read and listed by page and cursor; a name is there once for each tenant", async () => {
    const names = ["a", "b", "c"];
    for (const name of names) expect((await stack.call("POST", "/api/v1/sites", { body: { name } })).status).toBe(201);
    const duplicate = await stack.call("POST", "/api/v1/sites", { body: { name: " b " } });
    expect([duplicate.status, duplicate.body.error.code]).toEqual([409, "CONFLICT"]);
    const first = await stack.call("GET", "/api/v1/sites?per_page=2");
    expect(first.body.meta).toMatchObject({ total: 4, per_page: 2, page: 1 });
    const second = await stack.call("GET", `/api/v1/sites?per_page=2&cursor=${first.body.meta.next_cursor}`);
    expect([...first.body.data, ...second.body.data].map((site: { name: string }) => site.name)).toEqual(["site", ...names]);
    expect(second.body.meta.next_cursor).toBeNull();
    expect((await stack.call("GET", "/api/v1/sites?page=2&per_page=2")).body.data).toEqual(second.body.data);
    expect((await stack.call("GET", "/api/v1/sites?cursor=x")).status).toBe(400);
  });

  test("are read by viewers, made by administrators, and seen by their own tenant only", async () => {
    expect(
      (await stack.call("GET", `/api/v1/sites/${stack.siteId}`, { role: "viewer" })).body,
    ).toMatchObject({ id: stack.siteId, name: "site" });
    expect((await stack.call("POST", "/api/v1/sites", { body: { name: "x" }, role: "operator" })).status).toBe(403);
    const tenantId = createId();
    expect((await stack.call("GET", `/api/v1/sites/${stack.siteId}`, { tenantId })).status).toBe(404);
    expect((await stack.call("GET", "/api/v1/sites", { tenantId })).body.data).toEqual([]);
    const { probeId } = await enrolled();
    expect((await stack.call("GET", `/api/v1/agents/probes/${probeId}`, { tenantId })).status).toBe(404);
    expect((await stack.call("GET", "/api/v1/agents/probes", { tenantId })).body.data).toEqual([]);
    expect(
      (await stack.call("GET", "/api/v1/agents/probes?per_page=1", { role: "viewer" })).body,
    ).toMatchObject({ data: [{ id: probeId }], meta: { total: 1, next_cursor: null } });
  });
});

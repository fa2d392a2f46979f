import { randomBytes } from "node:crypto";
import { AuditRecord, Credential, CredentialRevealed, listEnvelope, RenewResponse } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRequest } from "../../certificates/testing/request.ts";
import { singleKey } from "../../sealing/keyring.ts";
import { ownerOfCredential } from "../../sealing/sealed-columns.ts";
import { createSealing } from "../../sealing/sealing.ts";
import { enrollListening } from "../agents/testing/listening-probe.ts";
import { type Stack, startStack } from "../agents/testing/stack.ts";

const SECRET = "wrap-ropes-27";
const V3 = {
  type: "snmpv3", name: "Core", settings: { username: "lanthorn" },
  secret: { auth_password: SECRET, privacy_password: `${SECRET}-privacy` },
} as const;
const SNMP = { type: "snmp", name: "Access", secret: { community: SECRET }, networks: ["10.0.0.9/8", "10.1.1.1"] } as const;

let stack: Stack;
beforeEach(async () => void (stack = await startStack()));
afterEach(() => stack.close());

const create = async (body: object) => Credential.parse((await stack.call("POST", "/api/v1/vault/credentials", { body })).body);
const path = (id: string, rest = "") => `/api/v1/vault/credentials/${id}${rest}`;
const audit = async () => (await stack.database.reads.selectFrom("audit").selectAll().orderBy("id").execute())
  .filter(({ action }) => action.startsWith("credential."));

describe("a credential", () => {
  test("is kept sealed, and shown without its secret, whatever is asked", async () => {
    const made = await create(SNMP);
    expect(made).toMatchObject({
      type: "snmp", settings: { version: "2c", port: 161 }, parts: ["community"], networks: ["10.0.0.0/8", "10.1.1.1"], site_ids: [],
      probe_ids: [],
    });
    const answers = [
      await stack.call("GET", "/api/v1/vault/credentials"), await stack.call("GET", path(made.id)),
      await stack.call("PUT", path(made.id), { body: { name: "Access, read only" } }),
    ];
    for (const { status, body } of answers) expect([status, JSON.stringify(body).includes(SECRET)]).toEqual([200, false]);
    const [row] = await stack.database.reads.selectFrom("credentials").selectAll().execute();
    expect(JSON.stringify(row)).not.toContain(SECRET);
    expect((await stack.call("DELETE", path(made.id))).status).toBe(204);
    expect((await stack.call("GET", path(made.id))).status).toBe(404);
  });

  test("shows its secret to who may reveal, and the audit log has each time, and no secret", async () => {
    const { id } = await create(V3);
    await stack.call("PUT", path(id), { body: { secret: { auth_password: `${SECRET}-2`, privacy_password: `${SECRET}-3` } } });
    const revealed = await stack.call("POST", path(id, "/reveal"));
    expect(CredentialRevealed.parse(revealed.body).secret).toEqual({ auth_password: `${SECRET}-2`, privacy_password: `${SECRET}-3` });
    await stack.call("POST", path(id, "/reveal"));
    await stack.call("DELETE", path(id));
    const records = await audit();
    expect(records.map(({ action }) => action)).toEqual([
      "credential.create", "credential.update", "credential.reveal", "credential.reveal", "credential.delete",
    ]);
    expect(JSON.stringify(records)).not.toContain(SECRET);
    expect(JSON.parse(records[1]?.after ?? "")).toMatchObject({ name: "Core", secret_changed: true });
  });

  test("whose key is lost is 409 when it is revealed, and can still be read, given a new secret, and deleted", async () => {
    const [lost, other] = [await create(SNMP), await create(V3)];
    const { db } = stack.database;
    // What a restore without its keys leaves.
    const seal = createSealing(singleKey(randomBytes(32))).seal;
    for (const { id } of [lost, other]) {
      await db.updateTable("credentials").set({ secret_sealed: seal("{}", ownerOfCredential(id)) }).where("id", "=", id).execute();
    }
    const refused = await stack.call("POST", path(lost.id, "/reveal"));
    expect([refused.status, refused.body]).toMatchObject([409, { error: { code: "CONFLICT", details: { reason: "secret-unreadable" } } }]);
    expect((await audit()).map(({ action }) => action)).not.toContain("credential.reveal");
    expect((await stack.call("PUT", path(lost.id), { body: { settings: { version: "2c", port: 161 } } })).status).toBe(409);
    expect(Credential.parse((await stack.call("GET", path(lost.id))).body).parts).toEqual([]);
    expect(listEnvelope(Credential).parse((await stack.call("GET", "/api/v1/vault/credentials")).body).meta.total).toBe(2);
    expect((await stack.call("PUT", path(lost.id), { body: { secret: { community: `${SECRET}-4` } } })).status).toBe(200);
    expect(CredentialRevealed.parse((await stack.call("POST", path(lost.id, "/reveal"))).body).secret).toEqual({ community: `${SECRET}-4` });
    expect((await stack.call("DELETE", path(other.id))).status).toBe(204);
  });

  test("is the tenant's, and for who has the scope: to read, to write and to reveal are three", async () => {
    const { id } = await create(SNMP);
    for (const role of ["viewer", "operator"] as const) {
      for (const [method, at] of [["GET", path(id)], ["PUT", path(id)], ["POST", path(id, "/reveal")]] as const) {
        expect([(await stack.call(method, at, { role, ...(method === "PUT" && { body: {} }) })).status]).toEqual([403]);
      }
    }
    for (const [method, rest] of [["GET", ""], ["PUT", ""], ["DELETE", ""], ["POST", "/reveal"]] as const) {
      expect((await stack.call(method, path(id, rest), { tenantId: createId(), ...(method === "PUT" && { body: {} }) })).status).toBe(404);
    }
  });

  test("has the parts of its type, which the refusal names and does not repeat", async () => {
    const refused: readonly (readonly [object, string])[] = [
      [{ ...V3, secret: { auth_password: "short" } }, "secret.auth_password"],
      [{ ...V3, secret: { auth_password: SECRET } }, "secret.privacy_password"],
      [{ ...V3, secret: {} }, "secret.auth_password"],
      [{ ...V3, settings: { username: "a", auth_protocol: null } }, "settings.privacy_protocol"],
      [{ type: "ssh", name: "x", settings: { username: "a" }, secret: { passphrase: SECRET } }, "secret"],
      [{ type: "ssh", name: "x", settings: { username: "a" }, secret: { community: SECRET } }, "secret.community"],
      [{ ...SNMP, secret: { community: `${SECRET}\n` } }, "secret.community"], [{ ...SNMP, type: "telnet" }, "type"],
      [{ ...SNMP, networks: ["everywhere"] }, "networks.0"],
    ];
    for (const [body, at] of refused) {
      const answer = await stack.call("POST", "/api/v1/vault/credentials", { body });
      expect([answer.status, answer.body.error.details[0].path]).toEqual([400, at]);
      expect(JSON.stringify(answer.body)).not.toContain(SECRET);
    }
    const { id } = await create(SNMP);
    const update = await stack.call("PUT", path(id), { body: { secret: { password: SECRET } } });
    expect([update.status, JSON.stringify(update.body).includes(SECRET)]).toEqual([400, false]);
    expect((await stack.call("POST", "/api/v1/vault/credentials", { body: SNMP })).status).toBe(409);
  });

  test("is handed to nothing that is not the tenant's own", async () => {
    for (const to of [{ site_ids: [createId()] }, { probe_ids: [createId()] }]) {
      expect((await stack.call("POST", "/api/v1/vault/credentials", { body: { ...SNMP, ...to } })).status).toBe(404);
    }
    expect(listEnvelope(Credential).parse((await stack.call("GET", "/api/v1/vault/credentials")).body).data).toEqual([]);
  });
});

describe("a probe", () => {
  test("is handed what is for its site and for itself, sealed to its own key, at once; and no more when it is not", async () => {
    const probe = await enrollListening(stack);
    const other = await enrollListening(stack);
    const { id } = await create({ ...SNMP, site_ids: [stack.siteId] });
    const first = await probe.hears(({ credentials }) => credentials !== undefined);
    expect(JSON.stringify(first)).not.toContain(SECRET);
    expect(await probe.open(first)).toEqual([{
      id, name: "Access", type: "snmp", networks: ["10.0.0.0/8", "10.1.1.1"], settings: { version: "2c", port: 161 },
      secret: { community: SECRET },
    }]);
    await expect(other.open(first)).rejects.toThrow();
    await create({ ...V3, probe_ids: [probe.probeId] });
    const both = await probe.hears(({ revision }) => revision > first.revision);
    expect((await probe.open(both)).map(({ name }) => name)).toEqual(["Access", "Core"]);
    await stack.call("PUT", path(id), { body: { site_ids: [] } });
    const one = await probe.hears(({ revision }) => revision > both.revision);
    expect((await probe.open(one)).map(({ name }) => name)).toEqual(["Core"]);
    expect((await other.open(await other.hears(({ credentials }) => credentials === undefined)))).toEqual([]);
    probe.end();
    other.end();
  });

  test("has them around a renewal, whether it got the answer or not", async () => {
    const probe = await enrollListening(stack);
    await create({ ...SNMP, site_ids: [stack.siteId] });
    const first = await probe.hears(({ credentials }) => credentials !== undefined);
    const renew = async () => {
      const { key, request } = await createRequest();
      const { body } = await stack.call("POST", "/api/v1/agents/renew", {
        body: { certificate_request: request }, identity: probe.identity,
      });
      return { key, certificate: RenewResponse.parse(body).certificate };
    };
    // Three answers that were lost, and one that was not.
    for (const _ of [1, 2, 3]) await renew();
    await create(V3);
    await stack.call("PUT", `/api/v1/agents/probes/${probe.probeId}/configuration`, { body: { excluded: ["10.0.0.1"] } });
    const second = await probe.hears(({ revision }) => revision > first.revision);
    expect((await probe.open(second)).length).toBe(1);
    const renewed = await renew();
    await stack.call("PUT", `/api/v1/agents/probes/${probe.probeId}/configuration`, { body: { excluded: [] } });
    const third = await probe.hears(({ revision }) => revision > second.revision);
    expect((await probe.open(third)).length).toBe(1);
    probe.identity = renewed;
    expect((await probe.open(third)).length).toBe(1);
    probe.end();
  });

  test("with a key that only signs gets all but credentials; with RSA or another curve it gets them too", async () => {
    await create({ ...SNMP, site_ids: [stack.siteId] });
    const signs = await enrollListening(stack, { kind: "Ed25519" });
    expect(signs.received[0]?.credentials).toBeUndefined();
    signs.end();
    for (const kind of ["RSA-2048", "P-384"] as const) {
      const probe = await enrollListening(stack, { kind });
      expect((await probe.open(probe.received[0] ?? ({} as never))).length).toBe(1);
      probe.end();
    }
  });

  test("is handed 64 at most", async () => {
    const probe = await enrollListening(stack);
    for (let index = 0; index < 64; index += 1) await create({ ...SNMP, name: `credential ${index}`, probe_ids: [probe.probeId] });
    const answer = await stack.call("POST", "/api/v1/vault/credentials", { body: { ...SNMP, site_ids: [stack.siteId] } });
    expect([answer.status, answer.body.error.details]).toEqual([409, { probe_id: probe.probeId, limit: 64 }]);
    probe.end();
  });

  test("that is revoked, and a site that is deleted, leave the credential, assigned to nobody", async () => {
    const probe = await enrollListening(stack);
    probe.end();
    const { id } = await create({ ...SNMP, site_ids: [stack.siteId], probe_ids: [probe.probeId] });
    await stack.call("POST", `/api/v1/agents/probes/${probe.probeId}/revoke`);
    expect((await stack.call("DELETE", `/api/v1/sites/${stack.siteId}`)).status).toBe(204);
    expect(Credential.parse((await stack.call("GET", path(id))).body)).toMatchObject({ site_ids: [], probe_ids: [] });
  });
});

test("the audit log of a delivery holds to whom, and parses as the API shows it", async () => {
  await create({ ...SNMP, site_ids: [stack.siteId] });
  const [record] = await audit();
  expect(AuditRecord.shape.after.parse(JSON.parse(record?.after ?? "null"))).toMatchObject({ site_ids: [stack.siteId] });
});

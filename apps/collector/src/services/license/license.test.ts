import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AuditRecord, License, type LicenseClaims, listEnvelope } from "@lanthorn/contract";
import { createFakeClock, createId, type FakeClock } from "@lanthorn/runtime";
import { CompactSign, SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestTenant } from "../../testing/gateway.ts";
import { issueLicense } from "./issue.ts";
import { licenseRoutes } from "./routes.ts";
import { createLicenseService, type LicenseService } from "./service.ts";
import { createLicenseStore } from "./store.ts";
import { readIssuers } from "./verify.ts";

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 20);
const SECONDS = START / 1000;

let directory = "";
let issuers: readonly KeyObject[];
const keyFile = (name: string) => join(directory, `${name}.pem`);
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-license-"));
  for (const name of ["issuer", "other"]) {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    writeFileSync(keyFile(name), privateKey.export({ type: "pkcs8", format: "pem" }));
    writeFileSync(keyFile(`${name}-public`), publicKey.export({ type: "spki", format: "pem" }));
  }
  issuers = readIssuers([keyFile("issuer-public")]);
});
afterAll(() => rmSync(directory, { recursive: true }));

let clock: FakeClock;
let gateway: TestGateway;
let service: LicenseService;
let tenant: TestTenant;
beforeEach(async () => {
  clock = createFakeClock(START);
  await start(issuers);
  tenant = await gateway.createTenant("admin");
});
afterEach(stop);

async function start(trusted: readonly KeyObject[], dataDir?: string): Promise<void> {
  gateway = await startTestGateway({
    clock, alerts: true, ...(dataDir !== undefined && { dataDir }),
    modules(parts) {
      service = createLicenseService({ ...parts, store: createLicenseStore(parts) }, { issuers: trusted, warnDays: 30 });
      return [{ name: "licenses", mount: "gateway", routes: [licenseRoutes(service)], jobs: [service.job] }];
    },
  });
}
async function stop(options = { keep: false }): Promise<void> {
  await gateway.stop(options);
}

/** A token is good for a day. */
async function later(days: number): Promise<void> {
  clock.jump(days * DAY_MS);
  tenant = await gateway.createUser(tenant, "admin");
}

const claims = (more: Partial<LicenseClaims> = {}) => ({ jti: "L-1", sub: "Example Stores", iat: SECONDS, features: ["reports"], ...more });
const issue = (more: Partial<LicenseClaims> = {}, by = "issuer") => issueLicense(claims(more), keyFile(by));
const put = (license: string, token = tenant.token) => gateway.call("PUT", "/api/v1/license", token, { license });
const read = async (token = tenant.token) => License.parse((await gateway.call("GET", "/api/v1/license", token)).body);
const alerts = async () => (await gateway.call("GET", "/api/v1/alerts", tenant.token)).body as {
  readonly data: readonly {
    readonly type: string; readonly status: string; readonly severity: string; readonly source: string; readonly count: number;
  }[];
};
const events = async () => gateway.reads.selectFrom("events").select("data").where("type", "=", "license_state").orderBy("seq").execute();

describe("a license", () => {
  test("is not needed: the community license limits nothing", async () => {
    expect(await read()).toMatchObject({
      status: "community", limits: { probes: null, devices: null }, exceeded: [], features: [], uploaded_at: null,
    });
    expect((await gateway.call("DELETE", "/api/v1/license", tenant.token)).status).toBe(404);
  });

  test("is taken, read and deleted, and the audit log has both", async () => {
    await gateway.createDevice(tenant, { ip: "10.0.0.1" });
    const answer = await put(await issue({ probes: 5, devices: 100, exp: SECONDS + 365 * 86_400 }));
    expect([answer.status, License.parse(answer.body)]).toEqual([200, {
      status: "valid", license_id: "L-1", licensee: "Example Stores", issued_at: "2026-11-20T00:00:00.000Z",
      expires_at: "2027-11-20T00:00:00.000Z", limits: { probes: 5, devices: 100 }, usage: { probes: 0, devices: 1 }, exceeded: [],
      features: ["reports"], uploaded_at: "2026-11-20T00:00:00.000Z", uploaded_by: tenant.username,
    }]);
    expect(await read()).toEqual(answer.body);
    expect((await gateway.call("DELETE", "/api/v1/license", tenant.token)).status).toBe(204);
    expect((await read()).status).toBe("community");
    const { data } = listEnvelope(AuditRecord).parse((await gateway.call("GET", "/api/v1/audit", tenant.token)).body);
    expect(data.map(({ action, before, after }) => [action, before?.["licensee"], after?.["licensee"]])).toEqual([
      ["license.delete", "Example Stores", undefined], ["license.put", undefined, "Example Stores"],
    ]);
  });

  test("that is over, another tenant's, or nobody's that counts, is refused with words", async () => {
    const key = generateKeyPairSync("ed25519").privateKey;
    const hs256 = await new SignJWT({ sub: "Example Stores", aud: "lanthorn" }).setProtectedHeader({ alg: "HS256", typ: "license+jwt" })
      .sign(issuers[0]?.export({ type: "spki", format: "der" }) ?? new Uint8Array());
    const none = `${Buffer.from('{"alg":"none","typ":"license+jwt"}').toString("base64url")}.`
      + `${Buffer.from(JSON.stringify(claims())).toString("base64url")}.`;
    const good = await issue();
    const refused: readonly (readonly [string, string])[] = [
      [await issue({ exp: SECONDS }), "expired at 2026-11-20"], [await issue({ tenant: createId() }), "another tenant"],
      [await issue({}, "other"), "not signed"], [hs256, "not signed"], [none, "not signed"], ["nonsense", "not signed"],
      [`${good.slice(0, -4)}AAAA`, "not signed"], [
        await new CompactSign(new TextEncoder().encode("{}")).setProtectedHeader({ alg: "EdDSA", typ: "license+jwt" }).sign(key),
        "not signed",
      ],
      [await signedByIssuer({ aud: "lanthorn", ...claims() }, "JWT"), "typ"], [await signedByIssuer({ ...claims(), aud: "other" }), "aud"],
      [await signedByIssuer({ aud: "lanthorn", ...claims(), probes: -1 }), "probes"], [await signedByIssuer([]), "not a license"],
    ];
    for (const [text, words] of refused) {
      const { status, error } = await put(text);
      expect([text.slice(0, 20), status, error.details]).toEqual([
        text.slice(0, 20), 400, [{ path: "license", message: expect.stringContaining(words) as string }],
      ]);
    }
    expect((await read()).status).toBe("community");
  });

  test("is one tenant's, and for who has the scope", async () => {
    await put(await issue({ tenant: tenant.tenantId }));
    const other = await gateway.createTenant("admin");
    expect((await read(other.token)).status).toBe("community");
    const viewer = await gateway.createUser(tenant, "viewer");
    expect((await read(viewer.token)).status).toBe("valid");
    expect((await put(await issue(), viewer.token)).error).toMatchObject({ code: "FORBIDDEN", details: { required: "license:write" } });
  });

  test("cannot be uploaded where no issuer is trusted, and counts as none when its issuer is trusted no more", async () => {
    await put(await issue({ probes: 1 }));
    const { dataDir } = gateway;
    await stop({ keep: true });
    await start([], dataDir);
    expect(await read()).toMatchObject({ status: "untrusted", limits: { probes: null }, licensee: null });
    expect((await put(await issue())).status).toBe(409);
    await service.job.run();
    expect((await alerts()).data).toMatchObject([{ type: "license", status: "open" }]);
  });
});

describe("a license's end", () => {
  test("is reported 30 days before, and when it has come, as one alert; a new license ends it", async () => {
    await put(await issue({ exp: SECONDS + 40 * 86_400 }));
    await service.job.run();
    expect((await alerts()).data).toEqual([]);
    await later(11);
    await service.job.run();
    expect((await alerts()).data).toMatchObject([{ type: "license", source: "health", severity: "medium", status: "open" }]);
    expect(service.health()).toEqual({ status: "ok", detail: "1 expiring" });
    await later(29);
    await service.job.run();
    expect(await read()).toMatchObject({ status: "expired" });
    expect((await alerts()).data).toMatchObject([{ severity: "high", status: "open", count: 2 }]);
    expect(service.health()).toEqual({ status: "ok", detail: "1 expired" });
    expect((await events()).length).toBe(3);
    await put(await issue());
    expect((await alerts()).data).toMatchObject([{ status: "resolved" }]);
  });

  test("is published once, by whichever process sees it first", async () => {
    await put(await issue({ exp: SECONDS + 86_400 * 31 }));
    const another = createLicenseService({
      store: createLicenseStore(gateway), log: gateway.eventLog, published: () => {}, audit: async () => {}, clock,
      logger: { error() {} } as never,
    }, { issuers, warnDays: 30 });
    clock.jump(2 * DAY_MS);
    await Promise.all([service.job.run(), another.job.run()]);
    await another.job.close();
    expect((await events()).length).toBe(2);
  });

  test("and more in use than it is for stop nothing", async () => {
    await put(await issue({ devices: 1, exp: SECONDS + 86_400 }));
    for (const ip of ["10.0.0.1", "10.0.0.2"]) await gateway.createDevice(tenant, { ip });
    await later(2);
    await service.job.run();
    expect(await read()).toMatchObject({ status: "expired", exceeded: ["devices"], usage: { devices: 2 } });
    const { site_id, ip } = { site_id: tenant.siteId, ip: "10.0.0.3" };
    expect((await gateway.call("POST", "/api/v1/devices", tenant.token, { site_id, ip })).status).toBe(201);
  });
});

async function signedByIssuer(payload: object, typ = "license+jwt"): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(payload));
  return new CompactSign(bytes).setProtectedHeader({ alg: "EdDSA", typ }).sign(createPrivateKey(readFileSync(keyFile("issuer"))));
}

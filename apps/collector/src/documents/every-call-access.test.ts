import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { type ApiKeyCreated, ROLE_SCOPES, type Role, type Scope, type User } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningCollector, startCollector } from "./testing/collector.ts";
import { type Answer, bearer, type Call, callsOf, send } from "./testing/every-call.ts";

/** Who is let in without a credential in a header: some ask for one in the body or in a cookie, one is asked by who has none. */
const PUBLIC: ReadonlySet<string> = new Set([
  "GET /api/health",
  "GET /api/v1/health",
  "GET /health",
  "POST /api/auth/login",
  "POST /api/v1/auth/login",
  "POST /api/v1/auth/session/resume",
  "POST /api/v1/agents/enroll",
]);

/** What the collector signs with, so that tokens are refused for what is wrong with them alone. */
const SECRET = "a secret of the tests, of more than thirty-two bytes";
let collector: RunningCollector;
let calls: readonly Call[];
let adminToken: string;
beforeAll(async () => {
  collector = await startCollector("", { LANTHORN_TOKEN_SECRET: SECRET });
  adminToken = await collector.login();
  calls = callsOf(await collector.read("/api/v1/docs/openapi.json"));
});
afterAll(() => collector.stop());

const ask = (call: Call, headers: Record<string, string>) => send(collector.url, call, { headers });
const create = async <T>(path: string, body: object): Promise<T> => {
  const answer = await send(collector.url, { method: "POST", path }, { headers: bearer(adminToken), body });
  expect([path, answer.status]).toEqual([path, 201]);
  return JSON.parse(answer.text) as T;
};
/** What was let through that should not be, or the other way round, in words. */
const faultsOf = async (which: readonly Call[], headers: Record<string, string>, expected: (call: Call, answer: Answer) => boolean) => {
  const faults: string[] = [];
  for (const call of which) {
    const answer = await ask(call, headers);
    if (!expected(call, answer)) faults.push(`${call.name} (${call.access}): ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  return faults;
};
const isRefused = ({ access }: Call, { status, error }: Answer) =>
  status === 403 && error?.code === "FORBIDDEN" && (error.details as { readonly required?: unknown }).required === access;
/** What is asked for may not be there, and is asked for without a body; but it was not the scope that was missing. */
const isLetIn = (call: Call, answer: Answer) => answer.status !== 401 && !isRefused(call, answer) && answer.status !== 500;

describe("every route", () => {
  test("has one access, and nobody is let in without a credential but where the list says so", async () => {
    expect(calls.length).toBeGreaterThan(30);
    const known = new Set<string>([...ROLE_SCOPES.admin, "signed-in", "known", "probe", "anyone"]);
    expect(calls.filter(({ access }) => !known.has(access))).toEqual([]);
    expect(
      calls
        .filter(({ access }) => access === "anyone")
        .map(({ name }) => name)
        .filter((name) => !PUBLIC.has(name)),
    ).toEqual([]);
    const closed = calls.filter(({ access }) => access !== "anyone");
    const isUnauthorized = (_: Call, { status, error }: Answer) => status === 401 && error?.code === "UNAUTHORIZED";
    expect(await faultsOf(closed, {}, isUnauthorized)).toEqual([]);
    const withoutVersion = closed.map((call) => ({ ...call, path: call.path.replace("/api/v1/", "/api/") }));
    expect(await faultsOf(withoutVersion, {}, isUnauthorized)).toEqual([]);
  });

  test("refuses tokens without signature, of another algorithm, by another key, past their end, of nobody, and what is none", async () => {
    const closed = calls.filter(({ access }) => access !== "anyone");
    const faults: string[] = [];
    for (const [name, headers] of Object.entries(forgeries())) {
      const found = await faultsOf(closed, headers, (_, { status, error }) => status === 401 && error?.code === "UNAUTHORIZED");
      faults.push(...found.map((fault) => `${name}: ${fault}`));
    }
    expect(faults).toEqual([]);
    expect((await send(collector.url, { method: "GET", path: "/api/v1/users" }, { headers: good() })).status).toBe(200);
  });

  test("lets each role do what its scopes say", async () => {
    const faults: string[] = [];
    for (const role of Object.keys(ROLE_SCOPES) as Role[]) {
      const username = `role-${role}`;
      await create<User>("/api/v1/users", { username, password: "a password for tests", role });
      const scopes: ReadonlySet<string> = new Set(ROLE_SCOPES[role]);
      const scoped = calls.filter(({ access }) => access.includes(":"));
      const headers = bearer(await login(username));
      faults.push(
        ...(await faultsOf(scoped, headers, (call, answer) => (scopes.has(call.access) ? isLetIn : isRefused)(call, answer))).map(
          (fault) => `${role}: ${fault}`,
        ),
      );
    }
    expect(faults).toEqual([]);
  });

  test("lets an API key with its one scope in, and one with every other scope not", async () => {
    const used = [...new Set(calls.map(({ access }) => access))].filter((access): access is Scope => access.includes(":"));
    const faults: string[] = [];
    for (const scope of used) {
      const only = await create<ApiKeyCreated>("/api/v1/auth/keys", { name: `only ${scope}`, scopes: [scope] });
      const others = await create<ApiKeyCreated>("/api/v1/auth/keys", {
        name: `not ${scope}`,
        scopes: ROLE_SCOPES.admin.filter((other) => other !== scope),
      });
      const needing = calls.filter(({ access }) => access === scope);
      const rest = calls.filter(({ access }) => access.includes(":") && access !== scope);
      faults.push(...(await faultsOf(needing, { "x-api-key": only.key }, isLetIn)).map((fault) => `only ${scope}: ${fault}`));
      faults.push(...(await faultsOf(rest, { "x-api-key": only.key }, isRefused)).map((fault) => `only ${scope}: ${fault}`));
      faults.push(...(await faultsOf(needing, { "x-api-key": others.key }, isRefused)).map((fault) => `all but ${scope}: ${fault}`));
    }
    expect(faults).toEqual([]);
    expect(used.length).toBeGreaterThan(5);
  });

  test("for people lets no API key in, and one for probes neither a key nor a token", async () => {
    const { key } = await create<ApiKeyCreated>("/api/v1/auth/keys", { name: "all", scopes: ROLE_SCOPES.admin });
    const people = calls.filter(({ access }) => access === "signed-in");
    const probes = calls.filter(({ access }) => access === "probe");
    expect(await faultsOf(people, { "x-api-key": key }, isRefused)).toEqual([]);
    for (const headers of [{ "x-api-key": key }, bearer(adminToken)])
      expect(await faultsOf(probes, headers, (_, { status }) => status === 401)).toEqual([]);
    expect(people.length).toBeGreaterThan(3);
  });

  test("for whoever is known lets any key in", async () => {
    const { key } = await create<ApiKeyCreated>("/api/v1/auth/keys", { name: "one scope", scopes: ["ipam:read"] });
    const known = calls.filter(({ access }) => access === "known");
    expect(await faultsOf(known, { "x-api-key": key }, isLetIn)).toEqual([]);
    expect(known.length).toBeGreaterThan(0);
  });

  test("has left no failure in the collector's log", () => {
    expect(
      collector
        .log()
        .split("\n")
        .filter((line) => line.includes('"request failed"')),
    ).toEqual([]);
  });
});

async function login(username: string): Promise<string> {
  const answer = await send(
    collector.url,
    { method: "POST", path: "/api/v1/auth/login" },
    { body: { username, password: "a password for tests" } },
  );
  return (JSON.parse(answer.text) as { readonly access_token: string }).access_token;
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token of the administrator's own claims, changed, and signed by hand: a library would refuse to make some of these. */
function forge(header: object, claims: object, signer: (text: string) => Buffer): Record<string, string> {
  const own = JSON.parse(Buffer.from(adminToken.split(".")[1] ?? "", "base64url").toString()) as object;
  const text = `${part(header)}.${part({ ...own, ...claims })}`;
  return bearer(`${text}.${signer(text).toString("base64url")}`);
}

const hmac = (algorithm: string, secret: string | Buffer) => (text: string) => createHmac(algorithm, secret).update(text).digest();

/** Shows that the forging itself is right: only what is changed in the others makes them fail. */
function good(): Record<string, string> {
  return forge({ alg: "HS256", typ: "JWT" }, {}, hmac("sha256", SECRET));
}

function forgeries(): Readonly<Record<string, Record<string, string>>> {
  const header = { alg: "HS256", typ: "JWT" };
  const right = hmac("sha256", SECRET);
  const { privateKey } = generateKeyPairSync("ed25519");
  const now = Math.floor(Date.now() / 1000);
  return {
    none: forge({ alg: "none" }, {}, () => Buffer.alloc(0)),
    "None in capitals": forge({ alg: "NONE" }, {}, () => Buffer.alloc(0)),
    "none with a signature": forge({ alg: "none" }, {}, right),
    "another algorithm": forge({ alg: "HS512" }, {}, hmac("sha512", SECRET)),
    EdDSA: forge({ alg: "EdDSA" }, {}, (text) => sign(null, Buffer.from(text), privateKey)),
    "a key of its own in the header": forge({ ...header, jwk: { kty: "oct", k: "AAAA" } }, {}, hmac("sha256", Buffer.alloc(3))),
    "another key": forge(header, {}, hmac("sha256", "another secret of thirty-two bytes")),
    "an empty key": forge(header, {}, hmac("sha256", "")),
    expired: forge(header, { iat: now - 7200, exp: now - 3600 }, right),
    "without an end": forge(header, { exp: undefined }, right),
    "not valid yet": forge(header, { nbf: now + 3600 }, right),
    "of another user": forge(header, { sub: createId() }, right),
    "of another tenant": forge(header, { tenant: createId() }, right),
    "critical header": forge({ ...header, crit: ["x"], x: 1 }, {}, right),
    nonsense: bearer("nonsense"),
    "another scheme": { authorization: `Basic ${Buffer.from("admin:admin").toString("base64")}` },
    "a key that nobody has": { "x-api-key": `svc_live_${"0".repeat(48)}` },
    "a token in the place of a key": { "x-api-key": adminToken },
    "a token and a key": { ...bearer(adminToken), "x-api-key": `svc_live_${"0".repeat(48)}` },
  };
}

import { ROLE_SCOPES } from "@lanthorn/contract";
import { beforeAll, describe, expect, test } from "vitest";
import { isOnPostgres } from "../testing/database.ts";
import type { OpenApiDocument, Parameter } from "./openapi.ts";
import { type RunningCollector, startCollector } from "./testing/collector.ts";
import { type Answer, bearer, type Call, callsOf, exampleBody, send } from "./testing/every-call.ts";

/** What breaks out of a query, a C string, a number, an encoding or a column, where one lets it. */
const TEXTS_FOR_DATABASES = [
  "' OR '1'='1",
  "'; DROP TABLE users; --",
  'x" UNION SELECT password_hash FROM users --',
  "%' ESCAPE '",
  "a\u0000b",
  "\ud800",
  "\u202e\u0000",
  "9".repeat(400),
  "-1e999",
  "a".repeat(70_000),
];

/** What breaks out of a template, a path, a line or an object, where one lets it: no database has a part in these. */
const TEXTS_FOR_PROGRAMS = ["${7*7}{{7*7}}", "../../../../etc/passwd", "a\r\nx-injected: 1", "__proto__", "constructor", "toString"];

const TEXTS = [...TEXTS_FOR_DATABASES, ...(isOnPostgres() ? [] : TEXTS_FOR_PROGRAMS)];

/** Beside what the call wants: fields that would become everybody's, were bodies merged carelessly. */
const POLLUTED = ['"__proto__":{"polluted":true}', '"constructor":{"prototype":{"polluted":true}}', '"__proto__.polluted":true'];

/** Tells when the process ends whether any object has got a field that nobody gave it. */
const WITNESS = `process.on("exit", () => process.stderr.write({}.polluted === undefined ? "WITNESS clean\\n" : "WITNESS polluted\\n"));`;

let collector: RunningCollector;
let document: OpenApiDocument;
let calls: readonly Call[];
/** With every scope. */
let key: string;
let person: string;
beforeAll(async () => {
  collector = await startCollector("", { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(WITNESS).toString("base64")}` });
  document = await collector.read("/api/v1/docs/openapi.json");
  calls = callsOf(document).filter(({ access }) => access !== "probe");
  key = (await post("/api/v1/auth/keys", bearer(await collector.login()), { name: "all", scopes: ROLE_SCOPES.admin }))["key"] ?? "";
  person = await newPerson();
});

const failures = () =>
  collector
    .log()
    .split("\n")
    .filter((line) => line.includes('"request failed"'));
/** 429 comes of many wrong logins, 503 of a probe that is not there; all else is an answer to what was wrong. */
const isAnswered = ({ status }: Answer) => status < 500 || status === 503;
const ask = async (call: Call, given: Omit<Parameters<typeof send>[2], "headers">, what: string): Promise<readonly string[]> => {
  const isPersonal = call.access === "signed-in";
  let answer = await send(collector.url, call, { ...given, headers: isPersonal ? bearer(person) : { "x-api-key": key } });
  if (isPersonal && answer.status === 401) {
    // A logout or a password change among them has ended the session.
    person = await newPerson();
    answer = await send(collector.url, call, { ...given, headers: bearer(person) });
  }
  return isAnswered(answer) ? [] : [`${call.name} (${what}): ${answer.status} ${answer.text.slice(0, 200)}`];
};
const post = async (path: string, headers: Record<string, string>, body: object) =>
  JSON.parse((await send(collector.url, { method: "POST", path }, { headers, body })).text) as Readonly<Record<string, string>>;
let people = 0;

/** The document's example, at a site that is there, and not in the past: what is refused for these would hide how the rest is taken. */
async function bodyFor(call: Call): Promise<unknown> {
  const body = exampleBody(call, document);
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const { text } = await send(collector.url, { method: "GET", path: "/api/v1/sites" }, { headers: { "x-api-key": key } });
  const { data } = JSON.parse(text) as { readonly data: readonly { readonly id: string }[] };
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const real: Readonly<Record<string, unknown>> = { site_id: data[0]?.id, expires_at: soon, ends_at: soon };
  return Object.fromEntries(Object.entries(body).map(([name, value]: [string, unknown]) => [name, real[name] ?? value]));
}

/** The session of another administrator, since what is tried may end it, or close the login to its user. */
async function newPerson(): Promise<string> {
  people += 1;
  const login = { username: `person-${people}`, password: "a password for tests" };
  await post("/api/v1/users", { "x-api-key": key }, { ...login, role: "admin" });
  return (await post("/api/v1/auth/login", {}, login))["access_token"] ?? "";
}

describe("every route takes as mere text, or refuses,", () => {
  test("hostile texts in every field of its body", async () => {
    const faults: string[] = [];
    for (const call of calls) {
      const example = await bodyFor(call);
      for (const place of placesIn(example)) {
        for (const text of TEXTS)
          faults.push(...(await ask(call, { body: put(example, place, text) }, `${place.join(".")}=${JSON.stringify(text.slice(0, 40))}`)));
      }
    }
    expect(faults).toEqual([]);
    expect(failures()).toEqual([]);
  });

  test("hostile texts in its path and its query", async () => {
    const faults: string[] = [];
    for (const call of calls) {
      const body = await bodyFor(call);
      for (const { name, in: place } of (call.operation.parameters ?? []).filter((parameter: Parameter) => parameter.in !== "header")) {
        // What is longer than a request line may be never becomes a request.
        for (const text of TEXTS.filter((one) => one.length < 1000)) {
          faults.push(...(await ask(call, { body, [place]: { [name]: wellFormed(text) } }, `${name}=${JSON.stringify(text)}`)));
        }
      }
    }
    expect(faults).toEqual([]);
    expect(failures()).toEqual([]);
  });

  test("fields that would become every object's", async () => {
    const faults: string[] = [];
    for (const call of calls) {
      const example = await bodyFor(call);
      if (typeof example !== "object" || example === null) continue;
      const members = JSON.stringify(example).slice(1, -1);
      for (const field of POLLUTED) faults.push(...(await ask(call, { body: `{${field}${members === "" ? "" : ","}${members}}` }, field)));
    }
    expect(faults).toEqual([]);
    expect(failures()).toEqual([]);
  });

  test("and still is what it was", async () => {
    const login = await collector.login();
    const get = async (path: string, headers: Record<string, string>) => send(collector.url, { method: "GET", path }, { headers });
    expect((await get("/api/v1/users", bearer(login))).text).toContain('"username":"admin"');
    expect((await get("/health", {})).status).toBe(200);
    expect((await get("/api/v1/users", {})).status).toBe(401);
    expect((await get("/api/v1/users", bearer("' OR '1'='1"))).status).toBe(401);
    await collector.stop();
    expect(collector.log()).toContain("WITNESS clean");
  });
});

type Place = readonly (string | number)[];

/** Where texts are in a value, and where they could be in an empty list. */
function placesIn(value: unknown, place: Place = []): readonly Place[] {
  if (typeof value === "string") return [place];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => placesIn(member, [...place, Array.isArray(value) ? Number(name) : name]));
}

/** A copy of `value` with `text` at the place. */
function put(value: unknown, [first, ...rest]: Place, text: string): unknown {
  if (first === undefined) return text;
  if (Array.isArray(value)) return value.map((member, index) => (index === first ? put(member, rest, text) : (member as unknown)));
  return Object.fromEntries(
    Object.entries(value as object).map(([name, member]) => [name, name === first ? put(member, rest, text) : (member as unknown)]),
  );
}

/** A lone surrogate cannot be written into a URL. */
function wellFormed(text: string): string {
  return text.replaceAll(/[\ud800-\udfff]/g, "\ufffd");
}

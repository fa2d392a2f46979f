import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRequest } from "../certificates/testing/request.ts";
import type { OpenApiDocument, Operation, Parameter } from "./openapi.ts";
import { exampleOf } from "./examples.ts";
import { type Answers, createAnswers } from "./testing/answers.ts";
import { OTHER_PASSWORD, type RunningCollector, startCollector } from "./testing/collector.ts";
import { requiredQuery } from "./testing/every-call.ts";
import { wrongInputs } from "./testing/wrong-input.ts";

interface Call {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

interface Given {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly token: string | null;
}

let collector: RunningCollector;
let document: OpenApiDocument;
let answers: Answers;
let calls: readonly Call[];
beforeAll(async () => {
  collector = await startCollector(ALLOWED_PLACE);
  document = await collector.read("/api/v1/docs/openapi.json");
  answers = createAnswers(document);
  calls = callsOf(document);
});
afterAll(() => collector.stop());

/**
 * Makes every call that the document names, also those that are added later. Ids come out of what earlier calls answered,
 * so lists are read first, then things are made, read, changed, worked with and removed.
 */
describe("every operation of the merged document", () => {
  test("answers valid input as it says it does", async () => {
    const known = new Map<string, string>();
    const succeeded = new Set<string>();
    const faults: string[] = [];
    let token = await signIn();
    for (const call of calls) {
      const send = async () => make(call, { path: Object.fromEntries(known), body: await validBody(call, known, token), token });
      let answer = await send();
      // What was called before may have ended the session, as a logout does.
      if (answer.status === 401) {
        token = await signIn();
        answer = await send();
      }
      faults.push(...answers.check(call.operation, answer).map((fault) => `${nameOf(call)} ${fault}`));
      // What is asked for may not be there, collide, or need a probe that is connected; nothing else is an answer to valid input.
      const isState = [404, 409, 503].includes(answer.status);
      if (answer.status >= 400 && !isState) faults.push(`${nameOf(call)} refuses its own example: ${answer.text.slice(0, 300)}`);
      if (answer.status < 300) succeeded.add(nameOf(call));
      learn(call, answer.text, known);
    }
    expect(faults).toEqual([]);
    // Were the ids of what was made not found again, nearly all would be 404.
    expect(succeeded.size / calls.length).toBeGreaterThan(0.6);
  });

  test("answers invalid input with 400, a wrong path also with 404, and who has no credentials with 401", async () => {
    const token = await collector.login();
    const faults: string[] = [];
    for (const call of calls) {
      const body = await validBody(call, new Map(), token);
      for (const wrong of wrongInputs(call.operation, document, body === undefined ? undefined : JSON.parse(body))) {
        const answer = await make(call, { body, token, ...wrong });
        faults.push(...answers.check(call.operation, answer).map((fault) => `${nameOf(call)} (${wrong.what}) ${fault}`));
        const isRefused = answer.status === 400 || (wrong.path !== undefined && answer.status === 404);
        if (!isRefused) faults.push(`${nameOf(call)} (${wrong.what}) answers ${answer.status}`);
      }
      if (call.operation.security?.length === 0) continue;
      for (const bad of [null, "nonsense"]) {
        const answer = await make(call, { body, token: bad });
        if (answer.status !== 401) faults.push(`${nameOf(call)} answers ${answer.status} to who has no credentials`);
        faults.push(...answers.check(call.operation, answer).map((fault) => `${nameOf(call)} ${fault}`));
      }
    }
    expect(faults).toEqual([]);
  });

  test("has left no failure in the collector's log", () => {
    expect(collector.log().split("\n").filter((line) => line.includes('"request failed"'))).toEqual([]);
  });
});

/** In the order in which they find what they need: read, make, read one, change, work with, remove. */
function callsOf({ paths }: OpenApiDocument): readonly Call[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })));
  const order = ({ method, path }: Call) => {
    const isOne = path.includes("{");
    if (method === "get") return isOne ? 2 : 0;
    if (method === "post") return isOne ? 4 : 1;
    return method === "delete" ? 5 : 3;
  };
  // A WebSocket is no call; a probe's certificate is no token.
  return all.filter(({ operation }) => !("101" in operation.responses) && !operation.security?.some((scheme) => "certificate" in scheme))
    .toSorted((a, b) => order(a) - order(b) || (a.path < b.path ? -1 : 1));
}

async function make({ method, path, operation }: Call, { path: values = {}, query = {}, body, token }: Given) {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? exampleFor(operation, name)));
  const response = await fetch(`${collector.url}${filled}?${new URLSearchParams({ ...requiredQuery(operation), ...query }).toString()}`, {
    method: method.toUpperCase(),
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** A token whose password is confirmed: a backup that is ready by then is downloaded. */
async function signIn(): Promise<string> {
  const token = await collector.login();
  for (const password of [collector.credentials.password, OTHER_PASSWORD]) {
    const { status } = await fetch(`${collector.url}/api/v1/auth/confirm`, {
      method: "POST", headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }, body: JSON.stringify({ password }),
    });
    if (status === 200) return token;
  }
  throw new Error("neither password is the user's");
}

function exampleFor({ parameters = [] }: Operation, name: string): string {
  return String(parameters.find((parameter: Parameter) => parameter.name === name)?.example);
}

/** The example of the document, with ids of things that are there, and what no example can hold. */
async function validBody({ operation, path }: Call, known: ReadonlyMap<string, string>, token: string): Promise<string | undefined> {
  const content = operation.requestBody?.content["application/json"];
  if (!content) return undefined;
  const example = content.example ?? exampleOf(content.schema ?? {}, document.components.schemas);
  const special = await SPECIAL[path]?.(token);
  return JSON.stringify({ ...withIds(example as object, known), ...special });
}

function withIds(example: object, known: ReadonlyMap<string, string>): object {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const occasional: Readonly<Record<string, string>> = { expires_at: soon, ends_at: soon, url: PLACE };
  return Object.fromEntries(
    Object.entries(example).map(([name, value]: [string, unknown]) => [name, occasional[name] ?? known.get(name) ?? value]),
  );
}

/** Whatever takes a URL is given one on this machine where nobody listens (discard, RFC 863): no test calls anybody. */
const PLACE = "https://127.0.0.1:9/";
const ALLOWED_PLACE = `[webhooks]\nallow = ["127.0.0.1"]\n`;

/** Fields whose valid value must be made for the occasion. */
const SPECIAL: Readonly<Record<string, (token: string) => object | Promise<object>>> = {
  "/api/v1/auth/login": () => collector.credentials,
  "/api/v1/auth/confirm": () => ({ password: collector.credentials.password }),
  "/api/v1/auth/password": () => ({ old_password: collector.credentials.password, new_password: OTHER_PASSWORD }),
  async "/api/v1/agents/enroll"(token) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sites = (await (await fetch(`${collector.url}/api/v1/sites`, { headers })).json()) as {
      readonly data: readonly { readonly id: string }[];
    };
    const made = await fetch(`${collector.url}/api/v1/agents/tokens`, {
      method: "POST", headers, body: JSON.stringify({ site_id: sites.data[0]?.id }),
    });
    return { token: ((await made.json()) as { readonly token: string }).token, certificate_request: (await createRequest()).request };
  },
};

/** Keeps the newest id that a collection showed or made, under the name that paths below the collection have for it. */
function learn({ path }: Call, text: string, known: Map<string, string>): void {
  const names = Object.keys(document.paths)
    .flatMap((other) => (other.startsWith(`${path}/{`) ? (/^\{(\w+)\}/.exec(other.slice(path.length + 1))?.[1] ?? []) : []));
  const body = text.startsWith("{") ? (JSON.parse(text) as { readonly id?: unknown; readonly data?: unknown }) : {};
  const listed = Array.isArray(body.data) ? (body.data as readonly { readonly id?: unknown }[]).at(-1)?.id : undefined;
  const id = body.id ?? listed;
  if (typeof id === "string") for (const name of names) known.set(name, id);
  for (const [name, value] of Object.entries(body)) {
    if (name.endsWith("_id") && typeof value === "string" && !known.has(name)) known.set(name, value);
  }
}

function nameOf({ method, path }: Call): string {
  return `${method.toUpperCase()} ${path}`;
}

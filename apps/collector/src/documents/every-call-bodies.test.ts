import { ROLE_SCOPES } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { OpenApiDocument } from "./openapi.ts";
import { type RunningCollector, startCollector } from "./testing/collector.ts";
import { bearer, type Call, callsOf, exampleBody, send } from "./testing/every-call.ts";

/** As large as a body may be. */
const LIMIT = 1_048_576;
/** Just below what is refused unread, so that schemas see it. */
const VALUES = 9990;
/** A loop that must not stand still for 50 ms, with room for a machine that does other things: this long is a hang. */
const HANG_MS = 500;

/** Says in the log for how long the collector's loop stood still, where that was long, by the loop's own processor time (see `watchLoop`). */
const WITNESS = `
  import { readFileSync } from "node:fs";
  const read = () => Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ", 1)[0]) / 1e6;
  let last = read();
  setInterval(() => {
    const blocked = read() - last;
    last += blocked;
    if (blocked > 20) process.stderr.write("BLOCKED " + Math.round(blocked) + "\\n");
  }, 10).unref();`;

const fill = (unit: string, room = LIMIT) => unit.repeat(Math.floor(room / unit.length));
/** What every route refuses, whatever its schema. */
const BODIES: Readonly<Record<string, string>> = {
  "nested lists": `${fill("[", LIMIT / 2)}${fill("]", LIMIT / 2)}`,
  "nested members, with U+0000 at the end": `${fill('{"a":0,"b":', LIMIT - 5000 - 20)}${String.raw`"\u0000"`}${"}".repeat(3000)}`,
  "520,000 members 3,000 deep": `${'{"a":'.repeat(3000)}[${fill("0,", LIMIT - 24_100)}"${String.raw`\u0000`}"]${"}".repeat(3000)}`,
  "fields that are unknown": JSON.stringify(Object.fromEntries(Array.from({ length: 75_000 }, (_, index) => [`f${index}`, 0]))),
  "unknown fields within the limit of values":
    JSON.stringify(Object.fromEntries(Array.from({ length: VALUES / 2 - 1 }, (_, index) => [`${index}`.padEnd(200, "k"), 0]))),
  "one long name": `{"${fill("k", LIMIT - 10)}":0}`,
  "one long name of escapes": `{"${fill(String.raw`\u0041`, LIMIT - 20)}":0}`,
  "U+0000 after U+0000": `{"a":"${fill(String.raw`\u0000`, LIMIT - 20)}"}`,
  backslashes: `{"a":"${fill("\\\\", LIMIT - 20)}"}`,
  "a list of numbers": `[${fill("0,", LIMIT - 10)}0]`,
  "a list of objects within the limit of values": `[${fill("{},", VALUES * 1.4)}{}]`,
  "a number": `{"a":${fill("9", LIMIT - 20)}}`,
  "broken JSON": `{"a":"${fill("x", LIMIT - 20)}`,
  blanks: fill(" "),
};
/**
 * A body is refused by its form or its schema, or what it is for is not there: none of these reaches a database, so that one kind is
 * enough.
 */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 404, 413]);
/** What regular expressions and splitting go through twice, where one lets them. */
const LETTERS = ["a", "1", ".", `${"\n".repeat(1000)}x`, "- ", "::"];
const MEMBERS = [0, "x", {}, "10.0.0.0/8,"];

let collector: RunningCollector;
let document: OpenApiDocument;
let calls: readonly Call[];
let key: string;
let token: string;
beforeAll(async () => {
  collector = await startCollector("", { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(WITNESS).toString("base64")}` });
  document = await collector.read("/api/v1/docs/openapi.json");
  calls = callsOf(document).filter((call) => call.operation.requestBody !== undefined);
  token = await collector.login();
  const made = await send(collector.url, { method: "POST", path: "/api/v1/auth/keys" }, {
    headers: bearer(token), body: { name: "all", scopes: ROLE_SCOPES.admin },
  });
  ({ key } = JSON.parse(made.text) as { readonly key: string });
});
afterAll(() => collector.stop());

/** For how long the loop stood still at worst since the log had so many characters. */
const worstSince = (from: number) =>
  Math.max(0, ...[...collector.log().slice(from).matchAll(/^BLOCKED (\d+)$/gm)].map((match) => Number(match[1])));
const ask = async (call: Call, headers: Record<string, string>, what: string, body: unknown): Promise<readonly string[]> => {
  const from = collector.log().length;
  const { status, error, text } = await send(collector.url, call, { headers, body });
  const name = `${call.name} (${what})`;
  const faults = REFUSALS.has(status) && error !== null ? [] : [`${name}: ${status} ${text.slice(0, 200)}`];
  // Else a small request makes the collector send megabytes.
  if (text.length > 100_000) faults.push(`${name}: an answer of ${text.length} characters`);
  const blocked = worstSince(from);
  return blocked > HANG_MS ? [...faults, `${name}: blocked for ${blocked} ms`] : faults;
};
const credentials = ({ access }: Call) => (access === "signed-in" ? bearer(token) : { "x-api-key": key });

describe("no body stops the collector", () => {
  test("that is none of the route's", async () => {
    const [faults, from]: [string[], number] = [[], collector.log().length];
    for (const call of calls) for (const [what, body] of Object.entries(BODIES)) faults.push(...(await ask(call, credentials(call), what, body)));
    expect(faults).toEqual([]);
    expect(calls.length).toBeGreaterThan(30);
    expect(worstSince(from)).toBeLessThan(HANG_MS);
  });

  test("with a text or a list in one of its fields that is as long as a body may be", async () => {
    const [faults, from]: [string[], number] = [[], collector.log().length];
    for (const call of calls) {
      const example = exampleBody(call, document);
      const room = LIMIT - JSON.stringify(example ?? {}).length - 20;
      for (const place of placesIn(example)) {
        for (const letter of LETTERS) {
          const text = `${fill(letter, room / JSON.stringify(letter).slice(1, -1).length * letter.length - 10)}!`;
          faults.push(...(await ask(call, credentials(call), `${place.join(".")} of ${JSON.stringify(letter.slice(0, 2))}`, put(example, place, text))));
        }
        for (const member of MEMBERS) {
          const list = Array.from({ length: VALUES / (typeof member === "object" ? 2 : 1) - 100 }, () => member);
          faults.push(...(await ask(call, credentials(call), `${place.join(".")} a list of ${JSON.stringify(member)}`, put(example, place, list))));
        }
      }
    }
    expect(faults).toEqual([]);
    expect(worstSince(from)).toBeLessThan(HANG_MS);
  });

  test("of an unauthorized caller is not read before the caller is refused", async () => {
    const [faults, from]: [string[], number] = [[], collector.log().length];
    for (const call of calls.filter(({ access }) => access !== "anyone")) {
      for (const what of ["nested lists", "broken JSON", "a list of numbers"]) {
        const { status, error } = await send(collector.url, call, { body: BODIES[what] });
        if (status !== 401 || error?.code !== "UNAUTHORIZED") faults.push(`${call.name} (${what}): ${status} ${error?.code}`);
      }
    }
    expect(faults).toEqual([]);
    expect(worstSince(from)).toBeLessThan(HANG_MS);
  });
});

type Place = readonly string[];

/** Every field of a value, whatever is in it. */
function placesIn(value: unknown, place: Place = []): readonly Place[] {
  if (typeof value !== "object" || value === null) return place.length === 0 ? [] : [place];
  const inner = Object.entries(value).flatMap(([name, member]) => placesIn(member, [...place, name]));
  return place.length === 0 ? inner : [place, ...inner];
}

/** A copy of `value` with another one at the place. */
function put(value: unknown, [first, ...rest]: Place, member: unknown): unknown {
  if (first === undefined) return member;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[first] = put(copy[first], rest, member);
  return copy;
}

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVICE_NAMES, SERVICES } from "../gateway/services.ts";
import { type RunningCollector, startCollector } from "./testing/collector.ts";

let collector: RunningCollector;
beforeAll(async () => {
  collector = await startCollector();
});
afterAll(() => collector.stop());

/** Examples and defaults are values, and no part of the document that could be described. */
const VALUES: ReadonlySet<string> = new Set(["example", "examples", "default", "const", "enum"]);

/** Every property, parameter and header without a description, by where it is; and how many there are in all. */
function undescribed(value: unknown, place: string, found: { readonly missing: string[]; count: number }): void {
  if (typeof value !== "object" || value === null) return;
  const { properties, parameters, headers } = value as Readonly<Record<string, unknown>>;
  const named = [
    ...Object.entries(properties ?? {}), ...Object.entries((Array.isArray(parameters) ? parameters : {}) as object),
    ...Object.entries(headers ?? {}).filter(([, header]) => !("$ref" in (header as object))),
  ] as readonly (readonly [string, { readonly description?: string }])[];
  for (const [name, { description = "" }] of named) {
    found.count += 1;
    // One word is no description.
    if (!/\S \S.*\.$/.test(description)) found.missing.push(`${place} ${name}: ${description}`);
  }
  for (const [key, member] of Object.entries(value)) if (!VALUES.has(key)) undescribed(member, `${place}/${key}`, found);
}

describe("the documents", () => {
  test.each([...SERVICE_NAMES.map((name) => `/api${SERVICES[name].docs}`), "/api/v1/docs"])(
    "%s describe every property, parameter and header in a sentence", async (path) => {
      const found = { missing: [], count: 0 };
      undescribed(await collector.read(`${path}/openapi.json`), "", found);
      expect(found.count).toBeGreaterThan(20);
      expect(found.missing).toEqual([]);
    },
  );
});

import { createRestClient } from "@lanthorn/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OpenApiDocument } from "./openapi.ts";
import { type RunningCollector, startCollector } from "./testing/collector.ts";

let collector: RunningCollector;
let merged: OpenApiDocument;
beforeAll(async () => {
  collector = await startCollector();
  merged = await collector.read("/api/v1/docs/openapi.json");
});
afterAll(() => collector.stop());

/** `GET /api/v1/devices/{}` of every call that the client has. */
async function callsOfClient(): Promise<readonly string[]> {
  const seen: string[] = [];
  const client = createRestClient({
    url: "http://collector", token: () => null,
    fetch(url, { method }) {
      const path = new URL(url).pathname.replace(/^\/api\/(?!v1\/)/, "/api/v1/");
      seen.push(`${method} ${path.replaceAll("some-id", "{}")}`);
      return Promise.reject(new Error("only to be seen"));
    },
  });
  for (const call of Object.values(client)) {
    await (call as (...args: readonly unknown[]) => Promise<unknown>)("some-id", "some-id", {}).catch(() => {});
  }
  return seen;
}

test("the client has a call for every operation, and none for what is no operation", async () => {
  const operations = Object.entries(merged.paths).flatMap(([path, methods]) =>
    Object.entries(methods).filter(([, { responses }]) => !("101" in responses)).map(([method]) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "{}")}`));
  const calls = await callsOfClient();
  expect(new Set(calls).size).toBe(calls.length);
  expect(calls.filter((call) => !operations.includes(call))).toEqual([]);
  expect(operations.filter((operation) => !calls.includes(operation))).toEqual([]);
});

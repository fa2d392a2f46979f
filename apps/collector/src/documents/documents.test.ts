import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVICE_NAMES, SERVICES } from "../gateway/services.ts";
import { type RunningCollector, startCollector } from "./testing/collector.ts";
import type { OpenApiDocument, Operation } from "./openapi.ts";

let collector: RunningCollector;
let merged: OpenApiDocument;
beforeAll(async () => {
  collector = await startCollector();
  merged = await collector.read("/api/v1/docs/openapi.json");
});
afterAll(() => collector.stop());

function operationsOf(document: OpenApiDocument): readonly (readonly [string, Operation])[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const));
}

describe("the OpenAPI documents", () => {
  test.each([...SERVICE_NAMES.map((name) => `/api${SERVICES[name].docs}`), "/api/v1/docs"])("%s lints clean", async (path) => {
    const document = await collector.read(`${path}/openapi.json`);
    const config = await createConfig({
      extends: ["recommended"],
      // A concrete path wins over one with a parameter, says OpenAPI itself.
      rules: { "no-ambiguous-paths": "off" },
    });
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "openapi.json", config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ""}`)).toEqual([]);
  });

  test("say of every operation what it is, who may call it and what it may answer", () => {
    const faults = operationsOf(merged).flatMap(([name, operation]) => [
      ...(operation.summary ? [] : [`${name} has no summary`]),
      ...(operation.tags?.length === 1 ? [] : [`${name} has not one tag`]),
      ...(operation.security ? [] : [`${name} does not say who may call it`]),
      ...(Object.keys(operation.responses).some((status) => /^[123]/.test(status)) ? [] : [`${name} never succeeds`]),
      ...["429", "500", "503"].filter((status) => !(status in operation.responses)).map((status) => `${name} has no ${status}`),
      ...(operation.security?.length === 0 || "401" in operation.responses ? [] : [`${name} never refuses`]),
    ]);
    expect(faults).toEqual([]);
    const ids = operationsOf(merged).map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("name the Idempotency-Key, and that another request under it is a conflict, wherever it is honoured", () => {
    const posts = operationsOf(merged).filter(([name]) => name.startsWith("post "));
    const isKeyed = ({ parameters }: Operation) =>
      (parameters ?? []).some(({ name, in: place }) => name === "Idempotency-Key" && place === "header");
    expect(posts.filter(([, operation]) => !isKeyed(operation)).map(([name]) => name).toSorted())
      .toEqual(["post /api/v1/agents/enroll", "post /api/v1/agents/renew", "post /api/v1/auth/login"]);
    expect(posts.filter(([, operation]) => isKeyed(operation) && !("409" in operation.responses)).map(([name]) => name)).toEqual([]);
    expect(operationsOf(merged).filter(([name, operation]) => !name.startsWith("post ") && isKeyed(operation))).toEqual([]);
  });

  test("show of every body an example that fits its schema", () => {
    const ajv = validator();
    const faults = operationsOf(merged).flatMap(([name, operation]) => {
      const answered = Object.values(operation.responses).map((response) => ("$ref" in response ? undefined : response.content));
      const contents = [operation.requestBody?.content, ...answered].flatMap((content) => Object.entries(content ?? {}));
      return contents.filter(([type]) => type.endsWith("json")).flatMap(([, { schema, example }]) => {
        if (example === undefined) return [`${name} has no example`];
        const check = ajv.compile(inDocument(schema));
        return check(example) ? [] : [`${name}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(example)}`];
      });
    });
    expect(faults).toEqual([]);
  });

  test("of the services together are the merged one", async () => {
    const documents = await Promise.all(SERVICE_NAMES.map((name) => collector.read(`/api/v1${SERVICES[name].docs}/openapi.json`)));
    const ofServices = await Promise.all(SERVICE_NAMES.map((name) => collector.read(`/api${SERVICES[name].docs}/openapi.json`)));
    expect(Object.keys(merged.paths).toSorted()).toEqual(ofServices.flatMap(({ paths }) => Object.keys(paths)).toSorted());
    expect(documents[0]).toEqual(merged);
    expect(documents.slice(1)).toEqual(ofServices.slice(1));
  });
});

function validator() {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv;
}

/** A schema with the components that it refers to. */
function inDocument(schema: object | undefined): object {
  return { ...schema, components: merged.components };
}

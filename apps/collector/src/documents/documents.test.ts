import { readFileSync } from "node:fs";
import { join } from "node:path";
import { STREAM_EVENTS, WEBHOOK_EVENTS } from "@lanthorn/contract";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
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
  test.each([...SERVICE_NAMES.map((name) => `/api${SERVICES[name].docs}`), "/api/v1/docs"])("%s lints clean, and is valid by another's schema of OpenAPI", async (path) => {
    const document = await collector.read(`${path}/openapi.json`);
    expect(await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)).toEqual({ valid: true });
    const config = await createConfig({
      extends: ["recommended"],
      // A concrete path wins over one with a parameter, says OpenAPI itself. A WebSocket succeeds with 101; who succeeds is tested below.
      rules: { "no-ambiguous-paths": "off", "operation-2xx-response": "off" },
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
    // A verb and what it is done to; what everybody calls by one word is that.
    expect(ids.filter((id) => !/^(?:[a-z]+(?:[A-Z][a-z]*\d*)+|login|logout)$/.test(id))).toEqual([]);
    expect(ids).toEqual(expect.arrayContaining(["login", "startScan", "listSimilarDevices", "openEventStream"]));
  });

  test("say what comes before a request is any operation's", async () => {
    const token = await collector.login();
    const send = (path: string, method: string) => fetch(`${collector.url}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
    const answers = [await send("/api/v1/nothing", "GET"), await send("/api/v1/devices", "PATCH"), await send(`/api/v1/devices?search=${"a".repeat(9000)}`, "GET")];
    expect(answers.map(({ status }) => status)).toEqual([404, 405, 414]);
    expect(answers[1]?.headers.get("allow")).toBe("GET, POST");
    for (const { status } of answers) expect(merged.info.description).toContain(`\`${status}\`:`);
  });

  test("name the Idempotency-Key, and that another request under it is a conflict, wherever it is honoured", () => {
    const posts = operationsOf(merged).filter(([name]) => name.startsWith("post "));
    const isKeyed = ({ parameters }: Operation) =>
      (parameters ?? []).some(({ name, in: place }) => name === "Idempotency-Key" && place === "header");
    expect(posts.filter(([, operation]) => !isKeyed(operation)).map(([name]) => name).toSorted())
      .toEqual([
        "post /api/v1/agents/enroll", "post /api/v1/agents/files", "post /api/v1/agents/files/{file_id}/finish", "post /api/v1/agents/renew",
        "post /api/v1/auth/login", "post /api/v1/auth/session/resume",
      ]);
    expect(posts.filter(([, operation]) => isKeyed(operation) && !("409" in operation.responses)).map(([name]) => name)).toEqual([]);
    expect(operationsOf(merged).filter(([name, operation]) => !name.startsWith("post ") && isKeyed(operation))).toEqual([]);
  });

  test("show of every body an example that fits its schema", () => {
    const ajv = validator();
    const received = Object.entries(merged.webhooks ?? {}).flatMap(([name, methods]) =>
      Object.values(methods).map((operation) => [name, operation] as const));
    const faults = [...operationsOf(merged), ...received].flatMap(([name, operation]) => {
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

  test("say of each webhook event what is sent, how it is signed and what answer counts", () => {
    expect(Object.keys(merged.webhooks ?? {}).toSorted()).toEqual([...WEBHOOK_EVENTS].toSorted());
    for (const [event, { post }] of Object.entries(merged.webhooks ?? {})) {
      const names = post?.parameters?.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["X-Service-Signature", "webhook-id", "webhook-timestamp", "webhook-signature"]));
      expect(Object.keys(post?.responses ?? {})).toEqual(expect.arrayContaining(["2XX", "410"]));
      expect(post?.requestBody?.content["application/json"]?.schema?.properties).toMatchObject({ event: { const: event } });
    }
  });

  test("take a real payload of a webhook and a real frame of the stream, and say why a stream closes", () => {
    const ajv = validator();
    const payload = merged.webhooks?.["device.discovered"]?.["post"]?.requestBody?.content["application/json"]?.schema;
    expect(ajv.validate(inDocument(payload), sample("webhook-payload"))).toBe(true);
    expect(ajv.validate(inDocument(payload), { ...sample("webhook-payload"), event: "device.offline" })).toBe(false);
    const stream = merged.paths["/ws/events"]?.["get"];
    const opened = stream?.responses["101"];
    const frame = opened && !("$ref" in opened) ? opened.content?.["application/json"]?.schema : undefined;
    expect(frame?.oneOf?.map(({ properties }) => properties?.["event"]?.const)).toEqual(STREAM_EVENTS);
    expect(ajv.validate(inDocument(frame), sample("stream-frame"))).toBe(true);
    expect(stream?.parameters?.map(({ name }) => name)).toEqual(expect.arrayContaining(["events", "site_id", "since", "ticket"]));
    for (const code of ["1001", "1013", "4401", "gap"]) expect(stream?.description).toContain(code);
  });

  test("of the services together are the merged one", async () => {
    const documents = await Promise.all(SERVICE_NAMES.map((name) => collector.read(`/api/v1${SERVICES[name].docs}/openapi.json`)));
    const ofServices = await Promise.all(SERVICE_NAMES.map((name) => collector.read(`/api${SERVICES[name].docs}/openapi.json`)));
    expect(Object.keys(merged.paths).toSorted()).toEqual(ofServices.flatMap(({ paths }) => Object.keys(paths)).toSorted());
    expect(documents[0]).toEqual(merged);
    expect(documents.slice(1)).toEqual(ofServices.slice(1));
  });
});

function sample(name: string): object {
  const path = join(import.meta.dirname, `../../../../packages/contract/samples/v1/${name}.json`);
  return JSON.parse(readFileSync(path, "utf8")) as object;
}

function validator() {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv;
}

/** A schema with the components that it refers to. */
function inDocument(schema: object | undefined): object {
  return { ...schema, components: merged.components };
}

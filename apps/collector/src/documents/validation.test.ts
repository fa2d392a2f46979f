import { describe, expect, test } from "vitest";
import { startGateway } from "../testing/gateway-for-test.ts";
import { errorResponses } from "./errors.ts";

interface Fault {
  readonly path: string;
  readonly message: string;
}

async function faultsFor(path: string, body?: object): Promise<readonly Fault[]> {
  const { url, createTenant } = await startGateway();
  const { token } = await createTenant("admin");
  const answer = await fetch(`${url}${path}`, {
    method: body ? "POST" : "GET", headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(answer.status).toBe(400);
  return ((await answer.json()) as { readonly error: { readonly details: readonly Fault[] } }).error.details;
}

describe("a request that is not valid", () => {
  test("is answered with the example of the documents", async () => {
    const { url, createTenant } = await startGateway();
    const { token } = await createTenant("admin");
    const answer = await fetch(`${url}/api/v1/devices`, {
      method: "POST", headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ ip: "printer-2", colour: "red" }),
    });
    expect(errorResponses({})["BadRequest"]).toMatchObject({ content: { "application/json": { example: await answer.json() } } });
  });

  test("says of each field what it must be, also of those that are unknown, in a list and in a query", async () => {
    const body = { mac: 7, hostname: "a".repeat(256), device_type: "fridge", tags: "red", one: 1, two: 2 };
    expect(await faultsFor("/api/v1/devices", body)).toEqual([
      { path: "mac", message: "must be a text" },
      { path: "hostname", message: "must be at most 255 characters" },
      { path: "device_type", message: expect.stringMatching(/^must be one of workstation, server, /) as string },
      { path: "tags", message: "must be a list" },
      { path: "one", message: "is not a known field" },
      { path: "two", message: "is not a known field" },
    ]);
    expect(await faultsFor("/api/v1/auth/login", { username: "" })).toEqual([
      { path: "username", message: "must not be empty" }, { path: "password", message: "is required" },
    ]);
    expect(await faultsFor("/api/v1/devices?is_online=yes&page=0&per_page=x&site_id=1")).toEqual([
      { path: "page", message: "must be at least 1" },
      { path: "per_page", message: "must be a number" },
      { path: "site_id", message: "must be an id (a UUID)" },
      { path: "is_online", message: "must be true or false" },
    ]);
    expect(await faultsFor("/api/v1/sites", { name: "x", sweep: { fast: true }, excluded: ["10.0.0.0/8", "x"] })).toEqual([
      { path: "sweep.fast", message: "is not a known field" },
      { path: "excluded.1", message: "must be an IP address, or a network as 10.0.0.0/8" },
    ]);
  });
});

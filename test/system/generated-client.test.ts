import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { REPOSITORY } from "../lab/lab-state.ts";
import { tryCommand } from "../lab/run-command.ts";
import { type Collector, startCollector } from "./deployment.ts";

/** Inside the repository, where the compiler and openapi-fetch are found. */
let folder: string;
let dataDir: string;
let collector: Collector;
beforeAll(async () => {
  folder = mkdtempSync(join(REPOSITORY, "test/.generated-"));
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-generated-"));
  collector = await startCollector({ dataDir, host: "127.0.0.1" });
});
afterAll(async () => {
  await collector.stop();
  for (const path of [folder, dataDir]) rmSync(path, { recursive: true });
});

const CLIENT = `import createClient from "openapi-fetch";
import type { components, paths, webhooks } from "./schema.js";

const client = createClient<paths>({ baseUrl: "http://collector" });

export async function countOnline(): Promise<number> {
  const { data, error } = await client.GET("/api/v1/devices", { params: { query: { is_online: true, per_page: 10 } } });
  if (error) throw new Error(\`\${error.error.code}: \${error.error.message}\`);
  const first: components["schemas"]["Device"] | undefined = data.data[0];
  return first?.is_online === true ? data.meta.total : 0;
}

export async function scan(): Promise<string> {
  const { data } = await client.POST("/api/v1/scans/start", { body: { target: "192.0.2.0/24", profile: "quick" } });
  return data?.id ?? "";
}

export function addressOf(payload: webhooks["device.discovered"]["post"]["requestBody"]["content"]["application/json"]): string {
  return payload.data.ip;
}

// @ts-expect-error A boolean is no text.
void client.GET("/api/v1/devices", { params: { query: { is_online: "true" } } });
`;
const TSCONFIG = {
  compilerOptions: { strict: true, noEmit: true, module: "nodenext", target: "es2023", lib: ["es2023", "dom"], types: [] }, files: ["client.ts"],
};

test("a client that is generated from the merged document compiles, with booleans as booleans", async () => {
  const answer = await fetch(`${collector.url}/api/v1/docs/openapi.json`, { headers: { authorization: `Bearer ${collector.token()}` } });
  expect(answer.status).toBe(200);
  writeFileSync(join(folder, "schema.d.ts"), astToString(await openapiTS(await answer.text())));
  writeFileSync(join(folder, "client.ts"), CLIENT);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  const compiled = await tryCommand(join(REPOSITORY, "node_modules/.bin/tsc"), ["-p", folder]);
  expect([compiled.stdout, compiled.code]).toEqual(["", 0]);
});

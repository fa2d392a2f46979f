import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { TokenResponse } from "@lanthorn/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { isOnPostgres, testEnvironment } from "./testing/database.ts";

const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

let dataDir = "";
let database: Readonly<Record<string, string>> = {};
const children: ChildProcess[] = [];
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-collector-"));
  database = await testEnvironment(dataDir);
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(dataDir, { recursive: true });
});

function spawnCollector(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: {
      PATH: process.env["PATH"], LANTHORN_DATA_DIR: dataDir, LANTHORN_HTTP_PORT: "0", LANTHORN_HTTPS_PORT: "0", LANTHORN_MQTT_PORT: "0",
      LANTHORN_HTTPS_HOST: "127.0.0.1", LANTHORN_MQTT_HOST: "127.0.0.1", LANTHORN_FEEDS_ENABLED: "false", ...database, ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  const ended = new Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, ...output }));
  });
  const ready = new Promise<Record<string, unknown>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("ready ")) resolve(JSON.parse(line.slice(6)) as Record<string, unknown>);
    });
    void ended.then(({ stderr }) => reject(new Error(stderr)));
  });
  // Whoever only waits for the end does not look at it.
  ready.catch(() => {});
  return { child, ended, ready };
}

async function login(url: unknown, password: string, username = "admin"): Promise<string> {
  const response = await fetch(`${String(url)}/api/auth/login`, {
    method: "POST", body: JSON.stringify({ username, password }), headers: { "content-type": "application/json" },
  });
  return TokenResponse.parse(await response.json()).access_token;
}

describe("lanthorn-collector", () => {
  test("starts in an empty directory, says where it serves, and stops in good order", async () => {
    const { child, ended, ready } = spawnCollector(["run"]);
    const { url, https_url, mqtt_url, pid } = await ready;
    expect([
      pid, String(https_url).startsWith("https://127.0.0.1:"), String(mqtt_url).startsWith("mqtts://127.0.0.1:"),
    ]).toEqual([child.pid, true, true]);
    const health = await fetch(`${String(url)}/health`);
    expect([health.status, Object.keys(((await health.json()) as { parts: object }).parts)]).toEqual([
      200, ["database", "disk", "broker", "ingest", "ingest_lag", "jobs", "deliveries", "licenses", "feeds"],
    ]);
    const password = readFileSync(join(dataDir, "admin-password"), "utf8").trim();
    const token = await login(url, password);
    const stream = new WebSocket(`${String(url).replace("http", "ws")}/ws/events?token=${token}`);
    await new Promise((resolve) => {
      stream.on("open", resolve);
    });
    const closed = new Promise((resolve) => {
      stream.on("close", resolve);
    });
    child.kill("SIGTERM");
    expect(await closed).toBe(1001);
    const { code, stdout, stderr } = await ended;
    expect([code, stdout.trim().split("\n").length]).toEqual([0, 1]);
    expect(stderr.split(password).length).toBe(2);
    expect(stderr).not.toContain(token);
    expect(stderr).not.toContain("could not be closed");
    for (const file of ["admin-password", ...(isOnPostgres() ? [] : ["token-secret", "lanthorn.db"])]) {
      expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
    }
  });

  test("started again takes up its secret and its users, whatever password is named", async () => {
    const first = spawnCollector([], { LANTHORN_ADMIN_PASSWORD: "123456" });
    const token = await login((await first.ready)["url"], "123456");
    first.child.kill("SIGKILL");
    await first.ended;
    const second = spawnCollector([], { LANTHORN_ADMIN_PASSWORD: "another" });
    const { url } = await second.ready;
    const devices = await fetch(`${String(url)}/api/v1/devices`, { headers: { authorization: `Bearer ${token}` } });
    expect([devices.status, await devices.json()]).toEqual([
      200, { data: [], meta: { page: 1, per_page: 100, total: 0, next_cursor: null } },
    ]);
    await login(url, "123456");
    second.child.kill("SIGINT");
    expect((await second.ended).code).toBe(0);
  });

  test("only checks its configuration when asked to, and names what is wrong in it", async () => {
    const file = join(dataDir, "collector.toml");
    writeFileSync(file, "[http]\nport = 8080\n");
    expect(await spawnCollector(["--check-config", "--config", file], { LANTHORN_HTTP_PROT: "1" }).ended).toMatchObject({
      code: 0, stdout: expect.stringMatching(/^the configuration is valid\ntrusted_proxies: none.*\n$/) as string, stderr: expect.stringContaining("LANTHORN_HTTP_PROT") as string,
    });
    writeFileSync(file, "[http]\nprot = 8080\n[token]\nlifetime_seconds = -1\n");
    const { code, stdout, stderr } = await spawnCollector(["run", "--check-config", "--config", file]).ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("prot");
    expect(stderr).toContain("token.lifetime_seconds");
    expect((await spawnCollector(["--config", join(dataDir, "none.toml")]).ended).stderr).toContain("none.toml");
  });

  test("takes tenants, users and passwords from the operator while it runs, and nothing before it ever ran", async () => {
    const early = await spawnCollector(["admin", "list"]).ended;
    // In a file that it made, the daemon could not write; tables of PostgreSQL belong to the same user whoever makes them.
    expect([early.code, early.stderr]).toEqual(isOnPostgres() ? [0, ""] : [1, expect.stringContaining("start the collector once")]);
    const { ready } = spawnCollector([], { LANTHORN_ADMIN_PASSWORD: "123456" });
    const { url } = await ready;
    const admin = async (...args: string[]) => {
      const { code, stdout, stderr } = await spawnCollector(["admin", ...args]).ended;
      expect([code, stderr]).toEqual([0, ""]);
      return stdout.trim();
    };
    expect(await admin("create-tenant", "Acme")).toMatch(/^tenant [0-9a-f-]{36}, site [0-9a-f-]{36}$/);
    const made = await admin("create-user", "jo", "--tenant", "Acme", "--role", "operator");
    const first = /^user jo, password (\S+)$/.exec(made)?.[1] ?? "";
    const token = await login(url, first, "jo");
    writeFileSync(join(dataDir, "password"), "a password of their own\n");
    expect(await admin("reset-password", "jo", "--password-file", join(dataDir, "password"))).toBe("user jo");
    expect((await fetch(`${String(url)}/api/v1/devices`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    await login(url, "a password of their own", "jo");
    const lines = (await admin("list")).split("\n").map((line) => line.replace(/\(.*\)|here .*/, ""));
    expect(lines).toEqual(["Acme ", "  jo  operator  last ", "default ", "  admin  admin  never logged in"]);
  });

  test("signs tokens with another secret after a rotation and a restart, and not before", async () => {
    const rotate = (environment = {}) => spawnCollector(["admin", "rotate-token-secret"], environment).ended;
    expect((await rotate()).code).toBe(1);
    const first = spawnCollector([], { LANTHORN_ADMIN_PASSWORD: "123456" });
    const { url } = await first.ready;
    const token = await login(url, "123456");
    const status = async (at: unknown) =>
      (await fetch(`${String(at)}/api/v1/devices`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect((await rotate({ LANTHORN_TOKEN_SECRET: "s".repeat(40) })).code).toBe(1);
    expect((await rotate()).code).toBe(0);
    expect(await status(url)).toBe(200);
    first.child.kill("SIGTERM");
    await first.ended;
    const second = spawnCollector([]);
    const again = (await second.ready)["url"];
    expect(await status(again)).toBe(401);
    await login(again, "123456");
  });

  test.each([
    ["a port that is taken", (port: number) => ({ LANTHORN_HTTP_PORT: String(port) }), "cannot listen on 127.0.0.1 port"],
    [
      "a PostgreSQL that is not there", () => ({ LANTHORN_DATABASE_URL: "postgres://u:secret@127.0.0.1:1/y" }),
      "cannot reach PostgreSQL at 127.0.0.1:1/y",
    ],
    ["a directory that is none", () => ({ LANTHORN_DATA_DIR: "/proc/none" }), "cannot use the data directory /proc/none"],
  ])("ends with one line for %s", async (_, environment, words) => {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const config = join(dataDir, "collector.toml");
    writeFileSync(config, "[database]\nwait_seconds = 0\n");
    const { code, stdout, stderr } = await spawnCollector(
      ["run", "--config", config], environment((server.address() as AddressInfo).port),
    ).ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("    at ");
    expect(stderr).not.toContain("secret");
    server.close();
  });
});

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type CveDatabaseInfo, TokenResponse } from "@lanthorn/contract";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FEEDS } from "./table.ts";
import { type FeedServer, startFeedServer } from "./testing/feed-server.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
/** Clients may not ask more often than some times a second. */
const SELDOM = { interval: 1000 };
const PASSWORD = "a password of the test";

let directory = "";
let server: FeedServer;
const children: ChildProcess[] = [];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "lanthorn-killed-"));
  server = await startFeedServer();
  writeFileSync(join(directory, "collector.toml"), [
    `data_dir = "${directory}/data"`,
    `[feeds.sources.nvd]\nurl = "${directory}/nvd.jsonl"\nmin_records = 1`, `[feeds.sources.kev]\nurl = "${server.url}/kev.json"\nmin_records = 1`,
    ...FEEDS.filter(({ name }) => name !== "nvd" && name !== "kev").map(({ name }) => `[feeds.sources.${name}]\nenabled = false`),
  ].join("\n"));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await server.close();
  rmSync(directory, { recursive: true });
});

interface Collector {
  get(path: string): Promise<{ readonly status: number; readonly body: unknown }>;
  update(): Promise<void>;
  info(): Promise<CveDatabaseInfo>;
  kill(): Promise<void>;
}

async function start(): Promise<Collector> {
  const child = spawn(process.execPath, [MAIN, "run", "--config", join(directory, "collector.toml")], {
    env: {
      PATH: process.env["PATH"], LANTHORN_HTTP_PORT: "0", LANTHORN_HTTPS_PORT: "0", LANTHORN_MQTT_PORT: "0", LANTHORN_HTTPS_HOST: "127.0.0.1", LANTHORN_MQTT_HOST: "127.0.0.1",
      LANTHORN_ADMIN_PASSWORD: PASSWORD,
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  const ended = new Promise<void>((resolve) => void child.on("close", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("ready ")) resolve((JSON.parse(line.slice(6)) as { readonly url: string }).url);
    });
    void ended.then(() => reject(new Error("the collector has ended")));
  });
  const login = await fetch(`${url}/api/auth/login`, { method: "POST", body: JSON.stringify({ username: "admin", password: PASSWORD }), headers: { "content-type": "application/json" } });
  const headers = { authorization: `Bearer ${TokenResponse.parse(await login.json()).access_token}` };
  const call = async (method: string, path: string) => {
    const answer = await fetch(`${url}/api/v1/cve/${path}`, { method, headers });
    return { status: answer.status, body: await answer.json() };
  };
  return {
    get: (path) => call("GET", path),
    async update() {
      expect((await call("POST", "update")).status).toBe(202);
    },
    async info() {
      return (await call("GET", "db-info")).body as CveDatabaseInfo;
    },
    kill() {
      child.kill("SIGKILL");
      return ended;
    },
  };
}

/** So many CVEs, modified on a day of 2026. */
function writeNvd(count: number, day: number): void {
  writeFileSync(join(directory, "nvd.jsonl"), Array.from({ length: count }, (_, index) => `${JSON.stringify({ cve: {
    id: `CVE-2025-${10_000 + index}`, sourceIdentifier: "cve@example.org", published: "2025-12-01T10:00:00.000", lastModified: `2026-01-0${day}T00:00:00.000`,
    vulnStatus: "Analyzed", descriptions: [{ lang: "en", value: `As it was on day ${day}.` }], configurations: [],
  } })}\n`).join(""));
}

const kev = (count: number) => JSON.stringify({ title: "Catalog", count, vulnerabilities: Array.from({ length: count }, (_, index) => ({
  cveID: `CVE-2025-${10_000 + index}`, vendorProject: "Example", product: "product", vulnerabilityName: "Fault", dateAdded: "2026-01-05", shortDescription: "A fault.",
  requiredAction: "Update.", dueDate: "2026-01-26", knownRansomwareCampaignUse: "Unknown", notes: "", cwes: [],
})) });

const day = (number: number) => ({ description: `As it was on day ${number}.` });

test("a collector that is killed in a download and in an import answers by the last good database, and the next one completes both", async () => {
  writeNvd(50, 1);
  server.serve("/kev.json", kev(2));
  const first = await start();
  await first.update();
  await expect.poll(async () => (await first.info()).update?.status, SELDOM).toBe("completed");
  expect((await first.get("CVE-2025-10000")).body).toMatchObject({ ...day(1), known_exploited: true });

  writeNvd(12_000, 2);
  const isHalf = new Promise<void>((resolve) => {
    server.serve("/kev.json", (_, response) => {
      response.writeHead(200, { "content-length": String(kev(3).length) });
      response.write(kev(3).slice(0, 400), () => resolve());
    });
  });
  await first.update();
  await isHalf;
  await first.kill();

  server.serve("/kev.json", kev(3));
  const second = await start();
  expect((await second.get("CVE-2025-10000")).body).toMatchObject(day(1));
  // It goes on with the update of the one before, which ends in an import.
  await expect.poll(() => existsSync(join(directory, "data", "cve", "next.db")), { interval: 20 }).toBe(true);
  expect((await second.get("CVE-2025-10000")).body).toMatchObject(day(1));
  await second.kill();

  const third = await start();
  expect((await third.get("CVE-2025-10000")).status).toBe(200);
  await expect.poll(async () => (await third.info()).update?.status, SELDOM).toBe("completed");
  expect(await third.info()).toMatchObject({ total_entries: 12_000, updating: false });
  expect((await third.get("CVE-2025-10002")).body).toMatchObject({ ...day(2), known_exploited: true });
  await third.kill();
});

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json, text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { TokenResponse } from "@lanthorn/contract";
import { testEnvironment } from "../../testing/database.ts";
import type { OpenApiDocument } from "../openapi.ts";

const MAIN = fileURLToPath(new URL("../../../dist/main.js", import.meta.url));
const CREDENTIALS = { username: "admin", password: "a password for tests" } as const;
export const OTHER_PASSWORD = "another password for tests";

/** The whole collector in a process and a directory of its own, with rate limits that no test reaches. */
export interface RunningCollector {
  readonly url: string;
  /** Where probes reach it. */
  readonly httpsUrl: string;
  readonly mqttPort: number;
  readonly dataDir: string;
  /** Of the administrator that the first start made. */
  readonly credentials: { readonly username: string; readonly password: string };
  /** A token of theirs, also after their password was changed to `OTHER_PASSWORD`. */
  login(): Promise<string>;
  read(path: string): Promise<OpenApiDocument>;
  /** Runs the command beside the daemon, as its operator does. @returns What it has printed. */
  run(...args: readonly string[]): Promise<string>;
  /** What it has written to its log. */
  log(): string;
  stop(): Promise<void>;
}

type Ready = Readonly<Record<"url" | "https_url" | "mqtt_url", string>>;

/** Of a private key that everybody knows. */
const BACKUPS = '[backups]\nrecipients = ["age19ljhmg68e43yx9fgm2k9lwefquc0la5y4lzvlshdjzv47kxt8d6qr9vf4p"]\n';
const PLENTY = ["standard", "admin", "service"].map((tier) => `[rate_limits.${tier}]\nper_minute = 100000\nburst = 10000\n`).join("");

/** @param configuration TOML that is added to what tests need. @param environment Added to the process's own. */
export async function startCollector(configuration = "", environment: Readonly<Record<string, string>> = {}): Promise<RunningCollector> {
  const dataDir = mkdtempSync(join(tmpdir(), "lanthorn-documents-"));
  const file = join(dataDir, "collector.toml");
  writeFileSync(file, `${PLENTY}${BACKUPS}${configuration}`);
  const database = await testEnvironment(dataDir, { isMigrated: true });
  const start = (args: readonly string[]) => spawn(process.execPath, [
    MAIN, ...args, "--config", file,
  ], {
    env: {
      ...database, ...environment, PATH: process.env["PATH"], LANTHORN_DATA_DIR: dataDir, LANTHORN_HTTP_PORT: "0", LANTHORN_HTTPS_PORT: "0",
      LANTHORN_MQTT_PORT: "0", LANTHORN_FEEDS_MIRROR: join(dataDir, "mirror"),
      LANTHORN_HTTPS_HOST: "127.0.0.1", LANTHORN_MQTT_HOST: "127.0.0.1",
      LANTHORN_ADMIN_PASSWORD: CREDENTIALS.password,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const child = start(["run"]);
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const ended = new Promise<void>((resolve) => {
    child.on("close", () => resolve());
  });
  const { url, https_url: httpsUrl, mqtt_url: mqttUrl } = await new Promise<Ready>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith("ready ")) resolve(JSON.parse(line.slice(6)) as Ready);
    });
    void ended.then(() => reject(new Error(log)));
  });
  const login = async (password: string = CREDENTIALS.password): Promise<string> => {
    const response = await fetch(`${url}/api/auth/login`, {
      method: "POST", body: JSON.stringify({ ...CREDENTIALS, password }), headers: { "content-type": "application/json" },
    });
    if (response.status === 401 && password !== OTHER_PASSWORD) return login(OTHER_PASSWORD);
    return TokenResponse.parse(await response.json()).access_token;
  };
  const token = await login();
  return {
    url, httpsUrl,
    mqttPort: Number(new URL(mqttUrl).port),
    dataDir,
    credentials: CREDENTIALS,
    login: () => login(),
    run: (...args) => new Promise((resolve, reject) => {
      const command = start(args);
      let [printed, said] = ["", ""];
      command.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
      command.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
      command.on("close", (code) => (code === 0 ? resolve(printed) : reject(new Error(said))));
    }),
    log: () => log,
    async read(path) {
      // Each on a connection of its own: what a test does between two may take longer than the collector keeps one open.
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        get(`${url}${path}`, { agent: false, headers: { authorization: `Bearer ${token}` } }, resolve).on("error", reject);
      });
      if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}: ${await text(response)}\n${log}`);
      return json(response) as Promise<OpenApiDocument>;
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(dataDir, { recursive: true });
    },
  };
}

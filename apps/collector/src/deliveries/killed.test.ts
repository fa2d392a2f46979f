import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { TokenResponse } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../db/open.ts";
import { createEventLog, type NewEvent } from "../events/log.ts";
import { createReactions } from "../events/reaction.ts";
import { REACTION_ORDER, REACTIONS } from "../reactions.ts";
import { eventually, OFFLINE } from "../services/diplomat/testing/stack.ts";
import { openTestDatabase, testEnvironment } from "../testing/database.ts";
import { createDeliveryReaction } from "./reaction.ts";
import { type Receiver, startReceiver } from "./testing/receiver.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const PASSWORD = "a password for tests";
const EVENTS_EACH = 150;

let dataDir = "";
let child: ChildProcess | undefined;
let database: Database | undefined;
let receivers: Receiver[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "lanthorn-crash-"));
});
afterEach(async () => {
  child?.kill("SIGKILL");
  await database?.close();
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  rmSync(dataDir, { recursive: true });
});

/** The whole collector as a process. @returns Its URL. */
async function startCollector(): Promise<string> {
  writeFileSync(join(dataDir, "collector.toml"), `[webhooks]\nallow = ["127.0.0.1"]\n`);
  const command = [MAIN, "run", "--config", join(dataDir, "collector.toml")];
  const started = spawn(process.execPath, command, {
    env: {
      PATH: process.env["PATH"], LANTHORN_DATA_DIR: dataDir, LANTHORN_HTTP_PORT: "0", LANTHORN_HTTPS_ENABLED: "false",
      LANTHORN_MQTT_PORT: "0", LANTHORN_FEEDS_ENABLED: "false",
      LANTHORN_MQTT_HOST: "127.0.0.1", LANTHORN_ADMIN_PASSWORD: PASSWORD, ...(await testEnvironment(dataDir)),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child = started;
  let log = "";
  started.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  return new Promise((resolve, reject) => {
    createInterface({ input: started.stdout }).on("line", (line) => {
      if (line.startsWith("ready ")) resolve((JSON.parse(line.slice(6)) as { readonly url: string }).url);
    });
    started.on("close", () => reject(new Error(log)));
  });
}

async function killCollector(): Promise<void> {
  const ended = new Promise((resolve) => {
    child?.on("exit", resolve);
  });
  child?.kill("SIGKILL");
  await ended;
}

async function send(url: string, body: object, token?: string): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST", body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  });
  return response.json();
}

test("a collector that is killed again and again loses no delivery, and repeats at most the one under way to each receiver", async () => {
  receivers = await Promise.all(Array.from({ length: 4 }, () => startReceiver()));
  for (const receiver of receivers) {
    receiver.answer = (response) => void setTimeout(() => response.writeHead(204).end(), 5);
  }
  const url = await startCollector();
  const { access_token: token } = TokenResponse.parse(await send(`${url}/api/auth/login`, { username: "admin", password: PASSWORD }));
  for (const receiver of receivers) await send(
    `${url}/api/v1/integrations/webhooks`, { url: receiver.url, events: ["device.offline"] }, token,
  );

  database = await openTestDatabase(dataDir);
  const { db, reads } = database;
  const tenant = await reads.selectFrom("tenants").select("id").executeTakeFirstOrThrow();
  const deliveries = createDeliveryReaction();
  const log = createEventLog({ reads, reactions: createReactions(REACTIONS, REACTION_ORDER, { deliveries }) });
  const at = toInstant(Date.now());
  const event: NewEvent = {
    ...OFFLINE, siteId: null, probeId: null, deviceId: null, queueId: null, probeSeq: null, occurredAt: at, receivedAt: at,
  };
  await db.transaction().execute((trx) => log.append(trx, tenant.id, Array.from({ length: EVENTS_EACH }, () => event)));

  const total = () => receivers.reduce((sum, { received }) => sum + received.length, 0);
  const kills = 3;
  for (let kill = 1; kill <= kills; kill += 1) {
    await eventually("some arrive", () => total() >= kill * EVENTS_EACH);
    await killCollector();
    await startCollector();
  }
  await eventually("all arrive", async () => {
    const left = await reads.selectFrom("webhook_deliveries").select("id").where("status", "!=", "delivered").limit(1).executeTakeFirst();
    return left === undefined;
  });
  const ids = (await reads.selectFrom("events").select("id").orderBy("seq").execute()).map(({ id }) => id);
  for (const { received } of receivers) {
    const got = received.map(({ headers }) => String(headers["webhook-id"]));
    expect([...new Set(got)]).toEqual(ids);
    expect(got.length - ids.length).toBeLessThanOrEqual(kills);
    for (const id of ids) expect(got.filter((other) => other === id).length).toBeLessThanOrEqual(2);
  }
});

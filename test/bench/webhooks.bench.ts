import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WebhookEvent } from "@lanthorn/contract";
import { createId, silentLog, systemClock, toInstant } from "@lanthorn/runtime";
import { type Database, openDatabase } from "../../apps/collector/src/db/open.ts";
import { singleKey } from "../../apps/collector/src/sealing/keyring.ts";
import { createSealing } from "../../apps/collector/src/sealing/sealing.ts";
import { createSender } from "../../apps/collector/src/deliveries/sending/send.ts";
import { createEventLog, type NewEvent } from "../../apps/collector/src/events/log.ts";
import { createReactions } from "../../apps/collector/src/events/reaction.ts";
import { REACTION_ORDER, REACTIONS } from "../../apps/collector/src/reactions.ts";
import { createAudit } from "../../apps/collector/src/services/audit/audit.ts";
import { createDiplomat, type Diplomat } from "../../apps/collector/src/services/diplomat/diplomat.ts";
import type { Arrival, FromReceivers } from "./webhooks-receivers.ts";

const DELIVERIES = 100_000;
const HEALTHY = 45;
const HANGING = 5;
const EVENTS_AT_ONCE = 20;
const EVENT: WebhookEvent = "device.offline";

/**
 * How fast events reach webhooks of which some never answer. The first half of the events is there at once and says how many
 * are delivered in a second; the other half comes one by one, evenly, at half of that, and says how long one takes from its commit to
 * its receiver. Receivers are a process of their own; the peer is Node's http client sending bodies of the same size, without
 * a database, a signature or an order to keep.
 * The last line is JSON; `lost` are deliveries that neither came to a healthy receiver nor are kept for one that hangs.
 */
export async function run(args: readonly string[]): Promise<void> {
  const deliveries = args[0] === undefined ? DELIVERIES : Number(args[0]);
  const events = Math.floor(deliveries / (HEALTHY + HANGING) / EVENTS_AT_ONCE / 2) * EVENTS_AT_ONCE * 2;
  if (!Number.isInteger(deliveries) || events < 1 || deliveries > 10_000_000) {
    throw new Error(
      `webhooks takes one number, the deliveries to make, from ${(HEALTHY + HANGING) * EVENTS_AT_ONCE * 2} on, not ${args[0]}`,
    );
  }
  const directory = mkdtempSync(join(tmpdir(), "lanthorn-bench-"));
  const receivers = await startReceivers();
  const database = await openDatabase({ file: join(directory, "lanthorn.db") });
  const tenant = await openTenant(database, receivers.ports);
  try {
    const committed = new Map<string, number>();
    const burstAt = now();
    for (let count = 0; count < events / 2; count += EVENTS_AT_ONCE) await tenant.append(EVENTS_AT_ONCE, committed);
    await receivers.got((events / 2) * HEALTHY);
    const burstSeconds = (Math.max(...receivers.arrivals.map(({ atMs }) => atMs)) - burstAt) / 1000;
    const perSecond = ((events / 2) * HEALTHY) / burstSeconds;
    console.log(`burst   ${Math.round(perSecond)} delivered a second, ${(events / 2) * HEALTHY} in ${burstSeconds.toFixed(1)} s`);

    const burst = new Set(committed.keys());
    const pauseMs = (HEALTHY * 1000) / (perSecond / 2);
    const evenlyFrom = now();
    for (let count = 0; count < events / 2; count += 1) {
      await sleepUntil(evenlyFrom + count * pauseMs);
      await tenant.append(1, committed);
    }
    await receivers.got(events * HEALTHY);
    const delays = receivers.arrivals.filter(({ eventId }) => !burst.has(eventId))
      .map(({ eventId, atMs }) => atMs - (committed.get(eventId) ?? 0))
      .toSorted((a, b) => a - b);
    const at = (share: number) => Math.round((delays[Math.floor((delays.length - 1) * share)] ?? 0) * 10) / 10;
    console.log(`evenly  at ${Math.round(perSecond / 2)} a second: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`);

    const lost = await countLost(database, receivers.arrivals, events);
    const doubled = receivers.arrivals.length - new Set(receivers.arrivals.map(({ receiver, eventId }) => `${receiver} ${eventId}`)).size;
    console.log(`hanging ${HANGING} receivers: ${lost.waiting} deliveries kept for them; doubled ${doubled}`);
    console.log(`peer    ${Math.round(await measurePeer(receivers.ports.slice(0, HEALTHY)))} a second by Node's http client alone`);
    console.log(
      JSON.stringify({ bench: "webhooks", delivered_per_second: Math.round(perSecond), healthy_p99_ms: at(0.99), lost: lost.lost }),
    );
  } finally {
    await tenant.diplomat.close();
    await database.close();
    receivers.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Milliseconds by the clock that all processes of a machine share. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

async function sleepUntil(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms - now()));
  });
}

interface Receivers {
  readonly ports: readonly number[];
  readonly arrivals: Arrival[];
  got(count: number): Promise<void>;
  close(): void;
}

async function startReceivers(): Promise<Receivers> {
  const child: ChildProcess = fork(fileURLToPath(new URL("./webhooks-receivers.ts", import.meta.url)), [String(HEALTHY), String(HANGING)]);
  const arrivals: Arrival[] = [];
  let waiting: { readonly count: number; readonly resolve: () => void } | undefined;
  const ports = await new Promise<readonly number[]>((resolve) => {
    child.on("message", (message: FromReceivers) => {
      if ("ports" in message) resolve(message.ports);
      else arrivals.push(...message.arrivals);
      if (waiting && arrivals.length >= waiting.count) waiting.resolve();
    });
  });
  return {
    ports, arrivals,
    got: (count) => new Promise((resolve) => {
      if (arrivals.length >= count) resolve();
      else waiting = { count, resolve };
    }),
    close: () => void child.kill(),
  };
}

interface Tenant {
  readonly diplomat: Diplomat;
  /** Commits some events together, and notes when. */
  append(count: number, committed: Map<string, number>): Promise<void>;
}

/** A tenant whose every event goes to every receiver, and the parts of the collector that bring it there. */
async function openTenant(database: Database, ports: readonly number[]): Promise<Tenant> {
  const [tenantId, clock] = [createId(), systemClock];
  await database.db.insertInto("tenants").values({ id: tenantId, name: "bench", created_at: toInstant(clock.now()) }).execute();
  const diplomat = createDiplomat({
    ...database, audit: createAudit({ clock }), sealing: createSealing(singleKey(new Uint8Array(32))),
    resolve: () => Promise.reject(new Error("no names")),
    sender: createSender({ clock }, { ca: null }), mailer: null, ownersOf: () => Promise.resolve([]), clock, log: silentLog,
    version: "bench",
  }, { allow: ["127.0.0.1"], keepDays: 14, keepEach: 1_000_000, isAlone: true });
  const actor = { type: "system", id: "bench", name: "bench", tenantId, address: "" } as const;
  for (const port of ports) await diplomat.service.create(actor, { url: `http://127.0.0.1:${port}/`, events: [EVENT], active: true });
  await diplomat.start();
  const log = createEventLog({
    reads: database.reads, reactions: createReactions(REACTIONS, REACTION_ORDER, { deliveries: diplomat.reaction }),
  });
  return {
    diplomat,
    async append(count, committed) {
      const at = toInstant(clock.now());
      const event: NewEvent = {
        type: "host_offline", siteId: createId(), probeId: createId(), deviceId: createId(), queueId: null, probeSeq: null,
        occurredAt: at, receivedAt: at,
        data: { ip: "10.77.0.21", mac: "00:1b:63:a4:02:11", last_seen_at: at, missed_checks: 3 },
      };
      const { fromSeq } = await database.db.transaction()
        .execute((trx) => log.append(trx, tenantId, Array.from({ length: count }, () => event)));
      const committedAt = now();
      diplomat.published(tenantId);
      const rows = await database.reads.selectFrom("events").select("id").where("tenant_id", "=", tenantId).where("seq", ">=", fromSeq)
        .execute();
      for (const { id } of rows) committed.set(id, committedAt);
    },
  };
}

/** What is missing: arrivals at healthy receivers, and kept deliveries to those that hang. */
async function countLost(
  { reads }: Database,
  arrivals: readonly Arrival[],
  events: number,
): Promise<{ readonly lost: number; readonly waiting: number }> {
  const came = new Set(arrivals.map(({ receiver, eventId }) => `${receiver} ${eventId}`)).size;
  const { waiting } = await reads.selectFrom("webhook_deliveries").select((eb) => eb.fn.countAll<number>().as("waiting"))
    .where("webhook_id", "in", reads.selectFrom("webhooks").select("id").orderBy("id", "desc").limit(HANGING))
      .where("status", "!=", "delivered").executeTakeFirstOrThrow();
  return { lost: events * HEALTHY - came + (events * HANGING - waiting), waiting };
}

/** Posts to every receiver one after the other, all at once, for three seconds. @returns Requests in a second. */
async function measurePeer(ports: readonly number[]): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const body = Buffer.alloc(360, "x");
  const until = now() + 3000;
  let count = 0;
  const post = (port: number) => new Promise<void>((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    request({ host: "127.0.0.1", port, method: "POST", agent, headers }, (response) => response.resume().on("end", resolve))
      .on("error", reject).end(body);
  });
  await Promise.all(ports.map(async (port) => {
    for (; now() < until; count += 1) await post(port);
  }));
  agent.destroy();
  return count / 3;
}

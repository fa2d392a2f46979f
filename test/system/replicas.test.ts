import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createRequest } from "../../apps/collector/src/certificates/testing/request.ts";
import { type Database, openDatabase } from "../../apps/collector/src/db/open.ts";
import { STREAMED_TYPES } from "../../apps/collector/src/events/log.ts";
import { type Grown, startGrown } from "./grown.ts";
import { findMosquitto } from "./mosquitto.ts";
import { createSimulatedProbe, type SimulatedProbe, simulatedEvent } from "./simulated-probe.ts";
import { waitFor } from "../lab/wait-for.ts";

const REPLICAS = 3;
const PROBES = 9;
const RECEIVERS = 3;
/** Of each probe. */
const EVENTS_A_SECOND = 6;
/** With one replica dead, the others go on: so many events more are confirmed before it comes back. */
const GOES_ON = 100;

const mosquitto = await findMosquitto();

describe.skipIf(mosquitto === null)("three collectors on one PostgreSQL and one mosquitto", () => {
  let grown: Grown;
  let database: Database;
  const probes: SimulatedProbe[] = [];
  const receivers: Receiver[] = [];
  const streams: Stream[] = [];
  let load: NodeJS.Timeout | undefined;

  beforeAll(async () => {
    if (mosquitto === null) return;
    grown = await startGrown(mosquitto, { replicas: REPLICAS, env: { LANTHORN_WEBHOOKS_ALLOW: "127.0.0.1" } });
    database = await openDatabase({ url: grown.databaseUrl });
    // Tokens of one collector are good at all, and what one has written the others know.
    const token = grown.collectors[0]?.token() ?? "";
    const urls = grown.collectors.map(({ url }) => url);
    for (let index = 0; index < RECEIVERS; index += 1) {
      const receiver = await startReceiver();
      receivers.push(receiver);
      const answer = await fetch(`${urls[index % REPLICAS]}/api/v1/integrations/webhooks`, {
        method: "POST", headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ url: receiver.url, events: ["device.offline", "device.discovered"], active: true }),
      });
      expect(answer.status).toBe(201);
    }
    for (const url of urls) streams.push(follow(url, token));
    for (let index = 0; index < PROBES; index += 1) {
      const { rest } = grown.collectors[index % REPLICAS] as Grown["collectors"][number];
      const site = (await rest.listSites()).data[0];
      const enrollment = await rest.createEnrollmentToken({ site_id: site?.id ?? "" });
      const { key, request } = await createRequest();
      const identity = await rest.enrollProbe({ token: enrollment.token, certificate_request: request, name: `probe ${index}` });
      probes.push(createSimulatedProbe({
        host: "127.0.0.1", port: grown.brokerPort, ca: identity.ca_certificate, key, certificate: identity.certificate,
        tenantId: identity.tenant_id, probeId: identity.probe_id,
      }));
      // One address may enroll so many in a second.
      await pause(250);
    }
    for (const probe of probes) probe.open();
    await waitFor("every probe", () => (probes.every((probe) => probe.isConnected()) ? true : null));
    let turn = 0;
    load = setInterval(() => {
      const index = turn % PROBES;
      probes[index]?.say(simulatedEvent(index, Math.floor(turn / PROBES)));
      turn += 1;
    }, 1000 / (PROBES * EVENTS_A_SECOND));
  });

  afterAll(async () => {
    clearInterval(load);
    for (const probe of probes) probe.close();
    for (const stream of streams) stream.close();
    await database?.close();
    await grown?.close();
    for (const receiver of receivers) receiver.close();
  });

  const acknowledged = () => probes.reduce((sum, probe) => sum + probe.acknowledged(), 0);
  const goesOn = async (what: string) => {
    const from = acknowledged();
    await waitFor(what, () => (acknowledged() >= from + GOES_ON ? true : null), { everyMs: 50 });
  };
  const partOf = async (index: number, part: "broker" | "database") => {
    const answer = await fetch(`${grown.collectors[index]?.url}/api/health`);
    return ((await answer.json()) as { readonly parts: Readonly<Record<string, { readonly status: string }>> }).parts[part]?.status;
  };

  test("lose nothing when each is killed in its turn, and broker and database once each, under load", async () => {
    let killed = 0;
    await goesOn("the load");
    for (let index = 0; index < REPLICAS; index += 1) {
      await grown.collectors[index]?.kill();
      killed += 1;
      await goesOn(`the load without collector ${index + 1}`);
      await grown.restart(index);
      await goesOn(`the load with collector ${index + 1} again`);
    }

    await grown.broker().kill();
    await waitFor("a health without the broker", async () => ((await partOf(0, "broker")) === "degraded" ? true : null));
    await grown.startBroker();
    await goesOn("the load with the broker again");
    await waitFor("a health with the broker", async () => ((await partOf(0, "broker")) === "ok" ? true : null));

    await grown.postgres.stop("immediate");
    await waitFor("a health without the database", async () => ((await partOf(1, "database")) === "degraded" ? true : null));
    await grown.postgres.start();
    await goesOn("the load with the database again");
    await waitFor("a health with the database", async () => ((await partOf(1, "database")) === "ok" ? true : null));

    clearInterval(load);
    await waitFor("every event", () => (probes.every((probe) => probe.acknowledged() === probe.said()) ? true : null));
    const rows = await database.reads.selectFrom("events").select(["id", "seq", "type", "queue_id", "probe_seq"]).orderBy("seq").execute();
    const sent = new Set(probes.flatMap((probe) => Array.from({ length: probe.said() }, (_, seq) => `${probe.queueId} ${seq + 1}`)));
    const stored = rows.filter(({ queue_id }) => queue_id !== null).map(({ queue_id, probe_seq }) => `${queue_id} ${probe_seq}`);
    const owed = rows.filter(({ type }) => type === "host_offline" || type === "host_found").map(({ id }) => id);
    await waitFor(
      "every delivery", () => (receivers.every(({ arrivals }) => owed.every((id) => arrivals.has(id))) ? true : null),
      { everyMs: 500 },
    )
      .catch(() => {});
    const most = Math.max(...receivers.flatMap(({ arrivals }) => [...arrivals.values()]));
    const report = {
      lost: [...sent].filter((key) => !new Set(stored).has(key)).length,
      duplicated: stored.length - new Set(stored).size,
      deliveries_lost: receivers.reduce((sum, { arrivals }) => sum + owed.filter((id) => !arrivals.has(id)).length, 0),
      replicas_killed: killed,
    };
    const doubled = receivers.reduce((sum, { arrivals }) => sum + [...arrivals.values()].filter((count) => count > 1).length, 0);
    process.stderr.write(`replicas: ${sent.size} events, ${owed.length * RECEIVERS} deliveries, ${doubled} of them twice\n`);
    process.stdout.write(`${JSON.stringify(report)}\n`);
    expect(report).toEqual({ lost: 0, duplicated: 0, deliveries_lost: 0, replicas_killed: REPLICAS });
    expect(most).toBeLessThanOrEqual(2);
    expect(receivers.flatMap(({ arrivals }) => [...arrivals.keys()]).filter((id) => !owed.includes(id))).toEqual([]);

    // Whoever watches at any of them, and comes back to it, has seen all there was, once and in order.
    const shown = rows.filter(({ type }) => (STREAMED_TYPES as readonly string[]).includes(type)).map(({ seq }) => seq);
    for (const stream of streams) {
      await waitFor("the stream", () => (stream.seqs.length >= shown.length ? true : null));
      expect(stream.seqs).toEqual(shown);
    }
  });
});

interface Receiver {
  readonly url: string;
  /** `webhook-id` → how often it came. */
  readonly arrivals: ReadonlyMap<string, number>;
  close(): void;
}

async function startReceiver(): Promise<Receiver> {
  const arrivals = new Map<string, number>();
  const server: Server = createServer((request, response) => {
    request.resume().on("end", () => {
      const id = String(request.headers["webhook-id"]);
      arrivals.set(id, (arrivals.get(id) ?? 0) + 1);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, arrivals,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Stream {
  /** In the order in which they came. */
  readonly seqs: readonly number[];
  close(): void;
}

/** Watches one collector's stream from the first event on, and resumes when it comes back. */
function follow(url: string, token: string): Stream {
  const seqs: number[] = [];
  let isClosed = false;
  let socket: WebSocket;
  const open = () => {
    socket = new WebSocket(`${url.replace("http", "ws")}/ws/events?token=${token}&since=${seqs.at(-1) ?? 0}`);
    socket.on("message", (data: Buffer) => seqs.push((JSON.parse(data.toString()) as { readonly seq: number }).seq));
    socket.on("error", () => {});
    socket.on("close", () => {
      if (!isClosed) setTimeout(open, 1500);
    });
  };
  open();
  return {
    seqs,
    close() {
      isClosed = true;
      socket.terminate();
    },
  };
}

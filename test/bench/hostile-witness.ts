import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { ProbeEvent } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import { WebSocket } from "ws";
import { createSimulatedProbe, simulatedEvent } from "../system/simulated-probe.ts";
import type { WitnessFigures, WitnessOrder, WitnessQuestion } from "./hostile-order.ts";

const SAY_EVERY_MS = 50;
const HEALTH_EVERY_MS = 5;
const LIST_EVERY_MS = 10;
const STREAM_EVERY_MS = 1000;
const OWN_EVERY_MS = 10;
/** A request without an answer counts with this, and is made again. */
const TIMEOUT_MS = 10_000;
const DRAIN_MS = 30_000;
const HOSTS = 8;
const HEALTH = "/api/health";
const LIST = "/api/v1/devices?per_page=50&sort=-last_seen";

/** The well-behaved probe and the well-behaved client, in a process of their own so that nobody's work delays what they measure. */
function witness({ url, apiKey, identity }: WitnessOrder) {
  let window = emptyWindow();
  const stopping = new AbortController();
  const { signal: stopped } = stopping;
  let count = 0;
  /** When the requests began that are not answered yet. */
  const pending = new Map<string, number>();
  const probe = createSimulatedProbe(identity, { onLag: (ms) => {
    window.ackWorst = Math.max(window.ackWorst, ms);
  } });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  const ask = (path: string, of: Agent | false) => new Promise<boolean>((resolve) => {
    const headers = { "x-api-key": apiKey };
    const asked = request(`${url}${path}`, { agent: of, headers, localAddress: "127.0.0.1", timeout: TIMEOUT_MS }, (response) => {
      response.on("end", () => resolve(response.statusCode === 200));
      response.on("error", () => resolve(false));
      response.resume();
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer")));
    asked.on("error", () => resolve(false));
    asked.end();
  });
  /** Again and again until it is answered well: what fails is not quicker than what is slow. */
  const timed = async (path: string, of: Agent | false): Promise<number> => {
    const startedAt = performance.now();
    pending.set(path, startedAt);
    for (;;) {
      window.requests += 1;
      if (await ask(path, of) || stopped.aborted) break;
      window.failed += 1;
      await pause(20);
    }
    pending.delete(path);
    return performance.now() - startedAt;
  };
  const healthLoop = async () => {
    for (; !stopped.aborted; await pause(HEALTH_EVERY_MS)) window.health.push(await timed(HEALTH, false));
  };
  const listLoop = async () => {
    for (; !stopped.aborted; await pause(LIST_EVERY_MS)) window.list.push(await timed(LIST, agent));
  };
  const streamLoop = async () => {
    for (; !stopped.aborted; await pause(STREAM_EVERY_MS)) if (!await opensStream(url, apiKey)) window.failed += 1;
  };
  const sayLoop = async () => {
    for (; !stopped.aborted; await pause(SAY_EVERY_MS)) {
      probe.say(count < HOSTS ? trueHost(count, "host_found") : simulatedEvent(0, count));
      count += 1;
    }
  };
  let lastAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    window.ownWorst = Math.max(window.ownWorst, now - lastAt - OWN_EVERY_MS);
    lastAt = now;
  }, OWN_EVERY_MS);

  const drained = async () => {
    const end = performance.now() + DRAIN_MS;
    const upTo = probe.said();
    while (probe.acknowledged() < upTo && performance.now() < end) await pause(10);
    // What is not acknowledged by now took at least this long.
    if (probe.acknowledged() < upTo) window.ackWorst = Math.max(window.ackWorst, DRAIN_MS);
  };
  /** What hangs counts with what it has taken so far. */
  const worst = (path: string, times: readonly number[]) => {
    const now = performance.now();
    return Math.max(0, ...times, now - (pending.get(path) ?? now));
  };
  const figures = (): WitnessFigures => ({
    connected: probe.isConnected(), healthWorst: worst(HEALTH, window.health), healthP99: p99(window.health),
    listWorst: worst(LIST, window.list), ackWorst: window.ackWorst, requests: window.requests, failed: window.failed,
    ownWorst: window.ownWorst, said: probe.said(), acknowledged: probe.acknowledged(), queueId: probe.queueId,
  });
  const answer: Readonly<Record<WitnessQuestion, () => Promise<void> | void>> = {
    begin() {
      window = emptyWindow();
    },
    end: drained,
    async reassert() {
      for (let index = 0; index < HOSTS; index += 1) probe.say(trueHost(index, "host_changed"));
      await drained();
    },
    async stop() {
      stopping.abort();
      await drained();
      probe.close();
      agent.destroy();
    },
  };
  probe.open();
  for (const loop of [healthLoop, listLoop, streamLoop, sayLoop]) void loop();
  return async (question: WitnessQuestion): Promise<WitnessFigures> => {
    await answer[question]();
    return figures();
  };
}

const emptyWindow = () => ({ health: [] as number[], list: [] as number[], ackWorst: 0, requests: 0, failed: 0, ownWorst: 0 });

function p99(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0;
}

/** What is true of one of the probe's hosts, with the evidence that says so. */
function trueHost(index: number, type: "host_found" | "host_changed"): ProbeEvent {
  const at = toInstant(Date.now());
  const [ip, mac, hostname] = [`10.20.0.${10 + index}`, `00:1b:63:00:00:0${index}`, `host-${index}`];
  const evidence = [
    { field: "ip", value: ip, source: "arp", confidence: 0.9, seen_at: at },
    { field: "hostname", value: hostname, source: "dhcp", confidence: 0.8, seen_at: at },
    { field: "device_type", value: "server", source: "snmp", confidence: 0.9, seen_at: at },
    { field: "os", value: "Debian", source: "snmp", confidence: 0.9, seen_at: at },
  ];
  const state = { ip, mac, hostname, vendor: "", addresses: [ip], evidence };
  if (type === "host_found") return { type, occurred_at: at, data: state };
  return { type, occurred_at: at, data: { ...state, changed: ["hostname", "evidence"] } };
}

/** @returns Whether a stream opens, with a ticket as a dashboard gets it. */
async function opensStream(url: string, apiKey: string): Promise<boolean> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await fetch(`${url}/api/v1/ws/ticket`, { method: "POST", headers: { "x-api-key": apiKey }, signal });
    const { ticket } = await answer.json() as { readonly ticket?: string };
    if (ticket === undefined) return false;
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws/events?ticket=${ticket}`, { handshakeTimeout: TIMEOUT_MS });
    return await new Promise<boolean>((resolve) => {
      socket.on("open", () => {
        resolve(true);
        socket.terminate();
      });
      socket.on("error", () => resolve(false));
    });
  } catch {
    return false;
  }
}

let ask: ReturnType<typeof witness> | null = null;
process.on("message", (message: WitnessOrder | { readonly question: WitnessQuestion }) => {
  if (!("question" in message)) {
    ask = witness(message);
    return;
  }
  void ask?.(message.question).then((figures) => process.send?.(figures));
});
process.on("disconnect", () => process.exit());

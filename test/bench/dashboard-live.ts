import type { RestClient } from "@lanthorn/client";
import type { ProbeEvent } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import type { CDPSession } from "playwright-core";
import type { Window } from "../dashboard/browser.ts";
import { logIn } from "../dashboard/pages.ts";
import { found } from "../dashboard/world.ts";
import { waitFor } from "../lab/wait-for.ts";
import { enrollProbe } from "./dashboard-probe.ts";
import { SEED_PASSWORD } from "./seeded-collector.ts";

const PER_SECOND = 500;
const TICK_MS = 100;
const HOSTS = 50;
const PORTS = 20;

/** What the page Live grows by while a probe reports 500 events a second. Garbage is collected before each look. */
export async function measureLive({ url, rest, mqttUrl, seconds, open }: {
  readonly url: string; readonly rest: RestClient; readonly mqttUrl: string; readonly seconds: number;
  readonly open: () => Promise<Window & { readonly cdp: CDPSession }>;
}): Promise<{ readonly growthMegabytes: number; readonly perSecond: number }> {
  const probe = await enrollProbe(rest, mqttUrl);
  for (let index = 0; index < HOSTS; index += 1) probe.say(found(addressOf(index), macOf(index), `bench-${index}`));
  await waitFor("the hosts", () => (probe.acknowledged() === HOSTS ? true : null));
  const { page, context, cdp } = await open();
  try {
    await cdp.send("Network.enable");
    await logIn(page, `${url}/live`, { username: "admin", password: SEED_PASSWORD });
    await page.getByText("connected", { exact: true }).waitFor();
    let frames = 0;
    cdp.on("Network.webSocketFrameReceived", () => {
      frames += 1;
    });
    const before = await heapBytes(cdp);
    const from = performance.now();
    for (let tick = 1; tick * TICK_MS <= seconds * 1000; tick += 1) {
      for (let count = 0; count < (PER_SECOND * TICK_MS) / 1000; count += 1) probe.say(portOf(tick, count));
      await page.waitForTimeout(Math.max(0, from + tick * TICK_MS - performance.now()));
    }
    await waitFor("the last event at the collector", () => (probe.acknowledged() === probe.said() ? true : null));
    const taken = (performance.now() - from) / 1000;
    const after = await heapBytes(cdp);
    const growthMegabytes = Math.round(((after - before) / 1024 / 1024) * 10) / 10;
    console.log(`live: ${frames} frames in ${taken.toFixed(0)} s, heap ${(before / 1024 / 1024).toFixed(1)} to ${(after / 1024 / 1024).toFixed(1)} MB`);
    return { growthMegabytes, perSecond: Math.round(frames / taken) };
  } finally {
    probe.close();
    await context.close();
  }
}

async function heapBytes(cdp: CDPSession): Promise<number> {
  await cdp.send("HeapProfiler.collectGarbage");
  return (await cdp.send("Runtime.getHeapUsage")).usedSize;
}

/** A port of one of the hosts: what the stream shows of all that a probe says most often. */
function portOf(tick: number, count: number): ProbeEvent {
  const port = 8000 + (tick % PORTS);
  return { type: "port_found", occurred_at: toInstant(Date.now()), data: {
    ip: addressOf(count % HOSTS), mac: macOf(count % HOSTS), port, protocol: "tcp", state: tick % (2 * PORTS) < PORTS ? "open" : "closed", service: "http", version: `${tick}`, banner: "", scan_id: null,
  } };
}

function addressOf(index: number): string {
  return `172.20.0.${index + 1}`;
}

function macOf(index: number): string {
  return `02:00:5e:20:00:${index.toString(16).padStart(2, "0")}`;
}

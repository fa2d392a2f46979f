/** Inside the scanner's namespace: a collector and a probe of its own there, and one scan. Prints a `SweepResult` as JSON. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readAll } from "@lanthorn/client";
import { enrollProbe, startCollector, startProbe } from "../system/deployment.ts";
import { waitFor } from "../lab/wait-for.ts";
import { processorSeconds } from "./processor-time.ts";

export interface SweepRequest {
  readonly folder: string;
  readonly target: string;
  readonly interface: string;
}

export interface SweepResult {
  readonly hosts: readonly string[];
  /** How many of them the scan had at its end. */
  readonly early: number;
  /** From the request to `scan_complete`. */
  readonly seconds: number;
  /** Processor time of the probe from the request until the collector knows of the scan's end. */
  readonly cpuSeconds: number;
  /** What the probe sent until the scan's end; what is more than one for each address was asked again. */
  readonly frames: number;
}

/** Late answers are accepted for 4.5 s and published within another quarter second. */
const LATE_MS = 5500;
/** The collector answers an administrator twenty times a second. */
const PAGE_MS = 120;
/** The probe's start is over, and its own first sweep would be too. */
const SETTLE_MS = 2000;

const { folder, target, interface: name } = JSON.parse(process.argv[2] ?? "") as SweepRequest;
const collector = await startCollector({ dataDir: join(folder, "collector"), host: "127.0.0.1" });
const box = { dataDir: join(folder, "probe") };
const { siteId } = await enrollProbe(collector, box, "sweep");
// The sweep by schedule would find the hosts before.
const answer = await fetch(`${collector.url}/api/v1/sites/${siteId}`, {
  method: "PUT", headers: { authorization: `Bearer ${collector.token()}`, "content-type": "application/json" },
  body: JSON.stringify({ sweep: { enabled: false } }),
});
if (!answer.ok) throw new Error(`the site was not changed: ${await answer.text()}`);
const probe = await startProbe(box, { interface: name });
const hasNetworks = async () => ((await collector.rest.listProbes()).data[0]?.state === "online" ? true : null);
await waitFor("the probe", hasNetworks);
await pause(SETTLE_MS);
const startedAt = Date.now();
const cpuBefore = processorSeconds(probe.pid);
const scan = await waitFor("the scan to begin", () => collector.rest.startScan({ target, profile: "discovery" }).catch(() => null));
const ended = await waitFor("the scan's end", async () => {
  const now = await collector.rest.readScan(scan.id);
  if (now.status === "failed") throw new Error(`the scan failed: ${now.error}`);
  return now.status === "completed" ? now : null;
}, { everyMs: 500 });
const cpuSeconds = Math.round((processorSeconds(probe.pid) - cpuBefore) * 100) / 100;
const frames = framesOf(readFileSync(join(folder, "probe", "probe.log"), "utf8"), scan.id);
await pause(LATE_MS);
const hosts: string[] = [];
const paced = async (query: object) => {
  await pause(PAGE_MS);
  return collector.rest.listScanResults(scan.id, { ...query });
};
for await (const host of readAll(paced)) hosts.push(host.ip);
const seconds = (Date.parse(ended.finished_at ?? "") - Math.max(startedAt, Date.parse(scan.created_at))) / 1000;
const result: SweepResult = { hosts, early: ended.hosts_up, seconds, cpuSeconds, frames };
await probe.stop();
await collector.stop();
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));

/** @returns The packets that the probe's log has at the scan's end; 0 where it has none. */
function framesOf(log: string, scanId: string): number {
  const line = log.split("\n").find((one) => one.includes("a scan ended") && one.includes(scanId));
  return Number(line?.match(/"packets":(\d+)/)?.[1] ?? 0);
}

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createLab } from "../lab/lab.ts";
import { waitFor } from "../lab/wait-for.ts";
import { enrollProbe, type ProbeBox, startCollector, startProbe } from "../system/deployment.ts";
import { processorSeconds } from "./processor-time.ts";

const IDLE_SECONDS = 60;
/** The first sweep and its late answers are over, and V8 has given back what the start needed. */
const SETTLE_SECONDS = 45;
const SAMPLE_MS = 5000;

/**
 * What the probe costs while nothing happens: on the lab's LAN, enrolled and connected, after its first sweep. The memory
 * is the highest resident set seen, in MB of 10^6 bytes; the processor time includes processes that it starts.
 */
export async function run(args: readonly string[]): Promise<void> {
  const idleSeconds = args[0] === undefined ? IDLE_SECONDS : Number(args[0]);
  if (!(idleSeconds >= 10 && idleSeconds <= 3600)) {
    throw new Error(`footprint takes one number, the idle seconds from 10 to 3600, not ${args[0]}`);
  }
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-footprint-"));
  const lab = await createLab({ id: "footprin" });
  try {
    const collector = await startCollector({ dataDir: join(folder, "collector"), host: lab.collectorAddress });
    try {
      const box: ProbeBox = { dataDir: join(folder, "probe"), namespace: lab.probe.namespace };
      await enrollProbe(collector, box, "footprint");
      const probe = await startProbe(box, { interface: lab.probe.lanInterface });
      try {
        const { hosts } = await lab.status();
        await waitFor("every host", async () => ((await collector.rest.listDevices()).meta.total >= hosts.length ? true : null));
        console.log(`${hosts.length} hosts are found; settling for ${SETTLE_SECONDS} s, then ${idleSeconds} s of doing nothing`);
        await pause(SETTLE_SECONDS * 1000);
        const result = await measure(probe.pid, idleSeconds);
        console.log(JSON.stringify({ bench: "footprint", ...result }));
      } finally {
        await probe.stop();
      }
    } finally {
      await collector.stop();
    }
  } finally {
    await lab.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(pid: number, seconds: number): Promise<{ readonly rss_mb: number; readonly cpu_percent: number }> {
  const startedAt = performance.now();
  const before = processorSeconds(pid);
  let rssBytes = readRss(pid);
  while (performance.now() - startedAt < seconds * 1000) {
    await pause(Math.min(SAMPLE_MS, seconds * 1000 - (performance.now() - startedAt)));
    rssBytes = Math.max(rssBytes, readRss(pid));
  }
  const elapsed = (performance.now() - startedAt) / 1000;
  const used = processorSeconds(pid) - before;
  return { rss_mb: Math.round(rssBytes / 1e5) / 10, cpu_percent: Math.round((used / elapsed) * 10_000) / 100 };
}

function readRss(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024;
}

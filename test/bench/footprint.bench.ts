import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createLab } from "../lab/lab.ts";
import { waitFor } from "../lab/wait-for.ts";
import { enrollProbe, type ProbeBox, startCollector, startProbe } from "../system/deployment.ts";
import { processorSeconds } from "./processor-time.ts";
import { trafficProcessOf } from "./traffic-process.ts";

const IDLE_SECONDS = 60;
/** The first sweep and its late answers are over, and V8 has given back what the start needed. */
const SETTLE_SECONDS = 45;
const SAMPLE_MS = 5000;

/** With these settings the probe reads all traffic of a link on which nothing comes. */
const QUIET_TRAFFIC = '[traffic]\ninterfaces = ["quiet0"]\n';

/**
 * What the probe costs while nothing happens: on the lab's LAN, enrolled and connected, after its first sweep. The memory
 * is the highest resident set seen, in MB of 10^6 bytes; the processor time includes processes that it starts.
 * @param args The idle seconds, 10 to 3600 (60). `--traffic`: its traffic process runs too, on a quiet link; `traffic_rss_mb` and `total_rss_mb` are
 * of that process and of both.
 */
export async function run(args: readonly string[]): Promise<void> {
  const hasTraffic = args.includes("--traffic");
  const seconds = args.find((one) => one !== "--traffic");
  const idleSeconds = seconds === undefined ? IDLE_SECONDS : Number(seconds);
  if (!(idleSeconds >= 10 && idleSeconds <= 3600)) {
    throw new Error(`footprint takes one number, the idle seconds from 10 to 3600, not ${seconds}`);
  }
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-footprint-"));
  const lab = await createLab({ id: "footprin" });
  try {
    const collector = await startCollector({ dataDir: join(folder, "collector"), host: lab.collectorAddress });
    try {
      const box: ProbeBox = { dataDir: join(folder, "probe"), namespace: lab.probe.namespace };
      await enrollProbe(collector, box, "footprint");
      const config = join(folder, "probe.toml");
      if (hasTraffic) {
        makeQuietLink(lab.probe.namespace);
        writeFileSync(config, QUIET_TRAFFIC);
      }
      const probe = await startProbe(box, { interface: lab.probe.lanInterface, ...(hasTraffic ? { args: ["--config", config] } : {}) });
      try {
        const { hosts } = await lab.status();
        await waitFor("every host", async () => ((await collector.rest.listDevices()).meta.total >= hosts.length ? true : null));
        console.log(`${hosts.length} hosts are found; settling for ${SETTLE_SECONDS} s, then ${idleSeconds} s of doing nothing`);
        await pause(SETTLE_SECONDS * 1000);
        const result = await measure(probe.pid, hasTraffic ? await trafficProcessOf(probe.pid) : null, idleSeconds);
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

/** A pair of which nobody speaks. */
function makeQuietLink(namespace: string): void {
  const ip = (...args: readonly string[]) => void execFileSync("ip", ["-n", namespace, ...args], { stdio: "pipe" });
  ip("link", "add", "quiet0", "type", "veth", "peer", "name", "quiet1");
  for (const link of ["quiet0", "quiet1"]) {
    execFileSync("ip", ["netns", "exec", namespace, "sysctl", "-qw", `net.ipv6.conf.${link}.disable_ipv6=1`], { stdio: "pipe" });
    ip("link", "set", link, "up");
  }
}

async function measure(pid: number, trafficPid: number | null, seconds: number) {
  const pids = trafficPid === null ? [pid] : [pid, trafficPid];
  const processor = () => pids.reduce((sum, one) => sum + processorSeconds(one), 0);
  const startedAt = performance.now();
  const before = processor();
  let most = pids.map(readRss);
  while (performance.now() - startedAt < seconds * 1000) {
    await pause(Math.min(SAMPLE_MS, seconds * 1000 - (performance.now() - startedAt)));
    most = pids.map((one, index) => Math.max(most[index] ?? 0, readRss(one)));
  }
  const elapsed = (performance.now() - startedAt) / 1000;
  const [own = 0, ofTraffic = 0] = most.map((bytes) => Math.round(bytes / 1e5) / 10);
  const traffic = trafficPid === null ? {} : { traffic_rss_mb: ofTraffic, total_rss_mb: Math.round((own + ofTraffic) * 10) / 10 };
  return { rss_mb: own, ...traffic, cpu_percent: Math.round(((processor() - before) / elapsed) * 10_000) / 100 };
}

function readRss(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) * 1024;
}

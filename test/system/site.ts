import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLiveClient } from "@lanthorn/client";
import type { StreamEvent, StreamFrame } from "@lanthorn/contract";
import { createBackoff, systemClock } from "@lanthorn/runtime";
import { WebSocket } from "ws";
import { createLab, type Lab } from "../lab/lab.ts";
import { createLabId } from "../lab/testing.ts";
import type { Daemon } from "./daemon.ts";
import { type Collector, enrollProbe, type ProbeBox, startCollector, startProbe } from "./deployment.ts";

/** A site as it is in the field: a LAN of real hosts, a probe process on it, and a collector process that it is enrolled with. */
export interface Site {
  readonly lab: Lab;
  readonly labId: string;
  readonly collector: Collector;
  readonly box: ProbeBox;
  readonly siteId: string;
  readonly probeId: string;
  /** Every frame of the stream since the beginning, in the order in which they came. */
  readonly frames: readonly StreamFrame[];
  /** The probe that runs now. */
  probe(): Daemon;
  /** Starts the probe again, after it was stopped. */
  startProbe(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param options.hosts Of the lab's hosts, only these; else all of its small plan.
 * @param options.large The lab's large plan.
 * @param options.events Only these on the stream; else all.
 * @throws What a part says that does not start; then nothing is left of the others.
 */
export async function openSite(options: {
  readonly hosts?: readonly string[];
  readonly large?: boolean;
  readonly events?: readonly StreamEvent[];
  readonly collectorEnv?: Readonly<Record<string, string>>;
  readonly probeEnv?: Readonly<Record<string, string>>;
  /** The probe's configuration file. */
  readonly probeToml?: string;
} = {}): Promise<Site> {
  const ends: (() => unknown)[] = [];
  const close = async () => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const folder = mkdtempSync(join(tmpdir(), "lanthorn-site-"));
    ends.push(() => rmSync(folder, { recursive: true, force: true }));
    const labId = createLabId();
    const lab = await createLab({
      id: labId, ...(options.hosts ? { hosts: options.hosts } : {}), ...(options.large ? { large: true } : {}),
    });
    ends.push(() => lab.close());
    const collector = await startCollector({
      dataDir: join(folder, "collector"), host: lab.collectorAddress, ...(options.collectorEnv ? { env: options.collectorEnv } : {}),
    });
    ends.push(() => collector.stop());
    const box: ProbeBox = { dataDir: join(folder, "probe"), namespace: lab.probe.namespace };
    const enrolled = await enrollProbe(collector, box, "site-probe");
    const frames: StreamFrame[] = [];
    const live = createLiveClient({
      url: collector.url, token: () => collector.token(), since: 0, ...(options.events ? { events: [...options.events] } : {}),
      clock: systemClock, backoff: createBackoff({ firstMs: 100, longestMs: 1000, random: Math.random }),
      connect: (url) => new WebSocket(url), onFrame: (frame) => frames.push(frame), onClosed: () => undefined,
    });
    ends.push(() => live.close());
    const file = join(folder, "probe.toml");
    if (options.probeToml !== undefined) writeFileSync(file, options.probeToml);
    const start = () => startProbe(box, {
      interface: lab.probe.lanInterface, ...(options.probeEnv ? { env: options.probeEnv } : {}),
      ...(options.probeToml === undefined ? {} : { args: ["--config", file] }),
    });
    let probe = await start();
    ends.push(() => probe.stop());
    return {
      lab, labId, collector, box, ...enrolled, frames, close,
      probe: () => probe,
      async startProbe() {
        probe = await start();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

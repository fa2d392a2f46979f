import { readdirSync, readFileSync, statfsSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import type { Clock } from "@lanthorn/runtime";

/** What the machine and this process say about themselves now. */
export interface MachineFacts {
  /** Of one core, by this process, since the last look. */
  readonly cpuPercent: number;
  readonly load1m: number;
  readonly cores: number;
  readonly memory: { readonly rssBytes: number; readonly availableBytes: number; readonly totalBytes: number };
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number };
  /** The hottest sensor; null where there is none. */
  readonly temperatureCelsius: number | null;
}

/** Sensors that are not connected report values like -273 or 255. */
const PLAUSIBLE_CELSIUS = { min: -50, max: 150 };

/**
 * @param options.root Where `/proc` and `/sys` are; "" for this machine's own.
 * @returns Reads the facts anew at each call; what cannot be read is 0 or null.
 */
export function createMachineReader(
  options: { readonly dataDir: string; readonly clock: Pick<Clock, "monotonic">; readonly root?: string },
): () => MachineFacts {
  const root = options.root ?? "";
  const zones = listZones(`${root}/sys/class/thermal`);
  let usage = process.cpuUsage();
  let at = options.clock.monotonic();
  return () => {
    const now = options.clock.monotonic();
    const used = process.cpuUsage(usage);
    const cpuPercent = now > at ? (used.user + used.system) / 10 / (now - at) : 0;
    usage = process.cpuUsage();
    at = now;
    const memory = readMemory(`${root}/proc/meminfo`);
    return {
      cpuPercent, load1m: loadavg()[0] ?? 0, cores: availableParallelism(),
      memory: { rssBytes: process.memoryUsage.rss(), ...memory },
      disk: readDisk(options.dataDir),
      temperatureCelsius: readHottest(zones),
    };
  };
}

function readMemory(path: string): { readonly availableBytes: number; readonly totalBytes: number } {
  const text = readText(path) ?? "";
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0) * 1024;
  return { availableBytes: bytes("MemAvailable"), totalBytes: bytes("MemTotal") };
}

function readDisk(path: string): { readonly freeBytes: number; readonly totalBytes: number } {
  try {
    const { bavail, blocks, bsize } = statfsSync(path);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return { freeBytes: 0, totalBytes: 0 };
  }
}

function listZones(path: string): readonly string[] {
  try {
    return readdirSync(path).filter((name) => name.startsWith("thermal_zone")).map((name) => `${path}/${name}/temp`);
  } catch {
    return [];
  }
}

/** @see https://docs.kernel.org/driver-api/thermal/sysfs-api.html : thousandths of a degree */
function readHottest(zones: readonly string[]): number | null {
  const degrees = zones.map((zone) => Number(readText(zone) ?? Number.NaN) / 1000)
    .filter((value) => value >= PLAUSIBLE_CELSIUS.min && value <= PLAUSIBLE_CELSIUS.max);
  return degrees.length === 0 ? null : Math.max(...degrees);
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return null;
  }
}

import { readdirSync, readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import type { Lab } from "./lab.ts";
import { readState } from "./lab-state.ts";
import { namesOf } from "./names.ts";

/** Whether labs can be made here. Says so where not, for the tests that are left out. */
export function canMakeLabs(): boolean {
  if (process.getuid?.() === 0) return true;
  console.warn("SKIPPED: tests with network namespaces need root; run them with sudo");
  return false;
}

/** An id that no other run on this machine has. */
export function createLabId(): string {
  return `t${randomBytes(3).toString("hex")}`;
}

/** Everything of a lab that is still on this machine, as words for a person; empty when nothing is. */
export function remainsOf(id: string): readonly string[] {
  const { namespace, wanPeer } = namesOf(id);
  const namespaces = listFolder("/run/netns").filter((name) => name.startsWith(namespace("")));
  const links = listFolder("/sys/class/net").filter((name) => name === wanPeer);
  const isOurs = (line: string) => line.includes(namespace("")) || line.includes(`/lab/${id}/`);
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n").filter(isOurs);
  const processes = listFolder("/proc").filter((pid) => /^\d+$/.test(pid) && isOf(id, pid));
  return [
    ...namespaces.map((name) => `namespace ${name}`),
    ...links.map((name) => `interface ${name}`),
    ...mounts.map((line) => `mount ${line}`),
    ...processes.map((pid) => `process ${pid}`),
    ...(readState(id) ? ["state"] : []),
  ];
}

function isOf(id: string, pid: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return words.includes(`/lab/${id}/`) || words.includes(`/run/netns/lab-${id}-`);
  } catch {
    return false;
  }
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Asks for an address by ARP on the probe's LAN. @returns The MAC that answers within `seconds` and after how long, or null. */
export async function askByArp(lab: Lab, ip: string, seconds = 4): Promise<{ readonly mac: string; readonly afterMs: number } | null> {
  const { path, env } = lab.packages.command("arping");
  const started = performance.now();
  const { stdout } = await lab.exec("probe", path, ["-f", "-c", String(seconds), "-w", String(seconds), "-I", "lan0", ip], { env });
  const mac = /\[([0-9A-Fa-f:]{17})\]/.exec(stdout)?.[1];
  return mac === undefined ? null : { mac: mac.toLowerCase(), afterMs: performance.now() - started };
}

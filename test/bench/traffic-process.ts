import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const READY_MS = 60_000;

/**
 * Waits until a probe's traffic process has a packet socket, which it opens last.
 * @param probe The daemon's process id.
 * @throws Error after a minute.
 */
export async function trafficProcessOf(probe: number): Promise<number> {
  for (const end = performance.now() + READY_MS; performance.now() < end; await pause(50)) {
    const pid = childrenOf(probe).find((child) => readText(`/proc/${child}/cmdline`).split("\0").includes("traffic"));
    if (pid !== undefined && hasSocketOf(pid)) return pid;
  }
  throw new Error(`the probe ${probe} has no traffic process that reads anything`);
}

/** Whether a process has a socket of AF_PACKET: those of its files that /proc/net/packet lists by their number. @see packet(7) */
function hasSocketOf(pid: number): boolean {
  const inodes = new Set(readText(`/proc/${pid}/net/packet`).split("\n").slice(1).map((line) => line.trim().split(/\s+/).at(-1) ?? ""));
  return filesOf(pid).some((link) => inodes.has(/^socket:\[(\d+)\]$/.exec(link)?.[1] ?? "none"));
}

function filesOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`));
  } catch {
    // It has ended, or a file has just been closed.
    return [];
  }
}

function childrenOf(pid: number): readonly number[] {
  return readText(`/proc/${pid}/task/${pid}/children`).trim().split(" ").filter((text) => text !== "").map(Number);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { HostPlan } from "./host-plan.ts";
import type { ProcessIdentity } from "./process-identity.ts";

/** One box on the switch. */
export interface HostState {
  readonly plan: HostPlan;
  readonly namespace: string;
  /** The switch's end of its cable. */
  readonly port: string;
  readonly process: ProcessIdentity | null;
}

/** The small network between the probe's box and the machine, where the collector listens. */
export interface WanState {
  readonly peer: string;
  readonly collectorAddress: string;
  readonly probeAddress: string;
  readonly prefixLength: number;
}

/** What is, or is about to be, on this machine; written down before it is made, so that it can be removed whatever happens. */
export interface LabState {
  readonly version: 1;
  readonly id: string;
  readonly stage: "making" | "up";
  /** The kernel's name for this run of the machine: after a restart nothing of the lab is left to remove. */
  readonly bootId: string;
  readonly wan: WanState;
  readonly namespaces: readonly string[];
  readonly hosts: readonly HostState[];
  readonly switchProcess: ProcessIdentity | null;
  readonly nextPort: number;
}

export const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

/** Where a lab's files are: its state, its lock, and a folder of its hosts' files and logs. */
export function filesOf(id: string): { readonly state: string; readonly lock: string; readonly folder: string } {
  const folder = join(REPOSITORY, ".cache/lab");
  /** A lock must not be deleted, and tests make a new id each time: a few locks for all ids, some of which share one. */
  const lock = createHash("sha256").update(id).digest("hex").slice(0, 1);
  return { state: join(folder, `${id}.json`), lock: join(folder, `lock-${lock}`), folder: join(folder, id) };
}

export function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}

/** @returns null when there is no lab of this id, or only one from before the machine was restarted. */
export function readState(id: string): LabState | null {
  const file = filesOf(id).state;
  if (!existsSync(file)) return null;
  try {
    const state = JSON.parse(readFileSync(file, "utf8")) as LabState;
    return state.version === 1 && state.bootId === bootId() ? state : null;
  } catch {
    /** Files are written whole; a broken one was not written by us, and the marks on the namespaces still tell what is ours. */
    return null;
  }
}

export async function writeState(state: LabState): Promise<void> {
  const file = filesOf(state.id).state;
  await mkdir(join(file, ".."), { recursive: true });
  await writeFile(`${file}.new`, JSON.stringify(state, null, 2));
  await rename(`${file}.new`, file);
}

export async function forgetState(id: string): Promise<void> {
  const files = filesOf(id);
  await rm(files.state, { force: true });
  await rm(files.folder, { recursive: true, force: true });
}

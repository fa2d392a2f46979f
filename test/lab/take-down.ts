import { rm } from "node:fs/promises";
import { join } from "node:path";
import { filesOf, forgetState, type HostState, type LabState, readState } from "./lab-state.ts";
import { namesOf } from "./names.ts";
import { findNamespaces, markOf, type Network } from "./network.ts";
import { endProcesses, identifyProcess, type ProcessIdentity } from "./process-identity.ts";

/**
 * Removes all that a lab of this id has left on the machine, whole or half made: cables, processes, namespaces, files.
 * Only what carries the lab's mark or stands in its own record is touched. Does nothing where there is nothing.
 */
export async function takeDown(id: string, network: Network): Promise<void> {
  const state = readState(id);
  const found = await findNamespaces(network, id);
  const marked = [...found].filter(([, mark]) => mark === markOf(id)).map(([name]) => name);
  /** A namespace of the record may have no mark yet, when its making was cut short. */
  const recorded = (state?.namespaces ?? []).filter((name) => found.get(name) === "");
  const namespaces = [...new Set([...marked, ...recorded])];
  if (state || namespaces.length > 0) await network.tryIp(null, ["link", "delete", namesOf(id).wanPeer]);
  await endProcesses(processesOf(state));
  await Promise.all(namespaces.map((namespace) => removeNamespace(network, namespace)));
  await forgetState(id);
}

/** Takes one host off the network at once: first its cable, so that nothing it says while it ends is heard. */
export async function takeOff(host: HostState, switchNamespace: string, id: string, network: Network): Promise<void> {
  await network.tryIp(switchNamespace, ["link", "delete", host.port]);
  await endProcesses(host.process === null ? [] : [host.process]);
  await removeNamespace(network, host.namespace);
  await rm(join(filesOf(id).folder, host.plan.name), { recursive: true, force: true });
}

function processesOf(state: LabState | null): readonly ProcessIdentity[] {
  const all = [state?.switchProcess ?? null, ...(state?.hosts ?? []).map((host) => host.process)];
  return all.filter((one) => one !== null);
}

/** A namespace lives on while a process is in it, so those go first: what was run in it by `exec`, and what a cut-short start left. */
async function removeNamespace(network: Network, namespace: string): Promise<void> {
  const { stdout } = await network.tryIp(null, ["netns", "pids", namespace]);
  const inside = stdout.split("\n").filter(Boolean).map((pid) => identifyProcess(Number(pid)));
  await endProcesses(inside.filter((one) => one !== null));
  await network.tryIp(null, ["netns", "delete", namespace]);
}

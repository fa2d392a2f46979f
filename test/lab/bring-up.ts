import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startHost, startSwitch } from "./box.ts";
import type { DebianRoot } from "./debian-packages.ts";
import { LabError } from "./errors.ts";
import { withFileLock } from "./file-lock.ts";
import { type HostPlan, plannedServices, PROBE_BOX, SWITCH_BOX } from "./host-plan.ts";
import { bootId, filesOf, type HostState, type LabState, REPOSITORY, writeState } from "./lab-state.ts";
import { namesOf } from "./names.ts";
import { addCables, addNamespaces, addSwitch, addWan, chooseWan, configureProbeBox, findNamespaces, type Network } from "./network.ts";
import { isRunning } from "./process-identity.ts";
import { lookAt } from "./status.ts";

/** A host that is not ready by then never is: the slowest, RabbitMQ read from a cold disk among eighty daemons, took more than half of it. */
const READY_TIMEOUT_MS = 300_000;

interface Making {
  readonly id: string;
  readonly network: Network;
  readonly packages: DebianRoot;
  readonly signal: AbortSignal;
}

/**
 * Makes a lab on a machine that has nothing of it yet. What it makes is written down first; a failure leaves it half made for `takeDown`.
 * @returns When every host has its addresses and every daemon listens.
 */
export async function makeLab(plans: readonly HostPlan[], making: Making): Promise<LabState> {
  const { id, network } = making;
  const { namespace } = namesOf(id);
  const hosts = plans.map((plan, index): HostState => ({ plan, namespace: namespace(plan.name), port: `port${index + 2}`, process: null }));
  const own = [namespace(SWITCH_BOX.name), namespace(PROBE_BOX.name)] as const;
  const namespaces = [...own, ...hosts.map((host) => host.namespace)];
  const planned = await reserve(network, id, namespaces, async () => {
    const wan = await chooseWan(network, id);
    const none = { switchProcess: null, nextPort: hosts.length + 2 };
    const state: LabState = { version: 1, id, stage: "making", bootId: bootId(), wan, namespaces, hosts, ...none };
    await writeState(state);
    await addNamespaces(network, id, namespaces);
    await addWan(network, wan, own[1]);
    return state;
  });
  making.signal.throwIfAborted();
  await addSwitch(network, own[0]);
  const probeCable = { port: "port1", namespace: own[1], interfaceName: PROBE_BOX.lanInterface, mac: PROBE_BOX.mac };
  await addCables(network, own[0], [probeCable, ...hosts.map(cableOf)]);
  await configureProbeBox(network, own[1]);
  making.signal.throwIfAborted();
  const switchFolder = await boxFolder(id, SWITCH_BOX.name);
  const switchProcess = await startSwitch({ packages: making.packages, namespace: own[0], folder: switchFolder });
  const started = await startAll(hosts, plans, making);
  const made: LabState = { ...planned, hosts: started, switchProcess };
  await writeState(made);
  await Promise.all(started.map((host) => hostReady(host, making)));
  const up: LabState = { ...made, stage: "up" };
  await writeState(up);
  return up;
}

/** Adds a host to a lab that is up. @returns The state with it, already written. */
export async function addHost(plan: HostPlan, state: LabState, making: Making): Promise<LabState> {
  const { network } = making;
  const { namespace } = namesOf(state.id);
  const host: HostState = { plan, namespace: namespace(plan.name), port: `port${state.nextPort}`, process: null };
  const namespaces = [...state.namespaces, host.namespace];
  const planned = { ...state, hosts: [...state.hosts, host], namespaces, nextPort: state.nextPort + 1 };
  await reserve(network, state.id, [host.namespace], async () => {
    await writeState(planned);
    await addNamespaces(network, state.id, [host.namespace]);
  });
  await addCables(network, namespace(SWITCH_BOX.name), [cableOf(host)]);
  const [started = host] = await startAll([host], [], making);
  const joined = { ...planned, hosts: [...state.hosts, started] };
  await writeState(joined);
  await hostReady(started, making);
  return joined;
}

function cableOf(host: HostState) {
  return { port: host.port, namespace: host.namespace, interfaceName: "eth0", mac: host.plan.mac };
}

async function startAll(hosts: readonly HostState[], plans: readonly HostPlan[], making: Making): Promise<readonly HostState[]> {
  return Promise.all(
    hosts.map(async (host) => {
      const folder = await boxFolder(making.id, host.plan.name);
      return { ...host, process: await startHost(host.plan, plans, { packages: making.packages, namespace: host.namespace, folder }) };
    }),
  );
}

async function boxFolder(id: string, name: string): Promise<string> {
  const folder = join(filesOf(id).folder, name);
  await mkdir(folder, { recursive: true });
  return folder;
}

/**
 * Makes what has a name that the whole machine sees, where nobody has that name yet. One lab at a time: another checkout may bring up one
 * of the same id, or pick the same addresses.
 */
function reserve<T>(network: Network, id: string, wanted: readonly string[], make: () => Promise<T>): Promise<T> {
  return withFileLock({ file: "/run/lock/lanthorn-lab", waitSeconds: 60 }, async () => {
    await refuseForeign(network, id, wanted);
    return make();
  });
}

async function refuseForeign(network: Network, id: string, wanted: readonly string[]): Promise<void> {
  const found = await findNamespaces(network, id);
  const taken = wanted.find((namespace) => found.has(namespace));
  if (taken === undefined) return;
  const [, owner = "", folder = ""] = /^lanthorn-lab (\S+) (.*)$/.exec(found.get(taken) ?? "") ?? [];
  const whose = owner === "" ? "nobody's lab" : `the lab "${owner}" of ${folder === REPOSITORY ? "this checkout" : folder}`;
  throw new LabError("busy", `the network namespace ${taken} is there already and belongs to ${whose}; choose another --id`);
}

/** Looks until the host has what its plan says, and says what is missing when it takes too long. */
async function hostReady(host: HostState, making: Making): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  for (let missing = "everything"; ; await wait(100)) {
    making.signal.throwIfAborted();
    const alive = host.process !== null && isRunning(host.process);
    missing = alive ? await whatIsMissing(host, logOf(host, making.id), making.packages) : "its first process, which has ended";
    if (missing === "") return;
    if (alive && performance.now() < deadline) continue;
    throw new LabError("not-ready", `the lab's host ${host.plan.name} lacks ${missing}: ${await lastLines(logOf(host, making.id))}`);
  }
}

function logOf(host: HostState, id: string): string {
  return join(filesOf(id).folder, host.plan.name, "log");
}

async function whatIsMissing(host: HostState, log: string, packages: DebianRoot): Promise<string> {
  const { plan } = host;
  const isAnswered = plan.lateArpMs !== undefined || plan.isTarpit === true;
  if (isAnswered && !(await readFile(log, "utf8")).includes("answering")) return "what answers for it";
  const facts = await lookAt(host, packages);
  if (!facts.up) return "a link that is up";
  if (plan.leasesAs !== undefined && !facts.addresses.some((address) => address.includes("."))) return "a lease";
  const address = plan.addresses.map((text) => text.split("/")[0] ?? "").find((text) => !facts.addresses.includes(text));
  if (address !== undefined) return address;
  const found = new Set(facts.services.map((service) => `${service.port}/${service.protocol}`));
  return plannedServices(plan).map((service) => `${service.port}/${service.protocol}`).filter((key) => !found.has(key)).join(" ");
}

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.trim().split("\n").slice(-5).join(" | ") || "its log is empty";
}

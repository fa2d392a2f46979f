import { join } from "node:path";
import { addHost, makeLab } from "./bring-up.ts";
import { LAB_PACKAGES } from "./daemons.ts";
import { type DebianRoot, unpackDebianPackages } from "./debian-packages.ts";
import { LabError } from "./errors.ts";
import { withFileLock } from "./file-lock.ts";
import { FLOOR_SWITCH_PLAN } from "./floor-switch.ts";
import { startGuard } from "./guard.ts";
import { HARD_HOSTS } from "./hard-hosts.ts";
import { type HostPlan, HOSTS, isServiceDaemon, LAN, PROBE_BOX, SWITCH_BOX } from "./host-plan.ts";
import { filesOf, type LabState, readState, writeState } from "./lab-state.ts";
import { hostName, isReservedName, namesOf, planOfJoining } from "./names.ts";
import { createNetwork, type Network } from "./network.ts";
import { isRunning } from "./process-identity.ts";
import { type CommandOptions, type CommandResult, tryCommand } from "./run-command.ts";
import { SERVICE_HOSTS, SERVICE_PACKAGES } from "./service-hosts.ts";
import { type LabHost, type LabStatus, readStatus } from "./status.ts";
import { takeDown, takeOff } from "./take-down.ts";

/** A LAN that is up. */
export interface Lab {
  readonly id: string;
  /** It was up before: somebody else may count on it. */
  readonly wasUp: boolean;
  /** The programs that the hosts run, and `ping`, `arping`, `tcpdump` for looking at them. */
  readonly packages: DebianRoot;
  readonly probe: {
    readonly namespace: string;
    readonly lanInterface: "lan0";
    readonly lanAddress: string;
    readonly wanInterface: "wan0";
    readonly wanAddress: string;
  };
  /** The machine's own address on the cable to the probe's box: a collector that listens here is reached from there only. */
  readonly collectorAddress: string;
  readonly dnsServer: string;
  /** What is there now, read from the hosts themselves. */
  status(): Promise<LabStatus>;
  /**
   * Adds a host that leases its address under its name.
   * @returns It, once it has its lease.
   * @throws LabError `bad-name`, `duplicate` or `not-ready`; the LAN is then as it was.
   */
  join(name: string): Promise<LabHost>;
  /**
   * Adds a host with this plan: what a scenario of attackers and look-alikes brings to the LAN. Returns when it has its addresses.
   * @throws LabError `bad-name`, `duplicate` or `not-ready`; the LAN is then as it was.
   */
  attach(plan: HostPlan): Promise<void>;
  /** Pulls a host's cable and ends it: nothing is heard of it any more. @throws LabError `unknown-host`. */
  leave(name: string): Promise<void>;
  /** What to spawn so that `command` runs in a host's (or `probe`'s, `switch`'s) network; signals to it reach the command. */
  inside(name: string, command: string, args: readonly string[]): { readonly path: string; readonly args: readonly string[] };
  /** Runs a command in a host's network to its end. */
  exec(name: string, command: string, args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** Takes the whole lab down. May be called again. */
  close(): Promise<void>;
}

export interface LabOptions {
  /** 1 to 8 of a-z and 0-9; labs of different ids do not meet. */
  readonly id: string;
  /**
   * Names out of `HOSTS`, `SERVICE_HOSTS` and `HARD_HOSTS`, and `floor-switch`, for a LAN of one's own; `gateway` is needed by those that
   * lease. All of
   * `HOSTS` unless given.
   */
  readonly hosts?: readonly string[];
  /** All of them are set up as `HostPlan.isGuarded` says. */
  readonly areGuarded?: boolean;
  /** `SERVICE_HOSTS` and `HARD_HOSTS` are on the LAN, too: some 25 kinds of daemons more, whose packages are 150 MB. */
  readonly large?: boolean;
  /** The lab outlives this process. Otherwise it goes with the process that made it, even when that is killed. */
  readonly keep?: boolean;
  /** Aborted, the lab is taken down and the call fails. */
  readonly signal?: AbortSignal;
  /** Told, in a sentence, what takes long; standard error unless given. */
  readonly say?: (line: string) => void;
}

/**
 * Brings a lab up; one that is up already is taken as it is, whatever its hosts. Takes back everything when it fails.
 * @throws LabError `not-root`, `bad-id`, `packages`, `busy` or `not-ready`.
 */
export async function createLab(options: LabOptions): Promise<Lab> {
  const plans = choosePlans(options);
  const tools = await openTools(options, plans);
  const signal = options.signal ?? new AbortController().signal;
  return locked(options.id, async () => {
    const present = readState(options.id);
    if (present?.stage === "up" && isWhole(present)) return openHandle(options.id, tools, { wasUp: true, onClosed: () => undefined });
    const guard = startGuard(options.id);
    try {
      await takeDown(options.id, tools.network);
      await makeLab(plans, { id: options.id, ...tools, signal });
    } catch (error) {
      await takeDown(options.id, tools.network);
      guard.dismiss();
      throw error;
    }
    if (options.keep === true) guard.dismiss();
    return openHandle(options.id, tools, { wasUp: false, onClosed: () => guard.dismiss() });
  });
}

/** @throws LabError `not-up` when the lab is not up. */
export async function openLab(options: Pick<LabOptions, "id" | "say">): Promise<Lab> {
  namesOf(options.id);
  currentState(options.id);
  return openHandle(options.id, await openTools(options), { wasUp: true, onClosed: () => undefined });
}

/** Takes a lab down, also one that is only half made or belongs to a process that is gone. Does nothing where there is none. */
export async function removeLab(options: Pick<LabOptions, "id" | "say">): Promise<void> {
  const tools = await openTools(options);
  await locked(options.id, () => takeDown(options.id, tools.network));
}

interface Tools {
  readonly packages: DebianRoot;
  readonly network: Network;
}

async function openTools(options: Pick<LabOptions, "id" | "say">, plans: readonly HostPlan[] = []): Promise<Tools> {
  namesOf(options.id);
  if (process.getuid?.() !== 0) throw new LabError("not-root", "the lab makes network namespaces, which only root may: run it with sudo");
  const isLarge = plans.some((plan) => plan.daemons.some(isServiceDaemon) || plan.isTarpit === true);
  const names = isLarge ? [...LAB_PACKAGES, ...SERVICE_PACKAGES] : LAB_PACKAGES;
  const packages = await unpackDebianPackages(names, options.say === undefined ? {} : { say: options.say });
  return { packages, network: createNetwork(packages) };
}

function locked<T>(id: string, work: () => Promise<T>): Promise<T> {
  return withFileLock({ file: filesOf(id).lock, waitSeconds: 120 }, work);
}

function choosePlans({ hosts: names, areGuarded = false, large = false }: Pick<LabOptions, "areGuarded" | "hosts" | "large">): readonly HostPlan[] {
  const all = [...HOSTS, ...SERVICE_HOSTS, ...HARD_HOSTS];
  const named = [...all, FLOOR_SWITCH_PLAN];
  const unknown = names?.find((name) => !named.some((plan) => plan.name === name));
  if (unknown !== undefined) throw new LabError("unknown-host", `the lab has no plan of a host "${unknown}"`);
  const chosen = names ? named.filter((plan) => names.includes(plan.name)) : large ? all : HOSTS;
  return areGuarded ? chosen.map((plan) => ({ ...plan, isGuarded: true })) : chosen;
}

function isWhole(state: LabState): boolean {
  const processes = [state.switchProcess, ...state.hosts.map((host) => host.process)];
  return processes.every((process) => process !== null && isRunning(process));
}

function currentState(id: string): LabState {
  const state = readState(id);
  if (state?.stage !== "up") throw new LabError("not-up", `the lab "${id}" is not up: npm run lab -- up`);
  return state;
}

function openHandle(id: string, tools: Tools, handle: { readonly wasUp: boolean; readonly onClosed: () => void }): Lab {
  const { namespace } = namesOf(id);
  const { wan } = currentState(id);
  const inside = (name: string, command: string, args: readonly string[]) => {
    const known = isReservedName(name) || currentState(id).hosts.some((host) => host.plan.name === name);
    if (!known) throw new LabError("unknown-host", `the lab has no host "${name}"`);
    const resolver = join(filesOf(id).folder, SWITCH_BOX.name, "etc/resolv.conf");
    const enter = [`--net=/run/netns/${namespace(name)}`, "unshare", "--mount", "sh", "-c", ENTER_SCRIPT, "sh", resolver];
    return { path: "nsenter", args: [...enter, command, ...args] };
  };
  return {
    id,
    wasUp: handle.wasUp,
    packages: tools.packages,
    probe: {
      namespace: namespace(PROBE_BOX.name),
      lanInterface: PROBE_BOX.lanInterface,
      lanAddress: PROBE_BOX.lanAddress,
      wanInterface: PROBE_BOX.wanInterface,
      wanAddress: wan.probeAddress,
    },
    collectorAddress: wan.collectorAddress,
    dnsServer: LAN.dnsServer,
    status: async () => readStatus(currentState(id), tools.packages),
    join: (name) => locked(id, () => joinHost(name, id, tools)),
    attach: (plan) => locked(id, async () => void await attachHost(plan, id, tools)),
    leave: (name) => locked(id, () => leaveHost(name, id, tools)),
    inside,
    exec(name, command, args, options = {}) {
      const { path, args: all } = inside(name, command, args);
      return tryCommand(path, all, options);
    },
    async close() {
      await locked(id, () => takeDown(id, tools.network));
      handle.onClosed();
    },
  };
}

/** Gives a command the interfaces of its namespace under `/sys` and, as $1, the LAN's DNS server, in mounts that only it sees. */
const ENTER_SCRIPT = `mount -t sysfs lab /sys 2> /dev/null
mount --bind "$1" /etc/resolv.conf 2> /dev/null
shift
exec "$@"`;

async function joinHost(text: string, id: string, tools: Tools): Promise<LabHost> {
  const name = hostName(text);
  const joined = await attachHost(planOfJoining(name), id, tools);
  const { hosts } = await readStatus({ ...joined, hosts: joined.hosts.slice(-1) }, tools.packages);
  const [host] = hosts;
  if (host) return host;
  await removeHost(name, id, tools);
  throw new LabError("not-ready", `the host "${name}" was gone as soon as it had joined`);
}

async function attachHost(plan: HostPlan, id: string, tools: Tools): Promise<LabState> {
  const name = hostName(plan.name);
  const state = currentState(id);
  if (isReservedName(name) || state.hosts.some((host) => host.plan.name === name)) {
    throw new LabError("duplicate", `the lab has a host "${name}" already`);
  }
  if (state.hosts.some((host) => host.plan.mac === plan.mac)) {
    throw new LabError("duplicate", `the MAC of "${name}" is another host's: choose another name`);
  }
  try {
    return await addHost(plan, state, { id, ...tools, signal: new AbortController().signal });
  } catch (error) {
    const left = readState(id)?.hosts.find((host) => host.plan.name === name);
    if (left) await removeHost(name, id, tools);
    throw error;
  }
}

async function leaveHost(text: string, id: string, tools: Tools): Promise<void> {
  const name = hostName(text);
  if (!currentState(id).hosts.some((host) => host.plan.name === name)) throw new LabError("unknown-host", `the lab has no host "${name}"`);
  await removeHost(name, id, tools);
}

async function removeHost(name: string, id: string, tools: Tools): Promise<void> {
  const state = currentState(id);
  const host = state.hosts.find((one) => one.plan.name === name);
  if (!host) return;
  await takeOff(host, namesOf(id).namespace(SWITCH_BOX.name), id, tools.network);
  await writeState({
    ...state,
    hosts: state.hosts.filter((one) => one !== host),
    namespaces: state.namespaces.filter((one) => one !== host.namespace),
  });
}

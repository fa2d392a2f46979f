import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "../bundle-program.ts";
import { shellQuote } from "../daemons.ts";
import { type DebianRoot, unpackDebianPackages } from "../debian-packages.ts";
import { LabError } from "../errors.ts";
import { type HostPlan, SWITCH_BOX } from "../host-plan.ts";
import type { Lab } from "../lab.ts";
import { filesOf } from "../lab-state.ts";
import type { Scenario, ScenarioHost, Variant } from "./scenario.ts";

/** What every script may use. */
const BASE_PACKAGES = ["iproute2", "iputils-arping", "iputils-ping", "busybox"];

/** A scenario whose hosts are on the LAN and do what it says. */
export interface RunningScenario {
  /** In wall milliseconds: when the first host that did so said `begin` or forged a frame, else when the scripts were started. */
  beganAt(): number;
  /** Pulls the cables of its hosts. May be called again. */
  stop(): Promise<void>;
}

/**
 * Fetches a scenario's tools; the first time this takes a while.
 * @throws LabError `packages` with what could not be fetched.
 */
export function unpackTools(scenario: Pick<Scenario, "packages">): Promise<DebianRoot> {
  return unpackDebianPackages([...BASE_PACKAGES, ...scenario.packages]);
}

/** A second switch, which is the root of the spanning tree: the kernel's, with the shortest times that there are. Netgear. */
const TREE_SWITCH: HostPlan = {
  name: "tree-switch", mac: "28:80:88:7a:00:95", addresses: [], daemons: [],
  network: [
    "ip link add tree address 28:80:88:7a:00:95 type bridge stp_state 1 forward_delay 200 hello_time 100 max_age 600 mcast_snooping 0",
    "echo 1 > $net/ipv6/conf/tree/disable_ipv6", "echo 1 > $net/ipv6/conf/eth0/disable_ipv6", "ip link set eth0 master tree", "ip link set tree up",
  ],
};

/**
 * Makes the LAN one on which scenarios show what they are. Each of its hosts gets every frame, as the mirror port of a switch gives them to
 * a probe: what two hosts send each other is not heard otherwise. LLDP, which a switch keeps for itself, is passed on too. A second
 * switch takes part in a spanning tree, and hosts take nothing from IPv6 routers. May be called again.
 * @throws LabError `command-failed` or `not-ready`.
 */
export async function prepareLan(lab: Lab): Promise<void> {
  const ip = lab.packages.command("ip");
  const args = ["link", "set", SWITCH_BOX.bridge, "type", "bridge", "ageing_time", "0", "group_fwd_mask", "0x4000"];
  const { code, stderr } = await lab.exec(SWITCH_BOX.name, ip.path, args, { env: ip.env });
  if (code !== 0) throw new LabError("command-failed", `the switch mirrors nothing: ${stderr}`);
  try {
    await lab.attach(TREE_SWITCH);
  } catch (error) {
    if (error instanceof LabError && error.code === "duplicate") return;
    throw error;
  }
  // What forged routers give them would show in the next scenario: they would ask for routers that were never there.
  const { hosts } = await lab.status();
  await Promise.all(hosts.map(({ name }) => lab.exec(name, "sh", ["-c", "echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_ra; :"])));
}

/**
 * Brings a scenario's hosts to the LAN, and starts their scripts when all are there.
 * @throws LabError `packages`, `duplicate` for a scenario that runs already, or `not-ready`; its hosts are gone then.
 */
export async function startScenario(lab: Lab, scenario: Scenario, variant: Variant): Promise<RunningScenario> {
  const tools = await unpackTools(scenario);
  await prepareLan(lab);
  const hosts = scenario.hosts(variant).map((host, index) => ({ host, plan: planOf(scenario, host, index) }));
  const attached: string[] = [];
  const marks = hosts.map(({ plan }) => markOf(lab, plan.name));
  let begunAt: number | null = null;
  const readMark = () => {
    const mark = marks.find((file) => existsSync(file));
    begunAt ??= mark === undefined ? null : statSync(mark).mtimeMs;
    return begunAt;
  };
  const stop = async () => {
    // The marks go with the hosts.
    readMark();
    await signalDaemon(lab, scenario, "CONT");
    for (const name of attached.splice(0)) await lab.leave(name);
  };
  try {
    for (const { plan } of hosts) {
      await lab.attach(plan);
      attached.push(plan.name);
    }
    const startedAt = Date.now();
    await signalDaemon(lab, scenario, "STOP");
    for (const { host, plan } of hosts) startScript(lab, tools, plan.name, host.run);
    return { beganAt: () => readMark() ?? startedAt, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Takes a scenario's hosts off the LAN, whoever has started it. Does nothing where it does not run. */
export async function stopScenario(lab: Lab, scenario: Scenario, variant: Variant): Promise<void> {
  await signalDaemon(lab, scenario, "CONT");
  for (const [index, host] of scenario.hosts(variant).entries()) {
    await lab.leave(planOf(scenario, host, index).name).catch((error: unknown) => {
      if (!(error instanceof LabError && error.code === "unknown-host")) throw error;
    });
  }
}

/** Holds the daemon that the scenario stops, or lets it go on: those processes of its name that are in the host's network. */
async function signalDaemon(lab: Lab, { stops }: Scenario, signal: "STOP" | "CONT"): Promise<void> {
  if (!stops) return;
  const isIt = `[ "$(cat $p/comm 2>/dev/null)" = ${stops.daemon} ] && [ "$(readlink $p/ns/net)" = "$(readlink /proc/self/ns/net)" ]`;
  await lab.exec(stops.host, "sh", ["-c", `for p in /proc/[0-9]*; do ${isIt} && kill -${signal} "$(basename $p)"; done; :`]);
}

function planOf(scenario: Scenario, host: ScenarioHost, index: number): HostPlan {
  const { mac, addresses = [], leasesAs, network } = host;
  const name = `${scenario.name}-${index + 1}`;
  return { name, mac, addresses, daemons: [], ...(leasesAs === undefined ? {} : { leasesAs }), ...(network && { network }) };
}

/** Made by `begin` in a script, or by `forge` with its first frame: what was done before was no attack. */
function markOf(lab: Lab, name: string): string {
  return join(filesOf(lab.id).folder, name, "begun");
}

/** The tools lie over `/usr` and `/etc` in mounts that only the script sees, so that they find their parts. */
function startScript(lab: Lab, tools: DebianRoot, name: string, run: string): void {
  const forge = bundleProgram(fileURLToPath(new URL("forge.ts", import.meta.url)));
  const over = ["usr", "etc"].map((folder) => {
    const ours = `${tools.root}/${folder}`;
    return `[ -d ${ours} ] && mount -t overlay lab -o lowerdir=${ours}:/${folder} /${folder}`;
  });
  const script = [
    ...over, "mount -t tmpfs -o mode=755,size=16m lab /run", "mount -t tmpfs -o mode=755,size=16m lab /var", "mkdir -p /var/lib /var/log /var/tmp",
    "ln -s /run /var/run", "mkdir -p /run/home", "export HOME=/run/home TERM=dumb", "cd /run",
    `export PATH=${tools.root}/usr/sbin:${tools.root}/usr/bin:${tools.root}/sbin:${tools.root}/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    ...Object.entries(tools.env).map(([variable, value]) => `export ${variable}=${shellQuote(value)}`),
    `begin() { : > ${shellQuote(markOf(lab, name))}; }`,
    `forge() { LAB_BEGUN=${shellQuote(markOf(lab, name))} env -u LD_LIBRARY_PATH ${shellQuote(process.execPath)} ${shellQuote(forge)} "$@"; }`,
    run, "wait",
  ];
  const { path, args } = lab.inside(name, "sh", ["-c", script.join("\n")]);
  const log = openSync(join(filesOf(lab.id).folder, name, "script.log"), "a");
  const child = spawn(path, args, { stdio: ["ignore", log, log], detached: true, cwd: "/" });
  child.on("error", () => undefined);
  child.unref();
  closeSync(log);
}

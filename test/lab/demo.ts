import { rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { readInterface } from "@lanthorn/packet-io";
import { describeError, stopSignal } from "@lanthorn/runtime";
import { Command } from "commander";
import { type Collector, enrollProbe, type ProbeBox, startCollector, startProbe } from "../system/deployment.ts";
import { unpackDebianPackages } from "./debian-packages.ts";
import { createLab, type Lab } from "./lab.ts";
import { REPOSITORY } from "./lab-state.ts";
import { DEFAULT_LAB_ID } from "./names.ts";

/** The main job on this machine: a collector, an enrolled probe, and a network to watch. */

const DEFAULT_HTTP_PORT = 8080;

/** Where a run is: what it watches, and where its files are. */
interface Place {
  readonly folder: string;
  readonly collectorHost: string;
  readonly interface: string;
  readonly namespace?: string;
  /** Over the environment of the probe. */
  readonly env?: Readonly<Record<string, string>>;
  /** The probe's configuration, in TOML. */
  readonly probeToml?: string;
}

const program = new Command("npm start --")
  .description("Runs a collector and an enrolled probe, on a demonstration network unless an interface is named.")
  .option("--interface <name>", "watch this interface's own subnets instead")
  .option("--yes", "do not ask before watching a real network", false)
  .parse();

const say = (text: string) => void process.stderr.write(`${text}\n`);

/** Whoever started this, npm or a script, may be ended without a signal for us; nothing is to outlive it. */
const orphaned = new Promise<void>((resolve) => {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) resolve();
  }, 1000).unref();
});
const stopAsked: Promise<unknown> = Promise.race([stopSignal(), orphaned]);

try {
  const { interface: name, yes } = program.opts<{ interface?: string; yes: boolean }>();
  await (name === undefined ? runDemonstration() : watchInterface(name, yes));
  process.exit(0);
} catch (error) {
  say(`npm start: ${describeError(error)}`);
  process.exit(1);
}

/** Each demonstration begins anew, so that what is found is found now. */
async function runDemonstration(): Promise<void> {
  const stopping = new AbortController();
  const stopped = stopAsked.then(() => stopping.abort());
  say("No interface is named: this is the demonstration site, on a LAN of network namespaces. To watch a real network: npm start -- "
    + "--interface IFACE");
  const lab = await createLab({ id: DEFAULT_LAB_ID, signal: stopping.signal });
  try {
    const folder = join(REPOSITORY, ".cache/demonstration");
    rmSync(folder, { recursive: true, force: true });
    const env = await nmapOnPath();
    await runSite(
      {
        folder, collectorHost: lab.collectorAddress, interface: lab.probe.lanInterface, namespace: lab.probe.namespace, env,
        probeToml: captureSettings(lab.probe.lanInterface),
      }, stopped, lab,
    );
  } finally {
    if (!lab.wasUp) await lab.close();
  }
}

/** Captures with small budgets: the demonstration's disk is somebody's own. */
function captureSettings(interfaceName: string): string {
  return `[traffic]                             # what lanthorn pcap captures
interfaces = ["${interfaceName}"]
memory_megabytes = 128
ring_megabytes = 16
evidence = { budget_megabytes = 64 }
on_demand = { max_megabytes = 32, budget_megabytes = 64 }
continuous = { enabled = true, budget_megabytes = 32, file_megabytes = 8 }
`;
}

/** What the profile `deep` runs, lying beside the lab's own programs. */
async function nmapOnPath(): Promise<Readonly<Record<string, string>>> {
  const { path, env } = (await unpackDebianPackages(["nmap"], { say })).command("nmap");
  return { ...env, PATH: [dirname(path), process.env["PATH"] ?? ""].join(delimiter) };
}

async function watchInterface(name: string, yes: boolean): Promise<void> {
  const facts = await readInterface(name);
  const subnets = facts.addresses.filter(({ family }) => family === "ipv4").map(({ ip, prefixLength }) => `${ip}/${prefixLength}`);
  if (subnets.length === 0) throw new Error(`${name} has no IPv4 subnet of its own to watch`);
  say(
    `The probe would watch ${name} and ask every address of ${subnets.join(", ")} by ARP, at most 200 a second. Nothing else is sent to.`,
  );
  if (!yes && !(await confirm("Is this network yours to scan? [y/N] "))) {
    throw new Error("not confirmed; nothing was sent (--yes answers in advance)");
  }
  await runSite({ folder: join(REPOSITORY, ".cache", `site-${name}`), collectorHost: "127.0.0.1", interface: name }, stopAsked, null);
}

async function runSite(place: Place, stopped: Promise<unknown>, lab: Lab | null): Promise<void> {
  const collector = await startCollector({
    dataDir: join(place.folder, "collector"), host: place.collectorHost, httpPort: await freeHttpPort(),
  });
  try {
    const box: ProbeBox = {
      dataDir: join(place.folder, "probe"), ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
    };
    const { siteId, probeId } = await enrolled(collector, box, lab === null ? "this-machine" : "demonstration");
    const probe = await startProbe(box, { interface: place.interface, args: configurationOf(place), ...(place.env ? { env: place.env } : {}) });
    try {
      process.stdout.write(`ready ${JSON.stringify({
        url: collector.url, admin: "admin", password_file: collector.passwordFile, site_id: siteId, probe_id: probeId,
      })}\n`);
      sayWhatNow(collector, probe.pid, place, lab);
      const saysEnd = probe.ended.then((how) => `The probe has ended (${how}). The collector goes on; its devices become unknown.`);
      void Promise.race([saysEnd, stopped.then(() => null)]).then((text) => text !== null && say(text));
      const collectorEnd = await Promise.race([stopped.then(() => null), collector.ended]);
      if (collectorEnd !== null) {
        throw new Error(`the collector has ended (${collectorEnd}); its log is ${join(collector.dataDir, "collector.log")}`);
      }
      say("Stopping.");
    } finally {
      await probe.stop();
    }
  } finally {
    await collector.stop();
  }
}

/** @returns The probe's options for its configuration file, which it writes. */
function configurationOf({ folder, probeToml }: Place): readonly string[] {
  if (probeToml === undefined) return [];
  const file = join(folder, "probe.toml");
  writeFileSync(file, probeToml);
  return ["--config", file];
}

/** A site that was watched before keeps its probe. */
async function enrolled(collector: Collector, box: ProbeBox, name: string): Promise<{ readonly siteId: string; readonly probeId: string }> {
  const known = (await collector.rest.listProbes()).data.find((probe) => probe.name === name && probe.state !== "revoked");
  return known ? { siteId: known.site_id, probeId: known.id } : enrollProbe(collector, box, name);
}

function sayWhatNow(collector: Collector, probePid: number, place: Place, lab: Lab | null): void {
  const lines = [
    "",
    `The collector answers at ${collector.url}; the probe (process ${probePid}) watches ${place.interface}. Logs are in ${place.folder}.`,
    `The dashboard is at ${collector.url}: log in as admin with the password in ${collector.passwordFile}.`,
    "In another terminal, in this folder:",
    `  npx lanthorn login --url ${collector.url} --password-file ${collector.passwordFile}`,
    "  npx lanthorn devices list",
    "  npx lanthorn watch",
    ...(lab === null ? [] : [
      "  npm run lab -- join kitchen-tablet      a host joins; watch shows it",
      "  npm run lab -- status                   what is really there",
      "  npx lanthorn pcap watch                 packets as the probe sees them; Ctrl-C ends it",
      "  npx lanthorn pcap start --seconds 20    they go to a file",
      "  npx lanthorn pcap list                  the file's ID and state; when it is ready: npx lanthorn pcap get ID",
    ]),
    "Ctrl-C ends everything.",
    "",
  ];
  say(lines.join("\n"));
}

/** The usual port, or any free one where somebody listens there. */
async function freeHttpPort(): Promise<number> {
  const asked = Number(process.env["LANTHORN_HTTP_PORT"] ?? DEFAULT_HTTP_PORT);
  const taken = await new Promise<boolean>((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port: asked });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
  if (taken) say(`Port ${asked} is taken; the collector gets a free one. LANTHORN_HTTP_PORT chooses another.`);
  return taken ? 0 : asked;
}

async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(question);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

#!/usr/bin/env node
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createLog, describeError, endWithOutput, RuntimeError, stopSignal, systemClock } from "@lanthorn/runtime";
import { FILE_KINDS, type FileKind, type ProbeEvent } from "@lanthorn/contract/uplink";
import { Command, Option } from "commander";
import { type Configuration, DEFAULT_CONFIGURATION_FILE, readProbeConfiguration, readReplaySettings, unreadVariables } from "./configuration.ts";
import { EXIT_CODES, ProbeError } from "./errors.ts";
import type { RulesGiven } from "./ids/show-alerts.ts";

// Each command loads its own part when it runs: with everything in one process, the daemon would hold 40 MB of code for
// enrollment that it uses once in its life.

interface Options {
  readonly config?: string;
  readonly checkConfig?: boolean;
}

const VERSION = (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string }).version;

/** For what hangs: a renewal takes a second, the databases of fingerprints some seconds. */
const SELF_TIMEOUT_MS = 300_000;

const program = new Command("lanthorn-probe")
  .description("Watches a site's network and reports to the collector what it sees.")
  .version(VERSION)
  .option("--config <file>", `configuration file (default: ${DEFAULT_CONFIGURATION_FILE}, if it exists)`)
  .option("--check-config", "only check the configuration")
  .action(() => (options().checkConfig ? checkConfiguration() : program.help({ error: true })));

program.command("run")
  .description("Watch the network until stopped.")
  .addHelpText(
    "after", "\nLANTHORN_INTERFACE, LANTHORN_DATA_DIR, LANTHORN_LOG_LEVEL, LANTHORN_MQTT_URL and LANTHORN_COLLECTOR_URL override the file.",
  )
  .option("--replay <file>", "read a pcap or pcapng file instead of the interface; nothing is sent")
  .option("--exit-when-drained", "with --replay: exit when the collector has received everything")
  .action(({ replay, exitWhenDrained }: { readonly replay?: string; readonly exitWhenDrained?: boolean }) =>
    options().checkConfig
      ? checkConfiguration()
      : run(replay === undefined ? null : { path: replay, exitWhenDrained: exitWhenDrained ?? false }));

program.command("replay <file>")
  .description("Show what a pcap or pcapng file would have made the probe report: no collector, no interface; nothing is sent or kept.")
  .option("--json", "one event a line, as JSON", false)
  .option("--settings <file>", "a configuration file: its networks, limits and modules (default: those of a new probe)")
  .option("--rules <file...>", "rules of Suricata's language: show their alerts instead")
  .option("--variable <name=value...>", "with --rules: what $NAME stands for: HOME_NET=192.0.2.0/24")
  .option("--classifications <file>", "with --rules: classification.config")
  .option("--references <file>", "with --rules: reference.config")
  .option("--thresholds <file>", "with --rules: threshold.config")
  .action(replay);

program.command("flows <file...>")
  .description("Show the flows of pcap or pcapng files, who spoke with whom and what: no collector, no interface; nothing is sent or kept.")
  .option("--json", "one flow a line, as JSON", false)
  .action(showFlows);

program.command("resolver")
  .description("Answer the site's DNS queries; a service of its own: lanthorn-dns.").option("--config <file>", "(default: /etc/lanthorn/dns.toml)")
  .action(async (given: Options) => (await import("./resolver/run-command.ts")).runResolverCommand(ownService(given)));

program.command("decoy")
  .description("Serve decoys that nobody has a reason to touch; a service of its own: lanthorn-decoy.").option("--config <file>", "(default: /etc/lanthorn/decoy.toml)")
  .action(async (given: Options) => (await import("./decoy/run-command.ts")).runDecoyCommand(ownService(given)));

program.command("decoy-addresses")
  .description("Take the addresses that decoys have of their own; a service of its own: lanthorn-decoy-addresses.").option("--config <file>", "(default: /etc/lanthorn/decoy.toml)")
  .action(async (given: Options) => (await import("./decoy/addresses/run-addresses.ts")).runDecoyAddressesCommand(ownService(given)));

program.command("enroll")
  .description("Enroll this machine as a probe of a collector, with a token created there.")
  .requiredOption("--collector <url>", "the collector's address, https://HOST:PORT")
  .requiredOption("--token <token>", "enrollment token: lanthorn probes token create --site SITE")
  .option("--name <name>", "the probe's display name", hostname())
  .option("--force", "replace an earlier enrollment", false)
  .action(enroll);

program.command("renew").description("Renew the certificate now; the daemon also renews it by itself.").action(renew);

program.command("status")
  .description("Show the state of the running daemon.")
  .option("--json", "as JSON", false)
  .action(status);

const fingerprints = program.command("fingerprints").description("Databases, in the Recog format, that identify services.");
fingerprints.command("update")
  .description("Replace them; nothing changes unless all checksums and examples are right.")
  .requiredOption("--from <source>", "a folder, or the https:// URL of one with a SHA256SUMS in it")
  .option("--sha256 <checksum>", "the expected checksum of SHA256SUMS")
  .action(updateFingerprints);
fingerprints.command("rollback").description("Switch to the previous version, or back again.").action(rollBackFingerprints);

const bundles = program.command("bundles").description("Files that the collector gives its probes; the daemon fetches them by itself.");
bundles.command("list").description("Show which versions are used, one line of JSON each.").action(listBundles);
bundles.command("install <name>").description("Try what was fetched, and use it; the daemon does so by itself.")
  .addOption(new Option("--with-parent", "end when standard input does").default(false).hideHelp())
  .action(installBundle);

program.command("traffic-export", { hidden: true })
  .description("Cut an export from the continuous capture; the traffic process starts it.")
  .action(exportTraffic);

const files = program.command("files").description("Files that the daemon sends to the collector.");
files.command("send <file>")
  .description("Add a file; the daemon sends it, now or when it next runs.")
  .addOption(new Option("--kind <kind>", "what it is").choices(FILE_KINDS).makeOptionMandatory())
  .action(sendFile);
files.command("list").description("Show the files that wait to be sent, oldest first, one line of JSON each.").action(listFiles);

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(
    `lanthorn-probe: ${error instanceof ProbeError || error instanceof RuntimeError ? describeError(error) : describeUnexpected(error)}\n`,
  );
  // Not exitCode: a handle that is still open must not keep a failed command alive.
  process.exit(error instanceof ProbeError ? EXIT_CODES[error.code] : 1);
}

function options(): Options {
  return program.opts<Options>();
}

/** What a service with a configuration of its own is given. */
function ownService({ config }: Options) {
  return { file: config ?? options().config ?? null, onlyCheck: options().checkConfig ?? false, environment: process.env };
}

function configuration(): Configuration {
  return readProbeConfiguration(options().config ?? null, process.env);
}

function checkConfiguration(): void {
  configuration();
  for (const line of unreadVariables(process.env)) process.stderr.write(`lanthorn-probe: ${line}\n`);
  process.stdout.write("the configuration is valid\n");
}

async function run(replay: { readonly path: string; readonly exitWhenDrained: boolean } | null): Promise<void> {
  const settings = configuration();
  const { keepHeapSmall } = await import("./small-heap.ts");
  // Loaded with the bulk of the code, which comes behind this.
  const releasePages = () => void import("@lanthorn/packet-io").then(({ releaseFilePages }) => releaseFilePages());
  keepHeapSmall(systemClock, { dropsCode: true, atFirst: releasePages });
  const [{ runDaemon }, { readIdentity }, { createVendorLookup }, { createProgramFinder }] = await Promise.all([
    import("./daemon/daemon.ts"), import("./identity/identity.ts"), import("@lanthorn/fingerprints"), import("./nmap/find-program.ts"),
  ]);
  const identity = readIdentity(settings.data_dir);
  if (!identity) {
    throw new ProbeError(
      "not-enrolled",
      `this machine is not enrolled (nothing in ${settings.data_dir}/identity): lanthorn-probe enroll --collector URL --token TOKEN`,
    );
  }
  if (settings.interface === null && !replay) {
    throw new ProbeError(
      "config-invalid",
      `no interface is set: interface = "eth0" in ${options().config ?? DEFAULT_CONFIGURATION_FILE}, or LANTHORN_INTERFACE (see: ip link)`,
    );
  }
  const log = createLog({ name: "lanthorn-probe", level: settings.log_level });
  await runDaemon({
    configuration: settings, identity, replay, version: VERSION, log, clock: systemClock, random: Math.random,
    vendorOf: createVendorLookup().vendorOf, findProgram: createProgramFinder(process.env), renewCertificate: () => runSelf(["renew"]),
    installBundle: (name, signal) => runSelf(["bundles", "install", name, "--with-parent"], signal),
    trafficCommand: [process.execPath, ...process.execArgv, trafficProgram(), "traffic", "--log-level", settings.log_level, "--program", process.argv[1] ?? ""],
  }, {
    environment: process.env,
    stop: stopSignal(),
    onReady: () =>
      process.stdout.write(`ready ${JSON.stringify({ probe_id: identity.probe_id, interface: replay ? "replay" : settings.interface })}\n`),
  });
  process.exit(0);
}

/** It lies beside this program, in the same language. */
function trafficProgram(): string {
  return fileURLToPath(new URL(`./traffic-main.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url));
}

type ReplayOptions = RulesGiven & { readonly json: boolean; readonly settings?: string; readonly rules?: readonly string[] };

async function replay(path: string, given: ReplayOptions): Promise<void> {
  if (given.rules !== undefined) {
    const { showAlerts } = await import("./ids/show-alerts.ts");
    endWithOutput("lanthorn-probe");
    return showAlerts({ path, rules: given.rules, given, isJson: given.json, clock: systemClock });
  }
  const { json, settings: file } = given;
  const [{ replayFile }, { createVendorLookup }, { describeEvent }] = await Promise.all([
    import("./daemon/replay-file.ts"), import("@lanthorn/fingerprints"), import("./daemon/describe-event.ts"),
  ]);
  endWithOutput("lanthorn-probe");
  const { vendorOf } = createVendorLookup();
  const replaySettings = readReplaySettings(file ?? null);
  const startedAt = systemClock.monotonic();
  const line = json ? (event: ProbeEvent) => JSON.stringify(event) : describeEvent;
  const { frames, problem } = await replayFile({
    path, settings: replaySettings, log: createLog({ name: "lanthorn-probe", level: "warn" }), vendorOf,
    print: (events) => process.stdout.write(events.map((event) => `${line(event)}\n`).join("")),
  });
  const seconds = (systemClock.monotonic() - startedAt) / 1000;
  process.stderr.write(`${JSON.stringify({ frames, seconds: Math.round(seconds * 1000) / 1000, frames_per_second: Math.round(frames / seconds) })}\n`);
  if (problem !== null) throw new ProbeError("failed", `${path} was not read to its end: ${problem}`);
}

async function showFlows(paths: readonly string[], { json }: { readonly json: boolean }): Promise<void> {
  const { printFlows } = await import("./flows/print-flows.ts");
  endWithOutput("lanthorn-probe");
  await printFlows({ paths, isJson: json, clock: systemClock });
}

/** In a process of its own, so that what it loads goes away with it. */
async function runSelf(args: readonly string[], signal?: AbortSignal): Promise<void> {
  const config = options().config;
  await promisify(execFile)(
    process.execPath, [...process.execArgv, process.argv[1] ?? "", ...(config === undefined ? [] : ["--config", config]), ...args],
    { timeout: SELF_TIMEOUT_MS, ...(signal && { signal }) },
  )
    .catch((error: unknown) =>
      Promise.reject(new Error(String((error as { readonly stderr?: unknown }).stderr ?? error).trim(), { cause: error })));
}

async function enroll(
  given: { readonly collector: string; readonly token: string; readonly name: string; readonly force: boolean },
): Promise<void> {
  const module = await import("./identity/enroll.ts");
  const settings = configuration();
  const identity = await module.enroll({
    collectorUrl: given.collector, token: given.token, name: given.name, dataDir: settings.data_dir, force: given.force, clock: systemClock,
  });
  process.stdout.write(`enrolled as ${identity.probe_id}; its key and certificate are in ${settings.data_dir}/identity\n`);
}

async function renew(): Promise<void> {
  const module = await import("./identity/renew.ts");
  const settings = configuration();
  const until = await module.renew({ dataDir: settings.data_dir, collectorUrl: settings.collector.url, clock: systemClock });
  process.stdout.write(`renewed; the new certificate is valid until ${new Date(until).toISOString()}\n`);
}

async function status({ json }: { readonly json: boolean }): Promise<void> {
  const { describeStatus, findStatus } = await import("./status/status-command.ts");
  const report = findStatus(configuration().data_dir, systemClock);
  process.stdout.write(`${json ? JSON.stringify(report) : describeStatus(report, systemClock.now())}\n`);
}

async function updateFingerprints({ from, sha256 }: { readonly from: string; readonly sha256?: string }): Promise<void> {
  const module = await import("./fingerprints/update.ts");
  const report = await module.updateFingerprints({ dataDir: configuration().data_dir, from, sha256: sha256 ?? null, fetch });
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

async function rollBackFingerprints(): Promise<void> {
  const module = await import("./fingerprints/update.ts");
  process.stdout.write(`${JSON.stringify({ version: module.rollBackFingerprints(configuration().data_dir) })}\n`);
}

async function exportTraffic(): Promise<void> {
  const { runExportProcess } = await import("./traffic/export/export-process.ts");
  await runExportProcess({ input: process.stdin, output: process.stdout, clock: systemClock });
  // What is half done when nobody listens any more would keep it alive.
  process.exit(0);
}

async function sendFile(path: string, { kind }: { readonly kind: FileKind }): Promise<void> {
  process.stdout.write(`${JSON.stringify(await (await openSpool()).add(path, kind))}\n`);
}

async function listFiles(): Promise<void> {
  for (const file of await (await openSpool()).list()) process.stdout.write(`${JSON.stringify(file)}\n`);
}

async function installBundle(name: string, { withParent }: { readonly withParent: boolean }): Promise<void> {
  await (await import("./daemon/bundle-commands.ts")).installBundleCommand(configuration().data_dir, name, withParent);
}

async function listBundles(): Promise<void> {
  (await import("./daemon/bundle-commands.ts")).listBundlesCommand(configuration().data_dir);
}

async function openSpool() {
  const { createSpool } = await import("./files/spool.ts");
  const { data_dir: dataDir, files: { disk_budget_bytes: budgetBytes } } = configuration();
  return createSpool({ dataDir, budgetBytes });
}

/** A fault of the program: its place is what helps. */
function describeUnexpected(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

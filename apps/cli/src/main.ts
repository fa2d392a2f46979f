#!/usr/bin/env node
import { homedir } from "node:os";
import { join } from "node:path";
import { ClientError, type ClientErrorCode, readPcapBytes } from "@lanthorn/client";
import { MAX_BULK, SCAN_PROFILE_NAMES } from "@lanthorn/contract";
import { describeError, endWithOutput, stopSignal, systemClock } from "@lanthorn/runtime";
import { Command, Option } from "commander";
import { WebSocket } from "ws";
import { type Answer, formatAnswer } from "./answer.ts";
import { changeDevices, type DeviceChangeOptions } from "./commands/bulk.ts";
import { listBundles, listProbeBundles } from "./commands/bundles.ts";
import { createKey, type KeyOptions } from "./commands/keys-create.ts";
import { listKeys } from "./commands/keys-list.ts";
import { revokeKey } from "./commands/keys-revoke.ts";
import { listUsers } from "./commands/users-list.ts";
import { type DeviceListOptions, listDevices } from "./commands/devices-list.ts";
import { showDevice } from "./commands/devices-show.ts";
import { countDevices, type FacetOptions } from "./commands/facets.ts";
import { login, type LoginOptions } from "./commands/login.ts";
import { downloadProbeFile, listProbeFiles } from "./commands/probe-files.ts";
import { listProbes } from "./commands/probes-list.ts";
import { revokeProbe } from "./commands/probes-revoke.ts";
import { createProbeToken } from "./commands/probes-token-create.ts";
import { type ScanOptions, startScan } from "./commands/scan.ts";
import { createScanView } from "./commands/scan-view.ts";
import { cancelScan, listScans } from "./commands/scans.ts";
import { createSite, setSite } from "./commands/sites-edit.ts";
import { listSites } from "./commands/sites-list.ts";
import { showTopology, type TopologyOptions } from "./commands/topology.ts";
import { watch, type WatchOptions } from "./commands/watch.ts";
import { type Connection, createFetch, openConnection } from "./connection.ts";
import { CliError, isDistrust } from "./errors.ts";
import { addAlertCommands } from "./groups/alerts.ts";
import { addBackupCommands } from "./groups/backups.ts";
import { addBaselineCommands } from "./groups/baselines.ts";
import { addConfigCommands } from "./groups/configs.ts";
import { addCveCommands } from "./groups/cve.ts";
import { addIpamCommands } from "./groups/ipam.ts";
import { addLicenseCommands } from "./groups/license.ts";
import { addPcapCommands } from "./groups/pcap.ts";
import { addAnomalyCommands } from "./groups/sensors/anomalies.ts";
import { addDnsCommands } from "./groups/sensors/dns.ts";
import { addGuardCommands } from "./groups/sensors/guards.ts";
import { addHoneypotCommands } from "./groups/sensors/honeypot.ts";
import { addIdsCommands } from "./groups/sensors/ids.ts";
import { addVaultCommands } from "./groups/vault.ts";
import { addWorkspaceCommands } from "./groups/workspace.ts";
import { parseCount } from "./options/row-count.ts";
import { createInput } from "./input.ts";
import { createSessionStore } from "./session.ts";
import { siteFilter } from "./site-id.ts";

const store = createSessionStore(
  process.env["LANTHORN_SESSION"] ?? join(process.env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"), "lanthorn", "session.json"),
);
endWithOutput("lanthorn");
const print = (text: string) => void process.stdout.write(`${text}\n`);
const note = (text: string) => void process.stderr.write(`${text}\n`);

/** Drawn beside the answer, and only for who sees it. */
const { stderr } = process;
const scanView = stderr.isTTY
  ? createScanView({ write: (text) => void stderr.write(text), rows: () => stderr.rows, columns: () => stderr.columns }) : null;
/** What is piped on is not for a screen. */
const width = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;

/** @see https://no-color.org */
const hasColors = process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "" && process.env["TERM"] !== "dumb";

const input = createInput(process.stdin, (text) => void process.stderr.write(text));

/** What to do about a refusal. */
const HELP: Readonly<Partial<Record<ClientErrorCode, string>>> = {
  UNAUTHORIZED: "log in with: lanthorn login --url URL",
  FORBIDDEN: "your role does not allow this",
  unreachable: "check that the collector runs and that the address is right",
};

const program = new Command("lanthorn")
  .description("Shows what a Lanthorn collector's probes find, and manages probes.")
  .version("0.1.0")
  .showHelpAfterError("(see lanthorn --help)");

program
  .command("login")
  .description("log in to a collector, which the other commands then use")
  .option("--url <url>", "the collector's address", "http://127.0.0.1:8080")
  .option("--username <name>", "your user name", "admin")
  .option("--password-file <file>", "read the password from a file instead of asking")
  .option("--ca <file>", "trust this CA certificate (PEM): the collector's own, for https")
  .action((options: LoginOptions) => login(options, { store, clock: systemClock, input, print }));

const sites = program.command("sites").description("the sites");
answering(sites.command("list").description("list the sites"), (connection) => listSites(connection));
answering(
  sites.command("create <name>").description("create a site").option("--time-zone <zone>", "the place's time zone: Europe/Oslo"),
  (connection, name: string, options: { timeZone?: string }) => createSite(connection, name, options),
);
answering(
  sites.command("set <site>").description("change a site's name or time zone, named by its name or id")
    .option("--name <name>", "its new name").option("--time-zone <zone>", "the place's time zone: Europe/Oslo, or none"),
  (connection, site: string, options: { name?: string; timeZone?: string }) => setSite(connection, site, options),
);

const probes = program.command("probes").description("the probes and their enrollment");
answering(
  probes.command("token").description("enrollment tokens").command("create").description("create a token that enrolls one probe")
    .requiredOption("--site <site>", "the site's name or id").option("--ttl <duration>", "how long it is valid: 30m, 1h, 7d", "1h"),
  (connection, options: { site: string; ttl: string }) => createProbeToken(connection, options),
);
answering(probes.command("list").description("list the probes, their state and their health"), (connection) => listProbes(connection));
answering(probes.command("revoke <id>").description("revoke a probe's certificate and close its session"), (connection, id: string) =>
  revokeProbe(connection, id));
const probeFiles = probes.command("files").description("captures and transcripts that a probe has sent");
answering(probeFiles.command("list <probe>").description("list the files of a probe, by its id"), (connection, probe: string) =>
  listProbeFiles(connection, probe));
answering(
  probeFiles.command("download <probe> <file>").description("download a transcript of a probe; the audit log records it. Captures: lanthorn pcap get")
    .option("--out <file>", "the file to write; named after the probe's file if left out"),
  (connection, probe: string, file: string, options: { out?: string }) => downloadProbeFile(connection, probe, file, options),
);

const bundles = program.command("bundles").description("files that probes are given, as databases of fingerprints; the collector's machine publishes them");
answering(bundles.command("list").description("list the newest version of each"), (connection) => listBundles(connection));
answering(bundles.command("probes").description("list which version each probe uses, and why not the newest"), (connection) => listProbeBundles(connection));

const devices = program.command("devices").description("the devices that the probes found");
answering(
  devices.command("list").description("list the devices, all pages")
    .option("--site <site>", "of one site, by its name or id").option("--online", "only those online").option("--vendor <text>", "of a vendor")
    .option("--type <type>", "of a type: router,switch or !printer").option("--os <text>", "of an operating system")
    .option("--tag <tag>", "with a tag").option("--subnet <network>", "in a network, 10.0.0.0/24")
    .option("--open-port <port>", "with an open port; 22,443: either")
    .option("--search <text>", "by hostname, IP or MAC")
    .option("--filter <text>", "in the filter language: 'type:printer -tag:lab vendor:\"Cisco Systems\" cve:>=high seen:<7d'")
    .addOption(new Option("--sort <field>", "by a field; -field descends").choices(
      ["ip", "hostname", "last_seen", "vendor"].flatMap((field) => [field, `-${field}`]),
    ).default("ip")),
  async (connection, { site, online, type, openPort, ...same }: DeviceListOptions) =>
    listDevices(connection, { ...await siteFilter(connection.rest, site), is_online: online, device_type: type, open_port: openPort, ...same }),
);

answering(
  devices.command("facets").description("count the values of the devices that a filter leaves: types, vendors, tags, open ports …")
    .option("--site <site>", "of one site, by its name or id").option("--filter <text>", "in the filter language: 'type:printer -tag:lab'"),
  (connection, options: FacetOptions) => countDevices(connection, options),
);

answering(
  devices.command("change").description("change all devices that a filter leaves; without --expect, only say how many they are")
    .requiredOption("--filter <text>", "in the filter language: 'type:printer -tag:lab'")
    .option("--expect <count>", "how many they are to be: if another number matches, nothing is changed", (text) => parseCount(text, MAX_BULK, "--expect"))
    .option("--add-tag <tag...>", "tags that each gets").option("--remove-tag <tag...>", "tags that each loses")
    .option("--type <type>", "what kind of device each is").option("--vendor <text>", "who made each").option("--delete", "delete them"),
  (connection, options: DeviceChangeOptions) => changeDevices(connection, options),
);

answering(
  devices.command("show <device>").description("show everything about a device, given its address, hostname, MAC or id"),
  (connection, name: string) => showDevice(connection, name),
);

answering(
  program.command("scan <target>").description("scan a network, 10.0.0.0/24, with the site's probe")
    .addOption(new Option("--profile <profile>", "how thorough the scan is").choices(SCAN_PROFILE_NAMES).default("discovery"))
    .option("--site <site>", "the site's name or id, where there are several")
    .option("--watch", "wait until it has ended, and show the hosts that answered; Ctrl-C cancels the scan", false),
  (connection, target: string, options: ScanOptions) =>
    startScan(connection, target, options, { clock: systemClock, note, view: scanView, stopped: stopSignal }),
);

const scans = program.command("scans").description("the scans");
answering(
  scans.command("list").description("list the scans, the latest first").option("--site <site>", "of one site, by its name or id")
    .option("--status <status>", "queued, running, completed, failed, cancelled").option("--limit <count>", "at most this many", Number, 20),
  async (connection, options: { site?: string; status?: string; limit: number }) =>
    listScans(connection, { ...await siteFilter(connection.rest, options.site), status: options.status }, options.limit),
);
answering(scans.command("cancel <id>").description("cancel a scan; its results stay"), (connection, id: string) =>
  cancelScan(connection, id));

answering(
  program.command("topology").description("show the switch and port that each probe is connected to, by LLDP, CDP and similar")
    .option("--site <site>", "the site's name or id").option("--gone", "also neighbors that are gone", false),
  (connection, options: TopologyOptions) => showTopology(connection, options),
);

const keys = program.command("keys").description("API keys, for programs");
answering(
  keys.command("list").description("list the API keys: yours, or everybody's if you may read users"),
  (connection) => listKeys(connection),
);
answering(
  keys.command("create <name>").description("create an API key, which is shown only now")
    .requiredOption("--scope <scopes...>", "what it may do: devices:read, scans:write …")
    .option("--ttl <duration>", "how long it is valid: 90d; unlimited if left out"),
  (connection, name: string, options: KeyOptions) => createKey(connection, name, options, systemClock.now()),
);
answering(keys.command("revoke <id>").description("revoke an API key"), (connection, id: string) => revokeKey(connection, id));

const groupDeps = { answering, input, clock: systemClock };
addAlertCommands(program, groupDeps);
addWorkspaceCommands(program, groupDeps);
addAnomalyCommands(program, groupDeps);
addBackupCommands(program, groupDeps);
addVaultCommands(program, groupDeps);
addConfigCommands(program, groupDeps);
addIpamCommands(program, groupDeps);
addCveCommands(program, groupDeps);
addDnsCommands(program, groupDeps);
addIdsCommands(program, groupDeps);
addGuardCommands(program, groupDeps);
addHoneypotCommands(program, groupDeps);
addBaselineCommands(program, groupDeps);
addLicenseCommands(program, groupDeps);
addPcapCommands(program, {
  ...groupDeps, print, note, stopped: stopSignal, open: () => openConnection({ store, clock: systemClock }),
  readBytes: ({ session }, id, options) =>
    readPcapBytes({ url: session.url, token: () => session.access_token, fetch: createFetch(session.ca) }, id, options),
  output: (bytes) => new Promise((resolve, reject) => void process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))),
});

answering(
  program.command("users").description("the users").command("list").description("list the users"),
  (connection) => listUsers(connection),
);

program
  .command("watch")
  .description("print events as they happen")
  .option("--json", "one JSON frame a line", false)
  .option("--events <names...>", "only these events")
  .option("--site <site>", "only of one site, by its name or id")
  .option("--since <seq>", "start after this sequence number", Number)
  .action(async (options: WatchOptions) => {
    const connection = await openConnection({ store, clock: systemClock });
    const { ca } = connection.session;
    const reason = await watch(connection, options, {
      connect: (url) => new WebSocket(url, ca === null ? {} : { ca }), clock: systemClock, random: Math.random, print, note,
      stopped: stopSignal(),
    });
    if (reason !== "") throw new CliError("ended", reason);
    process.exit(0);
  });

try {
  await program.parseAsync();
} catch (error) {
  note(`lanthorn: ${explain(error)}`);
  process.exitCode = 1;
} finally {
  input.close();
}

/** Gives a command `--json`, the login, and a way to print its answer. */
function answering<A extends readonly unknown[]>(command: Command, run: (connection: Connection, ...args: A) => Promise<Answer>): void {
  command.option("--json", "print JSON for programs", false).action(async (...args: unknown[]) => {
    const answer = await run(await openConnection({ store, clock: systemClock }), ...(args.slice(0, -1) as unknown as A));
    print(formatAnswer(answer, command.opts<{ json: boolean }>().json, width, hasColors));
  });
}

function explain(error: unknown): string {
  if (!(error instanceof ClientError)) return describeError(error);
  if (isDistrust(error)) return `${describeError(error)}; trust the collector's own CA with --ca FILE (ca.crt in its data directory)`;
  const help = HELP[error.code];
  return help === undefined ? error.message : `${describeError(error)}; ${help}`;
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRestClient, type RestClient } from "@lanthorn/client";
import { REPOSITORY } from "../lab/lab-state.ts";
import { patientFetch } from "../lab/patient-fetch.ts";
import { type CommandResult, tryCommand } from "../lab/run-command.ts";
import { type Daemon, startDaemon } from "./daemon.ts";

/** Compiled entry points, as they are installed. */
export const COLLECTOR = join(REPOSITORY, "apps/collector/dist/main.js");
export const PROBE = join(REPOSITORY, "apps/probe/dist/main.js");
export const CLI = join(REPOSITORY, "apps/cli/dist/main.js");

/** How each daemon's installed command starts Node. */
export const NODE_SETTINGS = {
  "lanthorn-collector": { flags: ["--min-semi-space-size=16"], env: {} },
  "lanthorn-probe": { flags: ["--v8-pool-size=1"], env: { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "16384" } },
} as const;

/** A collector that runs, and a client that is logged in to it as admin. */
export interface Collector extends Daemon {
  readonly url: string;
  readonly httpsUrl: string;
  readonly dataDir: string;
  readonly passwordFile: string;
  readonly rest: RestClient;
  token(): string;
}

/**
 * Starts a collector and logs in.
 * @param options.host Where probes reach it: its HTTPS and MQTT listeners are bound there. HTTP is on loopback.
 * @param options.httpPort 0 for any free port.
 */
export async function startCollector(options: {
  readonly dataDir: string;
  readonly host: string;
  readonly httpPort?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Its configuration, in TOML. */
  readonly file?: string;
  /** A command that becomes the daemon; see `DaemonOptions`. */
  readonly through?: readonly string[];
}): Promise<Collector> {
  const daemon = await startDaemon({
    script: COLLECTOR,
    nodeFlags: NODE_SETTINGS["lanthorn-collector"].flags,
    args: ["run", ...(options.file === undefined ? [] : ["--config", options.file])],
    env: {
      LANTHORN_DATA_DIR: options.dataDir,
      LANTHORN_HTTP_PORT: String(options.httpPort ?? 0),
      LANTHORN_HTTPS_HOST: options.host,
      LANTHORN_HTTPS_PORT: "0",
      LANTHORN_MQTT_HOST: options.host,
      LANTHORN_MQTT_PORT: "0",
      // Nothing of a test reaches out to public servers.
      LANTHORN_FEEDS_ENABLED: "false",
      ...options.env,
    },
    logFile: join(options.dataDir, "collector.log"),
    ...(options.through === undefined ? {} : { through: options.through }),
  });
  const url = String(daemon.ready["url"]);
  const passwordFile = join(options.dataDir, "admin-password");
  let token = "";
  const rest = createRestClient({ url, token: () => token, fetch: patientFetch });
  const login = await rest.login({ username: "admin", password: options.env?.["LANTHORN_ADMIN_PASSWORD"] ?? readFileSync(passwordFile, "utf8").trim() });
  token = login.access_token;
  return { ...daemon, url, httpsUrl: String(daemon.ready["https_url"]), dataDir: options.dataDir, passwordFile, rest, token: () => token };
}

/** A probe's folder and the namespace that it lives in. */
export interface ProbeBox {
  readonly dataDir: string;
  readonly namespace?: string;
  /** A command that becomes the probe's; see `DaemonOptions`. */
  readonly through?: readonly string[];
}

/** Runs one of the probe's commands to its end. */
export function runProbeCommand(
  box: ProbeBox, args: readonly string[], env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const enter = box.namespace === undefined ? [] : ["ip", "netns", "exec", box.namespace];
  const [program = "", ...rest] = [...(box.through ?? []), ...enter, process.execPath, PROBE, ...args];
  return tryCommand(program, rest, { env: { LANTHORN_DATA_DIR: box.dataDir, ...env } });
}

/**
 * Makes a token for the collector's first site and enrolls a probe with it.
 * @throws Error with what the command said.
 */
export async function enrollProbe(collector: Collector, box: ProbeBox, name: string): Promise<{
  readonly siteId: string; readonly probeId: string;
}> {
  const sites = await collector.rest.listSites();
  const site = sites.data[0];
  if (!site) throw new Error("the collector has no site");
  const { token } = await collector.rest.createEnrollmentToken({ site_id: site.id });
  const result = await runProbeCommand(box, ["enroll", "--collector", collector.httpsUrl, "--token", token, "--name", name]);
  if (result.code !== 0) throw new Error(`enrollment ended with ${result.code}: ${result.stderr}`);
  const probes = await collector.rest.listProbes();
  const probe = probes.data.find((candidate) => candidate.name === name);
  if (!probe) throw new Error(`the collector does not list the probe ${name}`);
  return { siteId: site.id, probeId: probe.id };
}

/** Starts an enrolled probe. */
export function startProbe(
  box: ProbeBox,
  options: { readonly interface: string; readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> },
): Promise<Daemon> {
  return startDaemon({
    script: PROBE,
    nodeFlags: NODE_SETTINGS["lanthorn-probe"].flags,
    args: ["run", ...(options.args ?? [])],
    env: { ...NODE_SETTINGS["lanthorn-probe"].env, LANTHORN_DATA_DIR: box.dataDir, LANTHORN_INTERFACE: options.interface, ...options.env },
    ...(box.namespace === undefined ? {} : { namespace: box.namespace }),
    ...(box.through === undefined ? {} : { through: box.through }),
    logFile: join(box.dataDir, "probe.log"),
  });
}

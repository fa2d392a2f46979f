import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { waitFor } from "./wait-for.ts";

/** A broker as a process of its own. */
export interface Mosquitto {
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

/** @returns Mosquitto unpacked, or null where there is none to be had: that is said, for the tests that are left out. */
export async function findMosquitto(): Promise<DebianRoot | null> {
  try {
    return await unpackDebianPackages(["mosquitto"]);
  } catch (error) {
    console.warn(`SKIPPED: tests with an external broker need mosquitto, which cannot be fetched: ${String(error)}`);
    return null;
  }
}

/** Rules that keep a probe to its own topics, as apps/collector/src/broker/README.md has them. */
const RULES = [
  "user lanthorn-collector",
  "topic readwrite lanthorn/v1/#",
  ...["events", "status", "health", "replies"].map((channel) => `pattern write lanthorn/v1/+/%u/${channel}`),
  ...["acks", "commands", "config"].map((channel) => `pattern read lanthorn/v1/+/%u/${channel}`),
];

/**
 * Starts mosquitto on loopback with TLS and client certificates, and waits until it listens.
 * @param options.certificates Folder that `lanthorn-collector certificate` has written.
 */
export async function startMosquitto(
  root: DebianRoot,
  options: { readonly folder: string; readonly certificates: string; readonly port: number },
): Promise<Mosquitto> {
  const { folder, certificates, port } = options;
  mkdirSync(folder, { recursive: true });
  const files = { rules: join(folder, "rules"), configuration: join(folder, "mosquitto.conf") };
  writeFileSync(files.rules, `${RULES.join("\n")}\n`, { mode: 0o600 });
  writeFileSync(files.configuration, [
    // Otherwise it becomes a user who cannot read the key.
    "user root",
    `listener ${port} 127.0.0.1`,
    `cafile ${join(certificates, "ca-certificate.pem")}`,
    `certfile ${join(certificates, "broker.pem")}`,
    `keyfile ${join(certificates, "broker.key")}`,
    "require_certificate true",
    "use_identity_as_username true",
    "use_username_as_clientid true",
    "allow_anonymous false",
    "message_size_limit 1048576",
    `acl_file ${files.rules}`,
    "",
  ].join("\n"));
  const { path, env } = root.command("mosquitto");
  const log = openSync(join(folder, "mosquitto.log"), "a");
  const child = spawn("setpriv", ["--pdeathsig", "KILL", path, "-c", files.configuration], {
    env: { ...process.env, ...env }, stdio: ["ignore", log, log],
  });
  closeSync(log);
  const ended = once(child, "exit");
  await waitFor("mosquitto", 10_000, () => {
    if (child.exitCode !== null) throw new Error(`mosquitto ended with ${child.exitCode}; see ${folder}/mosquitto.log`);
    return canConnect(port);
  });
  return {
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function canConnect(port: number): Promise<true | null> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(null));
  });
}

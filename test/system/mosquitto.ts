import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { REPOSITORY } from "../lab/lab-state.ts";
import { waitFor } from "../lab/wait-for.ts";

/** A broker as a process of its own. */
export interface Mosquitto {
  readonly pid: number;
  /** Stops it where it is: it answers nothing and closes nothing. A kill ends it all the same. */
  pause(): void;
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

/** Where the shipped configuration looks for its files. */
const INSTALLED = "/etc/mosquitto/lanthorn";

/**
 * Starts mosquitto on loopback with the configuration and the rules that we ship in `systemd/`, and waits until it listens.
 * @param options.certificates Folder that `lanthorn-collector certificate` has written.
 */
export async function startMosquitto(
  root: DebianRoot,
  options: { readonly folder: string; readonly certificates: string; readonly port: number },
): Promise<Mosquitto> {
  const { folder, certificates, port } = options;
  mkdirSync(folder, { recursive: true });
  const rules = join(folder, "mosquitto.acl");
  writeFileSync(rules, readFileSync(join(REPOSITORY, "systemd/mosquitto.acl")), { mode: 0o600 });
  const configuration = join(folder, "mosquitto.conf");
  const shipped = readFileSync(join(REPOSITORY, "systemd/mosquitto.conf"), "utf8");
  writeFileSync(configuration, shipped
    // Otherwise it becomes a user who cannot read the key.
    .replace(/^listener 8883$/m, `user root\nlistener ${port} 127.0.0.1`)
    .replaceAll(`${INSTALLED}/mosquitto.acl`, rules)
    .replaceAll(/^(cafile|certfile|keyfile) \S+\/(\S+)$/gm, (_, key: string, name: string) => `${key} ${join(certificates, name)}`));
  const { path, env } = root.command("mosquitto");
  const log = openSync(join(folder, "mosquitto.log"), "a");
  const child = spawn("setpriv", ["--pdeathsig", "KILL", path, "-c", configuration], {
    env: { ...process.env, ...env }, stdio: ["ignore", log, log],
  });
  closeSync(log);
  const ended = once(child, "exit");
  await waitFor("mosquitto", () => {
    if (child.exitCode !== null) throw new Error(`mosquitto ended with ${child.exitCode}; see ${folder}/mosquitto.log`);
    return canConnect(port);
  });
  return {
    pid: child.pid ?? 0,
    pause: () => void child.kill("SIGSTOP"),
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

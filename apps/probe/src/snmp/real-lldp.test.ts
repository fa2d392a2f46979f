import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { bundleProgram } from "../../../../test/lab/bundle-program.ts";
import { unpackDebianPackages } from "../../../../test/lab/debian-packages.ts";
import { waitFor } from "../../../../test/lab/wait-for.ts";
import { whyNoNamespaces } from "../discover/testing/real-lan.ts";
import type { SwitchTables } from "./read-switch.ts";

const CHILD = fileURLToPath(new URL("testing/read-switch-child.ts", import.meta.url));
const reason = whyNoNamespaces();
if (reason) console.warn(`a switch's real tables: ${reason}`);

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close();
});

/**
 * lldpd serves the LLDP-MIB through snmpd by AgentX; a second lldpd is its neighbor. Both have a mount namespace with a /run of their own.
 */
async function startPair(): Promise<string> {
  const packages = await unpackDebianPackages(["snmpd", "lldpd"]);
  const folder = mkdtempSync(join(tmpdir(), "real-lldp-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const [here, there] = [`lsnmp${process.pid}a`, `lsnmp${process.pid}b`];
  for (const name of [here, there]) {
    execFileSync("ip", ["netns", "add", name]);
    closers.push(() => execFileSync("ip", ["netns", "del", name]));
    execFileSync("ip", ["-n", name, "link", "set", "lo", "up"]);
  }
  execFileSync("ip", [
    "-n", here, "link", "add", "port7", "address", "02:00:00:00:77:07", "type", "veth", "peer", "name", "up0",
    "address", "02:00:00:00:77:08", "netns", there,
  ]);
  execFileSync("ip", ["-n", here, "link", "set", "port7", "up"]);
  execFileSync("ip", ["-n", there, "link", "set", "up0", "up"]);
  writeFileSync(join(folder, "snmpd.conf"), "agentaddress udp:127.0.0.1:161\nrocommunity lan-secret 127.0.0.1\nsysName closet\n"
    + "master agentx\nagentXSocket tcp:127.0.0.1:705\n");
  writeFileSync(join(folder, "passwd"), "root:x:0:0::/:/bin/sh\n_lldpd:x:599:599::/run/lldpd:/bin/false\n");
  writeFileSync(join(folder, "group"), "root:x:0:\n_lldpd:x:599:\n");
  const run = (
    namespace: string, program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {},
  ): ChildProcess => {
    const { path, env } = packages.command(program);
    const own = join(folder, namespace);
    mkdirSync(own, { recursive: true });
    // lldpd gives its rights up to a user of its own, which this machine need not have.
    const script = `mount --bind ${folder}/passwd /etc/passwd && mount --bind ${folder}/group /etc/group && `
      + 'mount -t tmpfs none /run && mkdir -p /run/lldpd && exec "$@"';
    const child = spawn("ip", ["netns", "exec", namespace, "unshare", "--mount", "sh", "-c", script, "sh", path, ...args], {
      stdio: "ignore", detached: true, env: { ...process.env, ...env, SNMP_PERSISTENT_DIR: own, MIBS: "", ...environment },
    });
    closers.push(() => {
      try {
        process.kill(-(child.pid ?? 0), "SIGKILL");
      } catch {
        // It ended by itself.
      }
    });
    return child;
  };
  const client = ["-u", "/run/lldpd.socket", "-L", packages.command("lldpcli").path];
  run(here, "snmpd", ["-f", "-C", "-c", join(folder, "snmpd.conf"), "-Le"]);
  run(there, "lldpd", ["-d", ...client, "-S", "neighbor of the lab", "-I", "up0"]);
  run(here, "lldpd", ["-d", ...client, "-x", "-X", "tcp:127.0.0.1:705", "-I", "port7"]);
  return here;
}

describe.skipIf(reason !== null)("lldpd behind snmpd", () => {
  test("tells of its neighbor and the port that it is on", async () => {
    const namespace = await startPair();
    const read = () => {
      const node = [process.execPath, bundleProgram(CHILD)];
      return JSON.parse(
        execFileSync("ip", ["netns", "exec", namespace, ...node], { timeout: 300_000 }).toString(),
      ) as Pick<SwitchTables, "system" | "neighbors"> | null;
    };
    const tables = await waitFor("the neighbor in the LLDP-MIB", () => {
      const found = read();
      return found && found.neighbors.length > 0 ? found : null;
    });
    expect(tables.system.system_name).toBe("closet");
    expect(tables.neighbors).toMatchObject([{
      protocol: "lldp", port: "port7", port_id: "02:00:00:00:77:08", port_id_type: "mac", system_description: "neighbor of the lab",
    }]);
  });
});

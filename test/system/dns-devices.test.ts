import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSharing, everyone, SITE, siteFiles } from "../../apps/probe/src/dns-lists/testing/site-bundle.ts";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { runCommand, tryCommand } from "../lab/run-command.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { NODE_SETTINGS, PROBE } from "./deployment.ts";

const [SERVER, SERVER_IN_IPV6, GUESTS] = ["10.99.0.1", "fd00:99::1", "10.99.7.1"];
const TABLET = "02:00:00:00:00:07";
const NETWORK = `ip link set lo up
ip link add site type veth peer name client netns "$1"
ip address add ${SERVER}/24 dev site
ip address add ${GUESTS}/24 dev site
ip -6 address add ${SERVER_IN_IPV6}/64 dev site nodad
ip link set site up
echo ready
exec cat`;

describe.skipIf(!canMakeLabs())("policies for devices and VLANs", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-devices-"));
  const ends: (() => Promise<unknown>)[] = [];
  let packages: DebianRoot;
  let site: readonly string[];
  let client: readonly string[];
  let resolver: Daemon;

  /** Starts a network of its own. @returns What `nsenter` takes to go there. */
  async function network(...command: readonly string[]): Promise<readonly string[]> {
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "unshare", "--net", ...command], { stdio: ["pipe", "pipe", "inherit"] });
    const ended = once(child, "exit");
    ends.push(async () => {
      if (child.exitCode === null && child.kill("SIGKILL")) await ended;
    });
    await once(child.stdout, "data");
    return ["--target", String(child.pid), "--net"];
  }
  const inside = (place: readonly string[], ...command: readonly string[]) => runCommand("nsenter", [...place, ...command]);
  /** The client's only addresses. */
  const use = async (mac: string, ...addresses: readonly string[]) => {
    await inside(client, "ip", "link", "set", "client", "down");
    await inside(client, "ip", "address", "flush", "dev", "client");
    await inside(client, "ip", "link", "set", "client", "address", mac, "up");
    for (const address of addresses) await inside(client, "ip", "address", "add", address, "dev", "client", ...(address.includes(":") ? ["nodad"] : []));
  };
  const status = async (server: string) => {
    const { path, env } = packages.command("kdig");
    const args = [...client, "env", ...Object.entries(env).map(([key, value]) => `${key}=${value}`), path, `@${server}`, "ads.localhost", "+timeout=2", "+retry=0"];
    return /status: (\w+)/.exec((await tryCommand("nsenter", args)).stdout)?.[1] ?? "none";
  };

  beforeAll(async () => {
    packages = await unpackDebianPackages(["knot-dnsutils"]);
    client = await network("sh", "-c", "ip link set lo up; echo ready; exec cat");
    site = await network("sh", "-c", NETWORK, "sh", client[1] ?? "");
    const sharing = createSharing(folder);
    const id = "01939f6e-2a10-7c3e-8f00-000000000007";
    await sharing.leave(siteFiles({ ads: ["ads.localhost\n"] }, {
      policies: [{ ...everyone("ads"), id: "p2", answer: "refused", scope: { kind: "device", id } }, { ...everyone("ads"), id: "p3", answer: "nxdomain", scope: { kind: "vlan", vlan: 7 } }, { ...everyone() }],
      devices: [{ id, name: "tablet", groups: [], ips: ["10.99.0.50"], macs: [TABLET] }], vlans: [{ vlan: 7, network: "10.99.7.0/24" }], site_id: SITE,
    }));
    writeFileSync(join(folder, "dns.toml"), [
      `listen = ["${SERVER}", "${SERVER_IN_IPV6}", "${GUESTS}"]`, `collector_directory = "${sharing.directory}"`, "[[upstreams]]", 'address = "127.0.0.1"', "port = 5302", "",
    ].join("\n"));
    resolver = await startDaemon({
      script: PROBE, nodeFlags: NODE_SETTINGS["lanthorn-probe"].flags, args: ["resolver", "--config", join(folder, "dns.toml")], env: NODE_SETTINGS["lanthorn-probe"].env,
      through: ["nsenter", ...site], logFile: join(folder, "resolver.log"),
    });
  });

  afterAll(async () => {
    await resolver?.stop();
    for (const end of ends.toReversed()) await end();
    rmSync(folder, { recursive: true });
  });

  const until = (server: string, wanted: string) => waitFor(`${wanted} from ${server}`, async () => ((await status(server)) === wanted ? true : null));

  test("a device has its policy by its MAC address, with whatever address it asks, and nobody else with its address has", async () => {
    await use(TABLET, "10.99.0.8/24", "fd00:99::8/64");
    await until(SERVER, "REFUSED");
    await until(SERVER_IN_IPV6, "REFUSED");
    await use(TABLET, "10.99.0.9/24", "fd00:99::abcd/64");
    await until(SERVER, "REFUSED");
    await until(SERVER_IN_IPV6, "REFUSED");
    // Its address of before, which the collector still has.
    await use("02:00:00:00:00:99", "10.99.0.50/24");
    await until(SERVER, "NOERROR");
    expect(await status(SERVER)).toBe("NOERROR");
  });

  test("whoever asks from a network of a VLAN has its policy", async () => {
    await use("02:00:00:00:00:98", "10.99.7.5/24");
    await until(GUESTS, "NXDOMAIN");
  });
});

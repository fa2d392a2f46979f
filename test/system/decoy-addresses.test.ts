import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVENTS, type Honeypot } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTS, PROBE_BOX, SWITCH_BOX } from "../lab/host-plan.ts";
import { runCommand } from "../lab/run-command.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { PROBE } from "./deployment.ts";
import { openSite, type Site } from "./site.ts";

const [FREE, FREE6, MAC] = ["10.77.0.220", "fd4c:616e:7468:77::220", "00:11:32:15:00:01"];
const hostOf = (name: string) => HOSTS.find((host) => host.name === name) ?? { mac: "", addresses: [] };
const addressOf = (name: string, isV6 = false) => hostOf(name).addresses.find((address) => address.includes(":") === isV6)?.split("/")[0] ?? "";
/** The first line that FTP says at an address. */
const GREET = `const s = require("node:net").connect(21, process.argv[1]); s.once("data", (d) => { console.log(String(d).trim()); s.destroy(); }); s.on("error", (e) => console.log(e.code)); s.setTimeout(5000, () => { console.log("silent"); s.destroy(); });`;

describe.skipIf(!canMakeLabs())("addresses that decoys take for themselves", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-addresses-"));
  const [shared, runtime, file] = [join(folder, "shared"), join(folder, "run"), join(folder, "decoy.toml")];
  let site: Site;
  let [decoys, addresses]: (Daemon | null)[] = [null, null];
  const start = (command: string) => startDaemon({
    script: PROBE, args: [command, "--config", file], env: { STATE_DIRECTORY: join(folder, "state") }, namespace: site.lab.probe.namespace, logFile: join(folder, `${command}.log`),
  });

  beforeAll(async () => {
    for (const path of [shared, runtime]) mkdirSync(path);
    const decoy = (name: string, address: string, more = "") => `[[decoys]]\nname = "${name}"\npersona = "nas"\naddress = "${address}"\ninterface = "${PROBE_BOX.lanInterface}"\nservices = [{ service = "ftp", port = 21 }]\n${more}`;
    writeFileSync(file, [
      `data_dir = ${JSON.stringify(join(folder, "data"))}`, `link_directory = ${JSON.stringify(shared)}`, `addresses_directory = ${JSON.stringify(runtime)}`,
      decoy("files2", `${FREE}/24`, `mac = "${MAC}"`), decoy("files3", `${addressOf("printer")}/24`), decoy("files6", `${FREE6}/64`), decoy("web6", `${addressOf("web", true)}/64`), "",
    ].join("\n"));
    site = await openSite({ hosts: ["gateway", "laptop", "printer", "web"], events: ["honeypot_hit"], probeEnv: { LANTHORN_DECOY_DIRECTORY: shared } });
    addresses = await start("decoy-addresses");
    decoys = await start("decoy");
  });
  afterAll(async () => {
    await decoys?.kill();
    await addresses?.stop();
    await site?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const honeypot = async (name: string): Promise<Honeypot | undefined> => (await site.collector.rest.listHoneypots()).data.find((one) => one.name === name);
  const whenIs = (name: string, isSo: (own: NonNullable<Honeypot["own_address"]>) => boolean) => waitFor(`the address of ${name}`, async () => {
    const found = await honeypot(name);
    return found?.own_address && isSo(found.own_address) ? found : null;
  });
  const greet = async (from: string, address: string) => (await site.lab.exec(from, process.execPath, ["-e", GREET, address])).stdout.trim();
  const macOf = async (from: string, address: string) => / lladdr (\S+)/.exec((await site.lab.exec(from, "ip", ["neigh", "show", address])).stdout)?.[1] ?? null;
  const arping = (from: string, ...args: readonly string[]) => {
    const { path, env } = site.lab.packages.command("arping");
    return site.lab.exec(from, path, ["-I", "eth0", ...args], { env });
  };
  const linksOfDecoys = async () => (await site.lab.exec("probe", "ip", ["-br", "link", "show", "type", "macvlan"])).stdout.trim();

  test("are served with MAC addresses of their own, of both families; who comes is a hit, and a test says that it would alert", async () => {
    expect(await whenIs("files2", ({ state }) => state === "taken")).toMatchObject({ address: FREE, own_address: { interface: PROBE_BOX.lanInterface, mac: MAC, used_by: null, problem: null } });
    expect(await waitFor("the decoy to serve", async () => ((await honeypot("files2"))?.state === "serving" ? honeypot("files2") : null))).toMatchObject({ services: [{ service: "ftp", port: 21, problem: null }] });
    expect(await greet("laptop", FREE)).toMatch(/^220 files2/);
    expect(await macOf("laptop", FREE)).toBe(MAC);
    const six = await whenIs("files6", ({ state }) => state === "taken");
    await waitFor("the decoy of IPv6 to serve", async () => ((await honeypot("files6"))?.state === "serving") || null);
    expect(await greet("web", FREE6)).toMatch(/^220 files6/);
    expect(await macOf("web", FREE6)).toBe(six.own_address?.mac);
    const hit = await waitFor("the laptop's hit", () => site.frames.flatMap(({ event, data }) => (event === "honeypot_hit" ? [EVENTS.honeypot_hit.data.parse(data)] : [])).find(({ decoy }) => decoy === "files2") ?? null);
    expect(hit).toMatchObject({ destination_ip: FREE, destination_port: 21, service: "ftp" });
    await site.collector.rest.testHoneypot((await honeypot("files2"))?.id ?? "");
    expect(await waitFor("the test", async () => {
      const { test: tested } = (await honeypot("files2")) ?? {};
      return tested && tested.status !== "sent" ? tested : null;
    })).toMatchObject({ status: "done" });
  });

  test("have nothing of the machine's own: each MAC address answers for its own address alone", async () => {
    expect(new Set((await arping("laptop", "-c", "3", "-w", "3", FREE)).stdout.match(/\[([0-9A-F:]+)\]/g))).toEqual(new Set([`[${MAC.toUpperCase()}]`]));
    expect(new Set((await arping("laptop", "-c", "3", "-w", "3", PROBE_BOX.lanAddress)).stdout.match(/\[([0-9A-F:]+)\]/g))).toEqual(new Set([`[${PROBE_BOX.mac.toUpperCase()}]`]));
    const { path, env } = site.lab.packages.command("ping");
    const ping = async () => (await site.lab.exec("laptop", path, ["-c", "1", "-W", "2", PROBE_BOX.lanAddress], { env })).code;
    expect(await ping()).toBe(0);
    await site.lab.exec("laptop", "ip", ["neigh", "replace", PROBE_BOX.lanAddress, "lladdr", MAC, "dev", "eth0", "nud", "permanent"]);
    expect(await ping()).toBe(1);
    await site.lab.exec("laptop", "ip", ["neigh", "del", PROBE_BOX.lanAddress, "dev", "eth0"]);
  });

  test("are not taken where somebody has them, which is said; decoys become no devices, and whoever has the address stays one", async () => {
    const printer = await whenIs("files3", ({ state }) => state === "in_use");
    expect(printer).toMatchObject({ state: "failed", own_address: { used_by: hostOf("printer").mac, problem: expect.stringContaining(hostOf("printer").mac) as string } });
    expect((await whenIs("web6", ({ state }) => state === "in_use")).services[0]?.problem).toContain(addressOf("web", true));
    expect(await macOf("laptop", addressOf("printer"))).not.toBe(printer.own_address?.mac);
    const devices = await waitFor("the printer in the inventory", async () => {
      const { data } = await site.collector.rest.listDevices();
      return data.some(({ mac }) => mac === hostOf("printer").mac) ? data : null;
    });
    const own = ["files2", "files3", "files6", "web6"].map(async (name) => (await honeypot(name))?.own_address?.mac);
    expect(devices.filter(({ mac }) => mac === MAC)).toEqual([]);
    expect(new Set(await Promise.all(own)).size).toBe(4);
  });

  test("are given up as soon as their owner looks for them, who finds them free", async () => {
    expect((await arping("printer", "-D", "-c", "3", "-w", "4", FREE)).code).toBe(0);
    await site.lab.exec("printer", "ip", ["address", "add", `${FREE}/24`, "dev", "eth0"]);
    expect(await whenIs("files2", ({ state }) => state === "in_use")).toMatchObject({ state: "failed", own_address: { used_by: hostOf("printer").mac } });
    await site.lab.exec("laptop", "ip", ["neigh", "flush", "dev", "eth0"]);
    expect(await greet("laptop", FREE)).toBe("ECONNREFUSED");
    expect(await macOf("laptop", FREE)).toBe(hostOf("printer").mac);
    await site.lab.exec("printer", "ip", ["address", "del", `${FREE}/24`, "dev", "eth0"]);
  });

  test("whose MAC addresses the switch refuses are said to be out of reach, by the probe itself too", async () => {
    const fdb = (await site.lab.exec("switch", "bridge", ["fdb", "show", "br", SWITCH_BOX.bridge])).stdout;
    const port = new RegExp(`^${PROBE_BOX.mac} dev (\\S+)`, "m").exec(fdb)?.[1] ?? "";
    await addresses?.stop();
    expect(await linksOfDecoys()).toBe("");
    // Those that it has learned are let through.
    await site.lab.exec("switch", "ip", ["link", "set", "dev", port, "type", "bridge_slave", "fdb_flush"]);
    await site.lab.exec("switch", "bridge", ["fdb", "replace", PROBE_BOX.mac, "dev", port, "master", "static"]);
    expect(await site.lab.exec("switch", "bridge", ["link", "set", "dev", port, "locked", "on", "learning", "off"])).toMatchObject({ code: 0 });
    addresses = await start("decoy-addresses");
    const refused = await whenIs("files2", ({ is_mac_refused: isRefused }) => isRefused === true);
    expect(refused).toMatchObject({ state: "failed", own_address: { state: "taken", problem: expect.stringContaining(MAC) as string } });
    expect(await whenIs("files3", ({ state }) => state === "in_use")).toMatchObject({ own_address: { used_by: hostOf("printer").mac } });
    const status = await runCommand(process.execPath, [PROBE, "status"], { env: { LANTHORN_DATA_DIR: site.box.dataDir } });
    expect(status).toMatch(new RegExp(`files2 at ${FREE} \\(${MAC} on ${PROBE_BOX.lanInterface}\\): 0 of 1 services; neighbors answer`));
  });

  test("leave nothing behind, killed or not", async () => {
    await addresses?.kill();
    expect((await linksOfDecoys()).split("\n")).toHaveLength(4);
    addresses = await start("decoy-addresses");
    await addresses.stop();
    expect(await linksOfDecoys()).toBe("");
    const rules = await site.lab.exec("probe", "ip", ["rule", "show"]);
    expect(rules.stdout).not.toContain(FREE);
    expect((await waitFor("the decoy without its address", async () => ((await honeypot("files2"))?.own_address === null ? honeypot("files2") : null)))?.services[0]?.problem).toContain("lanthorn-decoy-addresses");
  });
});

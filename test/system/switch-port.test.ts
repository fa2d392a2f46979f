import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { DeviceProfile, Topology } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpackDebianPackages } from "../lab/debian-packages.ts";
import { FLOOR_SWITCH } from "../lab/floor-switch.ts";
import { SWITCH_BOX } from "../lab/host-plan.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { createOperator, type Operator } from "./operator.ts";
import { openSite, type Site } from "./site.ts";
import { startSwitchAgent, type SwitchAgent } from "./switch-agent.ts";

const SECRETS = { community: "floor-2-alone", auth: "authentic-enough", privacy: "private-enough", wrong: "wrong-by-a-letter" } as const;
/** The switch's own address, which its LLDP announces. */
const CORE = "10.77.0.2";
/** Datagrams that ask for an SNMPv3 engine: an agent behind this knows no version 3, as most cheap ones. */
const NO_VERSION_3 = "table inet cheap { chain in { type filter hook input priority 0; udp dport 161 @th,80,24 0x020103 drop; }; }";

const [DESK_1, DESK_2] = FLOOR_SWITCH.desks;
/** The lab's cables. `build` speaks LLDP itself. */
const ACCESS = ["access core port2 gateway bridge", "access core port3 web bridge", "access core port4 build lldp"] as const;
const FLOOR = [`access floor desk1 ${DESK_1.address} bridge`, `access floor desk2 ${DESK_2.address} bridge`] as const;
const CABLE = "uplink core port5 floor lldp";
const PROBE = "probe probe lan0 core lldp,cdp";

describe.skipIf(!canMakeLabs())("a probe that is given SNMP credentials for two switches", () => {
  let site: Site;
  let operator: Operator;
  let core: SwitchAgent | undefined;
  let floor: SwitchAgent | undefined;

  beforeAll(async () => {
    site = await openSite({ hosts: ["gateway", "web", "build", FLOOR_SWITCH.name] });
    const { lab, collector } = site;
    await lab.exec("switch", "ip", ["addr", "add", `${CORE}/24`, "dev", SWITCH_BOX.bridge]);
    core = await startSwitchAgent(lab, "switch", {
      bridge: SWITCH_BOX.bridge, name: "core", description: "Core switch of the lab",
      access: [`createUser lanthorn SHA-256 ${SECRETS.auth} AES ${SECRETS.privacy}`, "rouser lanthorn priv"],
    });
    floor = await startSwitchAgent(lab, FLOOR_SWITCH.name, {
      bridge: "floor", name: "floor-2", description: "Floor switch of the lab", access: [`rocommunity ${SECRETS.community} default`],
    });
    const nft = (await unpackDebianPackages(["nftables"])).command("nft");
    expect(await lab.exec(FLOOR_SWITCH.name, nft.path, [NO_VERSION_3], { env: nft.env })).toMatchObject({ code: 0 });
    operator = createOperator(join(site.box.dataDir, "session.json"));
    await cli("login", "--url", collector.url, "--password-file", collector.passwordFile);
  });

  afterAll(async () => {
    for (const agent of [core, floor]) await agent?.close();
    await site?.close();
  });

  async function cli(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await operator.run(...args);
    expect([args, code, stderr]).toEqual([args, 0, ""]);
    return stdout;
  }
  const secret = (name: keyof typeof SECRETS) => {
    const file = join(site.box.dataDir, name);
    writeFileSync(file, `${SECRETS[name]}\n`);
    return file;
  };
  /** Cables in words; the two switches by short names, as what names them changes while they become known. */
  const drawn = ({ nodes, edges }: Topology) => {
    const nameOf = (id: string) => {
      const { kind, mac, name } = nodes.find((one) => one.id === id) ?? { kind: "", mac: "", name: "" };
      const known: Readonly<Record<string, string>> = { [SWITCH_BOX.mac]: "core", [FLOOR_SWITCH.mac]: "floor" };
      return kind === "probe" ? "probe" : known[mac] ?? name.replace(".lab.test", "");
    };
    return edges.filter(({ state }) => state === "up")
      .map(({ kind, source, source_port: port, target, protocols }) =>
        [kind, nameOf(source), port, nameOf(target), protocols.join()].join(" "));
  };
  const cables = (...expected: readonly string[]) => waitFor(`the cables ${expected.join("; ")}`, async () => {
    const topology = await site.collector.rest.readTopology();
    expect(drawn(topology).toSorted()).toEqual(expected.toSorted());
    return topology;
  }, { everyMs: 1000 });
  /** How often an agent was asked. */
  const asked = (agent: SwitchAgent | undefined) => agent?.said().split("Received SNMP packet").length ?? 0;
  const alerts = async (status: string) => {
    const { data } = await site.collector.rest.listAlerts({ status });
    return data.filter(({ type }) => type === "switch_unreadable");
  };

  test("draws which host is on which port of which switch", async () => {
    await cli(
      "vault", "create", "core", "--type", "snmpv3", "--username", "lanthorn", "--site", "default", "--network", CORE, "--auth-password-file", secret("auth"),
      "--privacy-password-file", secret("privacy"),
    );
    await cli(
      "vault", "create", "floor", "--type", "snmp", "--site", "default", "--network", FLOOR_SWITCH.address, "--community-file",
      secret("community"),
    );
    const { edges, nodes, notes } = await cables(PROBE, CABLE, ...ACCESS, ...FLOOR);
    const uplink = edges.find(({ kind }) => kind === "uplink");
    expect([uplink?.target_port_names, uplink?.matched_by, notes]).toMatchObject([
      [{ protocol: "lldp", port_id: FLOOR_SWITCH.mac, port_description: FLOOR_SWITCH.uplink }], "chassis-mac", [],
    ]);
    expect(nodes.filter(({ kind }) => kind === "neighbor")).toEqual([]);
  });

  test("says of each device which port it is on, and an operator reads it at a terminal", async () => {
    const { rest } = site.collector;
    const device = (await rest.listDevices()).data.find(({ ip }) => ip === DESK_2.address);
    expect((await rest.readDevice(device?.id ?? "")).neighbors).toMatchObject([
      { protocol: "bridge", system_name: expect.stringMatching(/^floor-(2|switch)/), port_id: DESK_2.port, state: "up" },
    ]);
    const shown = await cli("devices", "show", DESK_2.address);
    expect(shown).toMatch(/^neighbors\nPROTOCOL +SYSTEM +PORT *\nbridge +floor-\S+ +desk2 *$/m);
    const lines = (await cli("topology")).split("\n");
    expect(lines.filter((line) => /^up +uplink +\S+ +port5 +floor-\S+ /.test(line))).toHaveLength(1);
    expect(lines.filter((line) => new RegExp(`^up +access +floor-\\S+ +desk1 +${DESK_1.address} `).test(line))).toHaveLength(1);
  });

  test("names in a scan what is silent to everybody else, and what speaks version 3", async () => {
    const { rest } = site.collector;
    // A scan's own questions find nothing at the first one's port: they are a stranger's.
    const agents = [[FLOOR_SWITCH.address, "Floor switch of the lab", 0], [CORE, "Core switch of the lab", 1]] as const;
    for (const [target, description, open] of agents) {
      const scan = await rest.startScan({ target, profile: "standard", site_id: site.siteId });
      await waitFor(
        "the scan's end", async () => ((await rest.readScan(scan.id)).status === "completed" ? true : null), { everyMs: 500 },
      );
      expect((await rest.listScanResults(scan.id)).data.map(({ port_counts: counts }) => counts?.udp.open)).toEqual([open]);
      const device = await waitFor("what the agent is", async () => {
        const { data } = await rest.listDevices();
        const profile: DeviceProfile = await rest.readDevice(data.find(({ ip }) => ip === target)?.id ?? "");
        return profile.ports.some(({ port, service }) => port === 161 && service === "snmp") ? profile : null;
      });
      const port = device.ports.find((one) => one.port === 161);
      expect(port).toMatchObject({ protocol: "udp", state: "open", service: "snmp", version: expect.stringMatching(/^net-snmp \d/) });
      expect(port?.banner).toContain(description);
    }
  });

  test("tells once when a switch refuses its credential, does not try on, and is well when it is given the right one", async () => {
    await cli("vault", "update", "core", "--auth-password-file", secret("wrong"), "--privacy-password-file", secret("privacy"));
    const [alert, ...others] = await waitFor("the alert", async () => {
      const open = await alerts("open");
      return open.length > 0 ? open : null;
    });
    expect([alert, others]).toMatchObject([{
      title: `${CORE} cannot be read by SNMP`, description: expect.stringContaining("core: the password is wrong"), device_ip: CORE,
      count: 1,
    }, []]);
    expect(await cli("alerts", "list")).toContain(`${CORE} cannot be read by SNMP`);
    const [before, beside] = [asked(core), asked(floor)];
    // Another credential changes, and the next round begins: who refuses is not asked in it.
    await cli("vault", "update", "floor", "--name", "floor, read only");
    await waitFor("the next round", () => (asked(floor) > beside + 5 ? true : null));
    expect([asked(core), (await alerts("open")).map(({ count }) => count)]).toEqual([before, [1]]);
    await cli("vault", "update", "core", "--auth-password-file", secret("auth"), "--privacy-password-file", secret("privacy"));
    await waitFor("the alert's end", async () => ((await alerts("open")).length === 0 ? true : null));
    expect(await alerts("resolved")).toHaveLength(1);
    await cables(PROBE, CABLE, ...ACCESS, ...FLOOR);
  });

  test("asks nothing more when the credential is deleted, and keeps none of its ports", async () => {
    await cli("vault", "delete", "floor, read only");
    await cables(PROBE, CABLE, ...ACCESS);
    const [before, beside] = [asked(floor), asked(core)];
    await cli("vault", "update", "core", "--name", "core, read only");
    await waitFor("the next round", () => (asked(core) > beside + 5 ? true : null));
    expect([asked(floor), await alerts("open")]).toEqual([before, []]);
  });

  test("writes no secret to a log, an event or a disk", async () => {
    await site.probe().stop();
    const folders = [site.box.dataDir, site.collector.dataDir];
    const entries = folders.flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }));
    const files = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
    const ours = new Set(Object.keys(SECRETS).map((name) => join(site.box.dataDir, name)));
    const leaking = files.filter((file) => !ours.has(file)).filter((file) => {
      const bytes = readFileSync(file);
      return Object.values(SECRETS).some((text) => bytes.includes(text));
    });
    expect(leaking).toEqual([]);
    const names = files.map((file) => basename(file));
    expect(names).toEqual(expect.arrayContaining(["probe.log", "probe.db", "collector.log", "lanthorn.db"]));
    expect(JSON.stringify(site.frames)).not.toMatch(new RegExp(Object.values(SECRETS).join("|")));
  });
});

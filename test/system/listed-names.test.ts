import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVENTS, type EventData } from "@lanthorn/contract";
import { alertIdOf } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LAN, PROBE_BOX } from "../lab/host-plan.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { PROBE } from "./deployment.ts";
import { openSite, type Site } from "./site.ts";

const NAME = "download.bad.example";
/** Asks the probe's box so often for a name and prints how many answers said that it is not there. */
const ASK = `const { Resolver } = require("node:dns").promises; const [name, times] = process.argv.slice(1); const r = new Resolver({ timeout: 5000, tries: 3 }); r.setServers(["${PROBE_BOX.lanAddress}"]);
(async () => { let missing = 0; for (let left = Number(times); left > 0; left -= 1) await r.resolve4(name).catch((error) => (missing += error.code === "ENOTFOUND" ? 1 : 0)); console.log(missing); })()`;

describe.skipIf(!canMakeLabs())("names of malware that a device asks the resolver for", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-listed-"));
  const shared = join(folder, "shared");
  let site: Site;
  let resolver: Daemon | null = null;
  const startResolver = async () => {
    resolver = await startDaemon({
      script: PROBE, args: ["resolver", "--config", join(folder, "dns.toml")], env: {}, namespace: site.lab.probe.namespace, logFile: join(folder, "resolver.log"),
    });
  };

  beforeAll(async () => {
    mkdirSync(shared);
    writeFileSync(join(folder, "bad.txt"), "||bad.example^\n");
    writeFileSync(join(folder, "ads.txt"), "||ads.example^\n");
    writeFileSync(join(folder, "dns.toml"), [
      `listen = ["${PROBE_BOX.lanAddress}"]`, "queries_per_second = 10000", 'queries = { report = "all" }', `collector_directory = ${JSON.stringify(shared)}`, `[[upstreams]]\naddress = "${LAN.dnsServer}"`,
      `[[lists]]\nname = "Bad names"\ncategory = "malware"\nfile = ${JSON.stringify(join(folder, "bad.txt"))}`, `[[lists]]\nname = "Ads"\ncategory = "advertising"\nfile = ${JSON.stringify(join(folder, "ads.txt"))}\n`,
    ].join("\n"));
    site = await openSite({ hosts: ["gateway", "laptop"], events: ["dns_threat"], probeEnv: { LANTHORN_DNS_DIRECTORY: shared }, probeToml: "[health]\ninterval_seconds = 5\n" });
    await startResolver();
  });
  afterAll(async () => {
    await resolver?.kill();
    await site?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (name: string, times = 1) => Number((await site.lab.exec("laptop", process.execPath, ["-e", ASK, name, String(times)])).stdout);
  const threats = (): readonly EventData<"dns_threat">[] => site.frames.flatMap(({ event, data }) => (event === "dns_threat" ? [EVENTS.dns_threat.data.parse(data)] : []));
  const health = async () => (await site.collector.rest.listProbes()).data[0]?.health?.resolver ?? null;
  const alerts = async () => (await site.collector.rest.listAlerts({ source: "dns" })).data;

  test("are one event and one alert with the device, a thousand times over; advertising is none", async () => {
    await waitFor("the laptop in the inventory", async () => (await ask("first.example") >= 0 && (await site.collector.rest.listDevices()).data.some(({ hostname }) => hostname !== null)) || null);
    await waitFor("the lists", async () => (await ask(NAME) === 1 && ((await health())?.blocked ?? 0) > 0) || null);
    expect(await ask("ads.example", 20)).toBe(20);
    const first = await waitFor("the event", () => threats()[0] ?? null);
    expect(first).toMatchObject({
      mode: "resolver", campaign: "Bad names", category: "malware", severity: "high", action: "blocked", feed: "Bad names", lists: ["Bad names"], policy: "everyone", query_type: "A", state: "seen", blocked_record: null,
    });
    expect(first.client_mac).not.toBe("");
    const alert = await waitFor("its alert", async () => (await alerts()).find(({ id }) => id === alertIdOf(site.probeId, first.incident_id ?? "")) ?? null);
    expect(alert).toMatchObject({ type: "dns_threat", status: "open", severity: "high", device_ip: first.client_ip });
    expect(alert.device_id).not.toBeNull();
    expect(await ask(NAME, 1000)).toBe(1000);
    await waitFor("the resolver's counts", async () => ((await health())?.blocked ?? 0) >= 1020 || null);
    expect([threats().length, (await alerts()).length]).toEqual([1, 1]);
    const ads = await waitFor("what was asked, at the collector", async () => {
      const { data } = await site.collector.rest.listDnsQueries({ name: "ads.example" });
      return data.reduce((sum, { times }) => sum + times, 0) >= 20 ? data : null;
    });
    expect(ads[0]).toMatchObject({ client_ip: first.client_ip, device_id: alert.device_id, name: "ads.example", type: "A", action: "blocked", list: "Ads" });
    const asked = await waitFor("all that was asked", async () => {
      const stats = await site.collector.rest.readDnsStats();
      return stats.blocked >= 1020 ? stats : null;
    });
    expect(asked).toMatchObject({ levels: [{ site_id: site.siteId, level: "all" }], top_blocked: [{ name: NAME }, { name: "ads.example" }], top_clients: [{ client_ip: first.client_ip, device_id: alert.device_id }] });
  });

  test("come again through kills of either side, and what is written to the socket by somebody else does no harm", async () => {
    await site.probe().kill();
    expect(await ask("other.bad.example", 5)).toBe(5);
    await site.startProbe();
    await waitFor("the resolver at the daemon", async () => ((await health())?.queries ?? 0) > 0 || null);
    await resolver?.kill();
    await startResolver();
    await waitFor("its lists", async () => (await ask("third.bad.example") === 1) || null);
    await waitFor("the new resolver at the daemon", async () => ((await health())?.blocked ?? 1000) < 1000 || null);
    for (const bytes of [Buffer.alloc(64, 0xff), Buffer.from("GET / HTTP/1.1\r\n\r\n")]) {
      const socket = connect(join(shared, "link"));
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(bytes);
      await once(socket, "close");
    }
    expect(existsSync(join(shared, "link"))).toBe(true);
    expect((await alerts()).length).toBe(1);
    expect(new Set(threats().map(({ incident_id: id }) => id)).size).toBe(1);
  });
});

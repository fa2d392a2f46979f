import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HARD_HOSTS } from "../lab/hard-hosts.ts";
import { HOSTS, LAN } from "../lab/host-plan.ts";
import { NATURES } from "../lab/natures.ts";
import { SERVICE_HOSTS } from "../lab/service-hosts.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { openSite, type Site } from "./site.ts";

const ALL_HOSTS = [...HOSTS, ...SERVICE_HOSTS, ...HARD_HOSTS];
/** What they show is on machines of more than one kind: a shell, a web server, a screen or nothing, and no maker or name that tells. */
const UNTOLD: ReadonlySet<string> = new Set([
  "lighttpd", "secure", "board", "dropping", "rejecting", "limiting", "everywhere", "terminal", "spooler", "clock", "voice", "position",
  "office", "firewall",
]);
const MAX_UNKNOWN = 0.25;
const LOOKS_A_SCAN = 30;

const natureOf = (name: string) => NATURES[name]?.deviceType;
const TOLD: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  ALL_HOSTS.filter(({ name }) => !UNTOLD.has(name)).map(({ name }) => [name, natureOf(name)]),
);

describe.skipIf(!canMakeLabs())("a scan of the profile standard", () => {
  let site: Site;
  let types: Readonly<Record<string, string>> = {};

  const readTypes = async () => {
    const { data } = await site.collector.rest.listDevices({ per_page: 1000 });
    const named = data.flatMap(({ mac, device_type: type }) =>
      ALL_HOSTS.filter((host) => host.mac === mac).map(({ name }) => [name, type] as const));
    return Object.fromEntries(named);
  };

  const scan = async () => {
    const { rest } = site.collector;
    const { id } = await waitFor(
      "a probe that takes orders", () => rest.startScan({ target: LAN.subnet, profile: "standard", site_id: site.siteId }),
      { everyMs: 1000 },
    );
    await waitFor("the scan's end", async () => ((await rest.readScan(id)).status === "completed" ? true : null), { everyMs: 2000 });
  };

  beforeAll(async () => {
    site = await openSite({ large: true });
    await scan();
    let looks = 0;
    await waitFor("what everybody is", async () => {
      types = await readTypes();
      if (Object.entries(TOLD).every(([name, type]) => types[name] === type)) return true;
      looks += 1;
      // On a machine that is busy a host may answer too late: the next scan hears it.
      if (looks % LOOKS_A_SCAN === 0) await scan();
      return null;
    }, { everyMs: 2000 }).catch(() => undefined);
  });

  afterAll(() => site?.close());

  test("tells what each host is that shows it, and of no other anything wrong", () => {
    expect(types).toMatchObject(TOLD);
    expect(Object.keys(types).toSorted()).toEqual(ALL_HOSTS.map(({ name }) => name).toSorted());
    const wrong = Object.entries(types).filter(([name, type]) => type !== "unknown" && type !== natureOf(name));
    expect(wrong).toEqual([]);
    const unknown = Object.values(types).filter((type) => type === "unknown");
    expect(unknown.length / ALL_HOSTS.length).toBeLessThanOrEqual(MAX_UNKNOWN);
  });

  test("keeps every port that it finds at the device, although the probe has met it only now", async () => {
    const { rest } = site.collector;
    const { data: [scan] } = await rest.listScans({ per_page: 1 });
    const { data: hosts } = await rest.listScanResults(scan?.id ?? "", { per_page: 1000 });
    const found = hosts.flatMap(({ mac, ports }) => ports.map(({ port, protocol }) => `${mac} ${port}/${protocol}`));
    const { data: devices } = await rest.listDevices({ per_page: 1000 });
    const kept = new Set<string>();
    for (const device of devices.filter(({ open_ports: open }) => open.length > 0)) {
      const { ports } = await rest.readDevice(device.id);
      for (const { port, protocol } of ports) kept.add(`${device.mac} ${port}/${protocol}`);
    }
    expect(found.filter((port) => !kept.has(port))).toEqual([]);
    expect(found.length).toBeGreaterThan(90);
  });

  test("tells a host's system, maker and model with how sure that is, and by whose word", async () => {
    const { rest } = site.collector;
    const { data } = await rest.listDevices({ per_page: 1000 });
    const read = (name: string) => rest.readDevice(data.find(({ mac }) => mac === HOSTS.find((host) => host.name === name)?.mac)?.id ?? "");
    const printer = await read("printer");
    expect(printer).toMatchObject({
      vendor: "Brother industries, LTD.", os_guess: "Linux", verdicts: { model: { value: "NC-8300w" }, device_type: { value: "printer" } },
    });
    expect(printer.verdicts.device_type?.sources).toEqual(
      expect.arrayContaining(["snmp-description:161", "http-title:80", "oui", "hostname"]),
    );
    expect(printer.verdicts.device_type?.confidence).toBeGreaterThan(0.95);
    expect(printer.evidence["os"]?.map(({ source }) => source)).toEqual(expect.arrayContaining(["tcp:syn-ack", "snmp-object:161"]));
    expect((await read("web")).os_guess).toMatch(/^Debian \d+$/);
    expect((await read("gateway")).verdicts.device_type?.sources).toContain("gateway");
  });

  test("tells which software answers and runs, with who made and who built it", async () => {
    const { rest } = site.collector;
    const { data } = await rest.listDevices({ per_page: 1000 });
    const read = (name: string) => rest.readDevice(data.find(({ mac }) => mac === ALL_HOSTS.find((host) => host.name === name)?.mac)?.id ?? "");
    const at = async (name: string, port: number) => (await read(name)).ports.find((one) => one.port === port)?.software;
    const debian = expect.stringMatching(/^Debian(?: \d+)?$/) as string;
    const numbers = expect.stringMatching(/^\d+(?:\.\d+)+/) as string;
    expect(await at("gateway", 22)).toMatchObject({
      vendor: "OpenBSD", product: "OpenSSH", version: expect.stringMatching(/^\d+\.\d+p\d+$/) as string, distribution: debian,
      package_version: expect.stringMatching(/^1:\d+\.\d+p\d+-\d/) as string, cpe: expect.stringMatching(/^cpe:2\.3:a:openbsd:openssh:\d/) as string,
    });
    expect(await at("gateway", 53)).toMatchObject({ vendor: "thekelleys", product: "dnsmasq", version: numbers });
    expect(await at("web", 80)).toMatchObject({ vendor: "F5", product: "nginx", version: numbers, cpe: expect.stringMatching(/^cpe:2\.3:a:f5:nginx:\d/) as string });
    expect(await at("apache", 80)).toMatchObject({ vendor: "Apache", product: "Apache httpd", version: numbers, distribution: debian });
    expect(await at("ftp", 21)).toMatchObject({ product: "vsftpd", version: numbers });
    expect(await at("mail", 25)).toMatchObject({ vendor: "Exim", product: "Exim smtpd", version: numbers });
    expect(await at("mariadb", 3306)).toMatchObject({
      vendor: "MariaDB", product: "MariaDB", version: numbers, distribution: debian, package_version: expect.stringMatching(/^1:\d/) as string,
    });
    const systems = (await read("gateway")).software;
    expect(systems).toMatchObject([{ vendor: "Debian", product: "Debian", cpe: expect.stringMatching(/^cpe:2\.3:o:debian:debian_linux:/) as string, sources: expect.arrayContaining(["ssh:22"]) as string[] }]);
    expect((await read("printer")).software.map(({ product }) => product)).toContain("NC-8300w firmware");
  });
});

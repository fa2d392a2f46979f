import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTS, LAN } from "../lab/host-plan.ts";
import { NATURES } from "../lab/natures.ts";
import { SERVICE_HOSTS } from "../lab/service-hosts.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { openSite, type Site } from "./site.ts";

/** Hosts of the larger lab whose services alone tell what they are. */
const TOLD_BY_SERVICES = {
  mail: "server", mariadb: "server", postgres: "server", files: "server", directory: "server", proxy: "server", media: "server",
  kdc: "server", desktop: "workstation", plc: "iot", bmc: "server",
} as const;
/** What is not a server among the other hosts of the larger lab, if anything. */
const NO_SERVERS: Readonly<Record<string, string>> = {
  board: "iot", telephony: "phone", voice: "phone", spooler: "printer", terminal: "workstation",
};

const ALL_HOSTS = [...HOSTS, ...SERVICE_HOSTS];
const EXPECTED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(NATURES).map(([name, { deviceType }]) => [name, deviceType])), ...TOLD_BY_SERVICES,
};

describe.skipIf(!canMakeLabs())("a scan of the profile standard", () => {
  let site: Site;
  let types: Readonly<Record<string, string>> = {};

  const readTypes = async () => {
    const { data } = await site.collector.rest.listDevices({ per_page: 1000 });
    const named = data.flatMap(({ mac, device_type: type }) =>
      ALL_HOSTS.filter((host) => host.mac === mac).map(({ name }) => [name, type] as const));
    return Object.fromEntries(named);
  };

  beforeAll(async () => {
    site = await openSite({ large: true });
    const { rest } = site.collector;
    const scan = await waitFor(
      "a probe that takes orders", 30_000, () => rest.startScan({ target: LAN.subnet, profile: "standard", site_id: site.siteId }),
      { everyMs: 1000 },
    );
    await waitFor(
      "the scan's end", 240_000, async () => ((await rest.readScan(scan.id)).status === "completed" ? true : null), { everyMs: 2000 },
    );
    await waitFor("what everybody is", 60_000, async () => {
      types = await readTypes();
      return Object.entries(EXPECTED).every(([name, type]) => types[name] === type) ? true : null;
    }, { everyMs: 2000 }).catch(() => undefined);
  }, 500_000);

  afterAll(() => site?.close(), 60_000);

  test("tells what each host is that shows it, and of no other anything wrong", () => {
    expect(types).toMatchObject(EXPECTED);
    const wrong = Object.entries(types).filter(([name, type]) => {
      if (type === "unknown" || Object.hasOwn(EXPECTED, name)) return false;
      return HOSTS.some((host) => host.name === name) || type !== (NO_SERVERS[name] ?? "server");
    });
    expect(wrong).toEqual([]);
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
});

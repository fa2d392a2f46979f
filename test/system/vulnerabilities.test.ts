import type { DeviceProfile } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTS, LAN } from "../lab/host-plan.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { importFeeds, nvdFile, nvdRecord } from "./feeds.ts";
import { openSite, type Site } from "./site.ts";

const [PATCHED, EXPLOITED, OF_NAMES, OF_WEB, OLD] = ["CVE-2020-1001", "CVE-2020-1002", "CVE-2020-1003", "CVE-2020-1004", "CVE-2020-1005"];

describe.skipIf(!canMakeLabs())("services that a probe has found, and a CVE database that names them", () => {
  let site: Site;

  beforeAll(async () => {
    site = await openSite({ hosts: ["gateway", "web"] });
    const { rest } = site.collector;
    const scan = await waitFor(
      "a probe that takes orders", () => rest.startScan({ target: LAN.subnet, profile: "standard", site_id: site.siteId }).catch(() => null), { everyMs: 1000 },
    );
    await waitFor("the scan's end", async () => ((await rest.readScan(scan.id)).status === "completed" ? true : null), { everyMs: 1000 });
  });

  afterAll(() => site?.close());

  /** The profile of a host, once it is known what answers at a port. */
  const profileOf = (name: string, port: number) =>
    waitFor(`the software of ${name}`, async () => {
      const { data } = await site.collector.rest.listDevices();
      const id = data.find(({ mac }) => mac === HOSTS.find((host) => host.name === name)?.mac)?.id;
      const profile: DeviceProfile | null = id === undefined ? null : await site.collector.rest.readDevice(id);
      return profile?.ports.some((one) => one.port === port && one.software !== null) ? profile : null;
    }, { everyMs: 1000 });

  test("are affected where the distribution has not patched them, with service and port, and raise one alert a product", async () => {
    const { rest } = site.collector;
    const gateway = await profileOf("gateway", 22);
    await profileOf("gateway", 53);
    await profileOf("web", 80);
    const build = gateway.ports.find(({ port }) => port === 22)?.software?.package_version ?? "";
    expect(build).toMatch(/^1:\d+\.\d+p\d+-/);
    await importFeeds(site.collector, {
      "nvd.json": nvdFile([
        nvdRecord(PATCHED, "openbsd:openssh", "99.0", 9), nvdRecord(EXPLOITED, "openbsd:openssh", "99.0", 7.5), nvdRecord(OF_NAMES, "thekelleys:dnsmasq", "99", 7),
        nvdRecord(OF_WEB, "f5:nginx", "99", 6), nvdRecord(OLD, "openbsd:openssh", "2.0", 10),
      ]),
      "debian.json": {
        openssh: Object.fromEntries([[PATCHED, build], [EXPLOITED, "1:99.0p1-1"]].map(([id = "", fixed]) => [id, {
          description: "", releases: Object.fromEntries(["bookworm", "trixie"].map((release) => [release, { status: "resolved", fixed_version: fixed, urgency: "not yet assigned" }])),
        }])),
      },
      "kev.json": {
        title: "CISA Catalog of Known Exploited Vulnerabilities", catalogVersion: "2020.01.01", dateReleased: "2020-01-01T00:00:00.000Z", count: 1,
        vulnerabilities: [{
          cveID: EXPLOITED, vendorProject: "OpenBSD", product: "OpenSSH", vulnerabilityName: "OpenSSH flaw", dateAdded: "2020-01-01", shortDescription: "A flaw.",
          requiredAction: "Apply updates.", dueDate: "2020-01-22", knownRansomwareCampaignUse: "Unknown", notes: "", cwes: [],
        }],
      },
    });

    const affected = await waitFor("the CVEs that affect the gateway", async () => {
      const { data } = await rest.listAffectedCves({ device_id: gateway.id, confidence: "confirmed,likely,possible" });
      return data.length >= 2 ? data : null;
    }, { everyMs: 1000 });
    expect(affected.map(({ cve_id: id }) => id)).toEqual([EXPLOITED, OF_NAMES]);
    expect(affected[0]).toMatchObject({
      severity: "high", cvss_score: 7.5, known_exploited: true, references: [`https://example.org/${EXPLOITED}`],
      affected_devices: [{
        device_id: gateway.id, ip: gateway.ip, matched_service: "ssh", matched_port: 22, product: "openbsd:openssh", confidence: "confirmed", status: "open",
        remedies: expect.arrayContaining([expect.objectContaining({ fixed: ["1:99.0p1-1"] })]) as unknown[],
      }],
    });
    expect(affected[0]?.affected_devices[0]?.version).toBe(build);
    expect(affected[1]?.affected_devices).toMatchObject([
      { matched_port: 53, protocol: "tcp", product: "thekelleys:dnsmasq", version: expect.stringMatching(/^\d/) as string, status: "open" },
      { matched_port: 53, protocol: "udp", product: "thekelleys:dnsmasq", status: "open" },
    ]);
    const { data: patched } = await rest.listAffectedCves({ device_id: gateway.id, status: "patched-by-distribution" });
    expect(patched.map(({ cve_id: id }) => id)).toEqual([PATCHED]);
    const { data: all } = await rest.listAffectedCves({ search: OF_WEB, confidence: "confirmed,likely,possible" });
    expect(all[0]?.affected_devices.map(({ matched_port: port }) => port)).toContain(80);

    const alert = await waitFor("an alert about OpenSSH", async () => {
      const { data } = await rest.listAlerts({ source: "cve", device_id: gateway.id, status: "open" });
      return data.find(({ title, description }) => `${title} ${description}`.includes("openssh")) ?? null;
    }, { everyMs: 1000 });
    expect(alert).toMatchObject({ source: "cve", severity: "critical" });
    const found = await waitFor("the event", async () => site.frames.find(({ event, data }) => event === "vuln_found" && isAbout(data, EXPLOITED, gateway.ip)) ?? null);
    expect(found.data).toMatchObject({ ip: gateway.ip, matched_service: "ssh", matched_port: 22, known_exploited: true });

    await rest.createCveSuppression({ cve_id: EXPLOITED, device_id: gateway.id, reason: "It is reached from the management network alone." });
    await waitFor("the alert's end", async () => ((await rest.readAlert(alert.id)).status === "resolved" ? true : null), { everyMs: 1000 });
    const { data: left } = await rest.listAffectedCves({ device_id: gateway.id, product: "openbsd:openssh" });
    expect(left).toEqual([]);
  });
});

function isAbout(data: unknown, cveId: string, ip: string): boolean {
  const { cve_id: found, ip: of } = data as { readonly cve_id?: string; readonly ip?: string };
  return found === cveId && of === ip;
}

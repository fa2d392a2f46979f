import type { ProbeEvent } from "@lanthorn/contract";
import { toInstant } from "@lanthorn/runtime";
import { waitFor } from "../lab/wait-for.ts";
import type { Collector } from "../system/deployment.ts";
import { importFeeds, nvdFile, nvdRecord } from "../system/feeds.ts";
import { LAN } from "./working-probe.ts";
import { HOSTILE } from "./world.ts";

const NAME = HOSTILE[0] ?? "";
const FAR = "10.9.1.200";

/** As long a text as a field takes, which is a tag, turns what follows, and has no place where a line may break. */
export function longText(length: number): string {
  return `${NAME}\u202E`.padEnd(length, "w");
}

/** Gives every page something to show (backups need a recipient), with hostile texts as long as the API takes them wherever a person or a device may name something. */
export async function fillEveryPage(collector: Collector): Promise<void> {
  const { rest } = collector;
  await importFeeds(collector, { "nvd.json": nvdFile([nvdRecord("CVE-2020-1001", "acme:httpd", "99.0", 9.8, longText(4000)), nvdRecord("CVE-2020-1002", "acme:httpd", "99.0", 5)]) });
  const site = (await rest.listSites()).data[0]?.id ?? "";
  await rest.updateSite(site, { name: longText(255) });
  await rest.createSite({ name: "<b>second</b> site\u202E" });
  const { id: device } = await rest.createDevice({ ip: FAR, hostname: longText(255), device_type: "switch", site_id: site, tags: [longText(64)] });
  for (const vlan of [10, 20]) {
    await rest.uploadDeviceConfiguration(device, { content: `interface Gi1/0/1\n description ${longText(10_000)}\n switchport access vlan ${vlan}\n`, changed_by: longText(255), comment: NAME });
  }
  await rest.createIpamPrefix({ prefix: LAN, name: longText(255), description: longText(4096), site_id: site });
  await rest.createIpamAddress({ ip: "10.9.0.66", status: "assigned", mac: "02:00:5e:10:00:99", hostname: longText(255), description: longText(4096), site_id: site });
  await rest.createCredential({ type: "snmp", name: longText(255), secret: { community: "only-for-this" }, site_ids: [site] });
  await rest.createApiKey({ name: longText(255), scopes: ["devices:read"] });
  await rest.createWebhook({ url: `http://127.0.0.1:9/${encodeURIComponent(NAME)}/${"w".repeat(1900)}`, events: ["*"] });
  await rest.createGuardException(site, { ip: LAN, kind: "duplicate_ip", reason: longText(255) });
  await rest.createDnsRule({ name: "casino.example", action: "block", reason: NAME });
  await rest.createView({ list: "devices", name: longText(120), filter: "type:printer", shared: true });
  const { id: backup } = await rest.startBackup();
  const scan = await rest.startScan({ target: LAN, profile: "standard", site_id: site });
  const { id: capture } = await rest.startPcap({ filter: "host 10.9.0.66 and udp port 53", site_id: site });
  await rest.stopPcap(capture);
  await waitFor("the vulnerabilities", async () => ((await rest.listAffectedCves({ confidence: "confirmed,likely" })).meta.total === 2 ? true : null));
  await waitFor("the scan", async () => ((await rest.readScan(scan.id)).status === "completed" ? true : null));
  await waitFor("the backup", async () => ((await rest.readBackup(backup)).status === "completed" ? true : null));
  await waitFor("the capture", async () => ((await rest.readPcap(capture)).state === "ready" ? true : null));
}

/** A claim of another's address that nobody has reported yet. */
export function claim(index: number): ProbeEvent {
  const ip = `10.9.0.${100 + index}`;
  return { type: "rogue_detected", occurred_at: toInstant(Date.now()), data: {
    kind: "arp_spoofing", severity: "high", ip, mac: "02:00:5e:10:00:66", expected_macs: ["02:00:5e:10:00:01"], vlan_id: null, subject: ip,
    detail: `claim ${index}`, packets: [],
  } };
}

import type { RestClient } from "@lanthorn/client";
import { waitFor } from "../lab/wait-for.ts";

const CONFIGURATION = (vlan: number, description: string) => `hostname access-1
interface GigabitEthernet1/0/1
 description ${description}
 switchport mode access
 switchport access vlan ${vlan}
interface GigabitEthernet1/0/24
 description uplink to core-1
 switchport mode trunk
snmp-server community only-for-this RO
ntp server 10.77.0.1
`;

/** Sets up what people set up at a site that is in use: users, keys, webhooks, plans, configurations, lists, credentials, a backup. */
export async function furnish(rest: RestClient, siteId: string, webhookUrl: string): Promise<void> {
  for (const [username, role, email] of [["anna.berg", "operator", "anna.berg@example.org"], ["night-shift", "viewer", null]] as const) {
    await rest.createUser({ username, role, email, password: "only for these pictures" });
  }
  await rest.updateSite(siteId, { name: "Store 12, Hamburg" });
  await rest.createSite({ name: "Warehouse Lübeck" });
  await rest.createApiKey({ name: "Nightly export to the CMDB", scopes: ["devices:read", "scans:read", "cve:read"] });
  await rest.createApiKey({ name: "Grafana", scopes: ["devices:read"], expires_at: "2099-12-31T00:00:00.000Z" });
  const { id: webhook } = await rest.createWebhook({ url: webhookUrl, events: ["*"] });
  await rest.testWebhook(webhook, {});
  for (const [prefix, name, vlan] of [["10.77.0.0/16", "Stores", null], ["10.77.0.0/24", "Store 12 LAN", 10], ["10.77.8.0/24", "Cameras", 30]] as const) {
    await rest.createIpamPrefix({ prefix, name, vlan_id: vlan, site_id: siteId, status: vlan === null ? "container" : "active" });
  }
  await rest.createIpamAddress({ ip: "10.77.0.20", status: "assigned", mac: "02:00:5e:10:00:20", hostname: "till-1", site_id: siteId });
  const { id: device } = await rest.createDevice({ ip: "10.77.0.250", hostname: "access-1", device_type: "switch", site_id: siteId });
  await rest.uploadDeviceConfiguration(device, { content: CONFIGURATION(10, "till 1"), changed_by: "anna.berg", comment: "first version" });
  await rest.uploadDeviceConfiguration(device, { content: CONFIGURATION(20, "camera at the door"), changed_by: "anna.berg", comment: "ticket 4711" });
  await rest.createDnsList({ name: "Advertising", category: "advertising", names: "0.0.0.0 ads.example\n0.0.0.0 tracker.example" });
  await rest.createDnsRule({ name: "casino.example", action: "block", reason: "house rules" });
  await rest.createCredential({ type: "snmp", name: "Switches, read only", secret: { community: "only-for-this" }, site_ids: [siteId] });
  await rest.createGuardException(siteId, { ip: "10.77.0.53", kind: "address_scan", reason: "our own scanner" });
  await rest.createView({ list: "devices", name: "Printers without a name", filter: "type:printer", shared: true });
  const { id: backup } = await rest.startBackup();
  await waitFor("the backup", async () => ((await rest.readBackup(backup)).status === "completed" ? true : null));
}

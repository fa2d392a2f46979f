import { anomaliesOperations } from "./operations/anomalies.ts";
import { guardsOperations } from "./operations/guards.ts";
import { healthOperations } from "./operations/health.ts";
import { agentsOperations } from "./operations/agents.ts";
import { bundlesOperations } from "./operations/bundles.ts";
import { filesOperations } from "./operations/files.ts";
import { sitesOperations } from "./operations/sites.ts";
import { alertsOperations } from "./operations/alerts.ts";
import { auditOperations } from "./operations/audit.ts";
import { authOperations } from "./operations/auth.ts";
import { baselinesOperations } from "./operations/baselines.ts";
import { backupsOperations } from "./operations/backups.ts";
import { configVersionsOperations } from "./operations/config-versions.ts";
import { cveOperations } from "./operations/cve.ts";
import { devicesOperations } from "./operations/devices.ts";
import { dnsOperations } from "./operations/dns.ts";
import { webhooksOperations } from "./operations/webhooks.ts";
import { eventsOperations } from "./operations/events.ts";
import { honeypotsOperations } from "./operations/honeypots.ts";
import { idsOperations } from "./operations/ids.ts";
import { ipamOperations } from "./operations/ipam.ts";
import { licenseOperations } from "./operations/license.ts";
import { pcapOperations } from "./operations/pcap.ts";
import { scansOperations } from "./operations/scans.ts";
import { topologyOperations } from "./operations/topology.ts";
import { vaultOperations } from "./operations/vault.ts";
import { workspaceOperations } from "./operations/workspace.ts";

/** Every operation of the REST interface. */
export const OPERATIONS = {
  ...healthOperations, ...agentsOperations, ...bundlesOperations, ...filesOperations, ...sitesOperations, ...alertsOperations,
  ...auditOperations, ...authOperations, ...backupsOperations, ...configVersionsOperations, ...devicesOperations, ...webhooksOperations,
  ...eventsOperations, ...ipamOperations, ...licenseOperations, ...guardsOperations, ...scansOperations, ...topologyOperations, ...vaultOperations, ...workspaceOperations,
  ...baselinesOperations, ...pcapOperations, ...cveOperations, ...idsOperations, ...dnsOperations, ...anomaliesOperations, ...honeypotsOperations,
};

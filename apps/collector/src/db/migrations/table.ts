import type { Migration } from "kysely";
import * as first from "./0001-first.ts";
import * as webhooks from "./0010-webhooks.ts";
import * as people from "./0011-people.ts";
import * as devices from "./0012-devices.ts";
import * as scans from "./0013-scans.ts";
import * as alerts from "./0014-alerts.ts";
import * as backups from "./0015-backups.ts";
import * as services from "./0016-services.ts";
import * as ipam from "./0017-ipam.ts";
import * as identity from "./0018-identity.ts";
import * as retention from "./0018-retention.ts";
import * as topology from "./0020-topology.ts";
import * as replicas from "./0019-replicas.ts";
import * as backupSettings from "./0021-backup-settings.ts";
import * as ipamConflicts from "./0022-ipam-conflicts.ts";
import * as switches from "./0026-switches.ts";
import * as userNames from "./0034-user-names.ts";
import * as confirmedTokens from "./0031-confirmed-tokens.ts";
import * as countedAudit from "./0030-counted-audit.ts";
import * as verdicts from "./0024-verdicts.ts";
import * as scanRemarks from "./0025-scan-remarks.ts";
import * as hostileProbes from "./0032-hostile-probes.ts";
import * as openPorts from "./0033-open-ports.ts";
import * as deviceTexts from "./0039-device-texts.ts";
import * as hostnameKeys from "./0039-hostname-keys.ts";
import * as files from "./0040-files.ts";
import * as bundles from "./0041-bundles.ts";
import * as publishedColumns from "./0042-published-columns.ts";
import * as guards from "./0043-guards.ts";
import * as reporters from "./0043-reporters.ts";
import * as looks from "./0044-looks.ts";
import * as baselines from "./0045-baselines.ts";
import * as differencesOfSites from "./0046-differences-of-sites.ts";
import * as pcaps from "./0047-pcaps.ts";
import * as pcapCommands from "./0048-pcap-commands.ts";
import * as software from "./0049-software.ts";
import * as feeds from "./0050-feeds.ts";
import * as cveMatches from "./0051-cve-matches.ts";
import * as cveCounts from "./0052-cve-counts.ts";
import * as cveOrders from "./0053-cve-orders.ts";
import * as cvePasses from "./0054-cve-passes.ts";
import * as ids from "./0055-ids.ts";
import * as idsNetworks from "./0056-ids-networks.ts";
import * as dns from "./0058-dns.ts";
import * as dnsQueries from "./0059-dns-queries.ts";
import * as anomalies from "./0060-anomalies.ts";
import * as dnsTransfers from "./0060-dns-transfers.ts";
import * as honeypots from "./0061-honeypots.ts";
import * as honeypotEvidence from "./0063-honeypot-evidence.ts";
import * as dnsQuerySettings from "./0062-dns-query-settings.ts";
import * as honeypotAddresses from "./0064-honeypot-addresses.ts";
import * as honeypotAddressReports from "./0065-honeypot-address-reports.ts";
import * as honeypotEvidenceKinds from "./0066-honeypot-evidence-kinds.ts";
import * as workspace from "./0064-workspace.ts";
import * as alertActions from "./0067-alert-actions.ts";
import * as eventHappenings from "./0068-event-happenings.ts";
import * as changes from "./0069-changes.ts";
import * as changesOfSites from "./0070-changes-of-sites.ts";
import * as siteTimeZones from "./0071-site-time-zones.ts";

/**
 * Every migration by name, applied in the order of the names. What a released one does to a database never changes; where two columns
 * got other names, 0042 brings older databases to the same tables, and `file-in-sqlite.test.ts` compares them.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-first": first,
  "0010-webhooks": webhooks,
  "0011-people": people,
  "0012-devices": devices,
  "0013-scans": scans,
  "0014-alerts": alerts,
  "0015-backups": backups,
  "0016-services": services,
  "0017-ipam": ipam,
  "0018-identity": identity,
  "0018-retention": retention,
  "0020-topology": topology,
  "0019-replicas": replicas,
  "0021-backup-settings": backupSettings,
  "0022-ipam-conflicts": ipamConflicts,
  "0024-verdicts": verdicts,
  "0025-scan-remarks": scanRemarks,
  "0026-switches": switches,
  "0032-hostile-probes": hostileProbes,
  "0033-open-ports": openPorts,
  "0034-user-names": userNames,
  "0031-confirmed-tokens": confirmedTokens,
  "0030-counted-audit": countedAudit,
  "0039-device-texts": deviceTexts,
  "0039-hostname-keys": hostnameKeys,
  "0040-files": files,
  "0041-bundles": bundles,
  "0042-published-columns": publishedColumns,
  "0043-guards": guards,
  "0043-reporters": reporters,
  "0044-looks": looks,
  "0045-baselines": baselines,
  "0046-differences-of-sites": differencesOfSites,
  "0047-pcaps": pcaps,
  "0048-pcap-commands": pcapCommands,
  "0049-software": software,
  "0050-feeds": feeds,
  "0051-cve-matches": cveMatches,
  "0052-cve-counts": cveCounts,
  "0053-cve-orders": cveOrders,
  "0054-cve-passes": cvePasses,
  "0055-ids": ids,
  "0056-ids-networks": idsNetworks,
  "0058-dns": dns,
  "0059-dns-queries": dnsQueries,
  "0060-anomalies": anomalies,
  "0060-dns-transfers": dnsTransfers,
  "0061-honeypots": honeypots,
  "0062-dns-query-settings": dnsQuerySettings,
  "0063-honeypot-evidence": honeypotEvidence,
  "0064-honeypot-addresses": honeypotAddresses,
  "0064-workspace": workspace,
  "0065-honeypot-address-reports": honeypotAddressReports,
  "0066-honeypot-evidence-kinds": honeypotEvidenceKinds,
  "0067-alert-actions": alertActions,
  "0068-event-happenings": eventHappenings,
  "0069-changes": changes,
  "0070-changes-of-sites": changesOfSites,
  "0071-site-time-zones": siteTimeZones,
};

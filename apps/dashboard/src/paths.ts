/** Every path that shows a page. The collector answers these with `index.html`, and nothing else. */
export const PAGE_PATHS = [
  "/",
  "/devices", "/devices/$deviceId",
  "/map",
  "/alerts", "/alerts/$alertId",
  "/sites",
  "/live",
  "/scans", "/scans/$scanId",
  "/vulnerabilities",
  "/captures", "/captures/$pcapId",
  "/sensors", "/sensors/dns", "/sensors/dns/queries", "/sensors/dns/lists", "/sensors/ids", "/sensors/ids/rules",
  "/sensors/anomalies", "/sensors/anomalies/$anomalyId", "/sensors/guards",
  "/ipam", "/ipam/$prefixId",
  "/configurations", "/configurations/$deviceId",
  "/baselines",
  "/vault",
  "/settings/integrations", "/settings/keys", "/settings/users", "/settings/audit", "/settings/backups", "/settings/license",
] as const;

/** Every path that shows a page. The collector answers these with `index.html`, and nothing else. */
export const PAGE_PATHS = ["/", "/devices", "/devices/$deviceId", "/alerts", "/alerts/$alertId", "/sites", "/live", "/scans", "/scans/$scanId", "/vulnerabilities", "/captures", "/captures/$pcapId", "/settings/integrations", "/settings/keys"] as const;

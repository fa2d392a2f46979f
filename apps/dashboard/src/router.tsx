import { AffectedCvesQuery, AlertsQuery, AnomaliesQuery, AuditQuery, BaselineDifferencesQuery, ConfigDiffQuery, DevicesQuery, DnsQueriesQuery, DnsStatsQuery, EventsQuery, IdsRulesQuery, IdsSiteQuery, IdsStatsQuery, IpamPrefixesQuery, parseAlertFilter, parseDeviceFilter, PcapsQuery, ScansQuery, UsersQuery } from "@lanthorn/contract";
import { ClientError } from "@lanthorn/client";
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link, redirect, retainSearchParams, useRouter } from "@tanstack/react-router";
import { checkFiltered, checkSearch, parseSearch, stringifySearch } from "./checked-search.ts";
import { DevicesSearch } from "./devices/search.ts";
import { MapSearch } from "./map/search.ts";
import { Empty } from "./states/answer.tsx";
import { ErrorNote } from "./states/error-note.tsx";
import { Page } from "./parts/page.tsx";
import { Shell } from "./shell/shell.tsx";

const checkSite = checkSearch(DevicesQuery.pick({ site_id: true }));

const root = createRootRoute({
  component: Shell,
  // What else there is belongs to the page.
  validateSearch: ({ site_id }: Readonly<Record<string, unknown>>) => checkSite({ site_id }),
  search: { middlewares: [retainSearchParams(["site_id"])] },
  notFoundComponent: () => <Page title="No such page"><Empty title="There is no page here"><Link to="/">Go to the overview</Link></Empty></Page>,
  errorComponent: Broken,
});

const overview = createRoute({
  getParentRoute: () => root, path: "/",
  component: lazyRouteComponent(() => import("./overview/overview-page.tsx"), "OverviewPage"),
});
const devices = createRoute({
  getParentRoute: () => root, path: "/devices", validateSearch: checkFiltered(DevicesSearch, parseDeviceFilter),
  component: lazyRouteComponent(() => import("./devices/devices-page.tsx"), "DevicesPage"),
});
const device = createRoute({
  getParentRoute: () => root, path: "/devices/$deviceId",
  component: lazyRouteComponent(() => import("./device/device-page.tsx"), "DevicePage"),
});

const map = createRoute({
  getParentRoute: () => root, path: "/map", validateSearch: checkSearch(MapSearch),
  component: lazyRouteComponent(() => import("./map/map-page.tsx"), "MapPage"),
});
const alerts = createRoute({
  getParentRoute: () => root, path: "/alerts", validateSearch: checkFiltered(AlertsQuery, parseAlertFilter),
  component: lazyRouteComponent(() => import("./alerts/alerts-page.tsx"), "AlertsPage"),
});
const alert = createRoute({
  getParentRoute: () => alerts, path: "$alertId",
  component: lazyRouteComponent(() => import("./alerts/alert-detail.tsx"), "AlertDetail"),
});
const sites = createRoute({
  getParentRoute: () => root, path: "/sites",
  component: lazyRouteComponent(() => import("./sites/sites-page.tsx"), "SitesPage"),
});
const live = createRoute({
  getParentRoute: () => root, path: "/live", validateSearch: checkSearch(EventsQuery.pick({ types: true, site_id: true })),
  component: lazyRouteComponent(() => import("./live/live-page.tsx"), "LivePage"),
});
const vulnerabilities = createRoute({
  getParentRoute: () => root, path: "/vulnerabilities", validateSearch: checkSearch(AffectedCvesQuery),
  component: lazyRouteComponent(() => import("./vulnerabilities/vulnerabilities-page.tsx"), "VulnerabilitiesPage"),
});
const scans = createRoute({
  getParentRoute: () => root, path: "/scans", validateSearch: checkSearch(ScansQuery),
  component: lazyRouteComponent(() => import("./scans/scans-page.tsx"), "ScansPage"),
});
const scan = createRoute({
  getParentRoute: () => root, path: "/scans/$scanId",
  component: lazyRouteComponent(() => import("./scans/scan-page.tsx"), "ScanPage"),
});
const captures = createRoute({
  getParentRoute: () => root, path: "/captures", validateSearch: checkSearch(PcapsQuery),
  component: lazyRouteComponent(() => import("./captures/captures-page.tsx"), "CapturesPage"),
});
const capture = createRoute({
  getParentRoute: () => root, path: "/captures/$pcapId",
  component: lazyRouteComponent(() => import("./captures/capture-page.tsx"), "CapturePage"),
});
const sensors = createRoute({
  getParentRoute: () => root, path: "/sensors",
  // As TanStack Router takes it.
  // oxlint-disable-next-line typescript/only-throw-error
  beforeLoad: ({ search }) => { throw redirect({ to: "/sensors/ids", search }); },
});
const dns = createRoute({
  getParentRoute: () => root, path: "/sensors/dns", validateSearch: checkSearch(DnsStatsQuery.omit({ top: true })),
  component: lazyRouteComponent(() => import("./dns/dns-page.tsx"), "DnsPage"),
});
const dnsQueries = createRoute({
  getParentRoute: () => root, path: "/sensors/dns/queries", validateSearch: checkSearch(DnsQueriesQuery),
  component: lazyRouteComponent(() => import("./dns/queries-page.tsx"), "DnsQueriesPage"),
});
const dnsLists = createRoute({
  getParentRoute: () => root, path: "/sensors/dns/lists",
  component: lazyRouteComponent(() => import("./dns/lists-page.tsx"), "DnsListsPage"),
});
const ids = createRoute({
  getParentRoute: () => root, path: "/sensors/ids", validateSearch: checkSearch(IdsStatsQuery),
  component: lazyRouteComponent(() => import("./ids/ids-page.tsx"), "IdsPage"),
});
const idsRules = createRoute({
  getParentRoute: () => root, path: "/sensors/ids/rules", validateSearch: checkSearch(IdsRulesQuery),
  component: lazyRouteComponent(() => import("./ids/rules-page.tsx"), "IdsRulesPage"),
});
const anomalies = createRoute({
  getParentRoute: () => root, path: "/sensors/anomalies", validateSearch: checkSearch(AnomaliesQuery),
  component: lazyRouteComponent(() => import("./anomalies/anomalies-page.tsx"), "AnomaliesPage"),
});
const anomaly = createRoute({
  getParentRoute: () => root, path: "/sensors/anomalies/$anomalyId",
  component: lazyRouteComponent(() => import("./anomalies/anomaly-page.tsx"), "AnomalyPage"),
});
const guards = createRoute({
  getParentRoute: () => root, path: "/sensors/guards", validateSearch: checkSearch(IdsSiteQuery),
  component: lazyRouteComponent(() => import("./guards/guards-page.tsx"), "GuardsPage"),
});
const integrations = createRoute({
  getParentRoute: () => root, path: "/settings/integrations",
  component: lazyRouteComponent(() => import("./integrations/integrations-page.tsx"), "IntegrationsPage"),
});
const keys = createRoute({
  getParentRoute: () => root, path: "/settings/keys",
  component: lazyRouteComponent(() => import("./settings/keys-page.tsx"), "KeysPage"),
});

const users = createRoute({
  getParentRoute: () => root, path: "/settings/users", validateSearch: checkSearch(UsersQuery.pick({ search: true, role: true })),
  component: lazyRouteComponent(() => import("./settings/users-page.tsx"), "UsersPage"),
});
const audit = createRoute({
  getParentRoute: () => root, path: "/settings/audit", validateSearch: checkSearch(AuditQuery.pick({ actor: true, action: true, target: true })),
  component: lazyRouteComponent(() => import("./audit/audit-page.tsx"), "AuditPage"),
});
const backups = createRoute({
  getParentRoute: () => root, path: "/settings/backups",
  component: lazyRouteComponent(() => import("./backups/backups-page.tsx"), "BackupsPage"),
});

const license = createRoute({
  getParentRoute: () => root, path: "/settings/license",
  component: lazyRouteComponent(() => import("./license/license-page.tsx"), "LicensePage"),
});

const vault = createRoute({
  getParentRoute: () => root, path: "/vault",
  component: lazyRouteComponent(() => import("./vault/vault-page.tsx"), "VaultPage"),
});

const ipam = createRoute({
  getParentRoute: () => root, path: "/ipam", validateSearch: checkSearch(IpamPrefixesQuery.pick({ site_id: true, search: true, status: true })),
  component: lazyRouteComponent(() => import("./ipam/ipam-page.tsx"), "IpamPage"),
});
const prefix = createRoute({
  getParentRoute: () => root, path: "/ipam/$prefixId",
  component: lazyRouteComponent(() => import("./ipam/prefix-page.tsx"), "PrefixPage"),
});
const configurations = createRoute({
  getParentRoute: () => root, path: "/configurations",
  component: lazyRouteComponent(() => import("./configurations/configurations-page.tsx"), "ConfigurationsPage"),
});
const configuration = createRoute({
  getParentRoute: () => root, path: "/configurations/$deviceId", validateSearch: checkSearch(ConfigDiffQuery),
  component: lazyRouteComponent(() => import("./configurations/device-configuration-page.tsx"), "DeviceConfigurationPage"),
});

const baselines = createRoute({
  getParentRoute: () => root, path: "/baselines", validateSearch: checkSearch(BaselineDifferencesQuery.pick({ site_id: true, state: true, kind: true })),
  component: lazyRouteComponent(() => import("./baselines/baselines-page.tsx"), "BaselinesPage"),
});

/** Instead of a page that has a fault, or whose files did not come: those are asked for again by a button. */
function Broken({ error }: { readonly error: unknown }) {
  const router = useRouter();
  if (error instanceof ClientError) return <Page title="This page did not come"><ErrorNote error={error} onRetry={() => void router.invalidate()} /></Page>;
  return <Page title="Something broke"><ErrorNote error={error} /></Page>;
}

/** The pages and their addresses. @param basepath The path that the collector is below, as a proxy shows it. */
export function createPages(basepath: string) {
  return createRouter({
    routeTree: root.addChildren([
      overview, devices, device, alerts.addChildren([alert]), live, scans, scan, vulnerabilities, captures, capture,
      sensors, dns, dnsQueries, dnsLists, ids, idsRules, anomalies, anomaly, guards,
      map,
      ipam, prefix, configurations, configuration, baselines, vault,
      sites, integrations, keys, users, audit, backups, license,
    ]),
    basepath, parseSearch, stringifySearch, scrollRestoration: false, defaultPreload: false,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    readonly router: ReturnType<typeof createPages>;
  }
}

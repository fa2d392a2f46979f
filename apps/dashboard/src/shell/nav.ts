import type { IconName } from "../parts/icon.tsx";

/** A page of the rail, and the keys that lead to it. */
export interface NavItem {
  readonly to: "/" | "/devices" | "/alerts" | "/live" | "/scans" | "/vulnerabilities" | "/captures" | "/sensors" | "/sites"
    | "/map" | "/ipam" | "/configurations" | "/baselines" | "/vault"
    | "/settings/integrations" | "/settings/keys" | "/settings/users" | "/settings/audit" | "/settings/backups" | "/settings/license";
  readonly title: string;
  readonly icon: IconName;
  readonly keys: string;
}

/** What is looked at all day, what is planned and compared, and what is set up once. */
const WATCH: readonly NavItem[] = [
  { to: "/", title: "Overview", icon: "overview", keys: "g o" },
  { to: "/devices", title: "Devices", icon: "devices", keys: "g d" },
  { to: "/map", title: "Map", icon: "map", keys: "g m" },
  { to: "/alerts", title: "Alerts", icon: "alerts", keys: "g a" },
  { to: "/live", title: "Live", icon: "live", keys: "g l" },
  { to: "/scans", title: "Scans", icon: "scans", keys: "g c" },
  { to: "/vulnerabilities", title: "Vulnerabilities", icon: "cve", keys: "g v" },
  { to: "/captures", title: "Captures", icon: "captures", keys: "g p" },
  { to: "/sensors", title: "Sensors", icon: "sensors", keys: "g e" },
];
const PLAN: readonly NavItem[] = [
  { to: "/ipam", title: "IPAM", icon: "ipam", keys: "g n" },
  { to: "/configurations", title: "Configurations", icon: "configurations", keys: "g f" },
  { to: "/baselines", title: "Baselines", icon: "baselines", keys: "g r" },
];
const SET_UP: readonly NavItem[] = [
  { to: "/sites", title: "Sites and probes", icon: "sites", keys: "g s" },
  { to: "/vault", title: "Vault", icon: "lock", keys: "g w" },
  { to: "/settings/integrations", title: "Integrations", icon: "integrations", keys: "g i" },
  { to: "/settings/keys", title: "API keys", icon: "settings", keys: "g k" },
  { to: "/settings/users", title: "Users", icon: "user", keys: "g u" },
  { to: "/settings/audit", title: "Audit log", icon: "log", keys: "g t" },
  { to: "/settings/backups", title: "Backups", icon: "backups", keys: "g b" },
  { to: "/settings/license", title: "License", icon: "license", keys: "g y" },
];

/** The rail, from top to bottom, in groups. */
export const NAV_GROUPS: readonly { readonly title: string; readonly items: readonly NavItem[] }[] = [
  { title: "Monitor", items: WATCH }, { title: "Plan", items: PLAN }, { title: "Set up", items: SET_UP },
];
/** Every page of the rail. */
export const NAV_ITEMS: readonly NavItem[] = NAV_GROUPS.flatMap(({ items }) => items);

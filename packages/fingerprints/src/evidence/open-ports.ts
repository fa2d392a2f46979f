import type { DeviceClaim } from "./device-claims.ts";

interface PortRule {
  /** All of these must be open, `tcp` unless marked `/udp`. */
  readonly all: readonly string[];
  /** None of these may be. */
  readonly none?: readonly string[];
  readonly says: { readonly device_type?: string; readonly os?: string };
  readonly confidence: number;
}

/** What a set of open ports says whatever answers there; the first rule that fits speaks. */
const RULES: readonly PortRule[] = [
  { all: ["88", "389", "445"], says: { device_type: "server" }, confidence: 0.65 },
  { all: ["3389", "1433"], says: { device_type: "server", os: "Windows" }, confidence: 0.6 },
  { all: ["135", "139", "445", "5985"], says: { device_type: "server", os: "Windows" }, confidence: 0.5 },
  { all: ["135", "445"], says: { device_type: "workstation", os: "Windows" }, confidence: 0.5 },
  { all: ["8291"], says: { device_type: "router", os: "RouterOS" }, confidence: 0.7 },
  { all: ["902", "443"], says: { device_type: "server", os: "VMware ESXi" }, confidence: 0.5 },
  { all: ["8006"], says: { device_type: "server" }, confidence: 0.5 },
  { all: ["62078"], says: { os: "Darwin" }, confidence: 0.6 },
  { all: ["515", "9100"], says: { device_type: "printer" }, confidence: 0.65 },
  { all: ["9100", "631"], says: { device_type: "printer" }, confidence: 0.65 },
  { all: ["515", "631"], says: { device_type: "printer" }, confidence: 0.55 },
  { all: ["554", "80"], none: ["22"], says: { device_type: "camera" }, confidence: 0.55 },
  { all: ["8009", "8008"], says: { device_type: "iot" }, confidence: 0.6 },
  { all: ["1400"], none: ["22"], says: { device_type: "iot" }, confidence: 0.5 },
  { all: ["1883"], none: ["22"], says: { device_type: "server" }, confidence: 0.35 },
  { all: ["502"], says: { device_type: "iot" }, confidence: 0.6 },
  { all: ["102"], says: { device_type: "iot" }, confidence: 0.55 },
  { all: ["44818"], says: { device_type: "iot" }, confidence: 0.6 },
  { all: ["47808/udp"], says: { device_type: "iot" }, confidence: 0.6 },
];

/** Services that people put on servers; each one more makes it surer. */
const SERVER_PORTS: readonly string[] = [
  "25", "110", "143", "389", "636", "993", "1433", "1521", "2049", "3128", "3306", "5432", "5672", "6379", "6667", "9200", "11211", "27017", "873", "88", "2379", "6443", "5984", "9092",
  "4222", "6600", "8200",
];
/** One may be anything's; `1 - (1 - each)^n`. */
const EACH_SERVER_PORT = 0.5;
const MOST_SURE = 0.65;
/** People log in by SSH and RDP at both. */
const SCREENS: readonly string[] = ["5900", "6000"];

/** @param open As `22` for TCP and `53/udp` for UDP. */
export function readOpenPorts(open: ReadonlySet<string>): readonly DeviceClaim[] {
  const rule = RULES.find(({ all, none = [] }) => all.every((port) => open.has(port)) && !none.some((port) => open.has(port)));
  if (rule) return Object.entries(rule.says).map(([field, value]) => ({ field: field as "device_type" | "os", value, source: "ports", confidence: rule.confidence }));
  const services = SERVER_PORTS.filter((port) => open.has(port)).length;
  if (services > 0) return [{ field: "device_type", value: "server", source: "ports", confidence: Math.min(MOST_SURE, 1 - (1 - EACH_SERVER_PORT) ** services) }];
  if (SCREENS.some((port) => open.has(port))) return [{ field: "device_type", value: "workstation", source: "ports", confidence: 0.5 }];
  // A web site beside a shell is mostly a server's.
  if (open.has("22") && (open.has("80") || open.has("443"))) return [{ field: "device_type", value: "server", source: "ports", confidence: 0.35 }];
  return [];
}

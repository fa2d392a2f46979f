import { readAnswer } from "../rules/answers.ts";
import { COMPUTER, readDeviceKind } from "../verdict/device-kinds.ts";
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
  { all: ["502"], says: { device_type: "iot" }, confidence: 0.6 },
  { all: ["102"], says: { device_type: "iot" }, confidence: 0.55 },
  { all: ["2404"], says: { device_type: "iot" }, confidence: 0.6 },
  { all: ["4840"], says: { device_type: "iot" }, confidence: 0.5 },
  { all: ["37777"], says: { device_type: "camera" }, confidence: 0.6 },
  { all: ["44818"], says: { device_type: "iot" }, confidence: 0.6 },
  { all: ["47808/udp"], says: { device_type: "iot" }, confidence: 0.6 },
];

/** Where services of servers usually are: what counts of a port at which nobody said what he is; each one more makes it surer. */
const SERVER_PORTS: ReadonlySet<string> = new Set([
  "25", "110", "143", "389", "636", "993", "1433", "1521", "2049", "3128", "3306", "5432", "5672", "6379", "6667", "9200", "11211", "27017",
  "873", "88", "2379", "6443", "5984", "9092",
  "4222", "6600", "8200",
]);
const SERVER_PORT = { value: "server", confidence: 0.5 } as const;
/** However many services agree: they are of one host, and may be its owner's whim. */
const MAX_SURE = 0.75;
/** A web site beside a shell is mostly a server's. */
const SITE_AND_SHELL = 0.35;

/**
 * What a host's open ports say of it together. A known set of them speaks first; else what was found at each: the doubts of those that
 * agree are multiplied, and the kind that is surest speaks. What is only found on computers supports servers and workstations by half.
 * @param open What answers at each port, as `postgresql PostgreSQL DB`: service and product; empty where nobody knows. Ports are `22` for
 * TCP and `53/udp` for UDP.
 */
export function readOpenPorts(open: ReadonlyMap<string, string>): readonly DeviceClaim[] {
  const rule = RULES.find(({ all, none = [] }) => all.every((port) => open.has(port)) && !none.some((port) => open.has(port)));
  if (rule) {
    return Object.entries(rule.says).map(([field, value]) =>
      ({ field: field as "device_type" | "os", value, source: "ports", confidence: rule.confidence }));
  }
  const doubts = new Map<string, number>();
  // BIND at UDP and at TCP is one service, though it may say less at one.
  const services = new Map([...open].map(([port, said]) => [said === "" ? port : said.split(" ", 2).join(" "), said] as const));
  for (const [port, said] of services) {
    for (const { value, confidence } of kindsOf(port, said)) doubts.set(value, (doubts.get(value) ?? 1) * (1 - confidence));
  }
  if (open.has("22") && (open.has("80") || open.has("443"))) doubts.set("server", Math.min(doubts.get("server") ?? 1, 1 - SITE_AND_SHELL));
  const computer = doubts.get(COMPUTER) ?? 1;
  const kinds = [...doubts].filter(([value]) => value !== COMPUTER || doubts.size === 1).map(([value, doubt]) => {
    const support = value !== COMPUTER && readDeviceKind(value).keys.includes(COMPUTER) ? (1 + computer) / 2 : 1;
    return { value, confidence: Math.round(Math.min(MAX_SURE, 1 - doubt * support) * 100) / 100 };
  });
  const [surest] = kinds.toSorted((a, b) => b.confidence - a.confidence);
  return surest ? [{ field: "device_type", source: "ports", ...surest }] : [];
}

function kindsOf(port: string, said: string): readonly Pick<DeviceClaim, "value" | "confidence">[] {
  if (said === "") return SERVER_PORTS.has(port) ? [SERVER_PORT] : [];
  return readAnswer("service", said).filter(({ field }) => field === "device_type");
}

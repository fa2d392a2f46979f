/** What a case's suricata.yaml and its `--set` ask of an engine. */
import type { VerifyCase } from "./cases.ts";

/** Settings that our engine has too, as Suricata's configuration names them. */
export interface CaseSettings {
  readonly addresses: Readonly<Record<string, string>>;
  readonly ports: Readonly<Record<string, string>>;
  /** `stream.midstream`. */
  readonly isMidstream: boolean;
  /** `stream.async-oneside`. */
  readonly isOneSided: boolean;
  /** `stream.reassembly.depth`, in octets; 0 for without end. */
  readonly streamDepth: number;
  /** Of HTTP, in octets; 0 for without end. */
  readonly requestBody: number;
  readonly responseBody: number;
  /** `--simulate-ips`: drop rules drop. */
  readonly isIps: boolean;
  /** What else was set, which our engine has no setting for. */
  readonly others: readonly string[];
}

const KILO = 1024;
const UNITS: Readonly<Record<string, number>> = { "": 1, b: 1, kb: KILO, mb: KILO ** 2, gb: KILO ** 3 };
const HTTP = "app-layer.protocols.http.libhtp.default-config";
const KNOWN: ReadonlySet<string> = new Set(["stream.midstream", "stream.async-oneside", "stream.reassembly.depth", `${HTTP}.request-body-limit`, `${HTTP}.response-body-limit`]);

/** Suricata's own addresses of a home, without IPv6. */
const HOME_NET = "[192.168.0.0/16,10.0.0.0/8,172.16.0.0/12]";

/** Suricata's. */
export const DEFAULT_SETTINGS: CaseSettings = {
  addresses: { HOME_NET }, ports: {}, isMidstream: false, isOneSided: false, streamDepth: KILO ** 2, requestBody: 100 * KILO, responseBody: 100 * KILO, isIps: false, others: [],
};

/** @returns What the case asks for, over what Suricata has by default. */
export function readSettings({ args, configuration }: VerifyCase): CaseSettings {
  const set = new Map(args.flatMap((argument, place) => {
    const text = argument.startsWith("--set=") ? argument.slice(6) : args[place - 1] === "--set" ? argument : "";
    const at = text.indexOf("=");
    return at > 0 ? [[text.slice(0, at), text.slice(at + 1)] as const] : [];
  }));
  const settingOf = (path: string): unknown => set.get(path) ?? lookUp(configuration, path);
  const octets = (path: string, otherwise: number) => readOctets(settingOf(path)) ?? otherwise;
  return {
    addresses: { HOME_NET, ...textsOf(lookUp(configuration, "vars.address-groups")), ...setBelow(set, "vars.address-groups.") },
    ports: { ...textsOf(lookUp(configuration, "vars.port-groups")), ...setBelow(set, "vars.port-groups.") },
    isMidstream: isYes(settingOf("stream.midstream")), isOneSided: isYes(settingOf("stream.async-oneside")),
    streamDepth: octets("stream.reassembly.depth", DEFAULT_SETTINGS.streamDepth),
    requestBody: octets(`${HTTP}.request-body-limit`, DEFAULT_SETTINGS.requestBody), responseBody: octets(`${HTTP}.response-body-limit`, DEFAULT_SETTINGS.responseBody),
    isIps: args.includes("--simulate-ips"),
    others: [...set.keys()].filter((key) => !KNOWN.has(key) && !key.startsWith("vars.")),
  };
}

function lookUp(configuration: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (value !== null && typeof value === "object" ? (value as Readonly<Record<string, unknown>>)[key] : undefined), configuration);
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return value !== null && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)])) : {};
}

function setBelow(set: ReadonlyMap<string, string>, prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...set].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]));
}

function isYes(value: unknown): boolean {
  return value === true || value === 1 || (typeof value === "string" && /^(?:yes|true|on|1)$/i.test(value));
}

function readOctets(value: unknown): number | null {
  const [, number, unit = ""] = /^\s*(\d+)\s*([kmg]?b?)\s*$/i.exec(String(value)) ?? [];
  return number === undefined ? null : Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
}

import { macKind } from "./macs.ts";

/** What two devices may have in common. */
export interface Traits {
  readonly hostname: string;
  readonly vendor: string;
  /** Addresses that it has now. */
  readonly ips: readonly string[];
  readonly macs: readonly string[];
  /** As `keyText` writes them. */
  readonly keys: readonly string[];
}

/** How alike two devices are, and by what. */
export interface Similarity {
  /** 0 to 1: the share of such pairs that are one device, as far as each thing in common says so by itself. */
  readonly score: number;
  readonly reasons: readonly { readonly trait: keyof typeof WEIGHTS; readonly value: string }[];
}

/** How much each says. All but a key are weak: names repeat, addresses are handed on, makers make many. They score and join nothing. */
const WEIGHTS = { key: 0.9, hostname: 0.4, ip: 0.4, random_mac: 0.1, vendor: 0.1 } as const;

/** Names that devices have before anybody names them. */
const NO_NAMES: ReadonlySet<string> = new Set([
  "", "localhost", "unknown", "android", "iphone", "ipad", "espressif", "raspberrypi", "openwrt",
]);

/** Compares two devices. The score has two decimals; reasons are listed strongest first, and without any the score is 0. */
export function similarity(a: Traits, b: Traits): Similarity {
  const reasons: Similarity["reasons"] = [
    ...common(a.keys, b.keys).map((value) => ({ trait: "key", value }) as const),
    ...(isSameName(a.hostname, b.hostname) ? [{ trait: "hostname", value: a.hostname } as const] : []),
    ...common(a.ips, b.ips).slice(0, 1).map((value) => ({ trait: "ip", value }) as const),
    ...(a.vendor !== "" && a.vendor === b.vendor ? [{ trait: "vendor", value: a.vendor } as const] : []),
    // A phone that has changed its MAC is the usual reason for two devices of one machine.
    ...(isRandom(a) && isRandom(b) ? [{ trait: "random_mac", value: b.macs[0] ?? "" } as const] : []),
  ];
  const score = 1 - reasons.reduce((rest, { trait }) => rest * (1 - WEIGHTS[trait]), 1);
  return { score: Math.round(score * 100) / 100, reasons };
}

/** Whether two devices are called the same, by a name that somebody gave. */
export function isSameName(a: string, b: string): boolean {
  return firstLabel(a) === firstLabel(b) && !NO_NAMES.has(firstLabel(a));
}

function firstLabel(hostname: string): string {
  return (hostname.split(".", 1)[0] ?? "").toLowerCase();
}

function common(a: readonly string[], b: readonly string[]): readonly string[] {
  const others = new Set(b);
  return a.filter((value) => others.has(value));
}

function isRandom({ macs }: Traits): boolean {
  return macs.length > 0 && macs.every((mac) => macKind(mac) === "random");
}

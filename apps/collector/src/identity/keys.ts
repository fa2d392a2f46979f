import { type Evidence, IDENTITY_FIELDS } from "@lanthorn/contract";
import { macKind } from "./macs.ts";

type KeyKind = (typeof IDENTITY_FIELDS)[number] | "mac";

/** Something that one machine has and no other, wherever it is seen: by it two interfaces are known to be one device's. */
export interface IdentityKey {
  readonly kind: KeyKind;
  /** In one spelling, so that equal keys are equal texts. */
  readonly value: string;
  /** What said so: the evidence's source. */
  readonly source: string;
}

/** Keys of which a machine has one, or one for each algorithm. */
const SINGLE = /^(ssh_host_key \S+|snmp_engine_id|lldp_chassis_id|dhcp_duid) /;

/** Of which kind a key is that a machine has but one of; null for the others. @param text As `keyText` writes it. */
export function singleKind(text: string): string | null {
  return SINGLE.exec(text)?.[1] ?? null;
}

/** Evidence that is less trusted than this is a guess, and joins nothing. */
const MIN_CONFIDENCE = 0.5;
const MAX_KEYS = 16;

/** Values that their makers gave to all: the engine ID of net-snmp's own examples. */
const EVERYBODYS = new Set(["snmp_engine_id 8000000001020304"]);

/**
 * The keys that a host shows.
 *
 * A host whose MAC is `virtual` or `shared` shows none: what answers there is now one machine and now another. Its own MAC is
 * no key among these, since its interface is known by it already; that of another interface, which a DHCP client identifier
 * tells, is one. Of a kind that a machine has but one of, the one seen last counts: before it, another machine was there.
 * @returns At most sixteen, none twice.
 */
export function keysOf(host: { readonly mac: string; readonly evidence: readonly Evidence[] }): readonly IdentityKey[] {
  let found: Map<string, { readonly key: IdentityKey; readonly at: string }> | null = null;
  for (const { field, value, source, confidence, seen_at: at } of host.evidence) {
    if (!FIELDS.has(field) || confidence < MIN_CONFIDENCE) continue;
    const key = READERS[field as keyof typeof READERS](value.trim(), source);
    if (key === null || (key.kind === "mac" && key.value === host.mac)) continue;
    const text = keyText(key);
    if (EVERYBODYS.has(text)) continue;
    found ??= new Map();
    const name = singleKind(text) ?? text;
    if (at >= (found.get(name)?.at ?? "")) found.set(name, { key, at });
    if (found.size === MAX_KEYS) break;
  }
  return found === null || isNobodys(host.mac) ? [] : [...found.values()].map(({ key }) => key);
}

/** A key as one text, by which it is stored. */
export function keyText({ kind, value }: Pick<IdentityKey, "kind" | "value">): string {
  return `${kind} ${value}`;
}

function isNobodys(mac: string): boolean {
  if (mac === "") return false;
  const kind = macKind(mac);
  return kind === "virtual" || kind === "shared";
}

const FIELDS: ReadonlySet<string> = new Set(IDENTITY_FIELDS);

type Read = (value: string, source: string) => IdentityKey | null;

/** How each field's value is read; null for one that more than one machine may well have. */
const READERS: Readonly<Record<(typeof IDENTITY_FIELDS)[number], Read>> = {
  ssh_host_key: (value, source) => (value.length < 16 ? null : { kind: "ssh_host_key", value, source }),
  tls_certificate: (value, source) => {
    const digits = hexDigits(value);
    return digits?.length === 64 && !isMonotone(digits) ? { kind: "tls_certificate", value: digits, source } : null;
  },
  // RFC 3411 section 5: 5 to 32 bytes, neither all zeros nor all ones.
  snmp_engine_id: (value, source) => ofBytes("snmp_engine_id", value, source, [5, 32]),
  // RFC 8415 section 11: a type of two bytes and up to 128 more.
  dhcp_duid: (value, source) => ofBytes("dhcp_duid", value, source, [6, 130]),
  dhcp_client_id: readClientId,
  lldp_chassis_id: (value, source) => {
    const digits = hexDigits(value);
    if (digits?.length === 12) return macKind(toMac(digits)) === "own" ? { kind: "lldp_chassis_id", value: toMac(digits), source } : null;
    return value.length < 8 ? null : { kind: "lldp_chassis_id", value, source };
  },
};

/**
 * A DHCP client identifier is one of three things: type 1 and the MAC of some interface; type 255 and what names the machine
 * in DHCPv6 too, which makes the two one key; or a name of its own.
 * @see RFC 2132 section 9.14, RFC 4361 section 6.1
 */
function readClientId(value: string, source: string): IdentityKey | null {
  const digits = hexDigits(value);
  if (digits === null) return null;
  if (digits.startsWith("01") && digits.length === 14) {
    const mac = toMac(digits.slice(2));
    return macKind(mac) === "own" ? { kind: "mac", value: mac, source } : null;
  }
  if (digits.startsWith("ff") && digits.length > 10) return ofBytes("dhcp_duid", digits.slice(10), source, [6, 130]);
  return ofBytes("dhcp_client_id", digits, source, [8, 255]);
}

function ofBytes(kind: KeyKind, value: string, source: string, [least, most]: readonly [number, number]): IdentityKey | null {
  const digits = hexDigits(value);
  if (digits === null || digits.length < least * 2 || digits.length > most * 2 || isMonotone(digits)) return null;
  return { kind, value: digits, source };
}

/** @returns The digits of bytes in hexadecimal, in lower case, whatever stands between them; null for any other text. */
function hexDigits(text: string): string | null {
  const digits = text.toLowerCase().replace(/^0x/, "").replaceAll(/[:.\- ]/g, "");
  return /^(?:[\da-f]{2})+$/.test(digits) ? digits : null;
}

/** All zeros, all ones, or any one digit repeated: what stands where nothing was set. */
function isMonotone(digits: string): boolean {
  return /^(.)\1*$/.test(digits);
}

function toMac(digits: string): string {
  return digits.replaceAll(/..(?!$)/g, "$&:");
}

import { formatCpe } from "@lanthorn/vulnerability/names";
import type { Claim, ClaimField } from "../rules/claim.ts";
import { decide, type Decision } from "../verdict/decide.ts";
import { readSystem } from "../verdict/families.ts";
import { witnessOf } from "../verdict/sources.ts";

/** What runs somewhere, as far as it is known; texts are empty while unknown, in one line, and within `MAX_LENGTHS`. */
export interface Software {
  readonly vendor: string;
  readonly product: string;
  readonly version: string;
  readonly edition: string;
  /** Who built it, with their release where the build tells it: `Debian 12`, `Ubuntu`. */
  readonly distribution: string;
  /** Which build of theirs it is, as `1:9.2p1-2+deb12u3`. */
  readonly package_version: string;
  /** A formatted string of CPE 2.3. */
  readonly cpe: string;
  /** 0–1: of the product and, where it is known, of its version. */
  readonly confidence: number;
}

/** Software of a host itself, by what said so. */
export interface HostSoftware extends Software {
  /** As `ssh`. */
  readonly source: string;
}

/** What the contract takes. */
const MAX_LENGTHS = { vendor: 128, product: 128, version: 128, edition: 64, distribution: 64, package_version: 128 } as const;
const MAX_CPE = 512;

/**
 * What a service is, of everything that was said of it. The product that is believed names the witnesses: version, edition, build and CPE
 * are theirs alone, since a version belongs to its product.
 * @returns Null where nothing names a product.
 */
export function readSoftware(claims: readonly Claim[]): Software | null {
  const product = decide(ofField(claims, "product"));
  if (!product) return null;
  const of = byWitnesses(claims, "product", product);
  const [version, build] = [of("version"), valueOf(of("package_version"))];
  return clean({
    vendor: valueOf(of("vendor")), product: product.value, version: valueOf(version), edition: valueOf(of("edition")),
    distribution: withRelease(valueOf(of("distribution")), build), package_version: build,
    cpe: withVersion(valueOf(of("cpe")), valueOf(version)), confidence: Math.min(product.confidence, version?.confidence ?? 1),
  });
}

/** At most this many of one device in one event; the contract's limit. */
const MAX_OF_HOST = 16;

/** What a host itself runs, by each witness: its system, or its firmware where a maker names that by the model. */
export function readHostSoftware(claims: readonly Claim[]): readonly HostSoftware[] {
  const witnesses = new Map<string, Claim[]>();
  for (const claim of claims) witnesses.set(witnessOf(claim.source), [...(witnesses.get(witnessOf(claim.source)) ?? []), claim]);
  return [...witnesses].flatMap(([source, said]) => {
    const software = systemOf(said) ?? firmwareOf(said);
    return software ? [{ ...software, source }] : [];
  }).slice(0, MAX_OF_HOST);
}

/** Names of kinds of systems, of which no maker publishes anything. */
const NO_PRODUCTS: ReadonlySet<string> = new Set(["Red Hat family Linux", "Linux", "Darwin"]);

function systemOf(claims: readonly Claim[]): Software | null {
  const os = decide(ofField(claims, "os"), readSystem);
  if (!os) return null;
  const of = byWitnesses(claims, "os", os);
  const [version, cpe] = [of("os_version"), valueOf(of("os_cpe"))];
  if (NO_PRODUCTS.has(os.value) && cpe === "") return null;
  const built = valueOf(of("os_distribution"));
  const ownRelease = [os.value, valueOf(version)].filter((text) => text !== "").join(" ");
  return clean({
    vendor: vendorOfSystem(os.value), product: os.value, version: valueOf(version), edition: valueOf(of("os_edition")),
    distribution: built === "" && DISTRIBUTIONS.has(os.value) ? ownRelease : built, package_version: valueOf(of("os_package_version")),
    cpe, confidence: Math.min(os.confidence, version?.confidence ?? 1),
  });
}

/** @see NIST's CPE dictionary, which calls what runs on the hardware `model` its `model_firmware`. */
function firmwareOf(claims: readonly Claim[]): Software | null {
  const [vendor, model, version] = (["vendor", "model", "os_version"] as const).map((field) => decide(ofField(claims, field)));
  if (!vendor || !model || !version) return null;
  const product = `${model.value} firmware`;
  return clean({
    vendor: vendor.value, product, version: version.value, edition: "", distribution: "", package_version: "",
    cpe: formatCpe(["o", vendor.value, product, version.value]), confidence: Math.min(model.confidence, version.confidence),
  });
}

/** Systems that are distributions, of which one name is that of the system, too. */
const DISTRIBUTIONS: ReadonlySet<string> = new Set([
  "Debian", "Ubuntu", "Raspbian", "Fedora", "CentOS", "Rocky Linux", "AlmaLinux", "Red Hat Enterprise Linux", "Oracle Linux", "Amazon Linux",
  "SUSE Linux", "Alpine Linux", "Arch Linux",
]);

/** Makers of systems, by how the systems' names begin. */
const MAKERS: readonly (readonly [beginning: string, maker: string])[] = [
  ["Cisco", "Cisco"], ["Windows", "Microsoft"], ["Junos", "Juniper"], ["RouterOS", "MikroTik"], ["FortiOS", "Fortinet"], ["PAN-OS", "Palo Alto Networks"],
  ["SonicOS", "SonicWall"], ["VMware", "VMware"], ["DSM", "Synology"], ["QTS", "QNAP"], ["Debian", "Debian"], ["Ubuntu", "Canonical"],
  ["Linux", "Linux"], ["FreeBSD", "FreeBSD"], ["NetBSD", "NetBSD"], ["OpenBSD", "OpenBSD"], ["OpenWrt", "OpenWrt"], ["pfSense", "Netgate"],
  ["macOS", "Apple"], ["Red Hat", "Red Hat"], ["Oracle", "Oracle"],
];

/** Builds for a release that is out name it: `+deb12u3`, `~deb12u1`, `0ubuntu0.22.04.1`. */
function withRelease(distribution: string, build: string): string {
  const release = /[+~]deb(\d{1,3})/.exec(build)?.[1] ?? /ubuntu0\.(\d\d\.\d\d)\b/.exec(build)?.[1];
  return distribution === "" || release === undefined ? distribution : `${distribution} ${release}`;
}

function vendorOfSystem(os: string): string {
  return MAKERS.find(([beginning]) => os.startsWith(beginning))?.[1] ?? "";
}

function ofField(claims: readonly Claim[], field: ClaimField): readonly Claim[] {
  return claims.filter((claim) => claim.field === field);
}

/** What those say of a field who name the value that is believed of another one. */
function byWitnesses(claims: readonly Claim[], field: "product" | "os", believed: Decision): (field: ClaimField) => Decision | null {
  const isSame = (value: string) => value.trim().toLowerCase() === believed.value.toLowerCase();
  const witnesses = new Set(ofField(claims, field).filter(({ value }) => isSame(value)).map(({ source }) => witnessOf(source)));
  return (other) => decide(ofField(claims, other).filter(({ source }) => witnesses.has(witnessOf(source))));
}

function valueOf(decision: Decision | null): string {
  return decision?.value ?? "";
}

/** A CPE whose version is any, with the version that is known. */
function withVersion(cpe: string, version: string): string {
  const attributes = cpe.split(/(?<!\\):/);
  if (version === "" || attributes[1] !== "2.3" || attributes[5] !== "*") return cpe;
  const [part = "", ...named] = attributes.slice(2, 5).map((text) => text.replaceAll("\\", ""));
  return formatCpe([part, ...named, version]);
}

/** A banner is written by whoever runs the service: in one line, without what moves a terminal's cursor, and not too long. */
function clean(software: Software): Software | null {
  const cut = (text: string, length: number) =>
    text.slice(0, length * 2).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, " ").trim().slice(0, length).replace(/\p{Cs}/u, "").trim();
  const texts = Object.entries(MAX_LENGTHS).map(([field, length]) => [field, cut(software[field as keyof typeof MAX_LENGTHS], length)]);
  const cleaned = { ...software, ...(Object.fromEntries(texts) as Record<keyof typeof MAX_LENGTHS, string>), cpe: software.cpe.length > MAX_CPE ? "" : software.cpe };
  return cleaned.product === "" ? null : cleaned;
}

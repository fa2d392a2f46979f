import { type Claim, formatCpe } from "@lanthorn/fingerprints";
import { claims } from "../protocol.ts";

/** An object in which makers' agents report the version of the system that their description leaves out. */
interface VersionObject {
  /** Agents whose sysObjectID begins so have it. */
  readonly enterprise: string;
  readonly name: string;
  /** Version, and the build where there is one. */
  readonly pattern: RegExp;
  readonly os: string;
  /** Part, vendor and product. */
  readonly cpe: readonly [string, string, string];
}

/** @see FORTINET-FORTIGATE-MIB fgSysVersion; MIKROTIK-MIB mtxrLicVersion; PAN-COMMON-MIB panSysSwVersion; SYNOLOGY-SYSTEM-MIB version */
const VERSION_OBJECTS: readonly VersionObject[] = [
  {
    enterprise: "1.3.6.1.4.1.12356.101.", name: "1.3.6.1.4.1.12356.101.4.1.1.0", pattern: /^v?(\d[\d.]{0,31})(?:,build(\d{1,8}))?/, os: "FortiOS",
    cpe: ["o", "fortinet", "fortios"],
  },
  { enterprise: "1.3.6.1.4.1.14988.1", name: "1.3.6.1.4.1.14988.1.1.4.4.0", pattern: /^(\d[\w.]{0,31})/, os: "RouterOS", cpe: ["o", "mikrotik", "routeros"] },
  {
    enterprise: "1.3.6.1.4.1.25461.2.3.", name: "1.3.6.1.4.1.25461.2.1.2.1.1.0", pattern: /^(\d[\w.-]{0,31})/, os: "PAN-OS",
    cpe: ["o", "paloaltonetworks", "pan-os"],
  },
  {
    enterprise: "1.3.6.1.4.1.6574.", name: "1.3.6.1.4.1.6574.1.5.3.0", pattern: /^DSM (\d[\d.]{0,31})(?:-(\d{1,8}))?/, os: "DSM",
    cpe: ["a", "synology", "diskstation_manager"],
  },
];

/** @returns Which object has the version; null for an agent that has none of these. */
export function versionObjectOf(sysObjectId: string): VersionObject | null {
  return VERSION_OBJECTS.find(({ enterprise }) => `${sysObjectId}.`.startsWith(enterprise)) ?? null;
}

/** What such an object says of the system; nothing for a text that is none of its kind. */
export function versionClaims({ pattern, os, cpe }: VersionObject, text: string): readonly Claim[] {
  const [, version, build] = pattern.exec(text) ?? [];
  if (version === undefined) return [];
  return claims("snmp", 0.95, { os, os_version: version, os_package_version: build, os_cpe: formatCpe([...cpe, version]) });
}

import type { Rule } from "./rule.ts";

/** @param examples Systems of which exactly this kind must be said. */
function madeFor(kind: string, confidence: number, pattern: RegExp, ...examples: readonly string[]): Rule {
  const says = { device_type: kind };
  return { pattern, says, confidence, examples: examples.map((text) => [text, says]) };
}

/** What kind of device an operating system is for. General ones, as Linux, run on all of them and say nothing. */
export const SYSTEM_RULES: readonly Rule[] = [
  madeFor("server", 0.7, /^(?:Windows Server|VMware ESXi|Proxmox VE|DSM|QTS|TrueNAS)/, "Windows Server 2022", "VMware ESXi", "DSM"),
  madeFor("workstation", 0.65, /^(?:Windows (?:7|8|10|11)|macOS|Mac OS X|Chrome OS)/, "Windows 11", "macOS"),
  madeFor("computer", 0.6, /^Windows$/, "Windows"),
  madeFor("firewall", 0.7, /^(?:pfSense|OPNsense|FortiOS|PAN-OS|Cisco ASA)/, "OPNsense", "Cisco ASA"),
  madeFor("router", 0.6, /^(?:RouterOS|OpenWrt|FRITZ!OS|VyOS|EdgeOS)/, "RouterOS", "FRITZ!OS"),
  madeFor("switch", 0.7, /^Cumulus Linux/, "Cumulus Linux"),
  madeFor("access_point", 0.6, /^airOS/, "airOS"),
  madeFor("iot", 0.65, /^(?:tvOS|audioOS|webOS|Tizen|Fire OS)/, "tvOS", "webOS"),
];

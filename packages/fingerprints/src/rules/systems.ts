import type { Rule } from "./rule.ts";

/** What kind of device an operating system is for. General ones, as Linux, run on all of them and say nothing. */
export const SYSTEM_RULES: readonly Rule[] = [
  { pattern: /^(?:Windows Server|VMware ESXi|Proxmox VE|DSM|QTS|TrueNAS)/, says: { device_type: "server" }, confidence: 0.7,
    examples: [["Windows Server 2022", { device_type: "server" }], ["VMware ESXi", { device_type: "server" }], ["DSM", { device_type: "server" }]] },
  { pattern: /^(?:Windows (?:7|8|10|11)|macOS|Mac OS X|Chrome OS)/, says: { device_type: "workstation" }, confidence: 0.65,
    examples: [["Windows 11", { device_type: "workstation" }], ["macOS", { device_type: "workstation" }]] },
  { pattern: /^Windows$/, says: { device_type: "computer" }, confidence: 0.6, examples: [["Windows", { device_type: "computer" }]] },
  { pattern: /^(?:pfSense|OPNsense|FortiOS|PAN-OS|Cisco ASA)/, says: { device_type: "firewall" }, confidence: 0.7, examples: [["OPNsense", { device_type: "firewall" }], ["Cisco ASA", { device_type: "firewall" }]] },
  { pattern: /^(?:RouterOS|OpenWrt|FRITZ!OS|VyOS|EdgeOS)/, says: { device_type: "router" }, confidence: 0.6, examples: [["RouterOS", { device_type: "router" }], ["FRITZ!OS", { device_type: "router" }]] },
  { pattern: /^Cumulus Linux/, says: { device_type: "switch" }, confidence: 0.7, examples: [["Cumulus Linux", { device_type: "switch" }]] },
  { pattern: /^airOS/, says: { device_type: "access_point" }, confidence: 0.6, examples: [["airOS", { device_type: "access_point" }]] },
  { pattern: /^(?:tvOS|audioOS|webOS|Tizen|Fire OS)/, says: { device_type: "iot" }, confidence: 0.65, examples: [["tvOS", { device_type: "iot" }], ["webOS", { device_type: "iot" }]] },
];

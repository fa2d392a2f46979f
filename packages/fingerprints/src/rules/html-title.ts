import type { Rule } from "./rule.ts";

/** The title of a start page, or the realm that a server names. Weak: people write them. */
export const TITLE_RULES: readonly Rule[] = [
  { pattern: /^Synology|DiskStation/i, says: { vendor: "Synology", os: "DSM", device_type: "server" }, confidence: 0.7,
    examples: [["Synology DiskStation - nas", { vendor: "Synology", os: "DSM", device_type: "server" }]] },
  { pattern: /^QNAP|QTS\b/, says: { vendor: "QNAP", device_type: "server" }, confidence: 0.7, examples: [["QNAP Turbo NAS", { vendor: "QNAP", device_type: "server" }]] },
  { pattern: /RouterOS|^MikroTik/, says: { vendor: "MikroTik", os: "RouterOS", device_type: "router" }, confidence: 0.7,
    examples: [["RouterOS router configuration page", { vendor: "MikroTik", os: "RouterOS", device_type: "router" }]] },
  { pattern: /FRITZ!Box/, says: { vendor: "AVM", device_type: "router" }, confidence: 0.8, examples: [["FRITZ!Box 7590", { vendor: "AVM", device_type: "router" }]] },
  { pattern: /OpenWrt|LuCI/, says: { os: "OpenWrt", device_type: "router" }, confidence: 0.7, examples: [["OpenWrt - LuCI", { os: "OpenWrt", device_type: "router" }]] },
  { pattern: /pfSense|OPNsense|FortiGate|SonicWALL|Sophos (?:XG|Firewall)/i, says: { device_type: "firewall" }, confidence: 0.7, examples: [["pfSense - Login", { device_type: "firewall" }]] },
  { pattern: /UniFi/i, says: { vendor: "Ubiquiti" }, confidence: 0.6, examples: [["UniFi Network", { vendor: "Ubiquiti" }]] },
  { pattern: /^AXIS|Network Camera|IP Camera|NETSurveillance/i, says: { device_type: "camera" }, confidence: 0.7, examples: [["AXIS P3245-LV", { device_type: "camera" }]] },
  { pattern: /LaserJet|OfficeJet|Brother (?:HL|MFC|DCP)|EPSON|imageRUNNER|bizhub|Printer/i, says: { device_type: "printer" }, confidence: 0.7,
    examples: [["Brother HL-L2350DW series", { device_type: "printer" }]] },
  { pattern: /Yealink|Polycom|Grandstream|snom|SIP-T\d|IP Phone/i, says: { device_type: "phone" }, confidence: 0.7, examples: [["Yealink T46S Phone", { device_type: "phone" }]] },
  { pattern: /Access Point|\bUAP\b|Aruba Instant/i, says: { device_type: "access_point" }, confidence: 0.6, examples: [["Aruba Instant", { device_type: "access_point" }]] },
  { pattern: /\bSwitch\b|ProCurve|EdgeSwitch/i, says: { device_type: "switch" }, confidence: 0.5, examples: [["NETGEAR GS724T Smart Switch", { device_type: "switch" }]] },
  { pattern: /Proxmox|VMware ESXi|iDRAC|Integrated Lights-Out|iLO \d/i, says: { device_type: "server" }, confidence: 0.7, examples: [["pve - Proxmox Virtual Environment", { device_type: "server" }]] },
  { pattern: /^Home Assistant|Tasmota|Shelly|Philips hue/i, says: { device_type: "iot" }, confidence: 0.6, examples: [["Philips hue personal wireless lighting", { device_type: "iot" }]] },
];

import type { Rule } from "./rule.ts";

/** Option 60 of a DHCP client. @see RFC 2132 section 9.13 */
export const DHCP_CLASS_RULES: readonly Rule[] = [
  { pattern: /^MSFT 5\.0/, says: { os: "Windows" }, examples: [["MSFT 5.0", { os: "Windows" }]] },
  { pattern: /^android-dhcp-(\d[\d.]*)/, says: { os: "Android", os_version: "$1" }, examples: [["android-dhcp-13", { os: "Android", os_version: "13" }]] },
  { pattern: /^dhcpcd-[\w.-]+:Linux-(\d[\w.+-]*):/, says: { os: "Linux", os_version: "$1" }, confidence: 0.8,
    examples: [["dhcpcd-9.4.1:Linux-5.15.84-v7l+:armv7l:BCM2711", { os: "Linux", os_version: "5.15.84-v7l+" }]] },
  { pattern: /^udhcp \d/, says: { os: "Linux" }, confidence: 0.7, examples: [["udhcp 1.35.0", { os: "Linux" }]] },
  { pattern: /^Cisco Systems,? Inc\. IP Phone(?: (\S+))?/, says: { device_type: "phone", device_vendor: "Cisco", model: "$1" },
    examples: [["Cisco Systems, Inc. IP Phone CP-7960G", { device_type: "phone", device_vendor: "Cisco", model: "CP-7960G" }]] },
  { pattern: /^(yealink|Polycom|Grandstream|snom|Mitel|Aastra|Fanvil|Avaya|Panasonic KX)/i, says: { device_type: "phone", device_vendor: "$1" }, confidence: 0.85,
    examples: [["yealink", { device_type: "phone", device_vendor: "yealink" }], ["Polycom-SoundPointIP-SPIP_550", { device_type: "phone", device_vendor: "Polycom" }]] },
  { pattern: /^(Hewlett-Packard|HP) (?:JetDirect|LaserJet|OfficeJet|Printer)/i, says: { device_type: "printer", device_vendor: "$1" }, confidence: 0.85,
    examples: [["Hewlett-Packard JetDirect", { device_type: "printer", device_vendor: "Hewlett-Packard" }]] },
  { pattern: /^(?:Canon|EPSON|Brother|RICOH|KYOCERA|LEXMARK|XEROX|KONICA|Mfg=)/i, says: { device_type: "printer" }, confidence: 0.8, examples: [["Mfg=Lexmark;Typ=Printer;Mod=Lexmark E460dn;", { device_type: "printer" }]] },
  { pattern: /^Cisco AP (\S+)/, says: { device_type: "access_point", device_vendor: "Cisco", model: "$1" }, examples: [["Cisco AP c2800", { device_type: "access_point", device_vendor: "Cisco", model: "c2800" }]] },
  { pattern: /^Aruba(?:Instant)?AP/, says: { device_type: "access_point", device_vendor: "Aruba" }, examples: [["ArubaInstantAP", { device_type: "access_point", device_vendor: "Aruba" }]] },
  { pattern: /^Ruckus/i, says: { device_type: "access_point", device_vendor: "Ruckus" }, confidence: 0.85, examples: [["Ruckus CPE", { device_type: "access_point", device_vendor: "Ruckus" }]] },
  { pattern: /^ubnt/i, says: { device_vendor: "Ubiquiti" }, confidence: 0.85, examples: [["ubnt", { device_vendor: "Ubiquiti" }]] },
  { pattern: /^AXIS,([^,]*),([^,]+)/, says: { device_type: "camera", device_vendor: "Axis", model: "$2" },
    examples: [["AXIS,Network Camera,P3245-LV,10.12.114", { device_type: "camera", device_vendor: "Axis", model: "P3245-LV" }]] },
  { pattern: /^docsis\d/i, says: { device_type: "router" }, confidence: 0.7, examples: [["docsis3.1:", { device_type: "router" }]] },
  { pattern: /^(?:Cisco|Juniper|Arista)[ -].*(?:switch|WS-C|Catalyst|ex\d{4}|DCS-)/i, says: { device_type: "switch" }, confidence: 0.75, examples: [["Juniper-ex2300-c-12t", { device_type: "switch" }]] },
];

/** The subject of a certificate, as RFC 4514 writes it. Makers who sign their devices' own name them. */
export const TLS_SUBJECT_RULES: readonly Rule[] = [
  { pattern: /O=Synology Inc/i, says: { device_vendor: "Synology", os: "DSM", device_type: "server" }, confidence: 0.85, examples: [["CN=synology,OU=FTP Team,O=Synology Inc.,L=Taipel,C=TW", { device_vendor: "Synology", os: "DSM", device_type: "server" }]] },
  { pattern: /O=QNAP/i, says: { device_vendor: "QNAP", device_type: "server" }, confidence: 0.85, examples: [["CN=QNAP NAS,OU=NAS,O=QNAP Systems\\, Inc.,C=TW", { device_vendor: "QNAP", device_type: "server" }]] },
  { pattern: /O=Fortinet|CN=FortiGate/i, says: { device_vendor: "Fortinet", device_type: "firewall" }, confidence: 0.8, examples: [["CN=FGT60F1234567890,OU=FortiGate,O=Fortinet,C=US", { device_vendor: "Fortinet", device_type: "firewall" }]] },
  { pattern: /O=(pfSense|OPNsense|SonicWALL|WatchGuard|Sophos)/i, says: { device_vendor: "$1", device_type: "firewall" }, confidence: 0.75, examples: [["CN=pfSense-5f1e,O=pfSense webConfigurator Self-Signed Certificate", { device_vendor: "pfSense", device_type: "firewall" }]] },
  { pattern: /O=(?:PVE Cluster|Proxmox)/i, says: { os: "Proxmox VE", device_type: "server" }, confidence: 0.85, examples: [["CN=pve.lab.test,OU=PVE Cluster Node,O=Proxmox Virtual Environment", { os: "Proxmox VE", device_type: "server" }]] },
  { pattern: /O=VMware/i, says: { device_type: "server" }, confidence: 0.75, examples: [["CN=esx1,OU=VMware ESX Server Default Certificate,O=VMware\\, Inc,C=US", { device_type: "server" }]] },
  { pattern: /OU=Remote Access Group|CN=i(?:DRAC|LO)/i, says: { device_type: "server" }, confidence: 0.85, examples: [["CN=idrac-ABC1234,OU=Remote Access Group,O=Dell Inc.,C=US", { device_type: "server" }]] },
  { pattern: /OU=HP-IPG|O=(?:Brother|Lexmark|Xerox|EPSON|Seiko Epson|RICOH|Kyocera|Canon|KONICA)/i, says: { device_type: "printer" }, confidence: 0.8,
    examples: [["CN=HP1A2B3C,OU=HP-IPG,O=HP,L=Vancouver,C=US", { device_type: "printer" }], ["CN=BRW001BA9770030,O=Brother Industries\\, Ltd.", { device_type: "printer" }]] },
  { pattern: /O=(Axis Communications|Hikvision|Dahua|MOBOTIX|Hanwha)/i, says: { device_vendor: "$1", device_type: "camera" }, confidence: 0.8, examples: [["CN=axis-b8a44f770050,O=Axis Communications AB", { device_vendor: "Axis Communications", device_type: "camera" }]] },
  { pattern: /CN=SEP[0-9A-F]{12}|O=(?:Yealink|Polycom|Grandstream|snom)/i, says: { device_type: "phone" }, confidence: 0.8, examples: [["CN=SEP001122334455,OU=CTG,O=Cisco Systems Inc.", { device_type: "phone" }]] },
  { pattern: /O=Sonos/i, says: { device_vendor: "Sonos", device_type: "iot" }, confidence: 0.85, examples: [["CN=sonos-347E5C770055,O=Sonos\\, Inc.", { device_vendor: "Sonos", device_type: "iot" }]] },
  { pattern: /O=(?:Ubiquiti|UBNT)/i, says: { device_vendor: "Ubiquiti" }, confidence: 0.8, examples: [["CN=unifi,OU=UniFi,O=Ubiquiti Inc.,C=US", { device_vendor: "Ubiquiti" }]] },
  { pattern: /CN=(?:www\.)?fritz\.box/i, says: { device_vendor: "AVM", os: "FRITZ!OS", device_type: "router" }, confidence: 0.8, examples: [["CN=fritz.box", { device_vendor: "AVM", os: "FRITZ!OS", device_type: "router" }]] },
];

/** A word of a host's name that people use for one kind of machine, alone or with a number. */
const named = (words: string) => new RegExp(`(?:^|[-_.])(?:${words})\\d{0,4}(?:[-_.]|$)`, "i");

/** Names: people give them as they like, so they are weak, and tell by whole words only. */
export const HOSTNAME_RULES: readonly Rule[] = [
  { pattern: /^(?:DESKTOP|LAPTOP)-[A-Z0-9]{7}$/, says: { device_type: "workstation", os: "Windows" }, confidence: 0.45, examples: [["DESKTOP-7Q2K9AB", { device_type: "workstation", os: "Windows" }]] },
  { pattern: /(?:Mac-?Book|iMac|Mac-?mini|MacStudio)/i, says: { device_type: "workstation", os: "macOS" }, confidence: 0.45, examples: [["Annas-MacBook-Pro", { device_type: "workstation", os: "macOS" }]] },
  { pattern: /(?:^|-)i(?:Phone|Pad)(?:-|$)/i, says: { os: "Darwin" }, confidence: 0.45, examples: [["Annas-iPhone", { os: "Darwin" }]] },
  { pattern: /^android-[0-9a-f]{8,}/i, says: { os: "Android" }, confidence: 0.45, examples: [["android-1f0c5b8a9d3e2f10", { os: "Android" }]] },
  { pattern: /^(?:BRN|BRW|HP|NPI|EPSON|ET)[0-9A-F]{6,12}$/i, says: { device_type: "printer" }, confidence: 0.45, examples: [["BRW001BA9770030", { device_type: "printer" }], ["NPI1A2B3C", { device_type: "printer" }]] },
  { pattern: /^SEP[0-9A-F]{12}$/i, says: { device_type: "phone", device_vendor: "Cisco" }, confidence: 0.45, examples: [["SEP001122334455", { device_type: "phone", device_vendor: "Cisco" }]] },
  { pattern: named("printers?|laserjet|officejet|mfp|plotter|copier|drucker"), says: { device_type: "printer" }, confidence: 0.4, examples: [["printer-2nd-floor", { device_type: "printer" }], ["printer", { device_type: "printer" }]] },
  { pattern: named("(?:ip)?cams?|camera|webcam|nvr|doorbell"), says: { device_type: "camera" }, confidence: 0.4, examples: [["camera", { device_type: "camera" }], ["cam-03", { device_type: "camera" }]] },
  { pattern: named("phone|voip|sip"), says: { device_type: "phone" }, confidence: 0.4, examples: [["phone", { device_type: "phone" }]] },
  { pattern: named("firewall|fw|pfsense|opnsense|fortigate|asa"), says: { device_type: "firewall" }, confidence: 0.4, examples: [["fw-1", { device_type: "firewall" }]] },
  { pattern: named("ap|wap|access-?point|wlan|wifi"), says: { device_type: "access_point" }, confidence: 0.4, examples: [["ap-lobby", { device_type: "access_point" }]] },
  { pattern: named("switch|sw|core-?switch"), says: { device_type: "switch" }, confidence: 0.4, examples: [["core-switch", { device_type: "switch" }], ["sw12", { device_type: "switch" }]] },
  { pattern: named("router|gateway|gw|rtr"), says: { device_type: "router" }, confidence: 0.4, examples: [["gateway.lab.test", { device_type: "router" }]] },
  { pattern: named("nas|server|srv|mail|mx|dns|ns|db|sql|mysql|mariadb|postgres|web|www|proxy|backup|files?|ldap|dc|esxi?|pve|vm|build|git|jenkins|nginx|apache"), says: { device_type: "server" }, confidence: 0.35,
    examples: [["nas", { device_type: "server" }], ["mail.lab.test", { device_type: "server" }], ["db01", { device_type: "server" }]] },
  { pattern: named("laptop|desktop|notebook|workstation|pc|thinkpad|client"), says: { device_type: "workstation" }, confidence: 0.4, examples: [["laptop", { device_type: "workstation" }]] },
  { pattern: named("tv|television|speaker|sensor|thermostat|hvac|plug|bulb|meter|alexa|echo|sonos|roku|chromecast|hue|shelly|tasmota|esp|pi|raspberrypi|fridge|washer|vacuum|ups|pdu"), says: { device_type: "iot" }, confidence: 0.35,
    examples: [["tv", { device_type: "iot" }], ["hvac", { device_type: "iot" }], ["pi", { device_type: "iot" }]] },
];

/** CDP's platform, or what LLDP-MED calls the model. */
export const PLATFORM_MODEL_RULES: readonly Rule[] = [
  { pattern: /^Cisco IP Phone (\S+)/i, says: { device_type: "phone", device_vendor: "Cisco", model: "$1" }, examples: [["Cisco IP Phone 7960", { device_type: "phone", device_vendor: "Cisco", model: "7960" }]] },
  { pattern: /^cisco (WS-C\S+|C9[23]\d\d\S*|N[3579]K-\S+|SG\d\S*)/i, says: { device_type: "switch", device_vendor: "Cisco", model: "$1" }, examples: [["cisco WS-C2950-12", { device_type: "switch", device_vendor: "Cisco", model: "WS-C2950-12" }]] },
  { pattern: /^cisco (AIR-\S+|C91\d\d\S*)/i, says: { device_type: "access_point", device_vendor: "Cisco", model: "$1" }, examples: [["cisco AIR-AP1832I-E-K9", { device_type: "access_point", device_vendor: "Cisco", model: "AIR-AP1832I-E-K9" }]] },
  { pattern: /^cisco (\d{3,4}\S*|ISR\S+|ASR\S+)/i, says: { device_type: "router", device_vendor: "Cisco", model: "$1" }, confidence: 0.8, examples: [["Cisco 2811", { device_type: "router", device_vendor: "Cisco", model: "2811" }]] },
  { pattern: /^cisco (\S+)/i, says: { device_vendor: "Cisco", model: "$1" }, examples: [["cisco CIVS-IPC-2500", { device_vendor: "Cisco", model: "CIVS-IPC-2500" }]] },
  { pattern: /^(VMware) ESX/, says: { device_type: "server", os: "VMware ESXi" }, examples: [["VMware ESX", { device_type: "server", os: "VMware ESXi" }]] },
  { pattern: /^(MikroTik)/, says: { device_type: "router", device_vendor: "$1", os: "RouterOS" }, confidence: 0.85, examples: [["MikroTik", { device_type: "router", device_vendor: "MikroTik", os: "RouterOS" }]] },
];

import type { Rule } from "./rule.ts";

/** sysDescr.0. @see RFC 3418 section 2 */
export const SNMP_DESCRIPTION_RULES: readonly Rule[] = [
  {
    pattern: /^Cisco IOS XR Software\b.{0,80}?Version (\d[\w.]*)/s,
    says: { vendor: "Cisco", product: "Cisco IOS XR", os: "Cisco IOS XR", os_version: "$1", os_cpe: "o:cisco:ios_xr:$1" },
    examples: [["Cisco IOS XR Software (Cisco ASR9K Series),  Version 6.1.4[Default]\r\nCopyright (c) 2017 by Cisco Systems, Inc.", {
      vendor: "Cisco", product: "Cisco IOS XR", os: "Cisco IOS XR", os_version: "6.1.4", os_cpe: "cpe:2.3:o:cisco:ios_xr:6.1.4:*:*:*:*:*:*:*",
    }]],
  },
  {
    // A release has a name since it is IOS XE alone; IOS itself ended with 15.
    pattern: /^Cisco IOS(?:(?:[ -]XE)? Software, (?:IOS-XE Software,|.{0,80}?Version (?=1[6-9]|2\d))|[ -]XE Software,| Software \[\w+\],).{0,160}?(?:Version )?(\d\d\.\d[\w.()]*)/s,
    says: { vendor: "Cisco", product: "Cisco IOS XE", os: "Cisco IOS XE", os_version: "$1", os_cpe: "o:cisco:ios_xe:$1" },
    examples: [
      ["Cisco IOS Software [Everest], Catalyst L3 Switch Software (CAT3K_CAA-UNIVERSALK9-M), Version 16.6.4, RELEASE SOFTWARE (fc3)", {
        vendor: "Cisco", product: "Cisco IOS XE", os: "Cisco IOS XE", os_version: "16.6.4", os_cpe: "cpe:2.3:o:cisco:ios_xe:16.6.4:*:*:*:*:*:*:*",
      }],
      ["Cisco IOS Software, IOS-XE Software, Catalyst 4500 L3 Switch Software (cat4500e-UNIVERSALK9-M), Version 03.06.05.E RELEASE SOFTWARE (fc2)", {
        vendor: "Cisco", product: "Cisco IOS XE", os: "Cisco IOS XE", os_version: "03.06.05.E", os_cpe: "cpe:2.3:o:cisco:ios_xe:03.06.05.e:*:*:*:*:*:*:*",
      }],
      ["Cisco IOS XE Software, Version 16.12.04", {
        vendor: "Cisco", product: "Cisco IOS XE", os: "Cisco IOS XE", os_version: "16.12.04", os_cpe: "cpe:2.3:o:cisco:ios_xe:16.12.04:*:*:*:*:*:*:*",
      }],
    ],
  },
  {
    pattern: /^(?:Cisco IOS(?:[ -]XE)? Software|Cisco Internetwork Operating System Software)(?:.{0,160}?Version (\d[\w.()]*))?/s,
    says: { vendor: "Cisco", product: "Cisco IOS", os: "Cisco IOS", os_version: "$1", os_cpe: "o:cisco:ios:$1" },
    examples: [["Cisco IOS Software, C2960 Software (C2960-LANBASEK9-M), Version 15.0(2)SE4, RELEASE SOFTWARE (fc1)", {
      vendor: "Cisco", product: "Cisco IOS", os: "Cisco IOS", os_version: "15.0(2)SE4", os_cpe: "cpe:2.3:o:cisco:ios:15.0\\(2\\)se4:*:*:*:*:*:*:*",
    }]],
  },
  {
    pattern: /^Cisco NX-OS\(tm\) .{0,160}?Version (\d[\w.()]*)/s,
    says: { vendor: "Cisco", product: "Cisco NX-OS", os: "Cisco NX-OS", os_version: "$1", os_cpe: "o:cisco:nx-os:$1" },
    examples: [["Cisco NX-OS(tm) n5000, Software (n5000-uk9), Version 5.2(1)N1(4), RELEASE SOFTWARE Copyright (c) 2002-2011 by Cisco Systems, Inc.", {
      vendor: "Cisco", product: "Cisco NX-OS", os: "Cisco NX-OS", os_version: "5.2(1)N1(4)", os_cpe: "cpe:2.3:o:cisco:nx-os:5.2\\(1\\)n1\\(4\\):*:*:*:*:*:*:*",
    }]],
  },
  {
    // Junos 12.3R12.4 is release 12.3R12, built the fourth time.
    pattern: /^Juniper Networks, Inc\. (\S{1,32}) .{0,80}?kernel JUNOS ((\d\d\.\d)([A-Z]\d{1,3}(?:-S\d{1,3})?)?[\w.-]*)/s,
    says: { vendor: "Juniper", product: "Junos", os: "Junos", model: "$1", os_version: "$2", os_cpe: "o:juniper:junos:$3:$4" },
    examples: [["Juniper Networks, Inc. ex2200-24t-4g internet router, kernel JUNOS 12.3R12-S3.4 #0: 2016-01-20 05:03:06 UTC", {
      vendor: "Juniper", product: "Junos", os: "Junos", model: "ex2200-24t-4g", os_version: "12.3R12-S3.4", os_cpe: "cpe:2.3:o:juniper:junos:12.3:r12-s3:*:*:*:*:*:*",
    }]],
  },
  {
    pattern: /^Cisco Adaptive Security Appliance Version (\d[\w.()]*)/,
    says: { vendor: "Cisco", os: "Cisco ASA", os_version: "$1", os_cpe: "o:cisco:adaptive_security_appliance_software:$1", device_type: "firewall" },
    examples: [["Cisco Adaptive Security Appliance Version 9.8(2)", {
      vendor: "Cisco", os: "Cisco ASA", os_version: "9.8(2)", os_cpe: "cpe:2.3:o:cisco:adaptive_security_appliance_software:9.8\\(2\\):*:*:*:*:*:*:*", device_type: "firewall",
    }]],
  },
  {
    pattern: /^RouterOS (\S+)/,
    says: { vendor: "MikroTik", os: "RouterOS", model: "$1", device_type: "router" },
    examples: [["RouterOS RB4011iGS+", { vendor: "MikroTik", os: "RouterOS", model: "RB4011iGS+", device_type: "router" }]],
  },
  {
    pattern: /^(?:HP|HPE|ProCurve|Aruba) ?((?:J|R)\w{5}) .{0,60}?[Ss]witch.{0,40}?, revision (\w{1,4}(?:\.\w{1,6}){1,4})/,
    says: { vendor: "HPE", model: "$1", os_version: "$2", device_type: "switch" },
    examples: [
      ["ProCurve J9019B Switch 2510B-24, revision Q.11.57, ROM Q.10.02", { vendor: "HPE", model: "J9019B", os_version: "Q.11.57", device_type: "switch" }],
      ["Aruba JL253A 2930F-24G-4SFP+ Switch, revision WC.16.10.0012, ROM WC.16.01.0006", {
        vendor: "HPE", model: "JL253A", os_version: "WC.16.10.0012", device_type: "switch",
      }],
    ],
  },
  {
    pattern: /^(?:HP|HPE|ProCurve|Aruba) ?(?:J\w{5})?.{0,40}?(?:Switch|ProCurve)/,
    says: { vendor: "HPE", device_type: "switch" },
    examples: [["HP ProCurve Switch 2510B-24", { vendor: "HPE", device_type: "switch" }]],
  },
  {
    pattern: /^Brother ([\w-]+), Firmware Ver\.(\d[\w.]*)/,
    says: { vendor: "Brother", model: "$1", os_version: "$2", device_type: "printer" },
    examples: [["Brother NC-8300w, Firmware Ver.1.05, MID 84U-E00 Laser Printer", { vendor: "Brother", model: "NC-8300w", os_version: "1.05", device_type: "printer" }]],
  },
  {
    pattern: /^Lexmark (\w{2,16}) version (\w[\w.]*)/,
    says: { vendor: "Lexmark", model: "$1", os_version: "$2", device_type: "printer" },
    examples: [["Lexmark MS610dn version NH63.GM.N642 kernel 3.0.0 All-N-1", { vendor: "Lexmark", model: "MS610dn", os_version: "NH63.GM.N642", device_type: "printer" }]],
  },
  {
    pattern: /^RICOH ((?:Aficio )?[A-Z]{1,3} \w{2,12}) (\d[\d.]*) \/ RICOH Network/,
    says: { vendor: "Ricoh", model: "$1", os_version: "$2", device_type: "printer" },
    examples: [["RICOH MP C3003 1.35 / RICOH Network Printer C model / RICOH Network Scanner C model", {
      vendor: "Ricoh", model: "MP C3003", os_version: "1.35", device_type: "printer",
    }]],
  },
  {
    pattern: /^(?:HP ETHERNET MULTI-ENVIRONMENT|.{0,60}(?:LaserJet|OfficeJet|Printer|JETDIRECT|imageRUNNER|bizhub|WorkCentre|Aficio|TASKalfa|ECOSYS))/i,
    says: { device_type: "printer" },
    examples: [
      ["HP ETHERNET MULTI-ENVIRONMENT,ROM none,JETDIRECT,JD153", { device_type: "printer" }],
      ["KYOCERA Document Solutions Laser Printer", { device_type: "printer" }],
    ],
  },
  {
    pattern: /^Brother ([\w-]+)/,
    says: { vendor: "Brother", model: "$1", device_type: "printer" },
    examples: [["Brother NC-8300w, Firmware Ver.Z", { vendor: "Brother", model: "NC-8300w", device_type: "printer" }]],
  },
  {
    pattern: /(?:UniFi|U6|UAP).{0,80}(?:AP|Access Point)/i,
    says: { vendor: "Ubiquiti", device_type: "access_point" },
    examples: [["UAP-AC-Pro-Gen2 access point 6.5.28", { vendor: "Ubiquiti", device_type: "access_point" }]],
  },
  {
    pattern: /\b(?:access point|wireless ap)\b/i,
    says: { device_type: "access_point" },
    confidence: 0.8,
    examples: [["Dual-band Access Point, WAC510", { device_type: "access_point" }]],
  },
  {
    pattern: /^SonicWALL (\w[\w. -]{0,24}\w) \(SonicOS \w{1,16} (\d[\w.-]*)\)/,
    says: { vendor: "SonicWall", model: "$1", os: "SonicOS", os_version: "$2", os_cpe: "o:sonicwall:sonicos:$2", device_type: "firewall" },
    examples: [["SonicWALL TZ 300 (SonicOS Enhanced 6.5.4.4-44n)", {
      vendor: "SonicWall", model: "TZ 300", os: "SonicOS", os_version: "6.5.4.4-44n", os_cpe: "cpe:2.3:o:sonicwall:sonicos:6.5.4.4-44n:*:*:*:*:*:*:*", device_type: "firewall",
    }]],
  },
  {
    pattern: /^pfSense \S{1,255} (\d[\w.]*)-RELEASE/,
    says: { os: "pfSense", os_version: "$1", os_cpe: "a:pfsense:pfsense:$1", device_type: "firewall" },
    examples: [["pfSense gw.lab.test 2.7.0-RELEASE FreeBSD 14.0-CURRENT amd64", {
      os: "pfSense", os_version: "2.7.0", os_cpe: "cpe:2.3:a:pfsense:pfsense:2.7.0:*:*:*:*:*:*:*", device_type: "firewall",
    }]],
  },
  {
    pattern: /^(?:FortiGate|Fortigate|Palo Alto Networks|SonicWALL|pfSense|OPNsense|Check Point)/i,
    says: { device_type: "firewall" },
    examples: [["Palo Alto Networks PA-220 series firewall", { device_type: "firewall" }]],
  },
  {
    pattern: /\b(?:managed|smart|ethernet|gigabit|stackable|layer ?[23]) (?:\S+ ){0,3}switch\b/i,
    says: { device_type: "switch" },
    confidence: 0.8,
    examples: [["GS724T 24-port Gigabit Smart Switch", { device_type: "switch" }]],
  },
  {
    pattern: /^VMware ESXi (\d[\d.]*) build-(\d{1,12})/,
    says: { vendor: "VMware", os: "VMware ESXi", os_version: "$1", os_package_version: "$2", os_cpe: "o:vmware:esxi:$1" },
    examples: [["VMware ESXi 7.0.3 build-19193900 VMware, Inc. x86_64", {
      vendor: "VMware", os: "VMware ESXi", os_version: "7.0.3", os_package_version: "19193900", os_cpe: "cpe:2.3:o:vmware:esxi:7.0.3:*:*:*:*:*:*:*",
    }]],
  },
  {
    // Debian's kernels name their binary interface first, and the release that they are in its own build.
    pattern: /^Linux (\S{1,64}) (\d{1,4}\.\d{1,4}\.\d\S{0,32}) .{0,80}?\bDebian ((\d{1,4}\.\d{1,4}\.\d{1,4})-[\w.+~]{1,32}) .{0,80}\b(?:x86_64|i686|aarch64|armv\d\w{0,8}|mips\w{0,8})\s*$/s,
    says: { os: "Linux", os_version: "$2", os_distribution: "Debian", os_package_version: "$3", os_cpe: "o:linux:linux_kernel:$4", hostname: "$1" },
    examples: [["Linux core-switch 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) x86_64", {
      os: "Linux", os_version: "6.1.0-18-amd64", os_distribution: "Debian", os_package_version: "6.1.76-1", os_cpe: "cpe:2.3:o:linux:linux_kernel:6.1.76:*:*:*:*:*:*:*",
      hostname: "core-switch",
    }]],
  },
  {
    pattern: /^Linux (\S+) (\d{1,4}\.\d{1,4}\.\d\S*) .*\b(?:x86_64|i686|aarch64|armv\d\w{0,8}|mips\w{0,8})\s*$/s,
    says: { os: "Linux", os_version: "$2", os_cpe: "o:linux:linux_kernel:$2", hostname: "$1" },
    examples: [["Linux web 5.14.0-427.el9.x86_64 #1 SMP PREEMPT_DYNAMIC Tue Apr 30 2024 x86_64", {
      os: "Linux", os_version: "5.14.0-427.el9.x86_64", os_cpe: "cpe:2.3:o:linux:linux_kernel:5.14.0-427.el9.x86_64:*:*:*:*:*:*:*", hostname: "web",
    }]],
  },
  {
    // Since Windows 10 the agent reports a version of compatibility; the build tells.
    pattern: /Software: Windows Version (?:6\.[23]|10\.0) \(Build (1[0-9]{4}|[2-9]\d{4}) /,
    says: { os: "Windows", os_version: "10.0.$1", os_cpe: "o:microsoft:windows", vendor: "Microsoft" },
    examples: [["Hardware: Intel64 Family 6 Model 85 Stepping 7 AT/AT COMPATIBLE - Software: Windows Version 6.3 (Build 17763 Multiprocessor Free)", {
      os: "Windows", os_version: "10.0.17763", os_cpe: "cpe:2.3:o:microsoft:windows:*:*:*:*:*:*:*:*", vendor: "Microsoft",
    }]],
  },
  {
    pattern: /Software: Windows Version (\d[\d.]*)/,
    says: { os: "Windows", os_version: "$1", os_cpe: "o:microsoft:windows", vendor: "Microsoft" },
    examples: [["Hardware: Intel64 Family 6 Model 42 Stepping 7 AT/AT COMPATIBLE - Software: Windows Version 6.1 (Build 7601 Multiprocessor Free)", {
      os: "Windows", os_version: "6.1", os_cpe: "cpe:2.3:o:microsoft:windows:*:*:*:*:*:*:*:*", vendor: "Microsoft",
    }]],
  },
];

/** sysObjectID.0 below 1.3.6.1.4.1: who made the agent. @see RFC 3418; IANA's list of private enterprise numbers */
export const SNMP_OBJECT_RULES: readonly Rule[] = [
  { pattern: /^1\.3\.6\.1\.4\.1\.9\.(?!6\.)/, says: { vendor: "Cisco" }, examples: [["1.3.6.1.4.1.9.1.1208", { vendor: "Cisco" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.8072\.3\.2\.10$/, says: { product: "net-snmp", os: "Linux" }, examples: [["1.3.6.1.4.1.8072.3.2.10", { product: "net-snmp", os: "Linux" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.8072\.3\.2\.8$/, says: { product: "net-snmp", os: "FreeBSD" }, examples: [["1.3.6.1.4.1.8072.3.2.8", { product: "net-snmp", os: "FreeBSD" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.311\.1\.1\.3\.1\.1$/, says: { vendor: "Microsoft", os: "Windows", device_type: "workstation" }, confidence: 0.8,
    examples: [["1.3.6.1.4.1.311.1.1.3.1.1", { vendor: "Microsoft", os: "Windows", device_type: "workstation" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.311\.1\.1\.3\.1\.[23]$/, says: { vendor: "Microsoft", os: "Windows", device_type: "server" },
    examples: [["1.3.6.1.4.1.311.1.1.3.1.2", { vendor: "Microsoft", os: "Windows", device_type: "server" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.14988\.1/, says: { vendor: "MikroTik", os: "RouterOS", device_type: "router" }, examples: [["1.3.6.1.4.1.14988.1", { vendor: "MikroTik", os: "RouterOS", device_type: "router" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.11\.2\.3\.9\./, says: { vendor: "HP", device_type: "printer" }, examples: [["1.3.6.1.4.1.11.2.3.9.1", { vendor: "HP", device_type: "printer" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.11\.2\.3\.7\.11\./, says: { vendor: "HPE", device_type: "switch" }, examples: [["1.3.6.1.4.1.11.2.3.7.11.76", { vendor: "HPE", device_type: "switch" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.2435\.2\.3\.9\./, says: { vendor: "Brother", device_type: "printer" }, examples: [["1.3.6.1.4.1.2435.2.3.9.1", { vendor: "Brother", device_type: "printer" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.1248\./, says: { vendor: "Epson", device_type: "printer" }, examples: [["1.3.6.1.4.1.1248.1.1.2.1.3", { vendor: "Epson", device_type: "printer" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.1602\./, says: { vendor: "Canon", device_type: "printer" }, examples: [["1.3.6.1.4.1.1602.4.7", { vendor: "Canon", device_type: "printer" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.367\./, says: { vendor: "Ricoh", device_type: "printer" }, examples: [["1.3.6.1.4.1.367.1.1", { vendor: "Ricoh", device_type: "printer" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.253\.8\.62\./, says: { vendor: "Xerox", device_type: "printer" }, examples: [["1.3.6.1.4.1.253.8.62.1.31.1.2", { vendor: "Xerox", device_type: "printer" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.12356\.101\./, says: { vendor: "Fortinet", device_type: "firewall" }, examples: [["1.3.6.1.4.1.12356.101.1.1004", { vendor: "Fortinet", device_type: "firewall" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.25461\./, says: { vendor: "Palo Alto Networks", device_type: "firewall" }, examples: [["1.3.6.1.4.1.25461.2.3.30", { vendor: "Palo Alto Networks", device_type: "firewall" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.2636\./, says: { vendor: "Juniper", os: "Junos" }, examples: [["1.3.6.1.4.1.2636.1.1.1.2.39", { vendor: "Juniper", os: "Junos" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.4526\./, says: { vendor: "Netgear", device_type: "switch" }, confidence: 0.7, examples: [["1.3.6.1.4.1.4526.100.4.14", { vendor: "Netgear", device_type: "switch" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.6574\./, says: { vendor: "Synology", device_type: "server" }, examples: [["1.3.6.1.4.1.6574.1", { vendor: "Synology", device_type: "server" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.41112\./, says: { vendor: "Ubiquiti" }, examples: [["1.3.6.1.4.1.41112.1.6", { vendor: "Ubiquiti" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.368\./, says: { vendor: "Axis", device_type: "camera" }, examples: [["1.3.6.1.4.1.368.4.1", { vendor: "Axis", device_type: "camera" }]] },
  { pattern: /^1\.3\.6\.1\.4\.1\.318\./, says: { vendor: "APC", device_type: "iot" }, examples: [["1.3.6.1.4.1.318.1.3.27", { vendor: "APC", device_type: "iot" }]] },
];

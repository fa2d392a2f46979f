/** What a host of the lab is, and by what it tells it besides its daemons. */
export interface Nature {
  /** One of the contract's device types. */
  readonly deviceType: string;
  /** Title of its web page. */
  readonly title?: string;
  /** sysDescr.0 of its SNMP agent. */
  readonly systemDescription?: string;
  /** What it offers by mDNS: type, port and TXT record. */
  readonly offers?: readonly (readonly [type: string, port: number, ...txt: readonly string[]])[];
}

const [SERVER, IOT] = [{ deviceType: "server" }, { deviceType: "iot" }] as const;

/** Every host of the larger lab, by name: what it is in truth, whether or not it shows it. */
export const NATURES: Readonly<Record<string, Nature>> = {
  "gateway": { deviceType: "router" },
  "core-switch": { deviceType: "switch", systemDescription: "ProCurve J9019B Switch 2510B-24, revision Q.11.57, ROM Q.10.02" },
  "nas": {
    deviceType: "server", title: "Synology DiskStation - nas",
    offers: [["_http._tcp", 5000], ["_smb._tcp", 445], ["_adisk._tcp", 9, "sys=waMa=0,adVF=0x100"]],
  },
  "web": { deviceType: "server" },
  "build": { deviceType: "server" },
  "printer": {
    deviceType: "printer", title: "Brother HL-L2350DW series", systemDescription: "Brother NC-8300w, Firmware Ver.1.05, MID 84U-E00",
    offers: [
      ["_ipp._tcp", 631, "txtvers=1", "rp=ipp/print", "ty=Brother HL-L2350DW series", "usb_MFG=Brother", "usb_MDL=HL-L2350DW series"],
      ["_pdl-datastream._tcp", 9100],
    ],
  },
  "camera": { deviceType: "camera", title: "AXIS P3245-LV Network Camera" },
  "phone": { deviceType: "phone", title: "Yealink T46S Phone" },
  "tv": { deviceType: "iot", offers: [["_airplay._tcp", 7000, "manufacturer=Samsung", "model=UE55TU8000"]] },
  "speaker": { deviceType: "iot", offers: [["_sonos._tcp", 1443, "vers=3"]] },
  "pi": { deviceType: "iot" },
  "late": { deviceType: "iot" },
  "firewall": { deviceType: "firewall" },
  "sensor": IOT, "hvac": IOT, "meter": IOT,
  "laptop": { deviceType: "workstation" },
  "apache": SERVER, "lighttpd": SERVER, "ftp": SERVER, "mail": SERVER, "mariadb": SERVER, "postgres": SERVER, "cache": SERVER,
  "broker": SERVER, "dns1": SERVER, "dns2": SERVER, "files": SERVER, "directory": SERVER, "clock": SERVER, "boot": SERVER,
  "spooler": SERVER, "old-unix": SERVER, "proxy": SERVER, "balancer": SERVER, "chat": SERVER, "media": SERVER, "kdc": SERVER,
  "terminal": SERVER, "queue": SERVER, "telephony": SERVER, "bmc": SERVER, "archive": SERVER, "torrent": SERVER, "cluster": SERVER,
  "voice": SERVER, "tunnel": SERVER, "office": SERVER, "secure": SERVER, "old-files": SERVER, "dropping": SERVER, "rejecting": SERVER,
  "limiting": SERVER, "everywhere": SERVER, "tarpit": SERVER, "multitude": SERVER, "ipv6-only": SERVER, "ipv6-services": SERVER,
  "desktop": { deviceType: "workstation" },
  "board": IOT, "plc": IOT, "position": IOT,
  "branch": { deviceType: "router" },
};

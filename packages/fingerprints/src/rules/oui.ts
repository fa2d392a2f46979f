import type { Rule } from "./rule.ts";

/**
 * What the maker of a network interface says of the machine, as the IEEE's registry spells him. Makers of one kind of device tell it; makers
 * of parts tell less than nothing: their vendor is not the device's.
 */
export const OUI_RULES: readonly Rule[] = [
  { pattern: /^Intel Corporate/i, says: { vendor: "", device_type: "computer" }, confidence: 0.4, examples: [["Intel Corporate", { vendor: "", device_type: "computer" }]] },
  { pattern: /^(?:Realtek|Broadcom|Hon Hai|Foxconn|Liteon|Lite-On|AzureWave|Murata|Qualcomm|MediaTek|Ralink|Cybertan|Wistron|Pegatron|Compal|Quanta|ASIX|Texas Instruments|Microchip|IEEE Registration|Chongqing Fugui|CLOUD NETWORK TECHNOLOGY|Universal Global|USI|ICANN)/i,
    says: { vendor: "" }, examples: [["Hon Hai Precision Ind. Co.,Ltd.", { vendor: "" }]] },
  { pattern: /^(?:Dell Inc|Lenovo|LCFC|Dynabook|Framework Computer|Micro-Star|GIGA-BYTE|ASUSTek|ASRock|Elitegroup|Clevo|Fujitsu)/i, says: { device_type: "computer" }, confidence: 0.5,
    examples: [["Dell Inc.", { device_type: "computer" }], ["Lenovo", { device_type: "computer" }]] },
  { pattern: /^(VMware|Xensource|Parallels|PCS Systemtechnik|Nutanix|Proxmox)/i, says: { device_type: "server" }, confidence: 0.35,
    examples: [["VMware, Inc.", { device_type: "server" }]] },
  { pattern: /^(Hangzhou Hikvision|Zhejiang Dahua|Axis Communications|Hanwha (?:Vision|Techwin)|Reolink|Vivotek|MOBOTIX|FLIR|Avigilon|Amcrest|Uniview|Zhejiang Uniview|Bosch Security|Arecont|GeoVision)/i,
    says: { device_type: "camera" }, confidence: 0.65,
    examples: [["Axis Communications AB", { device_type: "camera" }], ["Hangzhou Hikvision Digital Technology Co.,Ltd.", { device_type: "camera" }]] },
  { pattern: /^(Brother industries|Seiko Epson|Xerox|Lexmark|Kyocera|RICOH|Konica Minolta|OKI (?:Electric|Data)|Zebra Technologies|Canon|SATO|Sindoh|Toshiba TEC|Fuji ?Xerox|DYMO)/i,
    says: { device_type: "printer" }, confidence: 0.6,
    examples: [["Brother industries, LTD.", { device_type: "printer" }], ["Seiko Epson Corporation", { device_type: "printer" }]] },
  { pattern: /^(Yealink|YEALINK|Polycom|Grandstream|snom|Gigaset|Mitel|Avaya|Aastra|Fanvil|Obihai|Spectralink|Digium|Algo Comm)/i, says: { device_type: "phone" }, confidence: 0.65,
    examples: [["YEALINK(XIAMEN) NETWORK TECHNOLOGY CO.,LTD.", { device_type: "phone" }], ["snom technology GmbH", { device_type: "phone" }]] },
  { pattern: /^(Synology|QNAP|Buffalo|Asustor|TerraMaster|Drobo|NetApp|Supermicro|Super Micro|Pure Storage|Dell EMC|Oracle)/i, says: { device_type: "server" }, confidence: 0.6,
    examples: [["Synology Incorporated", { device_type: "server" }], ["Super Micro Computer, Inc.", { device_type: "server" }]] },
  { pattern: /^(Hewlett Packard Enterprise)/, says: { device_type: "server" }, confidence: 0.25,
    examples: [["Hewlett Packard Enterprise", { device_type: "server" }]] },
  { pattern: /^(Routerboard|MikroTik|AVM|Zyxel|DrayTek|ARRIS|Technicolor|Sagemcom|Peplink|Sierra Wireless|Cradlepoint|Teltonika|Actiontec)/i, says: { device_type: "router" }, confidence: 0.55,
    examples: [["Routerboard.com", { device_type: "router" }], ["AVM Audiovisuelle Marketing und Computersysteme GmbH", { device_type: "router" }]] },
  { pattern: /^(Fortinet|Palo Alto Networks|SonicWALL|SonicWall|WatchGuard|Check Point|Sophos|Stormshield|Barracuda|Netgate)/i, says: { device_type: "firewall" }, confidence: 0.65,
    examples: [["Fortinet, Inc.", { device_type: "firewall" }]] },
  { pattern: /^(Ruckus|Aerohive|Cambium|Engenius|Mist Systems|Meru|Extricom)/i, says: { device_type: "access_point" }, confidence: 0.6,
    examples: [["Ruckus Wireless", { device_type: "access_point" }]] },
  { pattern: /^(Ubiquiti|Aruba)/i, says: { device_type: "access_point" }, confidence: 0.35, examples: [["Ubiquiti Inc", { device_type: "access_point" }]] },
  { pattern: /^(Arista|Extreme Networks|Brocade|Foundry|Allied Telesis|Mellanox|Cumulus|Edgecore|Accton|Netgear|NETGEAR|HP ProCurve|Procurve|TRENDnet|Moxa|Hirschmann)/i,
    says: { device_type: "switch" }, confidence: 0.4, examples: [["NETGEAR", { device_type: "switch" }]] },
  { pattern: /^(Espressif|Tuya|Allterco|Shelly|Sonos|Nest Labs|Ring LLC|Ecobee|Roku|LIFX|Philips Lighting|Signify|Wyze|iRobot|Belkin|Withings|Netatmo|Nanoleaf|Amazon Technologies|Xiaomi|Tado|Honeywell|Daikin|ITEAD|Sensirion|Schneider Electric|Siemens|Beckhoff|WAGO|Rockwell|Phoenix Contact|Bticino|Somfy|Resideo|American Power Conversion|LG Electronics|Vizio|TCL|Hisense|Skyworth|Nintendo|Sony Interactive)/i,
    says: { device_type: "iot" }, confidence: 0.6, examples: [["Espressif Inc.", { device_type: "iot" }], ["Sonos, Inc.", { device_type: "iot" }]] },
  { pattern: /^(?:Ariston|Vaillant|Viessmann|Buderus|Stiebel|Carrier Corp|Trane|Johnson Controls|Belimo|Danfoss|Grundfos|Miele|Whirlpool|BSH|Electrolux|Dyson|SMA (?:Solar|Regelsysteme)|Fronius|SolarEdge|Enphase|KOSTAL|Landis|Itron|Kamstrup|Janitza|Socomec|Carlo Gavazzi|Distech|Eastron)/i,
    says: { device_type: "iot" }, confidence: 0.6, examples: [["Ariston Thermo s.p.a.", { device_type: "iot" }], ["Johnson Controls, Inc", { device_type: "iot" }]] },
  { pattern: /(?:\bSensors?|Meter(?:s|ing)?|Thermostats?|Lighting|Automation|Smart ?Home)\b/, says: { device_type: "iot" }, confidence: 0.55,
    examples: [["Triton Sensors", { device_type: "iot" }], ["CircuitMeter Inc.", { device_type: "iot" }], ["Beijer Electronics Automation AB", { device_type: "iot" }]] },
  { pattern: /^(Raspberry Pi)/i, says: { device_type: "iot", os: "Linux" }, confidence: 0.35, examples: [["Raspberry Pi (Trading) Ltd", { device_type: "iot", os: "Linux" }]] },
];

import type { Rule } from "./rule.ts";

/**
 * A model as mDNS tells it: `model` of _device-info and _airplay, `am` of _raop, `md` of _googlecast and _hap,
 * `rpMd` of _companion-link.
 */
export const MDNS_MODEL_RULES: readonly Rule[] = [
  { pattern: /^(?:MacBook|iMac|Macmini|MacPro|Mac\d)/, says: { device_type: "workstation", device_vendor: "Apple", os: "macOS" }, examples: [["MacBookPro18,1", { device_type: "workstation", device_vendor: "Apple", os: "macOS" }]] },
  { pattern: /^iPhone/, says: { device_vendor: "Apple", os: "iOS" }, examples: [["iPhone14,2", { device_vendor: "Apple", os: "iOS" }]] },
  { pattern: /^iPad/, says: { device_vendor: "Apple", os: "iPadOS" }, examples: [["iPad13,4", { device_vendor: "Apple", os: "iPadOS" }]] },
  { pattern: /^AppleTV/, says: { device_type: "iot", device_vendor: "Apple", os: "tvOS" }, examples: [["AppleTV6,2", { device_type: "iot", device_vendor: "Apple", os: "tvOS" }]] },
  { pattern: /^AudioAccessory/, says: { device_type: "iot", device_vendor: "Apple", os: "audioOS" }, examples: [["AudioAccessory5,1", { device_type: "iot", device_vendor: "Apple", os: "audioOS" }]] },
  { pattern: /^AirPort|^TimeCapsule\d/, says: { device_type: "access_point", device_vendor: "Apple" }, examples: [["AirPort5,117", { device_type: "access_point", device_vendor: "Apple" }]] },
  { pattern: /^(?:RackMac|Xserve|MacSamba)/, says: { device_type: "server" }, confidence: 0.6, examples: [["RackMac", { device_type: "server" }], ["Xserve", { device_type: "server" }]] },
  { pattern: /^(?:Chromecast|Google Home|Nest|Google Nest|Eureka Dongle)/i, says: { device_type: "iot", device_vendor: "Google" }, examples: [["Chromecast Ultra", { device_type: "iot", device_vendor: "Google" }]] },
  { pattern: /^(?:BRAVIA|AFT[A-Z]|SHIELD|OLED|QLED|Roku)/i, says: { device_type: "iot" }, confidence: 0.85, examples: [["BRAVIA 4K UR2", { device_type: "iot" }]] },
  { pattern: /^Synology|^(?:DS|RS)\d{3,4}/, says: { device_type: "server", device_vendor: "Synology" }, confidence: 0.85, examples: [["DS920+", { device_type: "server", device_vendor: "Synology" }]] },
];

/** A service's type as DNS-SD tells it, and what who offers it is. @see RFC 6763 section 7; IANA's registry of service names */
export const MDNS_SERVICE_RULES: readonly Rule[] = [
  { pattern: /^_(?:ipps?|printer|pdl-datastream|print-caps)\._tcp/, says: { device_type: "printer" }, confidence: 0.8, examples: [["_ipp._tcp", { device_type: "printer" }], ["_pdl-datastream._tcp", { device_type: "printer" }]] },
  { pattern: /^_(?:uscans?|scanner)\._tcp/, says: { device_type: "printer" }, confidence: 0.7, examples: [["_uscan._tcp", { device_type: "printer" }]] },
  { pattern: /^_(?:axis-video|axis-nvr)\._tcp/, says: { device_type: "camera", device_vendor: "Axis" }, examples: [["_axis-video._tcp", { device_type: "camera", device_vendor: "Axis" }]] },
  { pattern: /^_(?:rtsp|dahua|psia|CGI)\._tcp/, says: { device_type: "camera" }, confidence: 0.55, examples: [["_psia._tcp", { device_type: "camera" }]] },
  { pattern: /^_googlecast\._tcp/, says: { device_type: "iot" }, confidence: 0.8, examples: [["_googlecast._tcp", { device_type: "iot" }]] },
  { pattern: /^_androidtvremote2?\._tcp/, says: { device_type: "iot", os: "Android" }, confidence: 0.85, examples: [["_androidtvremote2._tcp", { device_type: "iot", os: "Android" }]] },
  { pattern: /^_amzn-(?:wplay|alexa)\._tcp/, says: { device_type: "iot", device_vendor: "Amazon" }, confidence: 0.85, examples: [["_amzn-wplay._tcp", { device_type: "iot", device_vendor: "Amazon" }]] },
  { pattern: /^_sonos\._tcp/, says: { device_type: "iot", device_vendor: "Sonos" }, examples: [["_sonos._tcp", { device_type: "iot", device_vendor: "Sonos" }]] },
  { pattern: /^_hue\._tcp/, says: { device_type: "iot", device_vendor: "Philips" }, examples: [["_hue._tcp", { device_type: "iot", device_vendor: "Philips" }]] },
  { pattern: /^_shelly\._tcp/, says: { device_type: "iot", device_vendor: "Shelly" }, examples: [["_shelly._tcp", { device_type: "iot", device_vendor: "Shelly" }]] },
  { pattern: /^_(?:esphomelib|ewelink|elg|nanoleafapi|matter|matterc|meshcop|viziocast|samsungmsf|dyson_mqtt|leap|wemo)\._(?:tcp|udp)|^_miio\._udp/, says: { device_type: "iot" }, confidence: 0.85,
    examples: [["_esphomelib._tcp", { device_type: "iot" }], ["_miio._udp", { device_type: "iot" }]] },
  { pattern: /^_hap\._(?:tcp|udp)/, says: { device_type: "iot" }, confidence: 0.65, examples: [["_hap._tcp", { device_type: "iot" }]] },
  { pattern: /^_airplay\._tcp/, says: { device_type: "iot" }, confidence: 0.5, examples: [["_airplay._tcp", { device_type: "iot" }]] },
  { pattern: /^_(?:spotify-connect|raop)\._tcp/, says: { device_type: "iot" }, confidence: 0.35, examples: [["_spotify-connect._tcp", { device_type: "iot" }]] },
  { pattern: /^_airport\._tcp/, says: { device_type: "access_point", device_vendor: "Apple" }, examples: [["_airport._tcp", { device_type: "access_point", device_vendor: "Apple" }]] },
  { pattern: /^_(?:adisk|nfs|afpovertcp|smb|webdavs?|iscsi|readynas)\._tcp/, says: { device_type: "server" }, confidence: 0.4, examples: [["_smb._tcp", { device_type: "server" }]] },
  { pattern: /^_(?:home-assistant|plexmediasvr|jellyfin|jenkins|proxmox|vmware|ldap|kerberos|xmpp-server|postgresql|couchdb_location)\._tcp/, says: { device_type: "server" }, confidence: 0.6, examples: [["_plexmediasvr._tcp", { device_type: "server" }]] },
  { pattern: /^_(?:companion-link|apple-mobdev2?)\._tcp/, says: { os: "Darwin", device_vendor: "Apple" }, confidence: 0.6, examples: [["_companion-link._tcp", { os: "Darwin", device_vendor: "Apple" }]] },
  { pattern: /^_workstation\._tcp/, says: { os: "Linux" }, confidence: 0.6, examples: [["_workstation._tcp", { os: "Linux" }]] },
  { pattern: /^_(?:sip|sips)\._(?:udp|tcp)/, says: { device_type: "phone" }, confidence: 0.4, examples: [["_sip._udp", { device_type: "phone" }]] },
];

/** What UPnP calls a kind of device, in NT, ST or deviceType. @see UPnP Device Architecture 2.0 section 1.1.4 */
export const UPNP_DEVICE_RULES: readonly Rule[] = [
  { pattern: /device:(?:InternetGatewayDevice|WANDevice|WANConnectionDevice):/, says: { device_type: "router" }, confidence: 0.8, examples: [["urn:schemas-upnp-org:device:InternetGatewayDevice:1", { device_type: "router" }]] },
  { pattern: /device:(?:WLANAccessPointDevice|WFADevice):/, says: { device_type: "access_point" }, confidence: 0.5, examples: [["urn:schemas-wifialliance-org:device:WFADevice:1", { device_type: "access_point" }]] },
  { pattern: /device:Printer:/i, says: { device_type: "printer" }, examples: [["urn:schemas-upnp-org:device:Printer:1", { device_type: "printer" }]] },
  { pattern: /device:(?:DigitalSecurityCamera|NetworkCamera):/, says: { device_type: "camera" }, examples: [["urn:schemas-upnp-org:device:DigitalSecurityCamera:1", { device_type: "camera" }]] },
  { pattern: /device:ZonePlayer:/, says: { device_type: "iot", device_vendor: "Sonos" }, examples: [["urn:schemas-upnp-org:device:ZonePlayer:1", { device_type: "iot", device_vendor: "Sonos" }]] },
  { pattern: /^roku:ecp/, says: { device_type: "iot", device_vendor: "Roku" }, examples: [["roku:ecp", { device_type: "iot", device_vendor: "Roku" }]] },
  { pattern: /device:(?:MediaRenderer|tvdevice|dial|MainTVServer2|RemoteControlReceiver|BinaryLight|DimmableLight|HVAC_System|controllee|insight|lightswitch):|dial-multiscreen-org/, says: { device_type: "iot" }, confidence: 0.7,
    examples: [["urn:schemas-upnp-org:device:MediaRenderer:1", { device_type: "iot" }], ["urn:dial-multiscreen-org:service:dial:1", { device_type: "iot" }]] },
  { pattern: /device:MediaServer:/, says: { device_type: "server" }, confidence: 0.4, examples: [["urn:schemas-upnp-org:device:MediaServer:1", { device_type: "server" }]] },
];

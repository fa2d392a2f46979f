import type { Rule } from "./rule.ts";

/** The field `Server` of an HTTP or RTSP answer. @see RFC 9110 section 10.2.4 */
export const HTTP_SERVER_RULES: readonly Rule[] = [
  {
    pattern: /^nginx(?:\/(\d[\w.]*))?/,
    says: { product: "nginx", vendor: "F5", version: "$1", cpe: "a:f5:nginx:$1" },
    examples: [
      ["nginx/1.22.1", { product: "nginx", vendor: "F5", version: "1.22.1", cpe: "cpe:2.3:a:f5:nginx:1.22.1:*:*:*:*:*:*:*" }],
      ["nginx", { product: "nginx", vendor: "F5", cpe: "cpe:2.3:a:f5:nginx:*:*:*:*:*:*:*:*" }],
    ],
  },
  {
    pattern: /^Apache(?:\/(\d[\w.]*))?(?: |$)/,
    says: { product: "Apache httpd", vendor: "Apache", version: "$1", cpe: "a:apache:http_server:$1" },
    examples: [["Apache/2.4.62 (Debian)", { product: "Apache httpd", vendor: "Apache", version: "2.4.62", cpe: "cpe:2.3:a:apache:http_server:2.4.62:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^lighttpd(?:\/(\d[\w.]*))?/,
    says: { product: "lighttpd", vendor: "lighttpd", version: "$1", cpe: "a:lighttpd:lighttpd:$1" },
    examples: [["lighttpd/1.4.69", { product: "lighttpd", vendor: "lighttpd", version: "1.4.69", cpe: "cpe:2.3:a:lighttpd:lighttpd:1.4.69:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^Microsoft-IIS\/(\d+\.\d+)/,
    says: { product: "Microsoft IIS httpd", vendor: "Microsoft", version: "$1", cpe: "a:microsoft:internet_information_services:$1", os: "Windows", os_cpe: "o:microsoft:windows" },
    examples: [["Microsoft-IIS/10.0", {
      product: "Microsoft IIS httpd", vendor: "Microsoft", version: "10.0", cpe: "cpe:2.3:a:microsoft:internet_information_services:10.0:*:*:*:*:*:*:*",
      os: "Windows", os_cpe: "cpe:2.3:o:microsoft:windows:*:*:*:*:*:*:*:*",
    }]],
  },
  {
    pattern: /^Microsoft-HTTPAPI\/(\d+\.\d+)/,
    says: { product: "Microsoft HTTPAPI httpd", vendor: "Microsoft", version: "$1", os: "Windows", os_cpe: "o:microsoft:windows" },
    examples: [["Microsoft-HTTPAPI/2.0", { product: "Microsoft HTTPAPI httpd", vendor: "Microsoft", version: "2.0", os: "Windows", os_cpe: "cpe:2.3:o:microsoft:windows:*:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^CUPS\/(\d[\w.]*)/,
    says: { product: "CUPS", vendor: "OpenPrinting", version: "$1", cpe: "a:openprinting:cups:$1" },
    examples: [["CUPS/2.4 IPP/2.1", { product: "CUPS", vendor: "OpenPrinting", version: "2.4", cpe: "cpe:2.3:a:openprinting:cups:2.4:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^squid(?:\/(\d[\w.]*))?/i,
    says: { product: "Squid http proxy", vendor: "Squid", version: "$1", cpe: "a:squid-cache:squid:$1" },
    examples: [["squid/5.7", { product: "Squid http proxy", vendor: "Squid", version: "5.7", cpe: "cpe:2.3:a:squid-cache:squid:5.7:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /MiniDLNA\/(\d[\w.]*)/,
    says: { product: "MiniDLNA", vendor: "ReadyMedia", version: "$1", cpe: "a:readymedia_project:readymedia:$1" },
    examples: [["Debian DLNADOC/1.50 UPnP/1.0 MiniDLNA/1.3.0", { product: "MiniDLNA", vendor: "ReadyMedia", version: "1.3.0", cpe: "cpe:2.3:a:readymedia_project:readymedia:1.3.0:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /MiniUPnPd\/(\d[\w.]*)/i,
    says: { product: "MiniUPnPd", vendor: "MiniUPnP Project", version: "$1", cpe: "a:miniupnp_project:miniupnpd:$1", device_type: "router" },
    confidence: 0.8,
    examples: [["OpenWRT/23.05 UPnP/1.1 MiniUPnPd/2.3.3", {
      product: "MiniUPnPd", vendor: "MiniUPnP Project", version: "2.3.3", cpe: "cpe:2.3:a:miniupnp_project:miniupnpd:2.3.3:*:*:*:*:*:*:*", device_type: "router",
    }]],
  },
  {
    pattern: /^CouchDB\/(\d[\w.]*)/,
    says: { product: "CouchDB", vendor: "Apache", version: "$1", cpe: "a:apache:couchdb:$1" },
    examples: [["CouchDB/3.3.3 (Erlang OTP/25)", { product: "CouchDB", vendor: "Apache", version: "3.3.3", cpe: "cpe:2.3:a:apache:couchdb:3.3.3:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^Docker\/(\d[\w.]*)/,
    says: { product: "Docker Engine", vendor: "Docker", version: "$1", cpe: "a:docker:docker:$1" },
    examples: [["Docker/24.0.7 (linux)", { product: "Docker Engine", vendor: "Docker", version: "24.0.7", cpe: "cpe:2.3:a:docker:docker:24.0.7:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^(?:Python\/[\w.]+ )?(?:SimpleHTTP|BaseHTTP|WSGIServer)\/([\w.]+)/,
    says: { product: "Python http.server", vendor: "Python", version: "$1" },
    examples: [["SimpleHTTP/0.6 Python/3.11.2", { product: "Python http.server", vendor: "Python", version: "0.6" }]],
  },
  {
    pattern: /^Jetty\(?\/?(\d[\w.]*)/,
    says: { product: "Jetty", vendor: "Eclipse", version: "$1", cpe: "a:eclipse:jetty:$1" },
    examples: [["Jetty(9.4.50.v20221201)", { product: "Jetty", vendor: "Eclipse", version: "9.4.50.v20221201", cpe: "cpe:2.3:a:eclipse:jetty:9.4.50.v20221201:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^mini_httpd\/(\d[\w.]*)/,
    says: { product: "mini_httpd", vendor: "ACME Laboratories", version: "$1", cpe: "a:acme:mini_httpd:$1" },
    examples: [["mini_httpd/1.30 26Oct2018", { product: "mini_httpd", vendor: "ACME Laboratories", version: "1.30", cpe: "cpe:2.3:a:acme:mini_httpd:1.30:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^(?:Caddy)(?:\/v?(\d[\w.]*))?/,
    says: { product: "Caddy httpd", vendor: "Caddy", version: "$1", cpe: "a:caddyserver:caddy:$1" },
    examples: [["Caddy", { product: "Caddy httpd", vendor: "Caddy", cpe: "cpe:2.3:a:caddyserver:caddy:*:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^GoAhead-(?:Webs|http)(?:\/(\d[\w.]*))?/i,
    says: { product: "GoAhead WebServer", vendor: "Embedthis", version: "$1", cpe: "a:embedthis:goahead:$1", device_type: "iot" },
    confidence: 0.5,
    examples: [["GoAhead-Webs", { product: "GoAhead WebServer", vendor: "Embedthis", cpe: "cpe:2.3:a:embedthis:goahead:*:*:*:*:*:*:*:*", device_type: "iot" }]],
  },
  {
    pattern: /^(?:App-webs|DNVRS-Webs|Hikvision-Webs)/,
    says: { product: "Hikvision httpd", vendor: "Hikvision", device_type: "camera" },
    examples: [["DNVRS-Webs", { product: "Hikvision httpd", vendor: "Hikvision", device_type: "camera" }]],
  },
  {
    pattern: /^(?:HP HTTP Server; HP |HP-ChaiSOE|HP HTTP Server)(.*?)(?: - |;|$)/,
    says: { product: "HP HTTP server", vendor: "HP", device_type: "printer" },
    examples: [["HP HTTP Server; HP LaserJet MFP M428fdw - W1A30A; Serial Number: X;", { product: "HP HTTP server", vendor: "HP", device_type: "printer" }]],
  },
  {
    pattern: /^(?:KM-MFP-http|EPSON_Linux|EPSON HTTP|debut|Lexmark|RICOH|CANON HTTP|Web-Server\/3|Xerox|JC-HTTPD)/i,
    says: { device_type: "printer" },
    confidence: 0.8,
    examples: [["debut/1.30", { device_type: "printer" }]],
  },
  {
    pattern: /^cisco-IOS/i,
    says: { product: "Cisco IOS httpd", vendor: "Cisco", os: "Cisco IOS", os_cpe: "o:cisco:ios" },
    examples: [["cisco-IOS", { product: "Cisco IOS httpd", vendor: "Cisco", os: "Cisco IOS", os_cpe: "cpe:2.3:o:cisco:ios:*:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^(?:GStreamer RTSP|GStreamer RTSP server)/,
    says: { product: "GStreamer RTSP server", vendor: "GStreamer" },
    examples: [["GStreamer RTSP server", { product: "GStreamer RTSP server", vendor: "GStreamer" }]],
  },
  {
    pattern: /^Dropwizard|^Kestrel/,
    says: { product: "Microsoft Kestrel httpd", vendor: "Microsoft" },
    examples: [["Kestrel", { product: "Microsoft Kestrel httpd", vendor: "Microsoft" }]],
  },
  {
    pattern: /^(?:AmazonS3|MinIO)(?:\/(\S+))?/,
    says: { product: "MinIO", vendor: "MinIO", version: "$1", cpe: "a:minio:minio:$1" },
    examples: [["MinIO", { product: "MinIO", vendor: "MinIO", cpe: "cpe:2.3:a:minio:minio:*:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^Asterisk(?: PBX)?[ /](\d[\w.]*)/,
    says: { product: "Asterisk", vendor: "Digium", version: "$1", cpe: "a:digium:asterisk:$1" },
    examples: [["Asterisk/16.28.0", { product: "Asterisk", vendor: "Digium", version: "16.28.0", cpe: "cpe:2.3:a:digium:asterisk:16.28.0:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^Icecast (\d[\w.]*)/,
    says: { product: "Icecast streaming media server", vendor: "Xiph", version: "$1", cpe: "a:xiph:icecast:$1" },
    examples: [["Icecast 2.4.4", { product: "Icecast streaming media server", vendor: "Xiph", version: "2.4.4", cpe: "cpe:2.3:a:xiph:icecast:2.4.4:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^tinyproxy\/(\d[\w.]*)/,
    says: { product: "Tinyproxy", vendor: "Tinyproxy", version: "$1", cpe: "a:tinyproxy_project:tinyproxy:$1" },
    examples: [["tinyproxy/1.11.1", { product: "Tinyproxy", vendor: "Tinyproxy", version: "1.11.1", cpe: "cpe:2.3:a:tinyproxy_project:tinyproxy:1.11.1:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^thttpd\/(\d[\w.]*)/,
    says: { product: "thttpd", vendor: "ACME Laboratories", version: "$1", cpe: "a:acme:thttpd:$1" },
    examples: [["thttpd/2.29 23May2018", { product: "thttpd", vendor: "ACME Laboratories", version: "2.29", cpe: "cpe:2.3:a:acme:thttpd:2.29:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /^Boa\/(\d[\w.]*)/,
    says: { product: "Boa httpd", vendor: "Boa", version: "$1", cpe: "a:boa:boa:$1", device_type: "iot" },
    confidence: 0.5,
    examples: [["Boa/0.94.14rc21", { product: "Boa httpd", vendor: "Boa", version: "0.94.14rc21", cpe: "cpe:2.3:a:boa:boa:0.94.14rc21:*:*:*:*:*:*:*", device_type: "iot" }]],
  },
];

/** What else a text in which daemons name their surroundings says: `Server`, SSH comments, greetings. All that match count. */
export const PLATFORM_RULES: readonly Rule[] = [
  {
    pattern: /\bRaspbian-\d|\(Raspbian\)/,
    says: { os: "Raspbian", device_type: "iot" },
    confidence: 0.6,
    examples: [["OpenSSH_8.4p1 Raspbian-5+deb11u1", { os: "Raspbian", device_type: "iot" }]],
  },
  {
    pattern: /\+deb(\d+)u|~deb(\d+)u/,
    says: { os: "Debian", os_version: "$1", os_cpe: "o:debian:debian_linux:$1" },
    confidence: 0.95,
    examples: [["OpenSSH_9.2p1 Debian-2+deb12u3", { os: "Debian", os_version: "12", os_cpe: "cpe:2.3:o:debian:debian_linux:12:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /\bDebian\b/,
    says: { os: "Debian", os_cpe: "o:debian:debian_linux" },
    examples: [
      ["Apache/2.4.62 (Debian)", { os: "Debian", os_cpe: "cpe:2.3:o:debian:debian_linux:*:*:*:*:*:*:*:*" }],
      ["220 lab ESMTP Postfix (Debian/GNU)", { os: "Debian", os_cpe: "cpe:2.3:o:debian:debian_linux:*:*:*:*:*:*:*:*" }],
    ],
  },
  {
    pattern: /\bUbuntu\b/i,
    says: { os: "Ubuntu", os_cpe: "o:canonical:ubuntu_linux" },
    examples: [["OpenSSH_8.9p1 Ubuntu-3ubuntu0.10", { os: "Ubuntu", os_cpe: "cpe:2.3:o:canonical:ubuntu_linux:*:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /\bFreeBSD\b/,
    says: { os: "FreeBSD", os_cpe: "o:freebsd:freebsd" },
    examples: [["OpenSSH_9.3 FreeBSD-20230719", { os: "FreeBSD", os_cpe: "cpe:2.3:o:freebsd:freebsd:*:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /\b(?:CentOS|Rocky|AlmaLinux|Red Hat(?: Enterprise Linux)?|Fedora)\b/,
    says: { os: "Red Hat family Linux" },
    confidence: 0.8,
    examples: [["Apache/2.4.57 (Rocky Linux) OpenSSL/3.0.7", { os: "Red Hat family Linux" }]],
  },
  {
    pattern: /\b(?:Win32|Win64|Windows)\b/,
    says: { os: "Windows", os_cpe: "o:microsoft:windows" },
    examples: [["Apache/2.4.58 (Win64)", { os: "Windows", os_cpe: "cpe:2.3:o:microsoft:windows:*:*:*:*:*:*:*:*" }]],
  },
  {
    pattern: /\bOpenW[Rr][Tt]\b/,
    says: { os: "OpenWrt", os_cpe: "o:openwrt:openwrt", device_type: "router" },
    confidence: 0.8,
    examples: [["OpenWRT/23.05 UPnP/1.1 MiniUPnPd/2.3.3", { os: "OpenWrt", os_cpe: "cpe:2.3:o:openwrt:openwrt:*:*:*:*:*:*:*:*", device_type: "router" }]],
  },
  {
    pattern: /\bUnix\b|\bLinux\b/,
    says: { os: "Linux" },
    confidence: 0.5,
    examples: [["Docker/24.0.7 (Linux)", { os: "Linux" }]],
  },
];

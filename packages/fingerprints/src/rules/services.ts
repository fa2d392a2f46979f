import type { Rule } from "./rule.ts";

const SERVER = { device_type: "server" } as const;
const COMPUTER = { device_type: "computer" } as const;

/**
 * What kind of device a service is found on, as `identify` names it: the service's name, then the product. How sure each is says how rarely it
 * is met on other devices; a web server such as nginx, an SSH server, SNMP or a name server such as dnsmasq is in everything, and says nothing.
 */
export const SERVICE_RULES: readonly Rule[] = [
  { pattern: /^(?:postgresql|mysql|ms-sql-s|mongodb|redis|memcached|etcd|elasticsearch|couchdb|influxdb|cassandra|zookeeper)\b/, says: SERVER, confidence: 0.6,
    examples: [["postgresql PostgreSQL DB", SERVER], ["redis Redis key-value store 7.0.15", SERVER], ["mysql MariaDB 10.11.18", SERVER], ["mongodb MongoDB", SERVER]] },
  { pattern: /^(?:ldaps?|kerberos-sec)\b/, says: SERVER, confidence: 0.6, examples: [["ldap OpenLDAP", SERVER], ["kerberos-sec MIT Kerberos", SERVER]] },
  { pattern: /^(?:imaps?|pop3s?)\b/, says: SERVER, confidence: 0.6, examples: [["imaps Dovecot imapd", SERVER], ["pop3", SERVER]] },
  { pattern: /^smtps? (?:Exim|Postfix|Sendmail|OpenSMTPD|Microsoft)/, says: SERVER, confidence: 0.55, examples: [["smtp Exim smtpd 4.96", SERVER], ["smtp Postfix smtpd", SERVER]] },
  { pattern: /^domain (?:ISC BIND|Unbound|PowerDNS|NSD|Knot|Microsoft DNS)/, says: SERVER, confidence: 0.55, examples: [["domain ISC BIND 9.18.49", SERVER], ["domain Unbound 1.17.1", SERVER]] },
  { pattern: /^(?:amqps?|nats|kafka|beanstalkd|docker|kubernetes|kubelet|docker-registry)\b/, says: SERVER, confidence: 0.65,
    examples: [["amqp RabbitMQ 3.10.8", SERVER], ["nats NATS server 2.9.10", SERVER], ["docker-registry Docker Registry", SERVER]] },
  { pattern: /^(?:secure-)?mqtt\b/, says: SERVER, confidence: 0.45, examples: [["mqtt mosquitto 2.0.11", SERVER]] },
  { pattern: /^irc\b/, says: SERVER, confidence: 0.65, examples: [["irc ngircd 26.1", SERVER]] },
  { pattern: /^(?:xmpp-client|xmpp-server|murmur|svnserve|git|nntp|dict|sieve)\b/, says: SERVER, confidence: 0.6, examples: [["xmpp-client Prosody", SERVER], ["murmur Murmur 1.3.4", SERVER], ["svnserve Subversion", SERVER]] },
  { pattern: /^sips? (?:Kamailio|OpenSIPS|Asterisk|FreeSWITCH)/i, says: SERVER, confidence: 0.6, examples: [["sip Kamailio 5.6.3", SERVER], ["sip Asterisk 16.28.0", SERVER]] },
  { pattern: /^sips? .*\b(?:Yealink|Polycom|Grandstream|snom|Cisco-CP|Fanvil|Gigaset|Mitel|Aastra|Panasonic)\b/i, says: { device_type: "phone" }, confidence: 0.7, examples: [["sip Yealink SIP-T46S 66.85.0.5", { device_type: "phone" }]] },
  { pattern: /^stun Coturn/, says: SERVER, confidence: 0.5, examples: [["stun Coturn 4.6.1", SERVER]] },
  { pattern: /^nfs\b/, says: SERVER, confidence: 0.55, examples: [["nfs protocol versions 3-4", SERVER]] },
  { pattern: /^microsoft-ds Samba/, says: SERVER, confidence: 0.5, examples: [["microsoft-ds Samba smbd 4.17.12", SERVER]] },
  { pattern: /^(?:microsoft-ds|msrpc|ms-wbt-server|wsman)\b/, says: COMPUTER, confidence: 0.6, examples: [["microsoft-ds Windows", COMPUTER], ["ms-wbt-server xrdp", COMPUTER]] },
  { pattern: /^(?:rsync|afp)\b/, says: SERVER, confidence: 0.5, examples: [["rsync rsync protocol version 32", SERVER]] },
  { pattern: /^(?:https?|http-proxy) (?:Microsoft IIS|HAProxy|Squid|Tinyproxy|Varnish|Prometheus|Grafana|Kibana|Jenkins|GitLab|MinIO|Proxmox|VMware)/i, says: SERVER, confidence: 0.6,
    examples: [["http HAProxy http proxy", SERVER], ["http-proxy Squid http proxy 5.7", SERVER], ["http Prometheus 2.42.0", SERVER]] },
  { pattern: /^https? (?:Apache httpd|Icecast|Jetty|Caddy|Tomcat|Transmission|MiniDLNA|Plex|Jellyfin|Home Assistant)/, says: SERVER, confidence: 0.4,
    examples: [["http Apache httpd 2.4.68", SERVER], ["http Icecast streaming media server 2.4.4", SERVER], ["http Transmission", SERVER]] },
  { pattern: /^ftps? (?:vsftpd|ProFTPD|Pure-FTPd|FileZilla|Microsoft ftpd)/, says: SERVER, confidence: 0.4, examples: [["ftp vsftpd 3.0.3", SERVER]] },
  { pattern: /^tftp\b/, says: SERVER, confidence: 0.4, examples: [["tftp tftpd-hpa", SERVER]] },
  { pattern: /^(?:socks5|mpd|zabbix-agent|rpcbind|finger)\b/, says: SERVER, confidence: 0.4, examples: [["socks5", SERVER], ["zabbix-agent Zabbix agent 6.0.14", SERVER], ["rpcbind rpcbind", SERVER]] },
  { pattern: /^ntp (?:NTP|chrony)/, says: SERVER, confidence: 0.35, examples: [["ntp NTPsec 1.2.2", SERVER], ["ntp NTP 4.2.8p15", SERVER]] },
  { pattern: /^ipps? CUPS/, says: COMPUTER, confidence: 0.6, examples: [["ipp CUPS 2.4", COMPUTER]] },
  { pattern: /^(?:X11|vnc)\b/, says: { device_type: "workstation" }, confidence: 0.5, examples: [["vnc VNC protocol 3.8", { device_type: "workstation" }], ["X11 The X.Org Foundation 21.1.7", { device_type: "workstation" }]] },
];

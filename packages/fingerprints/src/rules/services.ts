import type { Rule } from "./rule.ts";

/** @param examples Texts of which exactly this kind must be said. */
function foundOn(kind: string, confidence: number, pattern: RegExp, ...examples: readonly string[]): Rule {
  const says = { device_type: kind };
  return { pattern, says, confidence, examples: examples.map((text) => [text, says]) };
}

/**
 * What kind of device a service is found on, as `identify` names it: the service's name, then the product. How sure each is says how
 * rarely it is met on other devices; a web server such as nginx, an SSH server, SNMP or a name server such as dnsmasq is in
 * everything, and says nothing.
 */
export const SERVICE_RULES: readonly Rule[] = [
  foundOn("server", 0.6, /^(?:postgresql|mysql|ms-sql-s|mongodb|redis|memcached|etcd|elasticsearch|couchdb|influxdb|cassandra|zookeeper)\b/,
    "postgresql PostgreSQL DB", "redis Redis key-value store 7.0.15", "mysql MariaDB 10.11.18", "mongodb MongoDB"),
  foundOn("server", 0.6, /^(?:ldaps?|kerberos-sec)\b/, "ldap OpenLDAP", "kerberos-sec MIT Kerberos"),
  foundOn("server", 0.6, /^(?:imaps?|pop3s?)\b/, "imaps Dovecot imapd", "pop3"),
  foundOn("server", 0.55, /^smtps? (?:Exim|Postfix|Sendmail|OpenSMTPD|Microsoft)/, "smtp Exim smtpd 4.96", "smtp Postfix smtpd"),
  foundOn("server", 0.55, /^domain (?:ISC BIND|Unbound|PowerDNS|NSD|Knot|Microsoft DNS)/,
    "domain ISC BIND 9.18.49", "domain Unbound 1.17.1"),
  foundOn("server", 0.65, /^(?:amqps?|nats|kafka|beanstalkd|docker|kubernetes|kubelet|docker-registry)\b/,
    "amqp RabbitMQ 3.10.8", "nats NATS server 2.9.10", "docker-registry Docker Registry"),
  foundOn("server", 0.45, /^(?:secure-)?mqtt\b/, "mqtt mosquitto 2.0.11"),
  foundOn("server", 0.65, /^irc\b/, "irc ngircd 26.1"),
  foundOn("server", 0.6, /^(?:xmpp-client|xmpp-server|murmur|svnserve|git|nntp|dict|sieve)\b/,
    "xmpp-client Prosody", "murmur Murmur 1.3.4", "svnserve Subversion"),
  foundOn("server", 0.6, /^sips? (?:Kamailio|OpenSIPS|Asterisk|FreeSWITCH)/i, "sip Kamailio 5.6.3", "sip Asterisk 16.28.0"),
  foundOn("phone", 0.7, /^sips? .*\b(?:Yealink|Polycom|Grandstream|snom|Cisco-CP|Fanvil|Gigaset|Mitel|Aastra|Panasonic)\b/i,
    "sip Yealink SIP-T46S 66.85.0.5"),
  foundOn("server", 0.5, /^stun Coturn/, "stun Coturn 4.6.1"),
  foundOn("server", 0.55, /^nfs\b/, "nfs protocol versions 3-4"),
  foundOn("server", 0.5, /^microsoft-ds Samba/, "microsoft-ds Samba smbd 4.17.12"),
  foundOn("computer", 0.6, /^(?:microsoft-ds|msrpc|ms-wbt-server|wsman)\b/, "microsoft-ds Windows", "ms-wbt-server xrdp"),
  foundOn("server", 0.5, /^(?:rsync|afp)\b/, "rsync rsync protocol version 32"),
  foundOn("server", 0.6,
    /^https?(?:-proxy)? (?:Microsoft IIS|HAProxy|Squid|Tinyproxy|Varnish|Prometheus|Grafana|Kibana|Jenkins|GitLab|MinIO|Proxmox|VMware)/i,
    "http HAProxy http proxy", "http-proxy Squid http proxy 5.7", "http Prometheus 2.42.0"),
  foundOn("server", 0.4, /^https? (?:Apache httpd|Icecast|Jetty|Caddy|Tomcat|Transmission|MiniDLNA|Plex|Jellyfin|Home Assistant)/,
    "http Apache httpd 2.4.68", "http Icecast streaming media server 2.4.4", "http Transmission"),
  foundOn("server", 0.4, /^ftps? (?:vsftpd|ProFTPD|Pure-FTPd|FileZilla|Microsoft ftpd)/, "ftp vsftpd 3.0.3"),
  foundOn("server", 0.4, /^tftp\b/, "tftp tftpd-hpa"),
  foundOn("server", 0.4, /^(?:socks5|mpd|zabbix-agent|rpcbind|finger)\b/, "socks5", "zabbix-agent Zabbix agent 6.0.14", "rpcbind rpcbind"),
  foundOn("server", 0.35, /^ntp (?:NTP|chrony)/, "ntp NTPsec 1.2.2", "ntp NTP 4.2.8p15"),
  foundOn("computer", 0.6, /^ipps? CUPS/, "ipp CUPS 2.4"),
  foundOn("workstation", 0.5, /^(?:X11|vnc)\b/, "vnc VNC protocol 3.8", "X11 The X.Org Foundation 21.1.7"),
];

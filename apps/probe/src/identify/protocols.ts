import type { TcpProtocol, UdpProtocol } from "./protocol.ts";
import { coap, ipmi, ssdp, wsDiscovery } from "./protocols/announcements.ts";
import { irc, nntp, rtsp, sip, xmpp } from "./protocols/chat.ts";
import { finger, nfs, rpcbind, rsync, subversion } from "./protocols/file-services.ts";
import { ftp } from "./protocols/ftp.ts";
import { http } from "./protocols/http.ts";
import { http2 } from "./protocols/http2.ts";
import { bacnet, ethernetIp, ethernetIpUdp, modbus, s7 } from "./protocols/industrial.ts";
import { kerberos, kerberosUdp } from "./protocols/kerberos.ts";
import { memcached, mpd, nats, redis, zookeeper } from "./protocols/key-value-stores.ts";
import { ldap } from "./protocols/ldap.ts";
import { imap, pop3, smtp } from "./protocols/mail.ts";
import { amqp, mqtt } from "./protocols/message-brokers.ts";
import { mongodb } from "./protocols/mongodb.ts";
import { mysql } from "./protocols/mysql.ts";
import { dns, dnsUdp, mdns, netbios } from "./protocols/name-services.ts";
import { postgresql } from "./protocols/postgresql.ts";
import { afp } from "./protocols/afp.ts";
import { beanstalkd, clamd, dict, git, gpsd, ident, manageSieve, socks5, zabbixAgent } from "./protocols/small-services.ts";
import { mumble, mumbleUdp } from "./protocols/voice.ts";
import { rdp, vnc, x11 } from "./protocols/screens.ts";
import { smb } from "./protocols/smb.ts";
import { smb1 } from "./protocols/smb1.ts";
import { snmp } from "./protocols/snmp.ts";
import { sqlServer } from "./protocols/sql-servers.ts";
import { ssh } from "./protocols/ssh.ts";
import { telnet } from "./protocols/telnet.ts";
import { ntp } from "./protocols/time.ts";
import { bittorrent, bittorrentDht, ike, portmapUdp, sipUdp, stun, tftp } from "./protocols/transfers.ts";

/** Every protocol over TCP. Where two recognise the same bytes, the one at its own port is tried first, then the earlier. */
export const TCP_PROTOCOLS: readonly TcpProtocol[] = [
  ssh, http, ftp, smtp, imap, pop3, telnet, mysql, vnc, rsync, subversion, nats, mpd, nntp, rtsp, sip, irc, xmpp, redis, memcached,
  zookeeper, mqtt, amqp, mongodb, postgresql, sqlServer, ldap, kerberos, smb, smb1, rdp, x11, dns, rpcbind, nfs, modbus, s7, ethernetIp,
  bittorrent, http2, finger, dict, gpsd, ident, beanstalkd, zabbixAgent, socks5, git, manageSieve, clamd, mumble, afp,
];

/** Every protocol over UDP; each is asked at its own ports only. */
export const UDP_PROTOCOLS: readonly UdpProtocol[] = [
  dnsUdp, mdns, netbios, ntp, snmp, ssdp, wsDiscovery, tftp, sipUdp, portmapUdp, kerberosUdp, ike, stun, ipmi, coap, bacnet, ethernetIpUdp,
  bittorrentDht, mumbleUdp,
];

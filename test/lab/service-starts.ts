import { CERTIFICATE, FURTHER_DAEMONS } from "./further-daemons.ts";
import { lines } from "./lines.ts";
import type { ServiceDaemonName } from "./service-hosts.ts";

/**
 * How a daemon is started once its package lies over the box's `/usr`: shell lines before, files under the box's folder, and the
 * command.
 */
export interface ServiceStart {
  readonly before?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** `FOLDER` stands for the box's folder. */
  readonly command: readonly string[];
}

export const SERVICE_STARTS: Readonly<Record<ServiceDaemonName, ServiceStart>> = {
  apache: {
    files: {
      "apache.conf": lines(
        "ServerRoot /usr/lib/apache2", "ServerName lab", "PidFile /run/apache.pid", "Listen 80", "DocumentRoot /var/www",
        "ErrorLog /dev/stderr", "Mutex file:/run", "LoadModule mpm_event_module modules/mod_mpm_event.so",
        "LoadModule authz_core_module modules/mod_authz_core.so", "User nobody", "Group nogroup", "StartServers 1",
        "ServerLimit 1", "ThreadsPerChild 8", "MaxRequestWorkers 8", "MinSpareThreads 2", "MaxSpareThreads 8",
      ),
    },
    before: ["mkdir -p /var/www", "echo '<title>apache</title>' > /var/www/index.html"],
    command: ["apache2", "-D", "FOREGROUND", "-f", "FOLDER/apache.conf"],
  },
  lighttpd: {
    files: { "lighttpd.conf": lines(
      'server.document-root = "/var/www"', "server.port = 80", 'server.modules = ("mod_indexfile")', 'index-file.names = ("index.html")',
    ) },
    before: ["mkdir -p /var/www", "echo '<title>lighttpd</title>' > /var/www/index.html"],
    command: ["lighttpd", "-D", "-f", "FOLDER/lighttpd.conf"],
  },
  vsftpd: {
    files: { "vsftpd.conf": lines(
      "listen=YES", "background=NO", "anonymous_enable=NO", "local_enable=YES", "secure_chroot_dir=/run/vsftpd", "seccomp_sandbox=NO",
      "nopriv_user=nobody",
    ) },
    before: ["mkdir -p /run/vsftpd", "chown root FOLDER/vsftpd.conf"],
    command: ["vsftpd", "FOLDER/vsftpd.conf"],
  },
  exim: {
    files: {
      "exim.conf": lines(
        "primary_hostname = mail.lab.test", "daemon_smtp_ports = 25", "acl_smtp_rcpt = deny", "log_file_path = /var/log/exim-%s",
        "spool_directory = /var/spool/exim4", "host_lookup =", "rfc1413_hosts =", "keep_environment =", "begin acl", "deny:", "  deny",
      ),
    },
    before: ["mkdir -p /var/spool/exim4 /var/log", "chown 905:905 /var/spool/exim4 /var/log", "chmod 644 FOLDER/exim.conf"],
    command: ["exim4", "-C", "FOLDER/exim.conf", "-bdf", "-oX", "25"],
  },
  dovecot: {
    files: {
      "dovecot.conf": lines(
        "protocols = imap pop3", "base_dir = /run/dovecot", "state_dir = /var/lib/dovecot", "ssl = yes", "ssl_cert = </run/tls.crt",
        "ssl_key = </run/tls.key", "log_path = /dev/stderr", "mail_location = maildir:/var/mail/%u", "passdb {", "  driver = static",
        "  args = nopassword=y", "}", "userdb {", "  driver = static", "  args = uid=65534 gid=65534", "}",
        "default_vsz_limit = 128M",
      ),
    },
    before: [...CERTIFICATE, "mkdir -p /var/lib/dovecot"],
    command: ["dovecot", "-F", "-c", "FOLDER/dovecot.conf"],
  },
  mariadb: {
    before: ["mkdir -p /var/lib/mysql /run/mysqld", "chown 65534 /var/lib/mysql /run/mysqld"],
    command: [
      "mariadbd", "--no-defaults", "--user=nobody", "--datadir=/var/lib/mysql", "--socket=/run/mysqld/s", "--skip-grant-tables",
      "--skip-networking=0", "--bind-address=0.0.0.0", "--innodb-log-file-size=4M", "--innodb-buffer-pool-size=8M",
      "--innodb-data-file-path=ibdata1:4M:autoextend", "--key-buffer-size=1M", "--lc-messages-dir=/usr/share/mysql",
      "--plugin-dir=/usr/lib/mysql/plugin",
    ],
  },
  postgresql: {
    before: [
      "mkdir -p /var/lib/pg /var/run/postgresql", "chown 65534 /var/lib/pg /var/run/postgresql",
      "setpriv --reuid 65534 --regid 65534 --clear-groups /usr/lib/postgresql/15/bin/initdb -D /var/lib/pg "
      + "-A trust --no-sync --no-instructions > /dev/null",
    ],
    command: [
      "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/lib/postgresql/15/bin/postgres", "-D", "/var/lib/pg", "-k",
      "/run/postgresql", "-h", "0.0.0.0", "-c", "shared_buffers=1MB", "-c", "max_connections=10", "-c", "fsync=off",
    ],
  },
  redis: { command: ["redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--save", "", "--dir", "/run"] },
  memcached: { command: ["memcached", "-u", "nobody", "-m", "4", "-l", "0.0.0.0"] },
  mosquitto: {
    files: { "mosquitto.conf": lines("listener 1883 0.0.0.0", "allow_anonymous true", "user root") },
    command: ["mosquitto", "-c", "FOLDER/mosquitto.conf"],
  },
  bind: {
    files: { "named.conf": lines(
      'options { directory "/run"; listen-on { any; }; listen-on-v6 { none; }; recursion no; pid-file none; dnssec-validation no; };',
      "controls { };",
    ) },
    command: ["named", "-g", "-n", "1", "-c", "FOLDER/named.conf"],
  },
  unbound: {
    files: { "unbound.conf": lines(
      "server:", '  username: ""', '  chroot: ""', '  directory: "/run"', '  pidfile: ""', "  interface: 0.0.0.0", "  interface: ::0",
      "  access-control: 0.0.0.0/0 allow", "  access-control: ::0/0 allow", "  do-daemonize: no", "  module-config: iterator",
      "remote-control:", "  control-enable: no",
    ) },
    command: ["unbound", "-d", "-c", "FOLDER/unbound.conf"],
  },
  samba: {
    files: { "smb.conf": lines(
      "[global]", "workgroup = LAB", "disable spoolss = yes", "load printers = no", "log file = /dev/null", "server min protocol = SMB2",
      "[public]", "path = /run", "guest ok = yes",
    ) },
    before: ["mkdir -p /var/lib/samba/private /var/cache/samba /run/samba /var/log/samba"],
    command: ["smbd", "--foreground", "--no-process-group", "-s", "FOLDER/smb.conf"],
  },
  slapd: {
    files: {
      "slapd.conf": lines(
        "pidfile /run/slapd.pid", "modulepath /usr/lib/ldap", "moduleload back_mdb", "database mdb", 'suffix "cn=lab"',
        "directory /var/lib/ldap", "maxsize 1048576",
      ),
    },
    before: ["mkdir -p /var/lib/ldap"],
    command: ["slapd", "-d", "16384", "-h", "ldap://0.0.0.0:389", "-f", "FOLDER/slapd.conf"],
  },
  // By default it answers unknown clients with the time only, and `restrict default` keeps it so.
  ntpsec: {
    files: { "ntp.conf": lines("server 127.127.1.0", "unrestrict default noquery") },
    command: ["ntpd", "-n", "-c", "FOLDER/ntp.conf", "-p", "/run/ntp.pid"],
  },
  rsync: {
    files: { "rsyncd.conf": lines("use chroot = no", "[public]", "path = /run", "comment = the lab's files") },
    command: ["rsync", "--daemon", "--no-detach", "--config=FOLDER/rsyncd.conf"],
  },
  tftpd: { before: ["mkdir -p /run/tftp"], command: ["in.tftpd", "-L", "-s", "-u", "nobody", "--address", "0.0.0.0:69", "/run/tftp"] },
  cups: {
    files: {
      "cupsd.conf": lines(
        "Port 631", "ServerAlias *", "LogLevel error", "DefaultAuthType Basic", "<Location />", "Order allow,deny", "Allow all",
        "</Location>",
      ),
      "cups-files.conf": lines(
        "ServerRoot /run/cups", "StateDir /run/cups", "CacheDir /run/cups", "RequestRoot /run/cups/spool", "ErrorLog stderr",
        "AccessLog /dev/null", "PageLog /dev/null", "User nobody", "Group nogroup", "SystemGroup root",
      ),
    },
    before: ["mkdir -p /run/cups/spool/tmp /run/cups/ssl"],
    command: ["cupsd", "-f", "-c", "FOLDER/cupsd.conf", "-s", "FOLDER/cups-files.conf"],
  },
  inetd: {
    files: { "inetd.conf": lines(
      "telnet stream tcp nowait root /usr/sbin/telnetd telnetd", "finger stream tcp nowait nobody /usr/sbin/in.fingerd in.fingerd",
    ) },
    before: ["[ -e /var/run/utmp ] || touch /var/run/utmp"],
    command: ["inetutils-inetd", "-d", "FOLDER/inetd.conf"],
  },
  vnc: { before: ["mkdir -p /tmp/.X11-unix && mount -t tmpfs lab /tmp/.X11-unix"], command: [
    "Xtigervnc", ":1", "-rfbport", "5900", "-SecurityTypes", "None", "-localhost=0", "-geometry", "640x480", "-nolisten", "tcp", "-nolock",
  ] },
  rpcbind: {
    files: {
      "etc/netconfig": lines("udp tpi_clts v inet udp - -", "tcp tpi_cots_ord v inet tcp - -", "local tpi_cots_ord - loopback - - -"),
    },
    before: ["mkdir -p /run/rpcbind"], command: ["rpcbind", "-f", "-i"],
  },
  squid: {
    files: { "squid.conf": lines(
      "http_port 3128", "http_access deny all", "cache deny all", "cache_mem 4 MB", "access_log none", "cache_log /dev/null",
      "pid_filename none", "cache_effective_user nobody", "visible_hostname proxy", "netdb_filename none", "workers 1",
      "max_filedescriptors 256",
    ) },
    before: ["mkdir -p /var/spool/squid /var/log/squid", "chown 65534 /var/spool/squid /var/log/squid"],
    command: ["squid", "-N", "-f", "FOLDER/squid.conf"],
  },
  haproxy: {
    files: { "haproxy.cfg": lines(
      "global", "  maxconn 64", "defaults", "  mode http", "  timeout connect 1s", "  timeout client 5s", "  timeout server 5s",
      "frontend web", "  bind :80", "  default_backend none", "backend none",
    ) },
    command: ["haproxy", "-db", "-f", "FOLDER/haproxy.cfg"],
  },
  ngircd: {
    files: { "ngircd.conf": lines(
      "[Global]", "Name = irc.lab.test", "Info = lab", "ServerUID = nobody", "ServerGID = nogroup", "[Options]", "Ident = no", "DNS = no",
      "PAM = no",
    ) },
    command: ["ngircd", "-n", "-f", "FOLDER/ngircd.conf"],
  },
  minidlna: {
    files: { "minidlna.conf": lines(
      "media_dir=/run/media", "port=8200", "network_interface=eth0", "db_dir=/run/minidlna", "log_dir=/run/minidlna", "friendly_name=media",
      "inotify=no",
    ) },
    before: ["mkdir -p /run/media /run/minidlna"],
    command: ["minidlnad", "-S", "-f", "FOLDER/minidlna.conf", "-P", "/run/minidlna.pid"],
  },
  dropbear: {
    before: ["dropbearkey -t ed25519 -f /run/dropbear_key > /dev/null 2>&1"],
    command: ["dropbear", "-F", "-E", "-r", "/run/dropbear_key", "-P", "/run/dropbear.pid"],
  },
  tinyproxy: {
    files: { "tinyproxy.conf": lines("Port 8888", "Allow 127.0.0.1", "Timeout 10", "MaxClients 8", 'LogFile "/run/tinyproxy.log"') },
    command: ["tinyproxy", "-d", "-c", "FOLDER/tinyproxy.conf"],
  },
  nats: { command: ["nats-server", "-a", "0.0.0.0", "-p", "4222"] },
  xvfb: {
    before: ["mkdir -p /tmp/.X11-unix && mount -t tmpfs lab /tmp/.X11-unix"],
    command: ["Xvfb", ":0", "-listen", "tcp", "-ac", "-screen", "0", "640x480x8", "-nolock"],
  },
  ...FURTHER_DAEMONS,
  mpd: { files: { "mpd.conf": lines(
    'bind_to_address "0.0.0.0"', 'db_file "/run/mpd.db"', 'log_file "/dev/null"', "audio_output {", 'type "null"', 'name "none"', "}",
  ) }, command: ["mpd", "--no-daemon", "FOLDER/mpd.conf"] },
};

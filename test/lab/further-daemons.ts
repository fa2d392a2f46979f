import { lines } from "./lines.ts";
import type { ServiceDaemon } from "./service-hosts.ts";
import type { ServiceStart } from "./service-starts.ts";

const tcp = (port: number, name: string, product: RegExp) => ({ port, protocol: "tcp" as const, name, product });
const udp = (port: number, name: string, product: RegExp) => ({ port, protocol: "udp" as const, name, product });

export const CERTIFICATE = [
  "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=$(hostname).lab.test "
  + "-keyout /run/tls.key -out /run/tls.crt 2> /dev/null",
] as const;

/**
 * Daemons that fewer networks have, each with what it is and how it is started: what `SERVICE_DAEMONS` and `SERVICE_STARTS` say
 * of the others.
 */
export const FURTHER_DAEMONS = {
  krb5kdc: {
    package: "krb5-kdc", services: [tcp(88, "kerberos-sec", /MIT Kerberos/), udp(88, "kerberos-sec", /MIT Kerberos/)],
    files: {
      "etc/krb5.conf": lines("[libdefaults]", "default_realm = LAB.TEST", "dns_lookup_kdc = false", "dns_lookup_realm = false"),
      "etc/krb5kdc/kdc.conf": lines(
        "[kdcdefaults]", "kdc_ports = 88", "kdc_tcp_ports = 88", "[realms]", "LAB.TEST = {", "database_name = /var/lib/krb5kdc/principal",
        "key_stash_file = /var/lib/krb5kdc/stash", "}",
      ),
    },
    before: ["mkdir -p /var/lib/krb5kdc", "kdb5_util create -s -r LAB.TEST -P lab > /dev/null"],
    command: ["krb5kdc", "-n", "-r", "LAB.TEST"],
  },
  xrdp: {
    package: "xrdp", services: [tcp(3389, "ms-wbt-server", /xrdp/)],
    files: {
      "etc/xrdp/xrdp.ini": lines(
        "[Globals]", "port=3389", "security_layer=negotiate", "crypt_level=high", "certificate=/run/tls.crt", "key_file=/run/tls.key",
        "ini_version=1", "fork=true", "tcp_nodelay=true", "[Logging]", "LogFile=/dev/null", "LogLevel=ERROR", "EnableSyslog=false",
        "[Xorg]", "name=Xorg", "lib=libxup.so", "username=ask", "password=ask", "ip=127.0.0.1", "port=-1", "code=20",
      ),
    },
    before: [...CERTIFICATE, "xrdp-keygen xrdp /etc/xrdp/rsakeys.ini 512 > /dev/null"],
    command: ["xrdp", "--nodaemon"],
  },
  rabbitmq: {
    package: "rabbitmq-server", services: [tcp(5672, "amqp", /RabbitMQ/)],
    before: [
      "mkdir -p /var/lib/rabbitmq /var/log/rabbitmq",
      "export HOME=/var/lib/rabbitmq RABBITMQ_NODENAME=rabbit@localhost RABBITMQ_LOGS=- "
      + "RABBITMQ_ENABLED_PLUGINS_FILE=/run/none ERL_EPMD_ADDRESS=127.0.0.1",
    ],
    command: ["/bin/sh", "-c", "exec $(ls -d /usr/lib/rabbitmq/lib/rabbitmq_server-*)/sbin/rabbitmq-server"],
  },
  prosody: {
    package: "prosody", services: [tcp(5222, "xmpp-client", /Prosody/i)],
    files: { "prosody.cfg.lua": lines(
      "run_as_root = true", 'pidfile = "/run/prosody.pid"', 'data_path = "/var/lib/prosody"', 'log = { error = "*console" }',
      'modules_enabled = { "tls", "saslauth", "disco" }', 'VirtualHost "chat.lab.test"',
    ) },
    before: ["mkdir -p /var/lib/prosody"],
    command: ["prosody", "-F", "--config", "FOLDER/prosody.cfg.lua"],
  },
  kamailio: {
    package: "kamailio", services: [tcp(5060, "sip", /kamailio/i), udp(5060, "sip", /kamailio/i)],
    files: { "kamailio.cfg": lines(
      "#!KAMAILIO", "debug=0", "log_stderror=yes", "fork=yes", "children=1", "tcp_children=1", "listen=udp:0.0.0.0:5060",
      "listen=tcp:0.0.0.0:5060", 'loadmodule "sl.so"', 'request_route {', '  sl_send_reply("200", "OK");', "}",
    ) },
    before: ["mkdir -p /run/kamailio"],
    command: ["kamailio", "-DD", "-E", "-f", "FOLDER/kamailio.cfg", "-m", "16", "-M", "4", "-Y", "/run/kamailio"],
  },
  coturn: {
    package: "coturn", services: [udp(3478, "stun", /Coturn/i)],
    command: [
      "turnserver", "-n", "-L", "0.0.0.0", "--no-tls", "--no-dtls", "--no-cli", "--no-auth", "--log-file", "stdout", "--pidfile",
      "/run/turn.pid", "-m", "1", "--db", "/run/turn.db",
    ],
  },
  pymodbus: {
    package: "python3-pymodbus", services: [tcp(502, "modbus", /Pymodbus/i)],
    files: {
      "modbus.py": lines(
        "import pymodbus", "from pymodbus.server import StartTcpServer", "from pymodbus.device import ModbusDeviceIdentification",
        "from pymodbus.datastore import ModbusServerContext, ModbusSlaveContext",
        "named = {0: 'Pymodbus', 1: 'Pymodbus Server', 2: '.'.join(pymodbus.__version__.split('.')[:3])}",
        "StartTcpServer(context=ModbusServerContext(slaves=ModbusSlaveContext(), single=True), "
          + "identity=ModbusDeviceIdentification(info=named), address=('0.0.0.0', 502))",
      ),
    },
    command: ["python3", "FOLDER/modbus.py"],
  },
  ipmisim: {
    package: "openipmi", services: [udp(623, "asf-rmcp", /IPMI/)],
    files: {
      "lan.conf": lines(
        'name "bmc"', "set_working_mc 0x20", "startlan 1", "addr 0.0.0.0 623", "priv_limit admin",
        "allowed_auths_callback none md2 md5 straight", "allowed_auths_user none md2 md5 straight",
        "allowed_auths_operator none md2 md5 straight", "allowed_auths_admin none md2 md5 straight",
        "guid a123456789abcdefa123456789abcdef", "endlan", 'user 1 true "" "test" user 10 none md2 md5 straight',
      ),
      "bmc.emu": lines("mc_setbmc 0x20", "mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr", "mc_enable 0x20"),
    },
    before: ["mkdir -p /var/lib/ipmi"],
    command: ["ipmi_sim", "-c", "FOLDER/lan.conf", "-f", "FOLDER/bmc.emu", "-s", "/var/lib/ipmi", "-n"],
  },
  ganesha: {
    package: "nfs-ganesha", services: [tcp(2049, "nfs", /nfs/i)],
    files: { "ganesha.conf": lines(
      "NFS_CORE_PARAM {", "  Protocols = 3, 4;", "  Enable_NLM = false;", "  Enable_RQUOTA = false;", "  mount_path_pseudo = true;", "}",
      "NFSv4 { Graceless = true; RecoveryRoot = /var/lib/nfs/ganesha; }",
    ) },
    // It ends when it cannot register with rpcbind, which is being started beside it: port 111 (6F) has to listen.
    before: [
      "mkdir -p /var/lib/nfs/ganesha /run/ganesha /var/log/ganesha",
      "until grep -q ':006F 00000000:0000 0A' /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done",
    ],
    command: ["ganesha.nfsd", "-F", "-L", "STDOUT", "-f", "FOLDER/ganesha.conf", "-p", "/run/ganesha.pid"],
  },
  transmission: {
    package: "transmission-daemon", services: [tcp(9091, "http", /Transmission/)],
    before: ["mkdir -p /var/lib/transmission"],
    command: ["transmission-daemon", "-f", "-g", "/var/lib/transmission", "-T", "-p", "9091", "-a", "*.*.*.*", "-P", "51413", "-M", "-o"],
  },
  etcd: {
    package: "etcd-server", services: [tcp(2379, "etcd", /etcd/)],
    command: [
      "etcd", "--data-dir", "/var/lib/etcd", "--listen-client-urls", "http://0.0.0.0:2379", "--advertise-client-urls",
      "http://127.0.0.1:2379", "--listen-peer-urls", "http://127.0.0.1:2380", "--log-level", "error",
    ],
  },
  registry: {
    package: "docker-registry", services: [tcp(5000, "docker-registry", /Docker Registry/i)],
    files: { "registry.yml": lines(
      "version: 0.1", "log: { level: error }", "storage: { filesystem: { rootdirectory: /var/lib/registry } }", "http: { addr: ':5000' }",
    ) },
    command: ["docker-registry", "serve", "FOLDER/registry.yml"],
  },
  prometheus: {
    package: "prometheus", services: [tcp(9090, "http", /Prometheus/)],
    files: { "prometheus.yml": lines("scrape_configs: []") },
    command: [
      "prometheus", "--config.file=FOLDER/prometheus.yml", "--storage.tsdb.path=/var/lib/prometheus", "--web.listen-address=0.0.0.0:9090",
      "--log.level=error",
    ],
  },
  mumble: {
    package: "mumble-server", services: [tcp(64_738, "murmur", /Murmur|Mumble/i), udp(64_738, "murmur", /Murmur|Mumble/i)],
    files: { "mumble.ini": lines("database=/run/mumble.sqlite", "port=64738", "host=0.0.0.0", "uname=", "logfile=", "bonjour=false") },
    command: ["murmurd", "-fg", "-ini", "FOLDER/mumble.ini"],
  },
  icecast: {
    package: "icecast2", services: [tcp(8000, "http", /Icecast/)],
    files: {
      "icecast.xml": lines(
        "<icecast><location>lab</location><admin>lab</admin><limits><clients>8</clients><sources>1</sources></limits><authentication>"
        + "<source-password>x</source-password><admin-user>a</admin-user><admin-password>x</admin-password></authentication>",
        "<hostname>lab</hostname><listen-socket><port>8000</port></listen-socket>"
        + "<paths><logdir>/run</logdir><webroot>/usr/share/icecast2/web</webroot><adminroot>/usr/share/icecast2/admin</adminroot></paths>",
        "<logging><accesslog>-</accesslog><errorlog>-</errorlog><loglevel>1</loglevel></logging><security><chroot>0</chroot>"
        + "<changeowner><user>nobody</user><group>nogroup</group></changeowner></security></icecast>",
      ),
    },
    command: ["icecast2", "-c", "FOLDER/icecast.xml"],
  },
  svnserve: {
    package: "subversion", services: [tcp(3690, "svnserve", /Subversion/)], before: ["mkdir -p /var/svn"],
    command: ["svnserve", "-d", "--foreground", "-r", "/var/svn"],
  },
  gpsd: {
    package: "gpsd", services: [tcp(2947, "gpsd", /gpsd/i)], command: ["gpsd", "-N", "-G", "-n", "-F", "/run/gpsd.sock", "-S", "2947"],
  },
  beanstalkd: {
    package: "beanstalkd", services: [tcp(11_300, "beanstalkd", /beanstalkd/)], command: ["beanstalkd", "-l", "0.0.0.0", "-p", "11300"],
  },
  coap: {
    package: "libcoap3-bin", services: [udp(5683, "coap", /libcoap/)], command: ["coap-server-notls", "-A", "0.0.0.0", "-p", "5683"],
  },
  dictd: {
    package: "dictd", services: [tcp(2628, "dict", /dictd/)],
    files: { "dictd.conf": lines('global { listen_to 0.0.0.0 }', "database lab { data /run/lab.dict index /run/lab.index }") },
    before: [": > /run/lab.dict", ": > /run/lab.index", "mkdir -p /var/run"],
    command: ["dictd", "-d", "nodetach", "-c", "FOLDER/dictd.conf"],
  },
  microsocks: { package: "microsocks", services: [tcp(1080, "socks5", /SOCKS5/i)], command: ["microsocks", "-i", "0.0.0.0", "-p", "1080"] },
  zabbix: {
    package: "zabbix-agent", services: [tcp(10_050, "zabbix-agent", /Zabbix/i)],
    files: { "zabbix.conf": lines(
      "LogType=console", "Server=0.0.0.0/0", "AllowRoot=1", "StartAgents=1", "Hostname=lab", "PidFile=/run/zabbix.pid",
    ) },
    command: ["zabbix_agentd", "-f", "-c", "FOLDER/zabbix.conf"],
  },
  nginxtls: {
    package: "nginx", services: [tcp(443, "https", /nginx/)],
    files: {
      "nginx-tls.conf": lines(
        "daemon off; master_process off; pid /run/nginx-tls.pid;", "events { worker_connections 64; }",
        "http { access_log off; client_body_temp_path /run/ngx/b; proxy_temp_path /run/ngx/p; fastcgi_temp_path /run/ngx/f; "
          + "uwsgi_temp_path /run/ngx/u; scgi_temp_path /run/ngx/s;",
        "server { listen 443 ssl http2; ssl_certificate /run/tls.crt; ssl_certificate_key /run/tls.key; return 200 "
          + "'<title>secure</title>'; default_type text/html; } }",
      ),
    },
    before: [...CERTIFICATE, "mkdir -p /run/ngx"],
    command: ["nginx", "-p", "/run/ngx", "-e", "stderr", "-c", "FOLDER/nginx-tls.conf"],
  },
  oldsamba: {
    package: "samba", services: [tcp(445, "microsoft-ds", /Samba smbd/), tcp(139, "microsoft-ds", /Samba smbd/)],
    files: { "smb.conf": lines(
      "[global]", "workgroup = LAB", "disable spoolss = yes", "load printers = no", "log file = /dev/null", "server min protocol = NT1",
      "[public]", "path = /run", "guest ok = yes",
    ) },
    before: ["mkdir -p /var/lib/samba/private /var/cache/samba /run/samba /var/log/samba"],
    command: ["smbd", "--foreground", "--no-process-group", "-s", "FOLDER/smb.conf"],
  },
  nmbd: {
    package: "samba", services: [udp(137, "netbios-ns", /Samba nmbd/)],
    files: {
      "nmb.conf": lines("[global]", "workgroup = LAB", "netbios name = FILES", "log file = /dev/null", "pid directory = /run/samba"),
    },
    before: ["mkdir -p /var/lib/samba/private /var/cache/samba /run/samba /var/log/samba"],
    command: ["nmbd", "--foreground", "--no-process-group", "-s", "FOLDER/nmb.conf"],
  },
} as const satisfies Readonly<Record<string, ServiceDaemon & ServiceStart>>;

/** Packages beside the daemons' own that they do not depend on, or not in every release. */
export const FURTHER_PACKAGES: readonly string[] = [
  ...new Set(Object.values(FURTHER_DAEMONS).map((daemon) => daemon.package)), "krb5-admin-server", "python3-serial",
  "python3-serial-asyncio",
];

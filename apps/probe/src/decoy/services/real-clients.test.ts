import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DebianRoot, unpackDebianPackages } from "../../../../../test/lab/debian-packages.ts";
import { openForTest, type OpenedDecoys } from "../testing/opened.ts";

const PASSWORD = "Winter-2026";
const SERVICES = ["mongodb", "ldap", "mqtt", "git", "proxy", "mssql", "ipp", "snmp", "tftp", "sip", "ntp", "smb2", "rdp", "winrm", "smtp", "pop3", "imap"];

let decoys: OpenedDecoys;
let clients: DebianRoot;
beforeAll(async () => {
  clients = await unpackDebianPackages(["ldap-utils", "mosquitto-clients", "freetds-bin", "cups-ipp-utils", "git", "curl", "python3-pymongo", "snmp", "tftp-hpa", "sipsak", "rdate", "smbclient", "hydra"]);
  // Debian's clients choose their own address on loopback, which is not exempt here.
  decoys = await openForTest([], { decoys: SERVICES.map((service) => ({ name: service, address: "127.0.0.1", services: [{ service, port: 0 }] })) }, []);
  decoys.listen();
});
afterAll(() => decoys.close());

/** Client → its arguments, what it says, and what is reported of it. */
const CLIENTS: readonly [program: string, service: string, args: (port: number) => readonly string[], says: RegExp, hit: object, password?: string][] = [
  ["ldapwhoami", "ldap", (port) => ["-x", "-H", `ldap://127.0.0.1:${port}`, "-D", "cn=admin,dc=example,dc=net", "-w", PASSWORD], /Invalid credentials \(49\)/, { stage: "credential", username: "cn=admin,dc=example,dc=net" }, PASSWORD],
  ["ldapsearch", "ldap", (port) => ["-x", "-LLL", "-H", `ldap://127.0.0.1:${port}`, "-s", "base", "-b", "", "+"], /namingContexts: dc=nodomain[^]*supportedLDAPVersion: 3/, { stage: "command" }],
  ["mosquitto_sub", "mqtt", (port) => ["-h", "127.0.0.1", "-p", `${port}`, "-u", "sensor", "-P", PASSWORD, "-t", "#", "-W", "5"], /not authori[sz]ed/i, { stage: "credential", username: "sensor" }, PASSWORD],
  ["git", "git", (port) => ["ls-remote", `git://127.0.0.1:${port}/payroll.git`], /access denied or repository not exported: \/payroll.git/, { stage: "command", detail: "git-upload-pack /payroll.git" }],
  ["curl", "proxy", (port) => ["-s", "-S", "-x", `http://admin:${PASSWORD}@127.0.0.1:${port}`, "https://www.example.net/"], /407/, { stage: "credential", username: "admin" }, PASSWORD],
  ["tsql", "mssql", (port) => ["-H", "127.0.0.1", "-p", `${port}`, "-U", "sa", "-P", PASSWORD], /Login failed for user 'sa'/, { stage: "credential", username: "sa" }, PASSWORD],
  ["ipptool", "ipp", (port) => ["-tv", `ipp://127.0.0.1:${port}/ipp/print`, join(clients.root, "usr/share/cups/ipptool/get-printer-attributes.test")], /printer-state.*idle/, { stage: "banner", detail: "Get-Printer-Attributes" }],
  ["snmpget", "snmp", (port) => ["-v3", "-l", "authNoPriv", "-u", "manager", "-a", "SHA", "-A", PASSWORD, "-r", "0", `127.0.0.1:${port}`, "1.3.6.1.2.1.1.1.0"], /Unknown user name/, { stage: "credential", username: "manager" }],
  ["snmpget", "snmp", (port) => ["-v2c", "-c", "public", "-On", `127.0.0.1:${port}`, "1.3.6.1.2.1.1.1.0"], /STRING: "?Linux snmp 5\.10\.0-33-amd64/, { stage: "credential" }, "public"],
  ["snmpwalk", "snmp", (port) => ["-v2c", "-c", "public", "-On", `127.0.0.1:${port}`, "1.3.6.1.2.1.1"], /\.1\.3\.6\.1\.2\.1\.1\.7\.0 = INTEGER: 72/, { stage: "command" }],
  ["tftp", "tftp", (port) => ["-m", "binary", "127.0.0.1", `${port}`, "-c", "get", "startup-config", "/dev/null"], /File not found/, { stage: "command", detail: "read startup-config" }],
  ["tftp", "tftp", (port) => ["-m", "binary", "127.0.0.1", `${port}`, "-c", "put", "/etc/hostname", "evil.bin"], /^$/, { stage: "file", detail: expect.stringMatching(/^evil\.bin: \d+ bytes, SHA-256 /) as string }],
  ["smbclient", "smb2", (port) => ["-p", `${port}`, "-L", "//127.0.0.1", "-U", `SITE\\joe%${PASSWORD}`, "-s", "/dev/null"], /NT_STATUS_LOGON_FAILURE/, { stage: "credential", username: "joe", detail: expect.stringMatching(/^NTLM: SITE\\joe from \S+, challenge [0-9a-f]{16}, proof [0-9a-f]{32}$/) as string }],
  ["smbclient", "smb2", (port) => ["-p", `${port}`, "-L", "//127.0.0.1", "-U", "SITE\\backup%Blue-Heron-4", "-m", "SMB2", "-s", "/dev/null"], /IPC\$\s+IPC/, { stage: "bait_credential", username: "backup" }],
  // By FreeRDP's library; its own program wants a display before it connects.
  ["hydra", "rdp", (port) => ["-I", "-t", "1", "-l", "joe", "-p", PASSWORD, "-m", "SITE", "-s", `${port}`, "127.0.0.1", "rdp"], /0 valid password found/, { stage: "credential", username: "joe", detail: expect.stringMatching(/^NTLM: (?:SITE\\)?joe.*, challenge [0-9a-f]{16}/) as string }],
  ["curl", "winrm", (port) => ["-s", "-i", "--ntlm", "-u", `SITE\\joe:${PASSWORD}`, "-d", "<x/>", `http://127.0.0.1:${port}/wsman`], /401 \r\nServer: Microsoft-HTTPAPI/, { stage: "credential", username: "joe" }],
  ["curl", "winrm", (port) => ["-s", "-i", "--basic", "-u", "backup:Blue-Heron-4", "-d", "<x/>", `http://127.0.0.1:${port}/wsman`], /401/, { stage: "bait_credential", username: "backup" }, "Blue-Heron-4"],
  ...(["smtp", "pop3", "imap"] as const).map((service): (typeof CLIENTS)[number] => [
    "curl", service, (port) => ["-s", "-v", "-k", "--ssl-reqd", "-u", `joe:${PASSWORD}`, `${service}://127.0.0.1:${port}/`, ...(service === "smtp" ? ["--mail-from", "a@example.net", "--mail-rcpt", "b@example.net", "-T", "/etc/hostname"] : [])],
    /SSL connection using TLS/, { stage: "credential", username: "joe" }, PASSWORD,
  ]),
  ["rdate", "ntp", (port) => ["-n", "-p", "-o", `${port}`, "127.0.0.1"], /\d{4}/, { stage: "banner", detail: "asked for the time" }],
  ["sipsak", "sip", (port) => ["-s", `sip:100@127.0.0.1:${port}`, "-vv"], /200 OK[^]*Server: Asterisk PBX 16/, { stage: "banner" }],
  ["sipsak", "sip", (port) => ["-U", "-s", `sip:100@127.0.0.1:${port}`, "-u", "joe", "-a", PASSWORD], /403 Forbidden/, { stage: "credential", username: "joe" }],
  // Debian has no shell of MongoDB's, but its library.
  ["python3", "mongodb", (port) => ["-c", `import pymongo; c = pymongo.MongoClient("127.0.0.1", ${port}, username="admin", password="${PASSWORD}", serverSelectionTimeoutMS=5000); print(c.list_database_names())`], /Authentication failed/, { stage: "credential", username: "admin" }],
];

const run = (program: string, args: readonly string[]) => new Promise<string>((resolve) => {
  const { path, env } = clients.command(program);
  execFile(path, [...args], { timeout: 20_000, env: { ...process.env, ...env, PYTHONPATH: join(clients.root, "usr/lib/python3/dist-packages") } }, (_, stdout, stderr) => resolve(stdout + stderr));
});

test.each(CLIENTS)("%s is answered as the service would, and reported as far as it went", async (program, service, args, says, hit, password) => {
  expect(await run(program, args(decoys.portOf(service)))).toMatch(says);
  await expect.poll(() => decoys.hits.findLast((one) => one.service === service)).toMatchObject({ service, ...hit });
  if (password !== undefined) await expect.poll(() => decoys.tried.find((one) => one.service === service)?.password).toBe(password);
  expect(decoys.counts.failures).toBe(0);
});

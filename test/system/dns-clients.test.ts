import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { runCommand, tryCommand } from "../lab/run-command.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { NODE_SETTINGS, PROBE } from "./deployment.ts";

const NAME = "dns.example.net";
const ADDRESS = "10.99.0.1";
const NETWORK = `ip link set lo up
ip link add site type veth peer name other
ip address add ${ADDRESS}/24 dev site
ip link set site up
ip link set other up
echo ready
exec cat`;
/** Users of the machine, with the one that systemd-resolved becomes; its own folder for what it keeps; its settings. All of it is seen by it alone. */
const RESOLVED = `set -e
mount -t tmpfs none /run
mkdir -p /run/systemd/resolve
cp /etc/passwd /etc/group "$1"
echo "systemd-resolve:x:990:990::/:/usr/sbin/nologin" >> "$1/passwd"
echo "systemd-resolve:x:990:" >> "$1/group"
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/group" /etc/group
chown 990:990 /run/systemd/resolve
mount -t tmpfs none /etc/systemd
cp "$1/resolved.conf" /etc/systemd/resolved.conf
exec "$2"`;

describe.skipIf(!canMakeLabs())("the resolver and the clients that sites have", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-clients-"));
  const ends: (() => Promise<unknown>)[] = [];
  let packages: DebianRoot;
  let inside: readonly string[];
  let resolver: Daemon;

  function start(command: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const [program, ...args] = ["setpriv", "--pdeathsig", "KILL", ...command];
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "ignore"] });
    const ended = once(child, "exit");
    ends.push(async () => {
      if (child.exitCode === null && child.kill("SIGKILL")) await ended;
    });
    return child;
  }

  const unpacked = (name: string) => {
    const { path, env } = packages.command(name);
    return { command: [...inside, "env", ...Object.entries(env).map(([key, value]) => `${key}=${value}`), path] };
  };

  async function kdig(...args: readonly string[]): Promise<string> {
    const [program = "", ...rest] = unpacked("kdig").command;
    return (await tryCommand(program, [...rest, "+timeout=2", "+retry=0", ...args])).stdout;
  }

  beforeAll(async () => {
    // systemd-resolved reads the certificate as another user.
    chmodSync(folder, 0o755);
    packages = await unpackDebianPackages(["knot-dnsutils", "stubby", "systemd-resolved", "dnsmasq-base", "openssl"]);
    const network = start(["unshare", "--net", "--mount", "sh", "-c", NETWORK]);
    await once(network.stdout as NodeJS.ReadableStream, "data");
    inside = ["nsenter", "--target", String(network.pid), "--net"];
    start([...unpacked("dnsmasq").command, "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root", "--listen-address=127.0.0.1", "--bind-interfaces", "--port=5302", "--pid-file",
      "--address=/example.com/192.0.2.1", "--address=/ads.example/192.0.2.9"]);
    await runCommand("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", join(folder, "key.pem"), "-out", join(folder, "certificate.pem"), "-days", "3",
      "-subj", `/CN=${NAME}`, "-addext", `subjectAltName=DNS:${NAME},IP:${ADDRESS}`], { env: packages.command("openssl").env });
    writeFileSync(join(folder, "ads"), "||ads.example^\n");
    writeFileSync(join(folder, "dns.toml"), [
      `listen = ["${ADDRESS}"]`, "[[upstreams]]", 'address = "127.0.0.1"', "port = 5302", "[[lists]]", 'name = "Ads"', `file = "${join(folder, "ads")}"`, 'category = "advertising"',
      "[tls]", `name = "${NAME}"`, `certificate_file = "${join(folder, "certificate.pem")}"`, `key_file = "${join(folder, "key.pem")}"`, "",
    ].join("\n"));
    resolver = await startDaemon({
      script: PROBE, nodeFlags: NODE_SETTINGS["lanthorn-probe"].flags, args: ["resolver", "--config", join(folder, "dns.toml")], env: NODE_SETTINGS["lanthorn-probe"].env,
      through: inside, logFile: join(folder, "resolver.log"),
    });
    await waitFor("the block list", async () => ((await kdig(`@${ADDRESS}`, "x.ads.example")).includes("NXDOMAIN") ? true : null));
  });

  afterAll(async () => {
    await resolver?.stop();
    for (const end of ends.toReversed()) await end();
    rmSync(folder, { recursive: true });
  });

  test.each([["UDP", []], ["TCP", ["+tcp"]], ["TLS", ["+tls-ca=certificate", `+tls-hostname=${NAME}`]], ["HTTPS", ["+https", "+tls-ca=certificate", `+tls-hostname=${NAME}`]]])("kdig by %s", async (_, options) => {
    const args = [`@${ADDRESS}`, ...options.map((option) => option.replace("=certificate", `=${join(folder, "certificate.pem")}`))];
    expect(await kdig(...args, "www.example.com", "+short")).toBe("192.0.2.1\n");
    const blocked = await kdig(...args, "x.ads.example", "+edns");
    expect(blocked).toContain("status: NXDOMAIN");
    expect(blocked).toMatch(/EDE: 15 \(Blocked\): 'Ads \(advertising\)'/);
  });

  test("kdig by TLS, padded: the answer is padded, too", async () => {
    expect(await kdig(`@${ADDRESS}`, "+tls", "+padding", "www.example.com")).toMatch(/Received 468 B/);
  });

  test("a client that knows the address only finds the encrypted ways", async () => {
    const answer = await kdig(`@${ADDRESS}`, "_dns.resolver.arpa", "TYPE64", "+short");
    expect(answer).toContain(`1 ${NAME}. alpn=h2 port=443`);
    expect(answer).toContain(`2 ${NAME}. alpn=dot port=853`);
  });

  test("stubby, which takes no answer that is not encrypted and from whom it knows", async () => {
    const file = join(folder, "stubby.yml");
    writeFileSync(file, `resolution_type: GETDNS_RESOLUTION_STUB
dns_transport_list: [GETDNS_TRANSPORT_TLS]
tls_authentication: GETDNS_AUTHENTICATION_REQUIRED
tls_query_padding_blocksize: 128
idle_timeout: 10000
listen_addresses: [127.0.0.1@5353]
tls_ca_file: "${join(folder, "certificate.pem")}"
upstream_recursive_servers:
  - address_data: ${ADDRESS}
    tls_auth_name: "${NAME}"
`);
    start([...unpacked("stubby").command, "-C", file]);
    await waitFor("an answer by stubby", async () => ((await kdig("@127.0.0.1", "-p", "5353", "www.example.com", "+short")) === "192.0.2.1\n" ? true : null));
    expect(await kdig("@127.0.0.1", "-p", "5353", "x.ads.example", "+edns")).toMatch(/NXDOMAIN[^]*'Ads \(advertising\)'/);
  });

  test.each(["yes", "opportunistic", "no"])("systemd-resolved with DNSOverTLS=%s", async (mode) => {
    const own = join(folder, `resolved-${mode}`);
    mkdirSync(own);
    writeFileSync(join(own, "resolved.conf"), `[Resolve]\nDNS=${ADDRESS}#${NAME}\nDNSOverTLS=${mode}\nDomains=~.\nDNSSEC=no\nFallbackDNS=\nLLMNR=no\nMulticastDNS=no\n`);
    const program = packages.command("systemd-resolved");
    const daemon = start([...inside, "unshare", "--mount", "sh", "-c", RESOLVED, "sh", own, program.path], { ...program.env, SSL_CERT_FILE: join(folder, "certificate.pem") });
    await waitFor("an answer by systemd-resolved", async () => ((await kdig("@127.0.0.53", "www.example.com", "+short")) === "192.0.2.1\n" ? true : null));
    expect(await kdig("@127.0.0.53", "x.ads.example")).toContain("NXDOMAIN");
    const ended = once(daemon, "exit");
    daemon.kill("SIGTERM");
    await ended;
    expect(readFileSync(join(folder, "resolver.log"), "utf8")).not.toContain('"level":"error"');
  });
});

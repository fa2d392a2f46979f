/** Two hosts in network namespaces of their own, real daemons on one of them, and a capture of what they say. For tests only. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DebianRoot } from "../../../../test/lab/debian-packages.ts";
import { runCommand, tryCommand } from "../../../../test/lab/run-command.ts";
import { waitFor } from "../../../../test/lab/wait-for.ts";
import { reverseName } from "../dns/dns-reverse.ts";

/** What the network's traffic needs. */
export const NETWORK_PACKAGES = ["tshark", "dnsmasq-base", "busybox"];

const SERVER = "10.77.0.1";
const CLIENT = "10.77.0.2";
const SERVER_IPV6 = "fd77::1";
const CLIENT_IPV6 = "fd77::2";

/** What the server's name service knows, one record of each type. */
const RECORDS = [
  "--host-record=nas.lt.test,10.77.0.9,fd77::9",
  "--cname=www.lt.test,nas.lt.test",
  "--mx-host=lt.test,nas.lt.test,10",
  "--txt-record=lt.test,v=spf1 -all,second string",
  "--srv-host=_http._tcp.lt.test,nas.lt.test,80,1,2",
];

const QUESTIONS = [
  ["a", "nas.lt.test"], ["aaaa", "nas.lt.test"], ["cname", "www.lt.test"],
  ["mx", "lt.test"], ["txt", "lt.test"], ["srv", "_http._tcp.lt.test"],
  ["ptr", reverseName("10.77.0.9")], ["ptr", reverseName("fd77::9")], ["a", "missing.lt.test"],
] as const;

const UDP_SENDER = `
  const socket = require("node:dgram").createSocket("udp4");
  socket.send("lanthorn", 9, "${CLIENT}", () => socket.close());
`;

const HTTP_SERVER = `
  const server = require("node:http").createServer((request, response) => response.end("lanthorn".repeat(2000)));
  server.listen(80, () => console.error("listening"));
`;

/**
 * Lets the hosts lease an address, ask for names, ping and fetch a page, over IPv4 and IPv6, and captures it with dumpcap.
 * Nothing of it is left behind, whatever fails; no packet leaves the namespaces.
 * @param use Is given the path of the pcapng file that dumpcap wrote.
 */
export async function withCapturedTraffic(root: DebianRoot, use: (file: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "lanthorn-traffic-"));
  const server = `lt${process.pid}-server`;
  const client = `lt${process.pid}-client`;
  const children: ChildProcess[] = [];
  try {
    await connect(server, client);
    const start = (namespace: string, name: string, args: readonly string[]) => {
      const child = startIn(root, namespace, name, args);
      children.push(child);
      return child;
    };
    const run = (namespace: string, name: string, args: readonly string[]) => runIn(root, namespace, name, args);
    const file = join(folder, "traffic.pcapng");
    const dumpcap = start(server, "dumpcap", ["-q", "-i", "lan0", "-w", file]);
    await untilSaid(dumpcap, "File:");
    await untilSaid(start(server, "dnsmasq", dnsmasqOptions(folder)), "started");
    await askForRouter(client);
    await runTraffic({ start, run, server, client });
    await stop(dumpcap);
    await use(file);
  } finally {
    await Promise.all(children.map(stop));
    for (const namespace of [server, client]) await tryCommand("ip", ["netns", "delete", namespace]);
    await rm(folder, { recursive: true, force: true });
  }
}

async function connect(server: string, client: string): Promise<void> {
  for (const namespace of [server, client]) await runCommand("ip", ["netns", "add", namespace]);
  await runCommand("ip", ["-n", server, "link", "add", "lan0", "type", "veth", "peer", "name", "lan0", "netns", client]);
  await attach(server, SERVER, SERVER_IPV6);
  await attach(client, CLIENT, CLIENT_IPV6);
}

async function attach(namespace: string, ipv4: string, ipv6: string): Promise<void> {
  const ip = (...args: string[]) => runCommand("ip", ["-n", namespace, ...args]);
  await ip("link", "set", "lo", "up");
  await ip("link", "set", "lan0", "up");
  await ip("address", "add", `${ipv4}/24`, "dev", "lan0");
  await ip("address", "add", `${ipv6}/64`, "dev", "lan0", "nodad");
}

/** A host asks for routers only when its link comes up. */
async function askForRouter(client: string): Promise<void> {
  await runCommand("ip", ["-n", client, "address", "flush", "dev", "lan0"]);
  await runCommand("ip", ["-n", client, "link", "set", "lan0", "down"]);
  await attach(client, CLIENT, CLIENT_IPV6);
  const showDefaultRoute = () => runCommand("ip", ["-n", client, "-6", "route", "show", "default"]);
  await waitFor("the router's advertisement", async () => (await showDefaultRoute()) !== "" || null);
}

function dnsmasqOptions(folder: string): readonly string[] {
  return [
    "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--pid-file=", "--user=root",
    "--no-hosts", "--no-resolv", "--no-ping",
    `--dhcp-leasefile=${join(folder, "leases")}`, "--interface=lan0", "--bind-interfaces", "--domain=lt.test", "--local=/lt.test/",
    "--dhcp-range=10.77.0.50,10.77.0.99,1h", "--dhcp-range=fd77::,ra-only", "--enable-ra", ...RECORDS,
  ];
}

interface Hosts {
  readonly start: (namespace: string, name: string, args: readonly string[]) => ChildProcess;
  readonly run: (namespace: string, name: string, args: readonly string[]) => Promise<string>;
  readonly server: string;
  readonly client: string;
}

async function runTraffic({ start, run, server, client }: Hosts): Promise<void> {
  const options = ["-x", "hostname:lab1", "-F", "lab1.lt.test", "-V", "lanthorn test", "-O", "3", "-O", "15", "-O", "119"];
  await run(client, "busybox", ["udhcpc", "-i", "lan0", "-n", "-q", "-f", "-s", "/bin/true", ...options]);
  for (const [type, name] of QUESTIONS) await runAnyhow(run(client, "busybox", ["nslookup", `-type=${type}`, name, SERVER]));
  await run(client, "busybox", ["ping", "-c", "1", SERVER]);
  await run(client, "busybox", ["ping", "-c", "1", "-s", "4000", SERVER]);
  await run(client, "busybox", ["ping", "-c", "1", SERVER_IPV6]);
  // A closed port answers with an ICMP error, and with a reset.
  await run(server, process.execPath, ["--eval", UDP_SENDER]);
  await runAnyhow(run(client, process.execPath, ["--eval", `fetch("http://${SERVER}:81/")`]));
  await untilSaid(start(server, process.execPath, ["--eval", HTTP_SERVER]), "listening");
  await run(client, process.execPath, ["--eval", `fetch("http://${SERVER}/").then((answer) => answer.text())`]);
}

/** A name that does not exist and a port that is closed are part of the traffic. */
async function runAnyhow(task: Promise<unknown>): Promise<void> {
  await task.catch(() => undefined);
}

/** An unpacked program by its name, or any by its path. */
function programOf(root: DebianRoot, name: string) {
  return name.startsWith("/") ? { path: name, env: {} } : root.command(name);
}

function runIn(root: DebianRoot, namespace: string, name: string, args: readonly string[]): Promise<string> {
  const { path, env } = programOf(root, name);
  return runCommand("ip", ["netns", "exec", namespace, path, ...args], { env });
}

function startIn(root: DebianRoot, namespace: string, name: string, args: readonly string[]): ChildProcess {
  const { path, env } = programOf(root, name);
  return spawn("ip", ["netns", "exec", namespace, path, ...args], { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] });
}

/** Waits until a daemon says on standard error that it is ready. @throws When it ends before. */
function untilSaid(child: ChildProcess, word: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes(word)) resolve();
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`ended with ${code} before it said "${word}": ${said}`)));
  });
}

/** Ends a process that this test started, politely first: dumpcap writes what it still holds. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGINT");
  const timer = setTimeout(() => child.kill("SIGKILL"), 3000);
  await ended;
  clearTimeout(timer);
}

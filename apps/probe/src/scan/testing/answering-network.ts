/** Two namespaces: a scanner's, and one whose kernel answers for a whole network, with real listeners. For tests and benches only. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "../../../../../test/lab/bundle-program.ts";

/** The two namespaces. They need root; `close` removes them. */
export interface AnsweringNetwork {
  /** The scanner's namespace; its interface is `lan0`, its address 10.66.255.1 in 10.66.0.0/16. */
  readonly scanner: string;
  /** The other one. */
  readonly answerer: string;
  /** The MAC of its end of the cable. */
  readonly answererMac: string;
  /** The kernel answers for these. @param prefix Inside 10.66.0.0/17. */
  live(prefix: string): void;
  /** Runs a command in the answerer's namespace. */
  run(program: string, args: readonly string[], environment?: Readonly<Record<string, string>>): void;
  /** Puts both ends into fd66::/64: the scanner at ::1, the answerer at these. */
  addIpv6(...addresses: readonly string[]): void;
  /** Sends what goes to a network from the scanner to an address of the answerer, which is a router then. */
  route(prefix: string, gateway: string): void;
  /** Listens on these TCP ports of every live address. */
  listen(ports: readonly number[]): Promise<void>;
  /** Answers whatever comes to these UDP ports of a live address. */
  serveUdp(address: string, ports: readonly number[]): Promise<void>;
  /** Answers ARP for hosts with MACs of their own, some of them late: `first, count` and `address, milliseconds`. */
  answerArp(live: readonly (readonly [number, number])[], late: readonly (readonly [number, number])[]): Promise<void>;
  close(): void;
}

/** Of `lan0` in the scanner's namespace. */
export const SCANNER_IP = "10.66.255.1";

const ARP_ANSWERER = fileURLToPath(new URL("arp-answerer.ts", import.meta.url));
const LISTENERS = `const { createServer } = require("node:net");
let left = process.argv.length - 1;
for (const port of process.argv.slice(1)) {
  const server = createServer((socket) => { socket.on("error", () => {}); socket.resume(); });
  server.listen({ port: Number(port), host: "::", backlog: 4096 }, () => { left -= 1; if (left === 0) process.stdout.write("ready\\n"); });
}`;

const UDP_SERVERS = `const { createSocket } = require("node:dgram");
const [address, ...ports] = process.argv.slice(1);
let left = ports.length;
for (const port of ports) {
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4").on("message", (_, from) => socket.send("answer", from.port, from.address));
  socket.bind(Number(port), address, () => { left -= 1; if (left === 0) process.stdout.write("ready\\n"); });
}`;

let made = 0;

/** The cable is up when it returns. Namespaces are removed when the process exits, too. */
export function createAnsweringNetwork(): AnsweringNetwork {
  made += 1;
  const [scanner, answerer] = [`lscan${process.pid}-${made}s`, `lscan${process.pid}-${made}a`];
  const children: ChildProcess[] = [];
  const ip = (...args: readonly string[]) => execFileSync("ip", args, { stdio: "pipe" });
  const close = () => {
    process.off("exit", close);
    for (const child of children.splice(0)) child.kill("SIGKILL");
    for (const name of [scanner, answerer]) {
      try {
        ip("netns", "del", name);
      } catch {
        // It was not made.
      }
    }
  };
  process.once("exit", close);
  for (const name of [scanner, answerer]) {
    ip("netns", "add", name);
    ip("-n", name, "link", "set", "lo", "up");
  }
  ip("-n", scanner, "link", "add", "lan0", "type", "veth", "peer", "name", "lan0", "netns", answerer);
  for (const name of [scanner, answerer]) ip("-n", name, "link", "set", "lan0", "up");
  ip("-n", scanner, "addr", "add", `${SCANNER_IP}/16`, "dev", "lan0");
  // Its own address would be a martian to a kernel that takes the whole network for its own.
  ip("-n", answerer, "route", "add", `${SCANNER_IP}/32`, "dev", "lan0");
  const run = (program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    void execFileSync("ip", ["netns", "exec", answerer, program, ...args], { stdio: "pipe", env: { ...process.env, ...environment } });
  run("sysctl", [
    "-qw", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.lan0.rp_filter=0", "net.ipv4.tcp_syncookies=1",
    "net.ipv4.tcp_max_syn_backlog=65536", "net.core.somaxconn=65535",
  ]);
  const start = async (args: readonly string[]) => {
    const child = spawn("ip", ["netns", "exec", answerer, process.execPath, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    await once(child.stdout, "data");
  };
  return {
    scanner, answerer, run, close,
    answererMac:
      (JSON.parse(ip("-n", answerer, "-j", "link", "show", "lan0").toString()) as { readonly address: string }[])[0]?.address ?? "",
    live: (prefix) => void ip("-n", answerer, "route", "add", "local", prefix, "dev", "lo"),
    addIpv6(...addresses) {
      ip("-n", scanner, "addr", "add", "fd66::1/64", "dev", "lan0", "nodad");
      for (const address of addresses) ip("-n", answerer, "addr", "add", `${address}/64`, "dev", "lan0", "nodad");
    },
    route(prefix, gateway) {
      run("sysctl", ["-qw", "net.ipv4.ip_forward=1"]);
      ip("-n", scanner, "route", "add", prefix, "via", gateway);
    },
    listen: (ports) => start(["-e", LISTENERS, ...ports.map(String)]),
    serveUdp: (address, ports) => start(["-e", UDP_SERVERS, address, ...ports.map(String)]),
    answerArp: (live, late) =>
      start([bundleProgram(ARP_ANSWERER), JSON.stringify({ live, late })]),
  };
}

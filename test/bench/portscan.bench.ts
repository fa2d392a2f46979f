import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type AnsweringNetwork, createAnsweringNetwork, SCANNER_IP } from "../../apps/probe/src/scan/testing/answering-network.ts";
import { portsOf } from "../../apps/probe/src/scan/ports/port-lists.ts";
import { type DebianRoot, unpackDebianPackages } from "../lab/debian-packages.ts";
import { addressNumber, type PeerResult, runPeer } from "./scan-peers.ts";

const CHILD = fileURLToPath(new URL("../../apps/probe/src/scan/testing/scan-child.ts", import.meta.url));
const OPEN = [22, 80, 443];
const HOSTS = 256;
const NETWORK = "10.66.0.0/24";
/** The probe's own default. */
const FRAMES_PER_SECOND = 200_000;

type Case = "dense" | "sparse" | "dropped";

interface Row {
  readonly case: Case;
  readonly truth: number;
  readonly found: number;
  readonly false: number;
  readonly seconds: number;
  readonly cpu_seconds: number;
  readonly rss_mb: number;
  readonly peers: Readonly<Record<string, PeerResult>>;
}

/**
 * 256 addresses × the 1000 ports of the profile `standard`, each live host with three of them open: all hosts live,
 * every fourth, and all with everything else dropped. Ours is timed from the command in a process that runs, its sweep included; peers as
 * whole processes. A case or several as arguments; `--no-peers` for ours alone.
 */
export async function run(args: readonly string[]): Promise<void> {
  const cases = (["dense", "sparse", "dropped"] as const).filter((name) => args.every((arg) => arg.startsWith("-")) || args.includes(name));
  const packages = await unpackDebianPackages(["nmap", "masscan", "nftables"]);
  const rows: Row[] = [];
  for (const name of cases) rows.push(await measure(name, packages, !args.includes("--no-peers")));
  console.log(JSON.stringify({ bench: "portscan", rows }));
}

async function measure(name: Case, packages: DebianRoot, withPeers: boolean): Promise<Row> {
  const network = createAnsweringNetwork();
  try {
    const live = Array.from({ length: HOSTS }, (_, host) => host).filter((host) => name !== "sparse" || host % 4 === 1);
    if (live.length === HOSTS) network.live(NETWORK);
    else for (const host of live) network.live(`10.66.0.${host}/32`);
    await network.listen(OPEN);
    if (name === "dropped") {
      const nft = packages.command("nft");
      network.run(nft.path, [`add table ip f; add chain ip f i { type filter hook input priority 0 ; }; add rule ip f i tcp dport != { `
        + `${OPEN.join(", ")} } drop`], nft.env);
    }
    const truth = new Set(live.flatMap((host) => OPEN.map((port) => `10.66.0.${host} ${port}`)));
    const own = await runOwn(network);
    const found = new Set(own.ports.map((port) => port.replace(" tcp ", " ")));
    const row = {
      case: name, truth: truth.size, found: [...truth].filter((port) => found.has(port)).length,
      false: [...found].filter((port) => !truth.has(port)).length + own.ports.length - found.size, seconds: round(own.seconds),
      cpu_seconds: round(own.cpu_seconds), rss_mb: round(own.rss_mb), peers: {},
    };
    console.log(`${name}: ours ${JSON.stringify(row)}`);
    return { ...row, peers: withPeers ? await runPeers(network, { packages, truth }) : {} };
  } finally {
    network.close();
  }
}

async function runOwn(network: AnsweringNetwork): Promise<{
  readonly ports: readonly string[]; readonly seconds: number; readonly cpu_seconds: number; readonly rss_mb: number;
}> {
  const request = {
    interface: "lan0", ranges: [[addressNumber("10.66.0.0"), HOSTS, addressNumber(SCANNER_IP)]], ports: portsOf("standard").tcp,
    framesPerSecond: FRAMES_PER_SECOND, late: false,
  };
  const node = [process.execPath, "--import", import.meta.resolve("tsx"), "--conditions=@lanthorn/source", CHILD, JSON.stringify(request)];
  const { stdout } = await promisify(execFile)("ip", ["netns", "exec", network.scanner, ...node], { maxBuffer: 1e8, timeout: 300_000 });
  return JSON.parse(stdout) as Awaited<ReturnType<typeof runOwn>>;
}

async function runPeers(
  network: AnsweringNetwork, { packages, truth }: { readonly packages: DebianRoot; readonly truth: ReadonlySet<string> },
): Promise<Row["peers"]> {
  const list = portsOf("standard").tcp.join(",");
  const nmap = packages.command("nmap");
  const masscan = packages.command("masscan");
  const routerMac = network.answererMac;
  const nmapPorts = (text: string) => text.split("\n").flatMap((line) => {
    const host = /^Host: (\S+)/.exec(line)?.[1];
    return [...line.matchAll(/(\d+)\/open\/tcp/g)].map(([, port]) => `${host} ${port}`);
  });
  const masscanPorts = (text: string) => [...text.matchAll(/^open tcp (\d+) (\S+)/gm)].map(([, port, host]) => `${host} ${port}`);
  const base = ["-n", "-sS", "-p", list, "-oG", "-", NETWORK];
  const peers = [
    ["nmap -sS", nmap, base, nmapPorts],
    ["nmap -sS -T4 --min-rate 5000", nmap, ["-T4", "--min-rate", "5000", ...base], nmapPorts],
    ["masscan --rate 100000 --wait 3", masscan, [
      NETWORK, "-p", list, "--rate", "100000", "--wait", "3", "-oL", "-", "--adapter", "lan0", "--adapter-ip", SCANNER_IP, "--router-mac",
      routerMac,
    ], masscanPorts],
  ] as const;
  const results: [string, PeerResult][] = [];
  for (const [name, program, args, read] of peers) {
    const result = await runPeer({ namespace: network.scanner, program, args, read, truth });
    console.log(`  ${name}: ${JSON.stringify(result)}`);
    results.push([name, result]);
  }
  return Object.fromEntries(results);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

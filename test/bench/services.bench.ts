import { XMLParser } from "fast-xml-parser";
import { fileURLToPath } from "node:url";
import { createLab, type Lab } from "../lab/lab.ts";
import { readTruth, type ServiceTruth } from "./services-truth.ts";

/** nmap's own default is one process; this many hosts at a time are the kindest to it on a small machine. */
const NMAPS_AT_A_TIME = 8;

interface Named {
  readonly service: string;
  readonly product: string;
  readonly version: string;
}

/**
 * Names every service of the larger lab, and has nmap -sV do the same with the same ports. `named` is the right product, `versioned` the
 * version of the daemon's package; `wrong` is another product or another version than the truth. Ours is timed inside a process that runs,
 * as in the daemon (`seconds`), and as that process from its start to its end (`process_seconds`); nmap as whole processes, eight
 * hosts at a time.
 * @param args `--without-nmap`: ours alone.
 */
export async function run(args: readonly string[] = []): Promise<void> {
  const withNmap = !args.includes("--without-nmap");
  const lab = await createLab({ id: "services", large: true });
  try {
    const truths = await readTruth(lab.packages.root);
    const ours = await runOurs(lab, truths);
    const nmap = withNmap ? await runNmap(lab, truths) : null;
    for (const [index, truth] of truths.entries()) {
      const [own, other] = [ours.found[index] ?? null, nmap?.found[index] ?? null];
      console.log(`${truth.host.padEnd(12)} ${`${truth.port}/${truth.protocol}`.padEnd(10)} ${String(truth.product).padEnd(26)} `
        + `${truth.version.padEnd(12)} ours: ${show(own, truth)}${nmap ? `   nmap: ${show(other, truth)}` : ""}`);
    }
    console.log(JSON.stringify({
      bench: "services", truth: truths.length, ...count(truths, ours.found), ...(nmap ? { nmap: count(truths, nmap.found) } : {}),
      seconds: round(ours.seconds), process_seconds: round(ours.processSeconds), ...(nmap ? { nmap_seconds: round(nmap.seconds) } : {}),
    }));
  } finally {
    await lab.close();
  }
}

function show(named: Named | null, truth: ServiceTruth): string {
  if (!named) return "nothing";
  const mark = isWrong(named, truth) ? "✗" : isVersioned(named, truth) ? "✓✓" : isNamed(named, truth) ? "✓" : "·";
  return `${mark} ${named.service} ${named.product} ${named.version}`;
}

function count(truths: readonly ServiceTruth[], found: readonly (Named | null)[]) {
  const sum = (holds: (named: Named, truth: ServiceTruth) => boolean) => truths.filter((truth, index) => {
    const named = found[index];
    return named ? holds(named, truth) : false;
  }).length;
  return { named: sum(isNamed), versioned: sum(isVersioned), wrong: sum(isWrong) };
}

/** By its product, or by a service or version that names it: nmap writes some there. */
function isNamed(named: Named, truth: ServiceTruth): boolean {
  return truth.product.test(`${named.product} ${named.service} ${named.version}`);
}

/** The whole version, or as much of it as the daemon shows; what Debian adds may stand around it. */
function isVersioned(named: Named, truth: ServiceTruth): boolean {
  const shown = /^\d[\w.]*$/.test(named.version) && truth.version.startsWith(`${named.version}.`);
  const whole = new RegExp(`(?:^|[^\\d.])${truth.version.replaceAll(".", "\\.")}(?:$|[^\\d.])`).test(`${named.service} ${named.version}`);
  return isNamed(named, truth) && (shown || whole);
}

/** Another product, or a version that the daemon is not; a protocol's version is none of a daemon, and "9.6 or later" holds for 15. */
function isWrong(named: Named, truth: ServiceTruth): boolean {
  if (named.product !== "" && !isNamed(named, truth)) return true;
  const isOfDaemon = /^\d+\.\w/.test(named.version) && !/or later/.test(named.version);
  return isOfDaemon && !isVersioned(named, truth);
}

interface Ours {
  readonly seconds: number;
  readonly processSeconds: number;
  readonly found: readonly (Named | null)[];
}

async function runOurs(lab: Lab, truths: readonly ServiceTruth[]): Promise<Ours> {
  const script = fileURLToPath(new URL("identify-targets.ts", import.meta.url));
  const targets = truths.map(({ ip, port, protocol }) => ({ ip, port, protocol }));
  const startedAt = performance.now();
  const { stdout, stderr } = await lab.exec(
    "probe", process.execPath, ["--import", "tsx", "--conditions=@lanthorn/source", script, JSON.stringify(targets)],
    { timeoutMs: 120_000 },
  );
  if (stdout === "") throw new Error(`the services were not named: ${stderr}`);
  return { ...(JSON.parse(stdout) as Omit<Ours, "processSeconds">), processSeconds: (performance.now() - startedAt) / 1000 };
}

async function runNmap(lab: Lab, truths: readonly ServiceTruth[]): Promise<{
  readonly seconds: number; readonly found: readonly (Named | null)[];
}> {
  const { path, env } = lab.packages.command("nmap");
  const hosts = [...new Set(truths.map((truth) => truth.ip))];
  const found = new Map<string, Named>();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: NMAPS_AT_A_TIME }, async () => {
    for (let ip = hosts.shift(); ip !== undefined; ip = hosts.shift()) {
      const own = truths.filter((truth) => truth.ip === ip);
      const ports = (["tcp", "udp"] as const)
        .map((protocol) => [protocol, own.filter((truth) => truth.protocol === protocol).map((truth) => truth.port)] as const)
        .filter(([, list]) => list.length > 0);
      const scans = ports.map(([protocol]) => (protocol === "tcp" ? "-sS" : "-sU"));
      const list = ports.map(([protocol, numbers]) => `${protocol === "tcp" ? "T" : "U"}:${numbers.join(",")}`).join(",");
      const { stdout } = await lab.exec(
        "probe", path, [...scans, "-sV", "-Pn", "-n", "-p", list, "-oX", "-", ip], { env, timeoutMs: 300_000 },
      );
      for (const [key, named] of readNmap(stdout)) found.set(`${ip} ${key}`, named);
    }
  }));
  return {
    seconds: (performance.now() - startedAt) / 1000,
    found: truths.map((truth) => found.get(`${truth.ip} ${truth.port}/${truth.protocol}`) ?? null),
  };
}

interface NmapPort {
  readonly portid: string;
  readonly protocol: string;
  readonly service?: { readonly name?: string; readonly product?: string; readonly version?: string };
}

function readNmap(xml: string): readonly (readonly [string, Named])[] {
  const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "", isArray: (name) => name === "port" });
  const parsed = parser.parse(xml) as {
    readonly nmaprun?: { readonly host?: { readonly ports?: { readonly port?: readonly NmapPort[] } } };
  };
  return (parsed.nmaprun?.host?.ports?.port ?? []).map(({ portid, protocol, service }) => [
    `${portid}/${protocol}`, { service: service?.name ?? "", product: service?.product ?? "", version: service?.version ?? "" },
  ]);
}

function round(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { CommandData, ProbeEvent } from "@lanthorn/contract/uplink";
import { createId } from "@lanthorn/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { bundleProgram } from "../../../../test/lab/bundle-program.ts";
import { type DebianRoot, unpackDebianPackages } from "../../../../test/lab/debian-packages.ts";
import { waitFor } from "../../../../test/lab/wait-for.ts";
import { type AnsweringNetwork, createAnsweringNetwork } from "./testing/answering-network.ts";
import { whyNoNamespaces } from "../discover/testing/real-lan.ts";

const CHILD = fileURLToPath(new URL("testing/one-scan.ts", import.meta.url));
const reason = whyNoNamespaces();
if (reason) console.warn(`deep scans: ${reason}`);

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close();
});

interface DeepScan {
  readonly child: ChildProcess;
  readonly events: ProbeEvent[];
  readonly ended: Promise<void>;
}

interface Place {
  readonly network: AnsweringNetwork;
  readonly packages: DebianRoot;
}

async function makePlace(): Promise<Place> {
  const packages = await unpackDebianPackages(["nmap", "lighttpd", "nftables"]);
  const network = createAnsweringNetwork();
  closers.push(() => network.close());
  return { network, packages };
}

/** A real web server at port 80 of every live address. */
function serveWeb({ network, packages }: Place): void {
  const folder = mkdtempSync(join(tmpdir(), "deep-scan-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "index.html"), "<title>the shop's till</title>");
  const modules = join(packages.root, "usr/lib/lighttpd");
  writeFileSync(join(folder, "conf"), `server.document-root = "${folder}"\nserver.port = 80\nserver.modules = ()\n`
    + 'index-file.names = ("index.html")\nmimetype.assign = (".html" => "text/html")\n');
  const { path, env } = packages.command("lighttpd");
  const child = spawn("ip", ["netns", "exec", network.answerer, path, "-D", "-m", modules, "-f", join(folder, "conf")], {
    stdio: "ignore", env: { ...process.env, ...env },
  });
  closers.push(() => child.kill("SIGKILL"));
}

function startScan({ network, packages }: Place, order: Partial<CommandData<"scan_start">> = {}, path?: string): DeepScan {
  const { path: nmap, env } = packages.command("nmap");
  const command: CommandData<"scan_start"> = { scan_id: createId(), target: "10.66.0.0/28", profile: "deep", excluded: [], ...order };
  const node = [process.execPath, bundleProgram(CHILD), JSON.stringify(command)];
  const child = spawn("ip", ["netns", "exec", network.scanner, ...node], {
    stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...env, PATH: path ?? `${dirname(nmap)}:${process.env["PATH"] ?? ""}` },
  });
  closers.push(() => child.kill("SIGKILL"));
  const events: ProbeEvent[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => line.startsWith('{"type"') && events.push(JSON.parse(line) as ProbeEvent));
  return { child, events, ended: new Promise((resolve) => child.once("close", () => resolve())) };
}

/** Process ids of nmap in the scanner's namespace. */
function nmapsOf({ network }: Place): readonly string[] {
  const commandLine = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1");
    } catch {
      return "";
    }
  };
  const pids = execFileSync("ip", ["netns", "pids", network.scanner]).toString().trim().split("\n").filter((pid) => pid !== "");
  return pids.filter((pid) => /(?:^|\0)[^\0]*\/nmap\0/.test(commandLine(pid)));
}

const found = ({ events }: DeepScan) => events.flatMap((event) => (event.type === "port_found" ? [event.data] : []));

describe.skipIf(reason !== null)("a scan of the profile deep", () => {
  test("has nmap look at what was found open, and at nothing that is excluded or prints", async () => {
    const place = await makePlace();
    const { network, packages } = place;
    for (const prefix of ["10.66.0.1/32", "10.66.0.2/32", "10.66.0.3/32"]) network.live(prefix);
    serveWeb(place);
    await network.listen([9100, 9107, 515]);
    const nft = packages.command("nft");
    network.run(nft.path, [
      "add table ip t; add counter ip t prints; add counter ip t third; add chain ip t i { type filter hook input priority 0 ; }; "
      + "add rule ip t i tcp dport { 515, 9100-9107 } counter name prints; add rule ip t i ip daddr 10.66.0.3 counter name third",
    ], nft.env);
    const scan = startScan(place, { excluded: ["10.66.0.3/32"] });
    await scan.ended;
    const ports = found(scan);
    expect(new Set(ports.map(({ ip, port }) => `${ip} ${port}`))).toEqual(new Set(["10.66.0.1 80", "10.66.0.2 80"]));
    const last = ports.findLast(({ ip }) => ip === "10.66.0.1");
    expect(last).toMatchObject({
      service: "http", version: expect.stringMatching(/lighttpd/i), banner: expect.stringContaining("http-title: the shop's till"),
    });
    const end = scan.events.at(-1);
    const up = scan.events.flatMap((event) => (event.type === "scan_results" ? event.data.hosts : [])).map(({ ip }) => ip);
    expect([...new Set(up)].toSorted()).toEqual(["10.66.0.1", "10.66.0.2"]);
    expect(end).toMatchObject({ type: "scan_complete", data: { hosts_up: 2, ports_open: 2 } });
    const evidence = scan.events.flatMap((event) =>
      (event.type === "host_found" || event.type === "host_changed" ? event.data.evidence : []));
    const systems = evidence.filter(({ source }) => source === "nmap");
    for (const { field, confidence } of systems) {
      expect([["os", "os_version", "device_type", "model"].includes(field), confidence > 0 && confidence < 0.9]).toEqual([true, true]);
    }
    const progress = scan.events.flatMap((event) => (event.type === "scan_progress" ? [event.data.progress] : []));
    expect([progress.length > 0, progress.toSorted((a, b) => a - b)]).toEqual([true, progress]);
    const counters = execFileSync(
      "ip", ["netns", "exec", network.answerer, nft.path, "list", "counters"], { env: { ...process.env, ...nft.env } },
    ).toString();
    expect(counters.match(/packets \d+/g)).toEqual(["packets 0", "packets 0"]);
  });

  test("is gone at its cancellation, nmap too", async () => {
    const place = await makePlace();
    place.network.live("10.66.0.1/32");
    // Nothing that it says leads anywhere: nmap would ask for a minute.
    await place.network.listen([2121]);
    const scan = startScan(place);
    await waitFor("nmap runs", () => nmapsOf(place).length > 0 || null);
    const cancelledAt = performance.now();
    scan.child.stdin?.write("cancel\n");
    await waitFor("the scan has ended", () => scan.events.at(-1)?.type === "scan_cancelled" || null, { everyMs: 20 });
    // Without the cancellation nmap would run for a minute.
    expect([performance.now() - cancelledAt < 30_000, nmapsOf(place)]).toEqual([true, []]);
  });

  test("leaves no nmap behind when the probe is killed", async () => {
    const place = await makePlace();
    place.network.live("10.66.0.1/32");
    await place.network.listen([2121]);
    const scan = startScan(place);
    await waitFor("nmap runs", () => nmapsOf(place).length > 0 || null);
    scan.child.kill("SIGKILL");
    await scan.ended;
    await waitFor("nmap is gone", () => nmapsOf(place).length === 0 || null);
  });
});

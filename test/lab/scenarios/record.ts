import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Lab } from "../lab.ts";
import { waitFor } from "../wait-for.ts";
import { prepareLan, startScenario } from "./run-scenario.ts";
import { captureBytesOf, type Scenario, type Variant } from "./scenario.ts";

const SNAP_BYTES = 1514;
const PCAP_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
/**
 * The LAN as it was before, which a replay learns: who has which address, which servers and switches there are. Longer than the quarter of
 * a minute after which guards believe what nobody contradicts.
 */
const BEFORE_MS = 17_000;
/** Who is heard again after this is trusted. */
const AGAIN_MS = 11_000;

/**
 * Records a scenario at the probe's port: first the LAN's own hosts for 17 s, then what the scenario does. Each second the addresses that it
 * is about are asked for as a probe asks that checks a hint, so that a replay has the answers.
 * @param file Written as pcap, cut to `captureBytes` of the scenario.
 * @throws LabError `packages`, `not-ready` or `command-failed`.
 */
export async function recordScenario(lab: Lab, scenario: Scenario, { variant, file }: { readonly variant: Variant; readonly file: string }): Promise<void> {
  await prepareLan(lab);
  const raw = `${file}.raw`;
  const tcpdump = lab.packages.command("tcpdump");
  const { path, args } = lab.inside("probe", tcpdump.path, ["-Z", "root", "-i", "lan0", "-n", "-U", "-s", String(SNAP_BYTES), "-w", raw]);
  const recorder = spawn(path, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...tcpdump.env } });
  const ended = new Promise((resolve) => void recorder.once("exit", resolve));
  let said = "";
  recorder.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  try {
    await waitFor("tcpdump to listen", () => said.includes("listening") || null);
    const end = Date.now() + BEFORE_MS;
    await lookAround(lab);
    await askForAddress(lab);
    await pause(AGAIN_MS - BEFORE_MS + end - Date.now());
    await lookAround(lab);
    await pause(end - Date.now());
    const running = await startScenario(lab, scenario, variant);
    try {
      for (let second = 0; second < scenario.seconds; second += 1) {
        await Promise.all([pause(1000), ...(scenario.checked ?? []).map((ip) => check(lab, ip))]);
      }
    } finally {
      await running.stop();
    }
  } finally {
    recorder.kill("SIGTERM");
    await ended;
  }
  writeFileSync(file, cut(readFileSync(raw), captureBytesOf(scenario)));
  rmSync(raw);
}

/** Has the LAN's hosts say who they are. */
async function lookAround(lab: Lab): Promise<void> {
  const ips = ["10.77.0.1", "10.77.0.20", "10.77.0.30", "10.77.0.31", "10.77.0.254", "fd4c:616e:7468:77::20"];
  const ping = lab.packages.command("ping");
  await lab.exec("probe", "ip", ["neigh", "flush", "dev", "lan0"]);
  await Promise.all(ips.map((ip) => lab.exec("probe", ping.path, ["-c", "2", "-i", "0.3", "-W", "1", ip], { env: ping.env })));
}

/** A client asks for an address, and does not use it: who the LAN's DHCP server is. */
async function askForAddress(lab: Lab): Promise<void> {
  const { path, env } = lab.packages.command("busybox");
  await lab.exec("probe", path, ["udhcpc", "-f", "-n", "-q", "-t", "3", "-T", "1", "-i", "lan0", "-s", "/bin/true"], { env });
}

/** An ARP Probe, which no host takes an address from; for IPv6 a solicitation. @see RFC 5227 section 2.1.1 */
async function check(lab: Lab, ip: string): Promise<void> {
  if (ip.includes(":")) {
    const ping = lab.packages.command("ping");
    await lab.exec("probe", "ip", ["-6", "neigh", "flush", "dev", "lan0"]);
    await lab.exec("probe", ping.path, ["-c", "1", "-W", "1", ip], { env: ping.env });
    return;
  }
  const arping = lab.packages.command("arping");
  await lab.exec("probe", arping.path, ["-D", "-c", "1", "-w", "1", "-I", "lan0", ip], { env: arping.env });
}

/** Its first frames, as many as there is room for; of a file of tcpdump's on a machine of this byte order. */
function cut(file: Buffer, maxBytes: number): Uint8Array {
  let end = PCAP_HEADER_BYTES;
  while (end + RECORD_HEADER_BYTES <= file.length) {
    const next = end + RECORD_HEADER_BYTES + file.readUInt32LE(end + 8);
    if (next > Math.min(file.length, maxBytes)) break;
    end = next;
  }
  return file.subarray(0, end);
}

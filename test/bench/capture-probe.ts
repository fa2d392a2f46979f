import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createCaptureReader } from "@lanthorn/packets";
import { openSite } from "../system/site.ts";
import type { CapturePlace, StartCapturing } from "./capture-programs.ts";
import { trafficProcessOf } from "./traffic-process.ts";

/** Guards, flow table and the ring in memory as they come; everything is written to disk, and nothing of it gives way. */
const CONFIGURATION = `
[traffic]
interfaces = ["va"]
ring_megabytes = 64

[traffic.continuous]
enabled = true
budget_megabytes = 4096
free_floor_megabytes = 64
file_seconds = 600
`;
const CHUNK_OCTETS = 4 << 20;

/** A real probe with a collector, on a LAN of its own, beside which the pair `va` and `vb` is flooded. */
export interface ProbePlace {
  /** Where the peers capture too; frames come from `vb` of the same namespace. */
  readonly place: CapturePlace;
  readonly start: StartCapturing;
  close(): Promise<void>;
}

/** @throws What a lab, a probe or a collector says that does not start. */
export async function openProbePlace(folder: string): Promise<ProbePlace> {
  const site = await openSite({ hosts: ["gateway", "laptop"], probeToml: CONFIGURATION });
  await site.probe().stop();
  const { namespace } = site.lab.probe;
  const ip = (...args: readonly string[]) => void execFileSync("ip", ["-n", namespace, ...args], { stdio: "pipe" });
  ip("link", "add", "va", "type", "veth", "peer", "name", "vb");
  for (const link of ["va", "vb"]) {
    execFileSync("ip", ["netns", "exec", namespace, "sysctl", "-qw", `net.ipv6.conf.${link}.disable_ipv6=1`], { stdio: "pipe" });
    ip("link", "set", link, "up");
  }
  const captured = join(site.box.dataDir, "captures", "continuous");
  return {
    place: { namespace, interface: "va", folder },
    close: () => site.close(),
    async start() {
      rmSync(captured, { recursive: true, force: true });
      await site.startProbe();
      const pid = await trafficProcessOf(site.probe().pid);
      return {
        pid,
        async stop() {
          await site.probe().stop();
          const counted = countFrames(captured);
          rmSync(captured, { recursive: true, force: true });
          return { ...counted, dropped: 0 };
        },
      };
    },
  };
}

/** Of what a file says at its end of each interface: frames that reached the recorder. The kernel's losses are none of them. */
const RECEIVED = /received (\d+), left out by the filter/g;
const LAST_OCTETS = 8192;

/** Frames that are really in files: what was counted and not written is lost; and those that the files say were seen. */
function countFrames(folder: string): { readonly captured: number; readonly seen: number } {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /\.pcapng(?:\.part)?$/.test(name)) : [];
  let [captured, seen] = [0, 0];
  for (const name of files) {
    const reader = createCaptureReader();
    const bytes = readFileSync(join(folder, name));
    for (let at = 0; at < bytes.length; at += CHUNK_OCTETS) captured += reader.push(bytes.subarray(at, at + CHUNK_OCTETS)).records.length;
    for (const [, received] of bytes.subarray(-LAST_OCTETS).toString("latin1").matchAll(RECEIVED)) seen += Number(received);
  }
  return { captured, seen };
}

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pcap } from "@lanthorn/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROBE_BOX } from "../lab/host-plan.ts";
import { runUnpacked, unpackOrSay } from "../../packages/packets/src/testing/tshark.ts";
import { type CommandResult, runCommand, tryCommand } from "../lab/run-command.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import { CLI } from "./deployment.ts";
import { openSite, type Site } from "./site.ts";

const SETTINGS = `
[files]
bytes_per_second = 50_000_000
[health]
interval_seconds = 5
[traffic]
interfaces = ["${PROBE_BOX.lanInterface}"]
[traffic.continuous]
enabled = true
budget_megabytes = 128
free_floor_megabytes = 64
file_seconds = 5
`;
const PORT = 7777;
const DATAGRAMS = 25;
const SECRET = "between-us";
const FLOOD_MEGABYTES = 24;

/** Sends datagrams of 1,400 bytes to the probe, as many as make argument 1 in MiB, some 3,000 a second. */
const FLOOD = `
  const socket = require("node:dgram").createSocket("udp4");
  const datagram = Buffer.alloc(1400, 7);
  let left = Math.ceil(Number(process.argv[1]) * 1048576 / 1442);
  let unsent = left;
  const sent = () => (unsent -= 1) === 0 && socket.close();
  const send = () => {
    for (let n = 0; n < 20 && left > 0; n += 1, left -= 1) socket.send(datagram, 9, process.argv[2], sent);
    if (left > 0) setTimeout(send, 6);
  };
  send();
`;

let folder: string;
let site: Site;

async function cli(...args: readonly string[]): Promise<CommandResult> {
  return tryCommand(process.execPath, [CLI, ...args], { env: { LANTHORN_SESSION: join(folder, "session.json") } });
}
async function ok(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(...args);
  expect([args, code, stderr]).toEqual([args, 0, expect.any(String)]);
  return stdout.trim();
}
const asked = async (...args: readonly string[]): Promise<Pcap> => JSON.parse(await ok("pcap", ...args, "--json")) as Pcap;
const reach = (id: string, state: Pcap["state"]) => waitFor(`the capture to be ${state}`, async () => {
  const capture = await site.collector.rest.readPcap(id);
  expect(capture.state).not.toBe("failed");
  return capture.state === state ? capture : null;
});

/** Sends datagrams from a host to the probe's own address. */
async function sendDatagrams(count: number): Promise<void> {
  const { path, args } = site.lab.inside(
    "web", "bash", ["-c", `for n in $(seq ${count}); do echo "${SECRET} $n" > /dev/udp/${PROBE_BOX.lanAddress}/${PORT}; done`],
  );
  await runCommand(path, args);
}

describe.skipIf(!canMakeLabs())("a site that records traffic", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "lanthorn-captures-"));
    site = await openSite({ hosts: ["gateway", "web"], events: ["pcap_ready"], probeToml: SETTINGS });
    await ok("login", "--url", site.collector.url, "--password-file", site.collector.passwordFile);
    await waitFor("the probe to report what it records", async () =>
      (await site.collector.rest.listProbes()).data.some(({ health }) => health?.traffic !== undefined) || null);
  });
  afterAll(async () => {
    await site?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  describe("a capture that somebody starts", () => {
    test("holds the packets that its filter asks for, arrives whole, and is what tshark reads", async () => {
      const started = await asked("start", `udp dst port ${PORT}`, "--packets", String(DATAGRAMS), "--seconds", "600");
      await reach(started.id, "recording");
      await sendDatagrams(DATAGRAMS + 5);
      const capture = await reach(started.id, "ready");
      expect(capture).toMatchObject({ trigger: "request", packets: DATAGRAMS, interfaces: [PROBE_BOX.lanInterface], filter: `udp dst port ${PORT}` });
      expect(capture.counters.left_out).toBeGreaterThanOrEqual(0);
      await waitFor("pcap_ready on the stream", () =>
        site.frames.some((frame) => frame.event === "pcap_ready" && (frame.data as { readonly pcap_id?: string }).pcap_id === started.id) || null);

      const file = join(folder, "first.pcapng");
      await ok("pcap", "get", started.id, "--out", file);
      expect(createHash("sha256").update(readFileSync(file)).digest("hex")).toBe(capture.sha256);
      const wireshark = await unpackOrSay(["tshark"], "what tshark says of a capture");
      if (wireshark) {
        const payloads = await runUnpacked(wireshark, "tshark", ["-n", "-r", file, "-T", "fields", "-e", "udp.payload"]);
        const texts = payloads.trim().split("\n").map((hex) => Buffer.from(hex, "hex").toString().trim());
        expect(texts).toEqual(Array.from({ length: DATAGRAMS }, (_, index) => `${SECRET} ${index + 1}`));
      }
      const { data: audit } = await site.collector.rest.listAuditRecords({ action: "pcap" });
      expect(JSON.stringify(audit)).toContain(capture.sha256);
      expect(await ok("pcap", "show", started.id)).toContain(`Protocols: udp ${DATAGRAMS}`);
    });

    test("is refused with the compiler's words where the filter is none", async () => {
      const { code, stderr } = await cli("pcap", "start", "udp port port");
      expect([code, stderr]).toEqual([1, expect.stringMatching(/syntax error|parse/)]);
      expect((await cli("pcap", "start", "--interface", "no-such-if")).code).toBe(1);
    });

    test("is shown while it passes", async () => {
      const child = spawn(process.execPath, [CLI, "pcap", "watch", `udp dst port ${PORT}`], { env: { ...process.env, LANTHORN_SESSION: join(folder, "session.json") } });
      const ended = once(child, "exit");
      const lines = linesOf(child);
      await waitFor("the live view", async () => {
        await sendDatagrams(1);
        return lines().some((line) => line.includes(String(PORT))) || null;
      });
      child.kill("SIGINT");
      expect((await ended)[0]).toBe(0);
    });

    test("stays at the probe until somebody gets it, without payload, where the site says so", async () => {
      await ok("pcap", "settings", "upload=on_demand", "headers_only=on", "require_reason=on");
      const started = await waitFor("a capture with the new settings", async () => {
        const capture = await asked("start", `udp dst port ${PORT}`, "--packets", "3");
        await reach(capture.id, "recording");
        await sendDatagrams(3);
        const whole = await waitFor("the file", async () => {
          const now = await site.collector.rest.readPcap(capture.id);
          return ["at_probe", "ready", "failed"].includes(now.state) ? now : null;
        });
        return whole.state === "at_probe" ? whole : null;
      });
      expect(started).toMatchObject({ packets: 3, headers_only: true });
      const file = join(folder, "second.pcapng");
      expect((await cli("pcap", "get", started.id, "--out", file)).code).toBe(1);
      await ok("pcap", "get", started.id, "--out", file, "--reason", "case 7");
      const bytes = readFileSync(file);
      expect([createHash("sha256").update(bytes).digest("hex"), bytes.includes(SECRET)]).toEqual([started.sha256, false]);
      await ok("pcap", "lock", started.id, "--reason", "case 7");
      expect((await cli("pcap", "rm", started.id)).code).toBe(1);
      await ok("pcap", "unlock", started.id);
      await ok("pcap", "rm", started.id);
      expect((await site.collector.rest.listPcaps({})).data.map(({ id }) => id)).not.toContain(started.id);
    });
  });

  describe("what is recorded continuously", () => {
    const traffic = async () => (await site.collector.rest.listProbes()).data[0]?.health?.traffic ?? null;
    const flood = async (megabytes: number) => {
      const { path, args } = site.lab.inside("web", process.execPath, ["-e", FLOOD, String(megabytes), PROBE_BOX.lanAddress]);
      await runCommand(path, args);
    };

    test("can be exported whole while a flood comes, which loses nothing by it", async () => {
      await ok("pcap", "settings", "upload=at_once", "headers_only=off", "require_reason=off");
      await waitFor("the site's settings at the probe", async () => {
        const { id } = await asked("start", "udp port 9", "--packets", "1", "--seconds", "60");
        await reach(id, "recording");
        await flood(1 / 1024);
        const ended = await waitFor("the file", async () => {
          const now = await site.collector.rest.readPcap(id);
          return ["at_probe", "uploading", "ready"].includes(now.state) ? now : null;
        });
        return ended.headers_only ? null : true;
      });
      const from = new Date().toISOString();
      await flood(FLOOD_MEGABYTES);
      const second = flood(FLOOD_MEGABYTES);
      const exported = await asked("export", "udp port 9", "--from", from, "--side", "source", "--host", "10.77.0.20");
      await second;
      const capture = await reach(exported.id, "ready");
      expect(capture.size_bytes).toBeGreaterThan(FLOOD_MEGABYTES * 1024 * 1024);
      const since = Date.now();
      const health = await waitFor("a report of after the flood", async () => {
        const now = await traffic();
        return now?.continuous?.to && Date.parse(now.continuous.to) > since - 2000 ? now : null;
      });
      expect({ kernel: health.interfaces.map(({ dropped_by_kernel: dropped }) => dropped), shed: health.shed.filter(({ frames }) => frames > 0) })
        .toEqual({ kernel: [0], shed: [] });
    });
  });
});

/** @returns What it has printed so far. */
function linesOf(child: ChildProcess): () => readonly string[] {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return () => text.split("\n");
}

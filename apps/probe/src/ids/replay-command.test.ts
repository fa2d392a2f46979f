import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPcapWriter, LINK_TYPE } from "@lanthorn/packets";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { udpFrame } from "../observe/testing/frames.ts";

const PROGRAM = fileURLToPath(new URL("../main.ts", import.meta.url));
const AT = Date.UTC(2026, 0, 1) / 1000;
const RULES = [
  'alert udp any any -> any 9999 (msg:"LAB beacon"; content:"beacon"; metadata:mitre_technique_id T1071; sid:9100001; rev:2;)',
  'alert udp any any -> $EXTERNAL_NET 9999 (msg:"LAB outwards"; content:"beacon 7"; sid:9100002;)', "alert tcp any any -> any any (lua:a.lua; sid:9100003;)",
].join("\n");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-replay-rules-"));
  write("beacons.pcap", capture(10));
  write("lab.rules", RULES);
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

/** A datagram each second, of two hosts in turn. */
function capture(count: number): Uint8Array {
  const writer = createPcapWriter({ linkType: LINK_TYPE.ethernet, snapLength: 65_535 });
  const records = Array.from({ length: count }, (_, index) => {
    const bytes = udpFrame(`192.168.1.${5 + (index % 2)}`, "192.168.1.9", [40_000 + (index % 2), 9999], Buffer.from(`beacon ${index}`));
    return writer.record({ seconds: AT + index, nanoseconds: 0, bytes, originalLength: bytes.length });
  });
  return Buffer.concat([writer.header(), ...records]);
}

interface Ended {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** @param readLines Takes no more than these, as `head` does. */
async function replay(args: readonly string[], readLines = Number.POSITIVE_INFINITY): Promise<Ended> {
  const child = spawn(process.execPath, ["--import", "tsx", "--conditions=@lanthorn/source", PROGRAM, "replay", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    if (stdout.split("\n").length > readLines) child.stdout.destroy();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, lines: stdout.split("\n").filter((line) => line !== ""), stderr };
}

const records = ({ lines }: Ended) => lines.map((line) => JSON.parse(line) as Record<string, unknown>);

describe("a capture with rules", () => {
  test("gives each alert as a line of JSON: signature, flow and time; then what was read and refused", async () => {
    const ended = await replay([join(folder, "beacons.pcap"), "--rules", join(folder, "lab.rules"), "--json"]);
    const alerts = records(ended);
    expect(alerts.map(({ signature_id: sid, at, frame }) => [sid, at, frame])).toEqual(Array.from({ length: 10 }, (_, index) => [9_100_001, new Date((AT + index) * 1000).toISOString(), index + 1]));
    expect(alerts[0]).toMatchObject({
      gid: 1, revision: 2, message: "LAB beacon", protocol: 17, source_ip: "192.168.1.5", source_port: 40_000, destination_ip: "192.168.1.9", destination_port: 9999, direction: "to-server",
      techniques: ["T1071"], places: [{ buffer: "payload", offset: 0, length: 6, bytes: Buffer.from("beacon").toString("base64") }],
    });
    const flows = alerts.map(({ flow_id: flow }) => flow);
    expect([new Set(flows).size, flows[0] === flows[2], flows[0] === flows[1]]).toEqual([2, true, false]);
    expect([ended.code, JSON.parse(ended.stderr)]).toMatchObject([0, { frames: 10, refused: 1, refusals: [{ id: 9_100_003, keyword: "lua" }] }]);
  });

  test("takes several files of rules and variables, and says the same for people", async () => {
    const further = write("further.rules", 'alert udp any any -> any any (msg:"LAB nine"; content:"beacon 9"; sid:9100009;)');
    const { code, lines } = await replay([join(folder, "beacons.pcap"), "--rules", join(folder, "lab.rules"), further, "--variable", "EXTERNAL_NET=192.168.1.9"]);
    expect([code, lines.length, lines.filter((line) => line.includes("LAB outwards")).length, lines.at(-1)]).toEqual([0, 12, 1, expect.stringMatching(/1:9100009:0 LAB nine .*192\.168\.1\.6.* frame 10$/) as string]);
  });

  test("ends without a word when its reader has enough", async () => {
    const many = write("many.pcap", capture(3000));
    const { code, lines, stderr } = await replay([many, "--rules", join(folder, "lab.rules"), "--json"], 1);
    expect([code, lines.length > 0, stderr]).toEqual([0, true, ""]);
  });
});

describe("what cannot be replayed is said, with the exit code 1", () => {
  test.each([
    ["a file of rules that is not there", ["beacons.pcap", "--rules", "none.rules"], "none.rules"], ["a capture that is not there", ["none.pcap", "--rules", "lab.rules"], "none.pcap"],
    ["a capture that is none", ["lab.rules", "--rules", "lab.rules"], "lab.rules"], ["a variable without a name", ["beacons.pcap", "--rules", "lab.rules", "--variable", "=x"], "NAME=VALUE"],
  ])("%s", async (_, args, word) => {
    const { code, lines, stderr } = await replay([...args.map((one) => (/\.(?:pcap|rules)$/.test(one) ? join(folder, one) : one)), "--json"]);
    expect([code, lines, stderr.includes(word)]).toEqual([1, [], true]);
    expect(stderr).not.toContain("    at ");
  });

  test("rules that are none are each refused, and the rest of them run", async () => {
    const bad = write("bad.rules", `no rule at all\n${"\u0000\u00ff".repeat(500)}\nalert udp any any -> any any (content:"beacon 3"; sid:7;\nalert udp any any -> any any (content:"beacon 3"; sid:8;)\nalert udp any any -> any any (pcre:"/beacon (3/"; sid:9;)\n`);
    const ended = await replay([join(folder, "beacons.pcap"), "--rules", bad, "--json"]);
    expect([ended.code, records(ended).map(({ signature_id: sid }) => sid), JSON.parse(ended.stderr)]).toMatchObject([0, [8], { frames: 10, refused: 4 }]);
  });
});

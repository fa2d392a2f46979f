import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { joinBytes } from "../testing/bytes.ts";
import { seededRandom } from "../testing/hostile.ts";
import { unpackOrSay } from "../testing/tshark.ts";
import { createPcapngWriter, MIN_PADDING_OCTETS } from "./pcapng-writer.ts";

const tools = await unpackOrSay(["tshark", "wireshark-common", "tcpdump"], "what real programs say of our capture files");

const random = seededRandom(11);
/** Broadcast frames of an experimental EtherType, of every length modulo 4, some cut, one longer than what is copied word by word. */
const FRAMES = [60, 61, 62, 63, 192, 193, 1514, 9014].map((length, index) => {
  const bytes = Uint8Array.from({ length: length + 3 }, () => random(256));
  bytes.set([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5], 3);
  return {
    bytes, offset: 3, length, wireLength: length + (index % 2) * 100, seconds: 1_790_000_000 + index, nanoseconds: 999_999_999 - index,
    isOutgoing: index % 3 === 0,
  };
});
const FACTS = [
  {}, { interfaceId: 1 }, { comment: "lanthorn alert 5f1c — größer als 1 & <2>" }, { comment: "", interfaceId: 1 }, { missing: 12 },
  { missing: 3_000_000_000_000, comment: "3 frames are missing here: the kernel had no room" }, {}, {},
];
const START = { seconds: 1_790_000_000, nanoseconds: 1 };
const END = { seconds: 1_790_000_009, nanoseconds: 2 };

function encodeFile(byteOrder: "big" | "little"): Uint8Array {
  const writer = createPcapngWriter({
    byteOrder, hardware: "Intel N100", operatingSystem: "Debian 12", application: "lanthorn 0.1.0", comment: "ring of eth1\nwhole",
    interfaces: [
      { linkType: 1, name: "eth1", description: "mirror of the core", filter: "not port 22", snapLength: 1024, hardwareAddress: Uint8Array.of(2, 0, 0, 0, 0, 9) },
      { linkType: 1, name: "eth2", snapLength: 1024 },
    ],
  });
  const into = new Uint8Array(100_000).fill(0xa5);
  let end = 0;
  FRAMES.forEach((frame, index) => {
    end = writer.writeRecord(into, end, frame, FACTS[index]);
    const padding = MIN_PADDING_OCTETS + index * 1000;
    writer.writePadding(into, end, padding);
    end += padding;
  });
  const statistics = [0, 1].map((interfaceId) => writer.statistics({
    interfaceId, at: END, startedAt: START, endedAt: END, received: 5_000_000_000, droppedByInterface: 1, accepted: 4_000_000_000,
    droppedByKernel: 12, delivered: 3_999_999_980, comment: "8 frames were dropped by the probe",
  }));
  return joinBytes(writer.header(), into.subarray(0, end), ...statistics);
}

describe.skipIf(tools === null).each(["little", "big"] as const)("a %s-endian file of ours", (byteOrder) => {
  const folder = mkdtempSync(join(tmpdir(), "pcapng-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "frames.pcapng");
  writeFileSync(file, encodeFile(byteOrder));
  const run = (name: string, args: readonly string[]) => {
    const { path, env } = tools?.command(name) ?? { path: "", env: {} };
    return spawnSync(path, args, { encoding: "utf8", env: { ...env, HOME: "/nonexistent", LC_ALL: "C.UTF-8", TZ: "UTC" } });
  };

  test("is read by tshark without a warning, with interfaces, directions and comments", () => {
    const fields = [
      "frame.time_epoch", "frame.cap_len", "frame.len", "frame.interface_name", "frame.packet_flags_direction", "frame.comment", "data.data",
    ];
    const { stdout, stderr, status } = run("tshark", ["-n", "-r", file, "-T", "fields", ...fields.flatMap((field) => ["-e", field])]);
    expect(stderr.replace(/^Running as user "root".*\n/, "")).toBe("");
    expect(status).toBe(0);
    const expected = FRAMES.map((frame, index) => {
      const { interfaceId = 0, comment = "" } = FACTS[index] as { interfaceId?: number; comment?: string };
      const kept = Math.min(frame.length, 1024);
      return [
        `${frame.seconds}.${String(frame.nanoseconds).padStart(9, "0")}`, kept, frame.wireLength, `eth${interfaceId + 1}`,
        frame.isOutgoing ? "0x00000002" : "0x00000001", comment,
        Buffer.from(frame.bytes.subarray(3 + 14, 3 + kept)).toString("hex"),
      ].join("\t");
    });
    expect(stdout.trimEnd().split("\n")).toEqual(expected);
  });

  test("is read by capinfos without a warning, with its facts and both interfaces' statistics", () => {
    const { stdout, stderr, status } = run("capinfos", ["-M", file]);
    expect([stderr, status]).toEqual(["", 0]);
    for (const fact of [
      "Number of packets:   8", "Capture hardware:    Intel N100", "Capture oper-sys:    Debian 12", "Capture application: lanthorn 0.1.0",
      "Capture comment:     ring of eth1", "Name = eth1", "Description = mirror of the core", "Filter string = not port 22", "Name = eth2", "Capture length = 1024",
      "Time precision = nanoseconds (9)", "Number of stat entries = 1",
    ]) expect(stdout).toContain(fact);
  });

  test("is read by tcpdump without a warning", () => {
    const asRoot = process.getuid?.() === 0 ? ["-Z", "root"] : [];
    const { stdout, stderr, status } = run("tcpdump", [...asRoot, "--nano", "-nn", "-tt", "-r", file]);
    expect(status).toBe(0);
    expect(stderr.split("\n").filter((line) => line !== "" && !line.startsWith("reading from file "))).toEqual([]);
    expect(stdout.split("\n").filter((line) => /^\d/.test(line))).toHaveLength(8);
  });
});

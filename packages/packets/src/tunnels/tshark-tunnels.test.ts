import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatIp } from "../addresses.ts";
import { createPcapWriter } from "../capture-file/pcap.ts";
import { decodeFrame } from "../frame.ts";
import { joinBytes } from "../testing/bytes.ts";
import { runUnpacked, unpackOrSay } from "../testing/tshark.ts";
import { TUNNEL_FRAMES } from "../testing/tunnel-frames.ts";
import { decapsulate } from "./unwrap.ts";

const tools = await unpackOrSay(["tshark"], "comparison of tunnels with tshark");

/** tshark reads these only where it is set up for them. */
const OPTIONS = ["vxlan.udp.port:4789", "geneve.udp.port:6081"].flatMap((option) => ["-o", option]);
/** What tshark calls the encapsulations; those of IP in IP have no name of their own. */
const NAMES: Readonly<Record<string, string>> = {
  cfp: "cfp", "e-tag": "etag", erspan: "erspan", geneve: "geneve", gre: "gre", mpls: "mpls", pbb: "ieee8021ah", pppoe: "pppoes", teredo: "teredo",
  "vn-tag": "vntag", vxlan: "vxlan",
};

test.skipIf(!tools)("tshark finds the same packet in each tunnel, by the same way", async () => {
  if (!tools) return;
  const folder = await mkdtemp(join(tmpdir(), "lanthorn-tunnels-"));
  const file = join(folder, "tunnels.pcap");
  const writer = createPcapWriter({ linkType: 1 });
  const frames = TUNNEL_FRAMES.map(({ bytes }, index) => writer.record({ seconds: index, nanoseconds: 0, bytes }));
  await writeFile(file, joinBytes(writer.header(), ...frames));
  const text = await runUnpacked(tools, "tshark", [
    "-n", "-r", file, ...OPTIONS, "-T", "fields", ...["frame.protocols", "udp.srcport", "ip.src", "ipv6.src"].flatMap((field) => ["-e", field]),
  ]);
  await rm(folder, { recursive: true, force: true });
  const theirs = text.trimEnd().split("\n").map((line) => line.split("\t"));
  expect(theirs).toHaveLength(TUNNEL_FRAMES.length);
  for (const [index, { name, bytes, encapsulations }] of TUNNEL_FRAMES.entries()) {
    const [protocols = "", ports = "", ipv4 = "", ipv6 = ""] = theirs[index] ?? [];
    const outer = decodeFrame(bytes);
    if (!outer.ok) throw new Error(name);
    const { frame } = decapsulate(outer.value);
    const source = frame.sourceIp === null ? "" : formatIp(frame.sourceIp);
    const last = (list: string) => list.split(",").at(-1);
    expect({ name, port: last(ports), source: last(frame.network === "ipv4" ? ipv4 : ipv6) })
      .toEqual({ name, port: String(frame.sourcePort), source });
    const way = protocols.split(":");
    expect(way.at(-1)).toBe("dns");
    expect({ name, way, missing: encapsulations.filter((kind) => NAMES[kind] !== undefined && !way.includes(NAMES[kind] ?? "")) })
      .toEqual({ name, way, missing: [] });
  }
});

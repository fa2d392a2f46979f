/** What tshark says of a conversation. For tests only. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createPcapWriter, encodeEthernet, encodeIpv4, encodeTcp, encodeUdp, ETHER_TYPE, IP_PROTOCOL, LINK_TYPE, parseIp, parseMac,
} from "@lanthorn/packets";
import type { DebianRoot } from "../../../../test/lab/debian-packages.ts";
import { runUnpacked } from "../../../packets/src/testing/tshark.ts";
import { segmentsOf, type Turn } from "./conversation.ts";

const HOSTS = [
  { mac: parseMac("02:00:00:00:00:0a") ?? new Uint8Array(6), ip: parseIp("192.0.2.10") ?? new Uint8Array(4) },
  { mac: parseMac("02:00:00:00:00:0b") ?? new Uint8Array(6), ip: parseIp("192.0.2.11") ?? new Uint8Array(4) },
] as const;
const CLIENT_PORT = 40_000;

type Carrier = "tcp" | "udp";

/** @returns The conversation as a capture file, from 192.0.2.10 port 40000 to 192.0.2.11 and `port`. */
export function captureOf(turns: readonly Turn[], port: number, carrier: Carrier): Uint8Array {
  const frame = (side: 0 | 1, protocol: number, encode: (ports: { sourcePort: number; destinationPort: number }, ends: { source: Uint8Array; destination: Uint8Array }) => Uint8Array) => {
    const [from, to] = side === 0 ? [HOSTS[0], HOSTS[1]] : [HOSTS[1], HOSTS[0]];
    const ends = { source: from.ip, destination: to.ip };
    const ports = side === 0 ? { sourcePort: CLIENT_PORT, destinationPort: port } : { sourcePort: port, destinationPort: CLIENT_PORT };
    const payload = encodeIpv4({ ...ends, protocol, payload: encode(ports, ends) });
    return encodeEthernet({ destination: to.mac, source: from.mac, etherType: ETHER_TYPE.ipv4, payload, vlanTags: [] });
  };
  const frames = carrier === "udp"
    ? turns.map(({ side, bytes }) => frame(side, IP_PROTOCOL.udp, (ports, ends) => encodeUdp({ ...ports, payload: bytes }, ends)))
    : segmentsOf(turns).map(({ side, sequence, acknowledgment, flags, payload }) => frame(side, IP_PROTOCOL.tcp, (ports, ends) =>
      encodeTcp({ ...ports, sequenceNumber: sequence, acknowledgmentNumber: acknowledgment, flags, window: 65_535, payload }, ends)));
  const writer = createPcapWriter({ linkType: LINK_TYPE.ethernet });
  return Buffer.concat([writer.header(), ...frames.map((bytes, index) => writer.record({ seconds: 1_700_000_000 + index, nanoseconds: 0, bytes }))]);
}

/**
 * @param fields As tshark names them.
 * @param options.as The protocol that tshark takes the port for.
 * @returns Of each frame that has one of the fields, its values.
 */
export async function askTsharkOf(root: DebianRoot, turns: readonly Turn[], fields: readonly string[], options: {
  readonly port: number; readonly as: string; readonly carrier?: Carrier;
}): Promise<readonly Readonly<Record<string, readonly string[]>>[]> {
  const folder = await mkdtemp(join(tmpdir(), "lanthorn-said-"));
  const carrier = options.carrier ?? "tcp";
  try {
    const file = join(folder, "said.pcap");
    await writeFile(file, captureOf(turns, options.port, carrier));
    const wanted = fields.flatMap((field) => ["-e", field]);
    const text = await runUnpacked(root, "tshark", [
      "-n", "-r", file, "-d", `${carrier}.port==${options.port},${options.as}`, "-T", "json", ...wanted,
    ]);
    const frames = JSON.parse(text) as readonly { readonly _source: { readonly layers?: Record<string, readonly string[]> } }[];
    return frames.flatMap(({ _source }) => (_source.layers && Object.keys(_source.layers).length > 0 ? [_source.layers] : []));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns All values of a field, in the order of the frames. */
export function valuesOfField(frames: readonly Readonly<Record<string, readonly string[]>>[], field: string): readonly string[] {
  return frames.flatMap((frame) => frame[field] ?? []);
}

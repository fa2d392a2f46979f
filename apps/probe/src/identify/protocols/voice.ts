// Mumble: a ping that every server answers with its version, and the version message inside TLS.
// @see Mumble protocol documentation, "UDP ping" and "Protocol stack (TCP)"
import { formatCpe } from "@lanthorn/fingerprints";
import { Reader } from "@lanthorn/packets";
import { claims, learned, type Learned, type TcpProtocol, type UdpProtocol } from "../protocol.ts";

function learnVersion(major: number, minor: number, patch: number): Learned {
  const version = `${major}.${minor}.${patch}`;
  const said = { product: "Murmur", vendor: "Mumble", version, cpe: formatCpe(["a", "mumble", "mumble", version]) };
  return learned("murmur", { claims: claims("mumble", 0.9, said), banner: `Mumble server ${version}` });
}

/** The server's version from a ping. @see Mumble protocol documentation, "UDP ping" */
export const mumbleUdp: UdpProtocol = {
  name: "murmur",
  ports: [64_738],
  payloads: [() => Uint8Array.of(0, 0, 0, 0, ...Buffer.from("lanthorn"))],
  learn(answer) {
    const reader = new Reader(answer);
    const [, major, minor, patch] = [reader.u8(), reader.u8(), reader.u8(), reader.u8()];
    const mark = Buffer.from(reader.take(8)).toString("latin1");
    return reader.failed || answer.length !== 24 || mark !== "lanthorn" ? null : learnVersion(major, minor, patch);
  },
};

/** Inside TLS the server begins with its version: a message of type 0, in which field 1 is the version. */
export const mumble: TcpProtocol = {
  name: "murmur",
  ports: [64_738],
  recognise(bytes) {
    if (bytes.length < 7) return bytes.every((byte, index) => index > 3 || byte === 0) ? "more" : "no";
    const reader = new Reader(bytes);
    return reader.u16() === 0 && reader.u32() < 1024 && reader.u8() === 0x08 ? "yes" : "no";
  },
  learn(first) {
    let version = 0;
    for (let index = 0; index < 5; index += 1) {
      const byte = first[7 + index] ?? 0;
      version += (byte & 0x7f) * 128 ** index;
      if (byte < 0x80) break;
    }
    return Promise.resolve(learnVersion(Math.floor(version / 65_536) & 0xffff, Math.floor(version / 256) & 0xff, version & 0xff));
  },
};

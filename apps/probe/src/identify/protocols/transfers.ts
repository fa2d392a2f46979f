// What else answers datagrams: TFTP, SIP, the portmapper, IKE, STUN, BitTorrent's DHT, memcached, OpenVPN, L2TP is not asked.
import { Reader } from "@lanthorn/packets";
import { claims, learned, printable, type TcpProtocol, toText, type UdpProtocol } from "../protocol.ts";
import { decodePortmapDump, encodePortmapDump } from "./file-services.ts";
import { encodeSipOptions, learnSip } from "./sip.ts";

/** A read of a file that nobody has: the error tells as much as the file would. @see RFC 1350 section 5 */
export const tftp: UdpProtocol = {
  name: "tftp",
  ports: [69],
  payloads: [() => encodeTftpRead("netascii")],
  answersFromAnyPort: true,
  async learn(answer, { ask }) {
    const message = decodeTftpAnswer(answer);
    if (message === null) return null;
    // Servers differ in how they refuse a mode that there is not.
    const refusal = decodeTftpAnswer((await ask(encodeTftpRead("lanthorn"))) ?? new Uint8Array()) ?? "";
    const product = refusal === "Unknown mode" ? "tftpd-hpa" : "";
    return learned("tftp", {
      claims: claims("tftp", 0.6, { product }), banner: printable([message, refusal].filter((text) => text !== "").join("\n")),
    });
  },
};

function encodeTftpRead(mode: string): Buffer {
  return Buffer.concat([Buffer.from([0, 1]), Buffer.from(`lanthorn-no-such-file\0${mode}\0`)]);
}

/** @returns The error's message, empty for data; null for what is no answer. */
function decodeTftpAnswer(answer: Uint8Array): string | null {
  const reader = new Reader(answer);
  const operation = reader.u16();
  reader.u16();
  if (reader.failed || ![3, 5, 6].includes(operation)) return null;
  return operation === 5 ? toText(answer.subarray(reader.offset), 256).replaceAll("\0", "") : "";
}

/** OPTIONS, which rings no phone. @see RFC 3261 section 11 */
export const sipUdp: UdpProtocol = {
  name: "sip",
  ports: [5060],
  payloads: [() => Buffer.from(encodeSipOptions({ ip: "lanthorn.invalid", port: 5060 }, "UDP"))],
  learn: (answer) => learnSip(answer, "sip"),
};

/** The list of registered programs, asked over UDP. @see RFC 1833 section 3 */
export const portmapUdp: UdpProtocol = {
  name: "rpcbind",
  ports: [111],
  payloads: [() => encodePortmapDump()],
  learn(answer) {
    const programs = decodePortmapDump(answer);
    return programs && learned("rpcbind", { claims: claims("rpc", 0.9, { product: "rpcbind" }), banner: programs.join("\n") });
  },
};

/** Main mode with one proposal; the answer names its vendor in payloads of type 13. @see RFC 2409 section 5 */
export const ike: UdpProtocol = {
  name: "isakmp",
  ports: [500, 4500],
  payloads: [() => {
    const attributes = [0x80, 1, 0, 5, 0x80, 2, 0, 2, 0x80, 3, 0, 1, 0x80, 4, 0, 2];
    const transform = [0, 0, 0, 8 + attributes.length, 1, 1, 0, 0, ...attributes];
    const proposal = [0, 0, 0, 8 + transform.length, 1, 1, 0, 1, ...transform];
    const association = [0, 0, 0, 12 + proposal.length, 0, 0, 0, 1, 0, 0, 0, 1, ...proposal];
    return Uint8Array.of(
      0x4c, 0x41, 0x4e, 0x54, 0x48, 0x4f, 0x52, 0x4e, ...Array.from({ length: 8 }, () => 0), 1, 0x10, 2, 0, 0, 0, 0, 0, 0, 0, 0,
      28 + association.length, ...association,
    );
  }],
  learn(answer) {
    const reader = new Reader(answer);
    if (toText(reader.take(8)) !== "LANTHORN") return null;
    reader.take(9);
    const version = reader.u8();
    return reader.failed ? null : learned("isakmp", { claims: claims("ike", 0.6, { version: `IKEv${version >> 4}`, device_type: "" }) });
  },
};

/** @see RFC 8489 section 5 */
export const stun: UdpProtocol = {
  name: "stun",
  ports: [3478],
  payloads: [() => Uint8Array.of(0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, ...Buffer.from("lanthornstun"))],
  learn(answer) {
    const reader = new Reader(answer);
    const type = reader.u16();
    const length = reader.u16();
    if ((type !== 0x0101 && type !== 0x0111) || reader.u32() !== 0x2112_a442) return null;
    reader.take(12);
    for (let left = length; left >= 4 && !reader.failed; ) {
      const attribute = reader.u16();
      const size = reader.u16();
      const value = reader.take(size);
      reader.take((4 - (size % 4)) % 4);
      left -= 4 + size;
      if (attribute === 0x8022) {
        return learned("stun", {
          claims: claims("stun", 0.8, softwareOf(printable(toText(value), 100))), banner: printable(toText(value)),
        });
      }
    }
    return learned("stun");
  },
};

/** As `Coturn-4.6.1 'Gorst'`. */
function softwareOf(text: string): { readonly product: string; readonly version: string } {
  const [, product = text, version = ""] = /^(.+?)[- /]v?(\d[\d.]*)\b/.exec(text) ?? [];
  return { product, version };
}

/** @see BEP 5 */
export const bittorrentDht: UdpProtocol = {
  name: "bittorrent-dht",
  ports: [6881, 6882, 6889, 51_413],
  payloads: [() => Buffer.from("d1:ad2:id20:lanthorn-lanthorn-00e1:q4:ping1:t2:ln1:y1:qe")],
  learn(answer) {
    const text = Buffer.from(answer).toString("latin1");
    const version = /1:v(\d):?/.exec(text) && /1:v4:(..)/s.exec(text)?.[1];
    const names: Readonly<Record<string, string>> = { LT: "libtorrent", UT: "uTorrent", TR: "Transmission" };
    return text.startsWith("d") && text.includes("1:y1:r")
      ? learned("bittorrent-dht", { claims: claims("dht", 0.7, { product: version ? names[version] : undefined }) })
      : null;
  },
};

/** The handshake, for a torrent that nobody has: those who serve others close at once, so that this names only the eager. @see BEP 3 */
export const bittorrent: TcpProtocol = {
  name: "bittorrent",
  ports: [6881, 6882, 6889, 51_413],
  hello: () => Buffer.concat([Buffer.from("\x13BitTorrent protocol", "latin1"), Buffer.alloc(28), Buffer.from("-LN0001-lanthorn0000")]),
  ownPortsOnly: true,
  recognise: (bytes) => (toText(bytes, 20) === "\x13BitTorrent protocol" ? (bytes.length < 68 ? "more" : "yes") : "\x13BitTorrent protocol"
    .startsWith(toText(bytes, 20)) ? "more" : "no"),
  learn(first) {
    const [, client = "", version = ""] = /^-([A-Za-z]{2})(\w{4})-/.exec(toText(first.subarray(48, 68))) ?? [];
    const names: Readonly<Record<string, string>> = {
      TR: "Transmission", qB: "qBittorrent", DE: "Deluge", UT: "uTorrent", lt: "libtorrent", LT: "libtorrent",
    };
    return Promise.resolve(learned("bittorrent", {
      claims: claims("bittorrent", 0.8, { product: names[client], version: version.split("").join(".") }),
      banner: printable(`${client}${version}`),
    }));
  },
};

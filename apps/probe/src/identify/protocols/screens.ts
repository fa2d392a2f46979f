// Screens from afar: RFB (RFC 6143), RDP's negotiation (MS-RDPBCGR 2.2.1), X11's set-up.
import { formatCpe } from "@lanthorn/fingerprints";
import { encodeInteger, encodeTlv, Reader, readTlv } from "@lanthorn/packets";
import type { Connection } from "../connection.ts";
import { beginsWith, claims, endsLine, learned, printable, SHORT_ANSWER_MS, type TcpProtocol, toText } from "../protocol.ts";
import { decodeNtlmChallenge, encodeNtlmNegotiate, type NtlmNames } from "./ntlm.ts";

const RFB_SECURITY: Readonly<Record<number, string>> = {
  1: "none", 2: "VNC", 5: "RA2", 16: "Tight", 18: "TLS", 19: "VeNCrypt", 30: "Apple",
};

/** Version and ways to log in; none is tried. @see RFC 6143 sections 7.1.1 and 7.1.2 */
export const vnc: TcpProtocol = {
  name: "vnc",
  ports: [5800, 5900, 5901, 5902, 5903],
  recognise: (bytes) => (beginsWith(bytes, "RFB ") === "yes" && !endsLine(bytes) ? "more" : beginsWith(bytes, "RFB ")),
  async learn(first, connection) {
    const version = /^RFB (\d{3})\.(\d{3})/.exec(toText(first));
    if (!version) return null;
    const [major, minor] = [Number(version[1]), Number(version[2])];
    // Only the list of ways to log in is read; none is chosen, so that no attempt is counted.
    connection.send(first.subarray(0, 12));
    const offer = minor >= 7 ? await connection.read((bytes) => bytes.length > (bytes[0] ?? 0), SHORT_ANSWER_MS) : new Uint8Array();
    const types = [...offer.subarray(1, 1 + (offer[0] ?? 0))].map((type) => RFB_SECURITY[type] ?? String(type));
    const product = major === 3 && minor === 889 ? {
      product: "Apple remote desktop vnc", vendor: "Apple", os: "macOS", device_type: "workstation",
    }
      : major === 4 || major === 5 ? { product: "RealVNC Enterprise", vendor: "RealVNC" }
      : types.includes("Tight") ? { product: "TightVNC" } : { product: "VNC" };
    return learned("vnc", {
      claims: [...claims("vnc", 0.6, product), ...claims("vnc", 0.9, { version: `protocol ${major}.${minor}` })],
      banner: printable(`${toText(first)}security types: ${types.join(", ")}`),
    });
  },
};

const CREDSSP = 2;

/** CredSSP's first message, in which NTLM asks; the answer names the server, and nothing more is said. @see MS-CSSP 2.2.1 */
async function askNtlmNames(connection: Connection): Promise<NtlmNames | null> {
  const token = encodeTlv(0x30, encodeTlv(0xa0, encodeTlv(0x04, encodeNtlmNegotiate())));
  connection.send(encodeTlv(0x30, Buffer.concat([encodeTlv(0xa0, encodeInteger(6)), encodeTlv(0xa1, encodeTlv(0x30, token))])));
  return decodeNtlmChallenge(await connection.read((bytes) => readTlv(bytes) !== null, SHORT_ANSWER_MS));
}

/** A connection request that offers TLS and CredSSP. */
const RDP_REQUEST = Uint8Array.of(3, 0, 0, 19, 14, 0xe0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 3, 0, 0, 0);

/** The negotiated security; where that is CredSSP, the names of the machine and its domain. @see MS-RDPBCGR 2.2.1.1, 2.2.1.2 */
export const rdp: TcpProtocol = {
  name: "ms-wbt-server",
  ports: [3389],
  hello: () => RDP_REQUEST,
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes[0] !== 3 || (bytes.length > 1 && bytes[1] !== 0)) return "no";
    return bytes.length < 11 ? "more" : bytes[5] === 0xd0 ? "yes" : "no";
  },
  async learn(first, connection) {
    const reader = new Reader(first, 11);
    const kind = reader.u8();
    reader.take(3);
    const chosen = reader.u32le();
    const tls = !reader.failed && kind === 2 && chosen !== 0 ? await connection.startTls({ timeoutMs: 3000, alpn: [] }) : null;
    const names = tls && chosen === CREDSSP ? await askNtlmNames(connection) : null;
    const security = reader.failed ? "RDP" : kind === 3 ? `refused (${chosen})` : (["RDP", "TLS", "CredSSP"][chosen] ?? "RDSTLS");
    // Offered both, Windows takes CredSSP and has flags of what else it can; xrdp takes TLS and has few.
    const flags = first[12] ?? 0;
    return learned("ms-wbt-server", {
      claims: names || (kind === 2 && chosen === CREDSSP && flags > 1)
        ? claims("rdp", 0.7, {
          product: "Microsoft Terminal Services", vendor: "Microsoft", os: "Windows", os_version: names?.version,
          hostname: names?.dnsName || names?.computer,
        })
        : kind === 2 && flags < 2 && chosen < 2 ? claims("rdp", 0.7, { product: "xrdp" }) : [],
      banner: printable([
        `security: ${security}`, ...(names ? [`computer ${names.computer}`, `domain ${names.domain}`, `version ${names.version}`] : []),
      ].join("\n")),
      tls,
    });
  },
};

/** Set-up in least-significant-byte-first order, version 11.0, without authorization. @see X Window System Protocol, section 8 */
export const x11: TcpProtocol = {
  name: "X11",
  ports: [6000, 6001, 6002, 6003],
  hello: () => Uint8Array.of(0x6c, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0),
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes.length < 8) return (bytes[0] ?? 0) <= 2 ? "more" : "no";
    return (bytes[0] ?? 9) <= 2 && bytes[2] === 11 && bytes[3] === 0 ? "yes" : "no";
  },
  learn(first) {
    const isOpen = first[0] === 1;
    const vendorLength = (first[24] ?? 0) | ((first[25] ?? 0) << 8);
    const vendor = isOpen ? toText(first.subarray(40, 40 + Math.min(vendorLength, 100))) : "";
    const reason = isOpen ? "access granted" : toText(first.subarray(8, 8 + (first[1] ?? 0)));
    const release = isOpen && first.length >= 12 ? Buffer.from(first).readUInt32LE(8) : 0;
    const version = /X\.Org/.test(vendor) ? xorgVersion(release) : "";
    return Promise.resolve(learned("X11", {
      claims: claims("x11", 0.8, {
        product: vendor, vendor: version === "" ? "" : "X.Org", version, cpe: version && formatCpe(["a", "x.org", "x_server", version]),
      }),
      banner: printable(`${vendor} ${version} ${reason}`),
    }));
  },
};

/** Decimal digits in pairs, but for the last three: 12101007 is 1.21.1.7, which is called 21.1.7 since then. */
function xorgVersion(release: number): string {
  const [major, minor, patch, snap] = [
    Math.floor(release / 10_000_000), Math.floor(release / 100_000) % 100, Math.floor(release / 1000) % 100, release % 1000,
  ];
  if (major !== 1) return "";
  return minor > 20 ? `${minor}.${patch}.${snap}` : `${major}.${minor}.${patch}`;
}

// Machines: Modbus device identification, S7 (ISO-on-TCP), EtherNet/IP's List Identity. Only questions that read, one each.
import { Reader } from "@lanthorn/packets";
import { claims, learned, type Learned, printable, SHORT_ANSWER_MS, type TcpProtocol, toText, type UdpProtocol } from "../protocol.ts";

/** @see Modbus Application Protocol 1.1b3 section 6.21 */
export const modbus: TcpProtocol = {
  name: "modbus",
  ports: [502],
  hello: () => Uint8Array.of(0x4c, 0x4e, 0, 0, 0, 5, 0xff, 0x2b, 0x0e, 1, 0),
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes.length < 8) return bytes.length < 2 || (bytes[0] === 0x4c && bytes[1] === 0x4e) ? "more" : "no";
    if (bytes[0] !== 0x4c || bytes[1] !== 0x4e || bytes[2] !== 0 || bytes[3] !== 0 || ((bytes[7] ?? 0) & 0x7f) !== 0x2b) return "no";
    return bytes.length >= 6 + (bytes[5] ?? 0) ? "yes" : "more";
  },
  learn(first) {
    const texts: string[] = [];
    const reader = new Reader(first, 13);
    const count = first[7] === 0x2b ? reader.u8() : 0;
    for (let index = 0; index < Math.min(count, 7) && !reader.failed; index += 1) {
      reader.u8();
      texts.push(toText(reader.take(reader.u8())));
    }
    const [vendor, product, version] = texts;
    return Promise.resolve(learned("modbus", {
      claims: claims("modbus", 0.9, { vendor, product, version, device_type: "iot" }), banner: printable(texts.join(" ")),
    }));
  },
};

const COTP_CONNECT = Uint8Array.of(3, 0, 0, 22, 17, 0xe0, 0, 0, 0, 1, 0, 0xc1, 2, 1, 0, 0xc2, 2, 1, 2, 0xc0, 1, 10);
const S7_SETUP = Uint8Array.of(3, 0, 0, 25, 2, 0xf0, 0x80, 0x32, 1, 0, 0, 0, 0, 0, 8, 0, 0, 0xf0, 0, 0, 1, 0, 1, 1, 0xe0);
/** The system status list 0x001c: names and serial numbers. */
const S7_READ_NAMES = Uint8Array.of(
  3, 0, 0, 33, 2, 0xf0, 0x80, 0x32, 7, 0, 0, 0, 0, 0, 8, 0, 8, 0, 1, 0x12, 4, 0x11, 0x44, 1, 0, 0xff, 9, 0, 4, 0, 0x1c, 0, 0,
);

/** @see RFC 1006; S7 communication as its dissectors describe it */
export const s7: TcpProtocol = {
  name: "iso-tsap",
  ports: [102],
  hello: () => COTP_CONNECT,
  ownPortsOnly: true,
  recognise: (bytes) => (bytes[0] !== 3 || (bytes.length > 1 && bytes[1] !== 0) ? "no" : bytes.length < 7 ? "more" : bytes[5] === 0xd0
    ? "yes"
    : "no"),
  async learn(_first, connection) {
    const isWhole = (bytes: Uint8Array) => bytes.length >= 4 && bytes.length >= ((bytes[2] ?? 0) << 8) + (bytes[3] ?? 0);
    connection.send(S7_SETUP);
    const setup = await connection.read(isWhole, SHORT_ANSWER_MS);
    if (setup[7] !== 0x32) return learned("iso-tsap");
    connection.send(S7_READ_NAMES);
    const names = toText(await connection.read(isWhole, SHORT_ANSWER_MS)).match(/[\x20-\x7e]{4,}/g) ?? [];
    const module = names.find((name) => /CPU|S7|6ES7/.test(name))?.trim();
    return learned("iso-tsap", {
      claims: claims("s7", 0.9, { vendor: "Siemens", product: "Siemens S7 PLC", model: module, device_type: "iot" }),
      banner: printable(names.map((name) => name.trim()).join("\n")),
    });
  },
};

const LIST_IDENTITY = Uint8Array.of(0x63, ...Array.from({ length: 23 }, () => 0));
const CIP_VENDORS: Readonly<Record<number, string>> = {
  1: "Rockwell Automation", 40: "WAGO", 47: "Omron", 90: "HMS", 243: "Schneider Electric", 283: "Hilscher", 345: "Panasonic",
};

/** @see CIP volume 2, section 2-4.2 */
function learnIdentity(answer: Uint8Array): Learned | null {
  const reader = new Reader(answer);
  if (reader.u16le() !== 0x63) return null;
  reader.take(22 + 2);
  if (reader.u16le() !== 0x0c) return null;
  reader.take(2 + 2 + 16);
  const vendor = reader.u16le();
  reader.take(4);
  const [major, minor] = [reader.u8(), reader.u8()];
  reader.take(2 + 4);
  const product = toText(reader.take(reader.u8()));
  if (reader.failed) return null;
  return learned("EtherNet-IP-2", {
    claims: claims("ethernet-ip", 0.9, { product, vendor: CIP_VENDORS[vendor], version: `${major}.${minor}`, device_type: "iot" }),
    banner: printable(`${product} ${major}.${minor}`),
  });
}

/** List Identity over UDP. @see CIP Volume 2 section 2-4.2 */
export const ethernetIpUdp: UdpProtocol = {
  name: "EtherNet-IP-2", ports: [44_818, 2222], payloads: [() => LIST_IDENTITY], learn: learnIdentity,
};

/** List Identity over TCP: vendor, product and revision of a controller. @see CIP Volume 2 section 2-4.2 */
export const ethernetIp: TcpProtocol = {
  name: "EtherNet-IP-2",
  ports: [44_818],
  hello: () => LIST_IDENTITY,
  ownPortsOnly: true,
  recognise: (bytes) => (bytes[0] === 0x63 && (bytes[1] ?? 0) === 0 ? (bytes.length < 24 ? "more" : "yes") : "no"),
  learn: (first) => Promise.resolve(learnIdentity(first)),
};

/** A ReadProperty of the device's own model name, whatever its number. @see ASHRAE 135 clause 15.5 */
const BACNET_PROPERTIES = { vendorName: 121, modelName: 70, firmware: 44 } as const;

function encodeBacnetRead(property: number): Uint8Array {
  return Uint8Array.of(0x81, 0x0a, 0, 17, 1, 4, 0, 5, 1, 0x0c, 0x0c, 2, 0x3f, 0xff, 0xff, 0x19, property);
}

/** @returns Null for what is no answer, an empty text for an error. */
export function decodeBacnetText(answer: Uint8Array): string | null {
  const reader = new Reader(answer);
  if (reader.u8() !== 0x81 || reader.take(3).length !== 3 || reader.u8() !== 1) return null;
  const control = reader.u8();
  if ((control & 0x28) !== 0) return null;
  const kind = reader.u8() >> 4;
  if (kind !== 3) return kind === 5 || kind === 6 ? "" : null;
  const at = answer.findIndex((byte, index) => index > 12 && byte === 0x3e);
  const value = new Reader(answer, at + 1);
  // A character string with its length in a byte of its own; then the character set.
  if (at === -1 || value.u8() !== 0x75) return "";
  const text = value.take(value.u8());
  return value.failed ? "" : toText(text.subarray(1));
}

/** Reads the device object's vendor, model and firmware. @see ANSI/ASHRAE 135 clause 15.5 (ReadProperty) */
export const bacnet: UdpProtocol = {
  name: "bacnet",
  ports: [47_808],
  payloads: [() => encodeBacnetRead(BACNET_PROPERTIES.vendorName)],
  async learn(answer, { ask }) {
    const vendor = decodeBacnetText(answer);
    if (vendor === null) return null;
    const text = async (property: number) => decodeBacnetText((await ask(encodeBacnetRead(property))) ?? new Uint8Array()) ?? "";
    const [model, version] = [await text(BACNET_PROPERTIES.modelName), await text(BACNET_PROPERTIES.firmware)];
    return learned("bacnet", {
      claims: claims("bacnet", 0.9, { vendor, product: model, model, version, device_type: "iot" }),
      banner: printable([vendor, model, version].join(" ")),
    });
  },
};

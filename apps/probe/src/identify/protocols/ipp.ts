// Get-Printer-Attributes of the Internet Printing Protocol, which prints nothing. @see RFC 8010 section 3, RFC 8011 section 4.2.5
import { Reader } from "@lanthorn/packets";
import { toText } from "../protocol.ts";

const GET_PRINTER_ATTRIBUTES = 0x000b;
const OPERATION_ATTRIBUTES = 1;
const END_OF_ATTRIBUTES = 3;
const CHARSET = 0x47;
const LANGUAGE = 0x48;
const URI = 0x45;
const KEYWORD = 0x44;
/** What of a printer says who it is. */
const WANTED = [
  "printer-make-and-model", "printer-name", "printer-info", "printer-location", "printer-device-id", "printer-uuid",
  "printer-firmware-string-version",
] as const;
const MAX_VALUE_LENGTH = 256;

/** The body of a POST to a printer. @param uri The printer's own, as `ipp://192.0.2.1/ipp/print`, in ASCII. */
export function encodePrinterQuestion(uri: string): Buffer {
  const attribute = (tag: number, name: string, value: string) => {
    const head = Buffer.alloc(3);
    head[0] = tag;
    head.writeUInt16BE(name.length, 1);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(value.length);
    return Buffer.concat([head, Buffer.from(name), length, Buffer.from(value)]);
  };
  const head = Buffer.from([1, 1, 0, GET_PRINTER_ATTRIBUTES, 0, 0, 0, 1, OPERATION_ATTRIBUTES]);
  return Buffer.concat([
    head, attribute(CHARSET, "attributes-charset", "utf-8"), attribute(LANGUAGE, "attributes-natural-language", "en"),
    attribute(URI, "printer-uri", uri), ...WANTED.map((name, index) => attribute(KEYWORD, index === 0 ? "requested-attributes" : "", name)),
    Buffer.from([END_OF_ATTRIBUTES]),
  ]);
}

/** @returns The first value of each attribute that was asked for and is a text; null for what is no successful answer. */
export function decodePrinterAttributes(bytes: Uint8Array): ReadonlyMap<string, string> | null {
  const reader = new Reader(bytes, 2);
  const status = reader.u16();
  reader.take(4);
  if (reader.failed || status > 0x00ff) return null;
  const found = new Map<string, string>();
  while (!reader.failed && reader.remaining > 0) {
    const tag = reader.u8();
    if (tag === END_OF_ATTRIBUTES) break;
    if (tag < 0x10) continue;
    const name = toText(reader.take(reader.u16()));
    const value = toText(reader.take(reader.u16()), MAX_VALUE_LENGTH);
    // Texts and names, URIs and keywords; what else there is are numbers.
    if (!reader.failed && tag >= 0x41 && value !== "" && WANTED.some((wanted) => wanted === name)) found.set(name, value);
  }
  return found;
}

/** The options of DHCPv4: RFC 2132, split over several fields and instances by RFC 2131 section 4.1 and RFC 3396. */
import { badValue, decoded, type Decoded } from "../decoded.ts";
import { PacketsError } from "../errors.ts";
import { requireRange } from "../limits.ts";
import { Reader } from "../reader.ts";
import type { Writer } from "../writer.ts";

/** @see https://www.iana.org/assignments/bootp-dhcp-parameters */
export const DHCP_OPTION = {
  subnetMask: 1,
  router: 3,
  domainNameServer: 6,
  hostName: 12,
  domainName: 15,
  requestedIpAddress: 50,
  ipAddressLeaseTime: 51,
  dhcpMessageType: 53,
  serverIdentifier: 54,
  parameterRequestList: 55,
  maximumMessageSize: 57,
  vendorClassIdentifier: 60,
  clientIdentifier: 61,
  clientFqdn: 81,
  relayAgentInformation: 82,
} as const;

/** Values by option code, in the order of their first appearance; what came in several instances is joined. */
export type DhcpOptions = ReadonlyMap<number, Uint8Array>;

const PAD = 0;
const OVERLOAD = 52;
const END = 255;
const MAX_VALUE_LENGTH = 255;

/** Where options may stand in a message, each by its first byte and the byte behind its last. */
export interface OptionFields {
  readonly options: readonly [start: number, end: number];
  readonly file: readonly [start: number, end: number];
  readonly sname: readonly [start: number, end: number];
}

/** Options, and which of the other two fields they have taken. */
export interface ReadOptions {
  readonly options: DhcpOptions;
  readonly isFileOverloaded: boolean;
  readonly isSnameOverloaded: boolean;
}

/**
 * Reads the options field, then `file` and `sname` as option 52 says, which itself is not given back.
 * @returns Views of `bytes`, but a copy for an option of several instances. Options without an End are taken as they are.
 */
export function readDhcpOptions(bytes: Uint8Array, fields: OptionFields): Decoded<ReadOptions> {
  const options = new Map<number, Uint8Array>();
  const more = new Map<number, Uint8Array[]>();
  const failure = collect(new Reader(bytes, fields.options[0], fields.options[1]), options, more);
  if (failure) return failure;
  const overload = options.get(OVERLOAD);
  const taken = overload?.[0] ?? 0;
  if (overload && (overload.length !== 1 || taken < 1 || taken > 3)) return badValue("dhcp", overload.byteOffset - bytes.byteOffset);
  const isFileOverloaded = (taken & 1) !== 0;
  const isSnameOverloaded = (taken & 2) !== 0;
  for (const field of [isFileOverloaded ? fields.file : null, isSnameOverloaded ? fields.sname : null]) {
    const failure = field && collect(new Reader(bytes, ...field), options, more);
    if (failure) return failure;
  }
  options.delete(OVERLOAD);
  for (const [code, values] of more) if (options.has(code)) options.set(code, join(values));
  return decoded({ options, isFileOverloaded, isSnameOverloaded });
}

/** Splits options up to End or the end of the field. @param more All instances of those that come in several. @returns What is wrong, or null. */
function collect(reader: Reader, into: Map<number, Uint8Array>, more: Map<number, Uint8Array[]>) {
  while (reader.remaining > 0) {
    const code = reader.u8();
    if (code === END) return null;
    if (code === PAD) continue;
    const value = reader.take(reader.u8());
    if (reader.failed) return reader.malformed("dhcp");
    const before = into.get(code);
    const instances = before && more.get(code);
    if (!before) into.set(code, value);
    else if (instances) instances.push(value);
    else more.set(code, [before, value]);
  }
  return null;
}

function join(values: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(values.reduce((length, value) => length + value.length, 0));
  let at = 0;
  for (const value of values) {
    joined.set(value, at);
    at += value.length;
  }
  return joined;
}

/**
 * Appends options in their order, each in as many instances as its length needs, and End.
 * @throws PacketsError for code 0, 52 or 255, which frame the others.
 */
export function writeDhcpOptions(writer: Writer, options: DhcpOptions): void {
  for (const [code, value] of options) {
    requireRange("dhcp.options.code", code, PAD + 1, END - 1);
    if (code === OVERLOAD) throw new PacketsError("dhcp.options cannot hold option 52: all options are written into the options field");
    for (let at = 0; at === 0 || at < value.length; at += MAX_VALUE_LENGTH) {
      const part = value.subarray(at, at + MAX_VALUE_LENGTH);
      writer.u8(code).u8(part.length).put(part);
    }
  }
  writer.u8(END);
}

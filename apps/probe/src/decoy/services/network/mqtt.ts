/** A broker that refuses each login. @see MQTT 3.1.1 section 3.1, MQTT 5.0 section 3.1 */
import { createFramedReader } from "../framed-reader.ts";
import type { Service } from "../service.ts";

const CONNECT = 1;
const CONNACK = 0x20;
const FLAG = { username: 0x80, password: 0x40, will: 0x04 } as const;
/** Not authorized, by 3.1.1 and by 5.0. */
const REFUSED = { old: 5, new: 0x87 } as const;

/** Reads CONNECT, and refuses it as mosquitto does where it wants a password. */
export const mqtt: Service = (peer) => createFramedReader(packetLength, (packet) => {
  const login = (packet[0] ?? 0) >>> 4 === CONNECT ? readConnect(packet) : null;
  if (!login) {
    peer.end();
    return false;
  }
  if (login.username !== null || login.password !== null) peer.tried(login.username ?? "", login.password ?? "");
  else peer.reached("banner", "", `connected as ${login.clientId}`);
  peer.end(Buffer.from(login.version === 5 ? [CONNACK, 3, 0, REFUSED.new, 0] : [CONNACK, 2, 0, REFUSED.old]));
  return false;
}, () => peer.end());

/** The remaining length: seven bits of each octet, at most four of them. */
function readVarint(bytes: Buffer, at: number): { readonly value: number; readonly octets: number } | "bad" | null {
  let value = 0;
  for (let octets = 0; octets < 4; octets += 1) {
    const octet = bytes[at + octets];
    if (octet === undefined) return null;
    value += (octet & 0x7f) * 128 ** octets;
    if (octet < 0x80) return { value, octets: octets + 1 };
  }
  return "bad";
}

function packetLength(bytes: Buffer): number | "bad" | null {
  const read = bytes.length === 0 ? null : readVarint(bytes, 1);
  return read === null || read === "bad" ? read : 1 + read.octets + read.value;
}

function readConnect(packet: Buffer): { readonly version: number; readonly clientId: string; readonly username: string | null; readonly password: string | null } | null {
  const header = readVarint(packet, 1);
  if (header === null || header === "bad") return null;
  let at = 1 + header.octets;
  const take = (): Buffer | null => {
    if (at + 2 > packet.length) return null;
    const end = at + 2 + packet.readUInt16BE(at);
    if (end > packet.length) return null;
    const field = packet.subarray(at + 2, end);
    at = end;
    return field;
  };
  const skipProperties = (): boolean => {
    const properties = readVarint(packet, at);
    if (properties === null || properties === "bad") return false;
    at += properties.octets + properties.value;
    return at <= packet.length;
  };
  const name = take()?.toString("latin1");
  const [version = 0, flags = 0] = [packet[at], packet[at + 1]];
  at += 4;
  if ((name !== "MQTT" && name !== "MQIsdp") || at > packet.length || (version === 5 && !skipProperties())) return null;
  const clientId = take();
  if (!clientId) return null;
  if ((flags & FLAG.will) !== 0 && ((version === 5 && !skipProperties()) || !take() || !take())) return null;
  const username = (flags & FLAG.username) === 0 ? null : take();
  const password = (flags & FLAG.password) === 0 ? null : take();
  return { version, clientId: clientId.toString("utf8"), username: username && username.toString("utf8"), password: password && password.toString("utf8") };
}

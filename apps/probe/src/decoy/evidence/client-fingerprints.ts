/** Which program a client is, by how it begins: HASSH of SSH, and JA4 of TLS. */
import type { Socket } from "node:net";
import { decodeClientHello, decodeKexinit } from "@lanthorn/traffic";

const MAX_BYTES = 16 * 1024;
const HANDSHAKE_RECORD = 22;
const [RECORD_OCTETS, MESSAGE_OCTETS] = [5, 4];
const CLIENT_HELLO = 1;
const IDENT_MAX_OCTETS = 512;

/** Reads a client's stream as far as its list of algorithms. @returns What takes the bytes. @see RFC 4253 sections 4.2, 6 and 7.1 */
export function createHasshReader(onHassh: (hassh: string) => void): (bytes: Buffer) => void {
  let held: Buffer | null = Buffer.alloc(0);
  return (bytes) => {
    if (held === null) return;
    held = Buffer.concat([held, bytes]);
    const end = held.indexOf("\n");
    const begin = end + 1;
    if (end < 0 ? held.length > IDENT_MAX_OCTETS : held.length > MAX_BYTES) held = null;
    else if (end >= 0 && held.length >= begin + 5) {
      const octets = held.readUInt32BE(begin);
      if (octets > MAX_BYTES) held = null;
      else if (held.length >= begin + 4 + octets) {
        const kexinit = decodeKexinit(held.subarray(begin + 5, begin + 4 + octets - (held[begin + 4] ?? 0)), "client");
        held = null;
        if (kexinit) onHassh(kexinit.hassh);
      }
    }
  };
}

/**
 * Reads a connection as far as the first message of TLS, and gives the bytes back to it.
 * @param then Called once, when they are there, or where something else came.
 */
export function peekClientHello(socket: Socket, onJa4: (ja4: string) => void, then: () => void): void {
  let held = Buffer.alloc(0);
  const look = () => {
    for (let bytes = socket.read() as Buffer | null; bytes !== null; bytes = socket.read() as Buffer | null) held = Buffer.concat([held, bytes]);
    if (held.length < RECORD_OCTETS && held[0] === HANDSHAKE_RECORD) return;
    if (held.length === 0 && !socket.readableEnded) return;
    const whole = held[0] === HANDSHAKE_RECORD ? RECORD_OCTETS + held.readUInt16BE(3) : 0;
    if (held.length < whole && held.length < MAX_BYTES && !socket.readableEnded) return;
    socket.off("readable", look);
    const ja4 = held.length >= whole && held[RECORD_OCTETS] === CLIENT_HELLO ? decodeClientHello(held.subarray(RECORD_OCTETS + MESSAGE_OCTETS, whole), "tcp")?.ja4 : undefined;
    if (ja4 !== undefined) onJa4(ja4);
    then();
    // Only now: what reads the connection from here on takes it out of what came back.
    if (held.length > 0 && !socket.readableEnded) socket.unshift(held);
  };
  socket.on("readable", look);
}

/** PostgreSQL's protocol up to the password. @see https://www.postgresql.org/docs/13/protocol-message-formats.html */
import { createHash } from "node:crypto";
import type { Service } from "../service.ts";

const REQUEST = { ssl: 80_877_103, gssEncryption: 80_877_104, cancel: 80_877_102 } as const;
const PROTOCOL_3 = 3;
const MAX_MESSAGE_BYTES = 10_000;
const MD5_PASSWORD = 5;

/** Asks for the password by MD5, as version 13 does, and refuses it. */
export const postgres: Service = (peer, stage) => {
  const salt = peer.random(4);
  let held = Buffer.alloc(0);
  let username: string | null = null;
  const refuse = (code: string, message: string, routine: string) => peer.end(failure(code, message, stage.persona.postgres, routine));
  const startUp = (body: Buffer) => {
    const version = body.readUInt32BE(0);
    if (version === REQUEST.ssl || version === REQUEST.gssEncryption) return peer.send("N");
    if (version >>> 16 !== PROTOCOL_3) return refuse("0A000", `unsupported frontend protocol ${version >>> 16}.${version & 0xffff}: server supports 2.0 to 3.0`, "ProcessStartupPacket");
    const words = body.toString("utf8", 4).split("\0");
    const at = words.findIndex((word, index) => index % 2 === 0 && word === "user");
    const name = at < 0 ? "" : words[at + 1] ?? "";
    if (name === "") return refuse("28000", "no PostgreSQL user name specified in startup packet", "ProcessStartupPacket");
    username = name;
    peer.send(message("R", Buffer.from([0, 0, 0, MD5_PASSWORD]), salt));
  };
  const passwordOf = (name: string, given: string) => {
    peer.tried(name, (password) => given === `md5${md5(Buffer.concat([Buffer.from(md5(Buffer.from(password + name))), salt]))}`);
    refuse("28P01", `password authentication failed for user "${name}"`, "auth_failed");
  };
  return (bytes) => {
    held = Buffer.concat([held, bytes]);
    for (;;) {
      // Only what comes after the start has a letter before its length.
      const begin = username === null ? 0 : 1;
      if (held.length < begin + 4) return;
      const octets = held.readUInt32BE(begin);
      if (octets < 4 + 4 * (1 - begin) || octets > MAX_MESSAGE_BYTES) return peer.end();
      if (held.length < begin + octets) return;
      const type = String.fromCharCode(held[0] ?? 0);
      const body = held.subarray(begin + 4, begin + octets);
      held = held.subarray(begin + octets);
      if (username === null) startUp(body);
      else return type === "p" ? passwordOf(username, body.toString("utf8").replace(/\0.*$/s, "")) : peer.end();
    }
  };
};

function md5(bytes: Buffer): string {
  return createHash("md5").update(bytes).digest("hex");
}

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** The lines are those of version 13's source. */
function failure(code: string, text: string, version: number, routine: string): Buffer {
  const [file, line] = routine === "auth_failed" ? ["auth.c", version === 13 ? "335" : "326"] : ["postmaster.c", "2214"];
  const fields = [["S", "FATAL"], ["V", "FATAL"], ["C", code], ["M", text], ["F", file], ["L", line], ["R", routine]].map(([key, value]) => `${key}${value}\0`);
  return message("E", Buffer.from(`${fields.join("")}\0`));
}

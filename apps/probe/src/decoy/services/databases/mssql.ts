/** SQL Server's protocol up to the password. @see MS-TDS sections 2.2.6.4 LOGIN7 and 2.2.6.5 PRELOGIN */
import { createFramedReader } from "../framed-reader.ts";
import type { Service } from "../service.ts";

const HEADER_OCTETS = 8;
const TYPE = { reply: 4, login: 16, prelogin: 18 } as const;
const END_OF_MESSAGE = 1;
/** 2019, without encryption: what a client asks that demands it ends here. */
const VERSION = [15, 0, 8, 0x98, 0, 0] as const;
const NOT_SUPPORTED = 2;
const TOKEN = { error: 0xaa, done: 0xfd } as const;
const LOGIN_FAILED = { number: 18_456, state: 1, severity: 14 } as const;

/** Answers PRELOGIN, and refuses LOGIN7. */
export const mssql: Service = (peer, stage) => createFramedReader((bytes) => (bytes.length < HEADER_OCTETS ? null : bytes.readUInt16BE(2)), (packet) => {
  const body = packet.subarray(HEADER_OCTETS);
  if (packet[0] === TYPE.prelogin) {
    peer.send(message(prelogin()));
    return true;
  }
  const login = packet[0] === TYPE.login ? readLogin(body) : null;
  if (!login) {
    peer.end();
    return false;
  }
  peer.tried(login.username, login.password);
  peer.end(message(refusal(login.username, stage.hostname.toUpperCase())));
  return false;
}, () => peer.end());

function message(body: Buffer): Buffer {
  const header = Buffer.from([TYPE.reply, END_OF_MESSAGE, 0, 0, 0, 0, 1, 0]);
  header.writeUInt16BE(HEADER_OCTETS + body.length, 2);
  return Buffer.concat([header, body]);
}

/** Version, encryption, instance and thread; each with where its data is. */
function prelogin(): Buffer {
  const data = [Buffer.from(VERSION), Buffer.from([NOT_SUPPORTED]), Buffer.from([0]), Buffer.alloc(0)];
  let offset = data.length * 5 + 1;
  const options = data.map((value, token) => {
    const option = Buffer.from([token, 0, 0, 0, 0]);
    option.writeUInt16BE(offset, 1);
    option.writeUInt16BE(value.length, 3);
    offset += value.length;
    return option;
  });
  return Buffer.concat([...options, Buffer.from([0xff]), ...data]);
}

/** Offsets are from the login's begin, lengths in characters of two octets. */
function readLogin(body: Buffer): { readonly username: string; readonly password: string } | null {
  if (body.length < 48) return null;
  const field = (at: number): Buffer | null => {
    const [begin, characters] = [body.readUInt16LE(at), body.readUInt16LE(at + 2)];
    return begin + 2 * characters > body.length ? null : body.subarray(begin, begin + 2 * characters);
  };
  const [username, hidden] = [field(40), field(44)];
  if (!username || !hidden) return null;
  const plain = Buffer.from(hidden.map((octet) => {
    const mixed = octet ^ 0xa5;
    return (mixed << 4 | mixed >>> 4) & 0xff;
  }));
  return { username: username.toString("utf16le"), password: plain.toString("utf16le") };
}

function refusal(username: string, server: string): Buffer {
  const text = (value: string, octets: 1 | 2) => {
    const length = Buffer.alloc(octets);
    length.writeUIntLE(value.length, 0, octets);
    return Buffer.concat([length, Buffer.from(value, "utf16le")]);
  };
  const fixed = Buffer.alloc(6);
  fixed.writeInt32LE(LOGIN_FAILED.number);
  fixed[4] = LOGIN_FAILED.state;
  fixed[5] = LOGIN_FAILED.severity;
  const line = Buffer.alloc(4);
  line.writeInt32LE(1);
  const content = Buffer.concat([fixed, text(`Login failed for user '${username.slice(0, 128)}'.`, 2), text(server, 1), text("", 1), line]);
  const head = Buffer.from([TOKEN.error, 0, 0]);
  head.writeUInt16LE(content.length, 1);
  const done = Buffer.alloc(13);
  done[0] = TOKEN.done;
  done.writeUInt16LE(2, 1);
  return Buffer.concat([head, content, done]);
}

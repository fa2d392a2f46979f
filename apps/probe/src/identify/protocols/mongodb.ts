// MongoDB's OP_MSG with `hello` and `buildInfo`, which need no login. @see MongoDB documentation, "Wire Protocol"
import { Reader } from "@lanthorn/packets";
import { claims, learned, type TcpProtocol, toText } from "../protocol.ts";

const OP_MSG = 2013;

/** The version from `buildInfo`, which needs no login. */
export const mongodb: TcpProtocol = {
  name: "mongodb",
  ports: [27_017, 27_018, 27_019],
  hello: () => encodeMongoCommand("buildInfo"),
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes.length < 16) return bytes.length > 4 && (bytes[3] ?? 0) !== 0 ? "no" : "more";
    const reader = new Reader(bytes);
    const length = reader.u32le();
    reader.take(8);
    const operation = reader.u32le();
    if ((operation !== OP_MSG && operation !== 1) || length > 65_536) return "no";
    return bytes.length >= length ? "yes" : "more";
  },
  learn(first) {
    const version = readString(first, "version");
    return Promise.resolve(learned("mongodb", {
      claims: claims("mongodb", 0.95, {
        product: "MongoDB", vendor: "MongoDB", version, cpe: version === "" ? "" : `cpe:2.3:a:mongodb:mongodb:${version}:*:*:*:*:*:*:*`,
      }),
      banner: version === "" ? "" : `MongoDB ${version}`,
    }));
  },
};

/** A document of `{ name: 1, $db: "admin" }` in a message of its own. @see bsonspec.org */
export function encodeMongoCommand(name: string): Buffer {
  const body = Buffer.concat([
    Buffer.from(`\x10${name}\0`), Buffer.from([1, 0, 0, 0]), Buffer.from("\x02$db\0"), Buffer.from([6, 0, 0, 0]), Buffer.from("admin\0"),
    Buffer.alloc(1),
  ]);
  const message = Buffer.alloc(16 + 4 + 1 + 4);
  message.writeInt32LE(message.length + body.length, 0);
  message.writeInt32LE(1, 4);
  message.writeInt32LE(OP_MSG, 12);
  message.writeInt32LE(body.length + 4, 21);
  return Buffer.concat([message, body]);
}

/** A BSON element of type 2 by its name; empty where there is none. */
function readString(bytes: Uint8Array, name: string): string {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(`\x02${name}\0`, 0, "latin1");
  if (at === -1) return "";
  const reader = new Reader(bytes, at + name.length + 2);
  const text = toText(reader.take(Math.max(0, reader.u32le() - 1)));
  return !reader.failed && /^\d[\w.-]{0,40}$/.test(text) ? text : "";
}

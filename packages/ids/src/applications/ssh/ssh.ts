/** SSH for rules: a connection is one transaction, up to what is encrypted. @see RFC 4253 sections 4.2, 6 and 7.1 */
import { createHash } from "node:crypto";
import { decodeKexinit } from "@lanthorn/traffic";
import type { BufferName } from "../../rules/buffer-names.ts";
import { type Application, type ApplicationOutput, type ApplicationParser, type BufferStage, type Direction, STAGE_DONE } from "../application.ts";
import type { FieldTransaction } from "../field-transaction.ts";
import { createOneTransaction } from "../one-transaction.ts";

/** How far a direction is. */
const STAGE = { banner: 1, keyExchange: 2, done: STAGE_DONE } as const;
const NEW_KEYS = 21;
/** With its end; RFC 4253 section 4.2. A longer one is read too, with an event. */
const MAX_BANNER_BYTES = 255;
const MAX_LINE_BYTES = 8 * 1024;
const MAX_PACKET_BYTES = 64 * 1024;
/** Packets around the key exchange that are passed over. */
const MAX_OTHER_PACKETS = 16;

/** Software without a space before it ends at the first; anything else is it as a whole. */
const BANNER = /^SSH-([^-]*)-((?:[^ ]+|.+))/s;

function createParser(output: ApplicationOutput): ApplicationParser {
  const connection = createOneTransaction("ssh", output, MAX_PACKET_BYTES + 4);
  const { transaction, close } = connection;
  const others = { "to-server": 0, "to-client": 0 };
  /** After a line that is no banner nothing but the other side's banner is read. */
  let isBroken = false;

  function takeBanner(direction: Direction, bytes: Uint8Array): number {
    const end = bytes.indexOf(0x0a);
    if (end < 0) return bytes.length > MAX_LINE_BYTES ? close(direction) : 0;
    const line = Buffer.from(bytes.subarray(0, Math.min(end, MAX_LINE_BYTES))).toString("latin1").replace(/\r{1,8}$/, "");
    const [, version, software] = BANNER.exec(line) ?? [];
    if (version === undefined || software === undefined) {
      transaction.raise("invalid_banner");
      isBroken = true;
      return close(direction);
    }
    if (line.length > MAX_BANNER_BYTES) transaction.raise("long_banner");
    transaction.add(direction, "ssh.proto", Buffer.from(version, "latin1"));
    transaction.add(direction, "ssh.software", Buffer.from(software, "latin1"));
    transaction.note(direction === "to-server" ? "client_software" : "server_software", software);
    if (isBroken) return close(direction);
    transaction.setStage(direction, STAGE.banner);
    output.onChange(transaction, direction);
    return end + 1;
  }

  function takePacket(direction: Direction, bytes: Uint8Array): number {
    if (bytes.length < 6) return 0;
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
    const padding = bytes[4] as number;
    if (length < padding + 2 || length > MAX_PACKET_BYTES) {
      transaction.raise("invalid_record");
      return close(direction);
    }
    if (bytes.length < 4 + length) return 0;
    if (bytes[5] === NEW_KEYS) return close(direction);
    if (transaction.stageOf(direction) === STAGE.banner && putKeyExchange(transaction, direction, bytes.subarray(5, 4 + length - padding))) {
      transaction.setStage(direction, STAGE.keyExchange);
      output.onChange(transaction, direction);
    } else others[direction] += 1;
    return others[direction] > MAX_OTHER_PACKETS ? close(direction) : 4 + length;
  }

  return connection.parser((direction, bytes) => (transaction.stageOf(direction) >= STAGE.banner ? takePacket : takeBanner)(direction, bytes));
}

/** @returns Whether it is a key exchange. */
function putKeyExchange(transaction: FieldTransaction, direction: Direction, payload: Uint8Array): boolean {
  const kex = decodeKexinit(payload, direction === "to-server" ? "client" : "server");
  if (!kex) return false;
  const isClient = direction === "to-server";
  const lists = isClient
    ? [kex.kexAlgorithms, kex.encryptionClientToServer, kex.macClientToServer, kex.compressionClientToServer]
    : [kex.kexAlgorithms, kex.encryptionServerToClient, kex.macServerToClient, kex.compressionServerToClient];
  const text = lists.map((names) => names.join(",")).join(";");
  const hash = createHash("md5").update(text, "latin1").digest("hex");
  transaction.add(direction, isClient ? "ssh.hassh" : "ssh.hassh.server", Buffer.from(hash));
  transaction.add(direction, isClient ? "ssh.hassh.string" : "ssh.hassh.server.string", Buffer.from(text, "latin1"));
  transaction.note(isClient ? "hassh" : "hassh_server", hash);
  return true;
}

const AT_BANNER: BufferStage = { stage: STAGE.banner, grows: false };
const AT_KEYS: BufferStage = { stage: STAGE.keyExchange, grows: false };
const BUFFERS: readonly (readonly [BufferName, BufferStage])[] = [
  ["ssh.proto", AT_BANNER], ["ssh.software", AT_BANNER], ["ssh.hassh", AT_KEYS], ["ssh.hassh.string", AT_KEYS], ["ssh.hassh.server", AT_KEYS], ["ssh.hassh.server.string", AT_KEYS],
];

/** @see https://docs.suricata.io/en/latest/rules/ssh-keywords.html */
export const SSH_APPLICATION: Application = {
  name: "ssh",
  transports: ["tcp"],
  create: createParser,
  buffers: new Map(BUFFERS),
  numbers: new Map(),
  words: new Map(),
  events: new Set(["invalid_banner", "long_banner", "invalid_record"]),
  service: "ssh",
  recognize: null,
};

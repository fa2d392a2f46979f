/** A server of files that has none, and takes what it is sent. @see RFC 1350, RFC 2347 */
import type { ComingFile, FileKeeper, KeptFile } from "../../evidence/file-store.ts";
import type { Caller, DatagramService, Transfer } from "./service.ts";

const OPCODE = { read: 1, write: 2, data: 3, acknowledge: 4, error: 5 } as const;
const ERROR = { notFound: [1, "File not found"], full: [3, "Disk full or allocation exceeded"], unknown: [5, "Unknown transfer ID"] } as const;
/** What is not agreed upon otherwise. */
const BLOCK_OCTETS = 512;

/** Says that a file that is read is not there; a file that is written is kept as evidence. */
export const tftp: DatagramService = (stage) => (datagram, caller) => {
  const opcode = datagram.length < 4 ? 0 : datagram.readUInt16BE(0);
  if (opcode !== OPCODE.read && opcode !== OPCODE.write) return;
  const [name, mode] = readStrings(datagram);
  if (name === undefined || mode === undefined) return;
  if (opcode === OPCODE.write) return receive(caller, stage.files, name);
  caller.reached("command", "", `read ${name}`);
  const answer = error("notFound", caller.room);
  const transfer = caller.openTransfer(() => undefined, () => undefined);
  if (!transfer) return caller.answer(answer);
  transfer.send(answer);
  transfer.close();
};

/** The name and the mode; each ends with a zero. */
function readStrings(datagram: Buffer): readonly string[] {
  return datagram.toString("latin1", 2).split("\0").slice(0, -1);
}

function receive(caller: Caller, files: FileKeeper, name: string): void {
  caller.reached("command", "", `write ${name}`);
  let file: ComingFile | null = null;
  let expected = 1;
  const transfer: Transfer | null = caller.openTransfer((bytes) => {
    if (!transfer || bytes.length < 4 || bytes.readUInt16BE(0) !== OPCODE.data) return;
    const block = bytes.readUInt16BE(2);
    // What was acknowledged, and comes again.
    if (block === (expected - 1 & 0xffff)) return transfer.send(acknowledge(block));
    if (block !== expected) return;
    const data = bytes.subarray(4, 4 + BLOCK_OCTETS);
    // Who only asks to write may have forged the address.
    file ??= files.begin(caller.address);
    if (!file?.add(data)) {
      transfer.send(error("full", bytes.length));
      return finish();
    }
    if (block === 1) caller.reached("file", "", `writes ${name}`);
    transfer.send(acknowledge(block));
    expected = expected + 1 & 0xffff;
    if (bytes.length - 4 < BLOCK_OCTETS) finish();
  }, () => keep(caller, name, file?.end() ?? null));
  const finish = () => transfer?.close();
  if (!transfer) return caller.answer(error("full", caller.room));
  transfer.send(acknowledge(0));
}

function keep(caller: Caller, name: string, kept: KeptFile | null): void {
  if (kept) caller.gave(kept, name);
}

function acknowledge(block: number): Buffer {
  const bytes = Buffer.from([0, OPCODE.acknowledge, 0, 0]);
  bytes.writeUInt16BE(block, 2);
  return bytes;
}

/** @param room Its words are left out where they do not fit. */
function error(kind: keyof typeof ERROR, room: number): Buffer {
  const [code, words] = ERROR[kind];
  const bytes = Buffer.from(`\0\0\0\0${words}\0`, "latin1");
  bytes[1] = OPCODE.error;
  bytes[3] = code;
  return bytes.length <= room ? bytes : Buffer.from([0, OPCODE.error, 0, code, 0]);
}

/** What is done with what is open: read, listed, asked about. Nothing is ever written. @see MS-SMB2 sections 3.3.5.12, 3.3.5.13, 3.3.5.15, 3.3.5.18 and 3.3.5.20 */
import type { Peer, Stage } from "../service.ts";
import { encodeFileInfo, encodeList, encodeVolumeInfo, isListKind } from "./file-info.ts";
import { cut, HEADER_OCTETS, pack, refuse, type SmbRequest, type SmbResponse, STATUS } from "./message.ts";
import { capabilitiesOf, SECURITY_MODE, serverId } from "./negotiate.ts";
import type { SmbEntries, SmbOpen } from "./opens.ts";
import { fitsWildcards, type WildcardPart } from "../wildcards.ts";
import type { SmbPipe } from "./srvsvc.ts";

/** By whom, and where. */
export interface FileContext {
  readonly peer: Peer;
  readonly stage: Stage;
  readonly entries: SmbEntries;
  readonly username: string;
  readonly dialect: number;
}

/** More is given in several answers. */
const MAX_ANSWER_OCTETS = 32 * 1024;
const LIST = { restart: 0x1, single: 0x2, reopen: 0x10 } as const;
const INFO = { file: 1, volume: 2 } as const;
const CONTROL = { transceive: 0x0011_c017, validate: 0x0014_0204, referrals: 0x0006_0194, referralsOfNewer: 0x0006_01b0 } as const;

/** @see MS-SMB2 sections 2.2.19 and 2.2.20 */
export function readFile({ body }: SmbRequest, open: SmbOpen, { peer, username }: FileContext): SmbResponse {
  const [octets, offset] = [Math.min(body.readUInt32LE(4), MAX_ANSWER_OCTETS), body.readBigUInt64LE(8)];
  if (open.kind === "folder") return refuse(STATUS.invalidRequest);
  if (open.kind === "pipe") return takeFromPipe(open.pipe, octets, encodeReadHead);
  const { document } = open.entry;
  if (!document || offset >= BigInt(document.content.length)) return refuse(STATUS.endOfFile);
  if (!open.wasRead) peer.took(document, username);
  open.wasRead = true;
  const bytes = document.content.subarray(Number(offset), Number(offset) + octets);
  return { status: STATUS.success, body: Buffer.concat([encodeReadHead(bytes), bytes]) };
}

function encodeReadHead({ length }: Buffer): Buffer {
  return pack([2, 17], [1, HEADER_OCTETS + 16], [1, 0], [4, length], [4, 0], [4, 0]);
}

/** Pipes alone are written to. @see MS-SMB2 sections 2.2.21 and 2.2.22 */
export function writeFile(request: SmbRequest, open: SmbOpen): SmbResponse {
  if (open.kind !== "pipe") return refuse(STATUS.accessDenied);
  const bytes = cut(request, request.body.readUInt16LE(2), request.body.readUInt32LE(4));
  if (!bytes || !open.pipe.write(bytes)) return refuse(STATUS.invalid);
  return { status: STATUS.success, body: pack([2, 17], [2, 0], [4, bytes.length], [4, 0], [4, 0]) };
}

/** @param open Null where it is about the connection. @see MS-SMB2 sections 2.2.31 and 2.2.32 */
export function control(request: SmbRequest, open: SmbOpen | null, { stage, dialect }: FileContext): SmbResponse {
  const { body } = request;
  const [code, id, room] = [body.readUInt32LE(4), body.subarray(8, 24), Math.min(body.readUInt32LE(44), MAX_ANSWER_OCTETS)];
  const head = (bytes: Buffer) => Buffer.concat([pack([2, 49], [2, 0], [4, code]), id, pack([4, HEADER_OCTETS + 48], [4, 0], [4, HEADER_OCTETS + 48], [4, bytes.length], [4, 0], [4, 0])]);
  if (code === CONTROL.validate) {
    const bytes = Buffer.concat([pack([4, capabilitiesOf(dialect)]), serverId(stage), pack([2, SECURITY_MODE], [2, dialect])]);
    return { status: STATUS.success, body: Buffer.concat([head(bytes), bytes]) };
  }
  if (code === CONTROL.referrals || code === CONTROL.referralsOfNewer) return refuse(STATUS.noDistributed);
  if (code !== CONTROL.transceive || open?.kind !== "pipe") return refuse(open === null ? STATUS.fileClosed : STATUS.invalidRequest);
  const bytes = cut(request, body.readUInt32LE(24), body.readUInt32LE(28));
  return bytes && open.pipe.write(bytes) ? takeFromPipe(open.pipe, room, head) : refuse(STATUS.invalid);
}

function takeFromPipe(pipe: SmbPipe, octets: number, head: (bytes: Buffer) => Buffer): SmbResponse {
  const taken = pipe.take(octets);
  if (taken === "empty") return refuse(STATUS.endOfFile);
  return { status: taken.isAll ? STATUS.success : STATUS.bufferOverflow, body: Buffer.concat([head(taken.bytes), taken.bytes]) };
}

/** @see MS-SMB2 sections 2.2.33 and 2.2.34 */
export function listFolder(request: SmbRequest, open: SmbOpen, { peer, entries: { folder, files }, username }: FileContext): SmbResponse {
  const { body } = request;
  const [kind, flags] = [body[2] ?? 0, body[3] ?? 0];
  const pattern = cut(request, body.readUInt16LE(24), Math.min(1024, body.readUInt16LE(26)))?.toString("utf16le");
  if (open.kind !== "folder" || pattern === undefined || !isListKind(kind)) return refuse(STATUS.invalid);
  const isFirst = open.rest === null || (flags & (LIST.restart | LIST.reopen)) !== 0;
  if (open.rest === null) peer.reached("command", username, `listed ${pattern}`);
  if (isFirst) {
    const all = [[".", folder], ["..", folder], ...files.map((file) => [file.name, file] as const)] as const;
    open.rest = all.filter(([name]) => matches(pattern === "" ? "*" : pattern, name));
  }
  const rest = open.rest ?? [];
  if (rest.length === 0) return refuse(isFirst ? STATUS.noSuchFile : STATUS.noMoreFiles);
  const { bytes, count } = encodeList(kind, (flags & LIST.single) === 0 ? rest : rest.slice(0, 1), Math.min(body.readUInt32LE(28), MAX_ANSWER_OCTETS));
  if (count === 0) return refuse(STATUS.infoLengthMismatch);
  open.rest = rest.slice(count);
  return { status: STATUS.success, body: encodeInfoAnswer(bytes) };
}

/** Whether a name fits a pattern of `*` and `?`, and of what DOS had for them. @see MS-FSCC section 2.1.4.4 */
export function matches(pattern: string, name: string): boolean {
  return fitsWildcards(pattern.toLowerCase().split("").map(toPart), name.toLowerCase());
}

function toPart(letter: string): WildcardPart {
  if (letter === "*" || letter === "<") return "run";
  if (letter === "?" || letter === ">") return () => true;
  return letter === '"' ? (given) => given === '"' || given === "." : (given) => given === letter;
}

/** @see MS-SMB2 sections 2.2.37 and 2.2.38 */
export function queryInfo({ body }: SmbRequest, open: SmbOpen, { stage, entries }: FileContext): SmbResponse {
  const [type, kind, room] = [body[2] ?? 0, body[3] ?? 0, body.readUInt32LE(4)];
  if (open.kind === "pipe") return refuse(STATUS.notSupported);
  if (type !== INFO.file && type !== INFO.volume) return refuse(STATUS.accessDenied);
  const bytes = type === INFO.file ? encodeFileInfo(kind, open.entry) : encodeVolumeInfo(kind, stage.derive("volume", 4).readUInt32LE(0), entries.folder);
  if (!bytes) return refuse(STATUS.notSupported);
  return bytes.length > room ? refuse(STATUS.infoLengthMismatch) : { status: STATUS.success, body: encodeInfoAnswer(bytes) };
}

function encodeInfoAnswer(bytes: Buffer): Buffer {
  return Buffer.concat([pack([2, 9], [2, HEADER_OCTETS + 8], [4, bytes.length]), bytes]);
}

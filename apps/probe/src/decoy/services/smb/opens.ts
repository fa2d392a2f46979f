/** What a client has open: a bounded number of documents, folders and pipes. @see MS-SMB2 sections 2.2.13 to 2.2.16 and 3.3.5.9 */
import type { Peer, Stage } from "../service.ts";
import { encodeFacts, type SmbEntry } from "./file-info.ts";
import { cut, pack, refuse, type SmbRequest, type SmbResponse, STATUS } from "./message.ts";
import type { SmbShare } from "./shares.ts";
import { openSharesPipe, type SmbPipe } from "./srvsvc.ts";

/** An open file, folder or pipe. */
export type SmbOpen = {
  readonly kind: "pipe"; readonly pipe: SmbPipe;
} | {
  readonly kind: "file"; readonly entry: SmbEntry; wasRead: boolean;
} | {
  readonly kind: "folder"; readonly entry: SmbEntry;
  /** Entries that the client has not listed yet; null before its first request. */
  rest: readonly (readonly [name: string, entry: SmbEntry])[] | null;
};

/** The open files, folders and pipes of one session. */
export interface SmbOpens {
  open(request: SmbRequest, share: SmbShare, username: string): SmbResponse;
  /** @param at Offset of the id in the body. @returns Null if that id is not open. */
  find(request: SmbRequest, at: number): SmbOpen | null;
  close(request: SmbRequest): SmbResponse;
  /** Call it before each chain of requests: the first of them follows no other. */
  forgetLast(): void;
}

const MAX_OPENS = 64;
const BODY_OCTETS = 56;
const ID_OCTETS = 16;
/** The id that a related request gives for what the request before it opened. */
const LAST = 0xffff_ffff_ffff_ffffn;
/** Access bits to write data, append, write attributes, delete, write owner and access control, GENERIC_ALL and GENERIC_WRITE. */
const CHANGING_ACCESS = 0x500d_0156;
const [OPEN, CREATE, OPEN_OR_CREATE] = [1, 2, 3] as const;
const OPTION = { folder: 0x1, file: 0x40, deleteOnClose: 0x1000 } as const;
const [OPENED, WITH_FACTS] = [1, 1] as const;
const MAX_NAME_OCTETS = 1024;

/** The shared folder, and the files in it. */
export interface SmbEntries {
  readonly folder: SmbEntry;
  readonly files: readonly SmbEntry[];
}

/** @returns The shared folder with its bait documents. */
export function entriesOf({ documents, startedMs }: Pick<Stage, "documents" | "startedMs">): SmbEntries {
  const modifiedMs = Math.max(...documents.map((document) => document.modifiedMs), 0) || startedMs;
  return { folder: { name: "", id: 5, modifiedMs, document: null }, files: documents.map((document, index) => ({ name: document.name, id: 1000 + index, modifiedMs: document.modifiedMs, document })) };
}

/** @returns One in which nothing is open. */
export function createSmbOpens(peer: Pick<Peer, "reached">, { entries: { folder, files }, shares }: { readonly entries: SmbEntries; readonly shares: readonly SmbShare[] }): SmbOpens {
  const opens = new Map<bigint, SmbOpen>();
  let [lastId, current] = [0n, LAST];
  const choose = (request: SmbRequest, share: SmbShare, username: string): SmbOpen | number => {
    const { body } = request;
    const bytes = cut(request, body.readUInt16LE(44), Math.min(MAX_NAME_OCTETS, body.readUInt16LE(46)));
    if (!bytes) return STATUS.invalid;
    const name = bytes.toString("utf16le").replace(/^\\/, "");
    if (share.kind === "pipes") {
      return name.toLowerCase() === "srvsvc" ? { kind: "pipe", pipe: openSharesPipe(shares, () => peer.reached("command", username, "listed the shares")) } : STATUS.nameNotFound;
    }
    const [access, disposition, options] = [body.readUInt32LE(24), body.readUInt32LE(36), body.readUInt32LE(40)];
    const entry = name === "" ? folder : files.find((one) => one.name.toLowerCase() === name.toLowerCase());
    const isChange = (access & CHANGING_ACCESS) !== 0 || (options & OPTION.deleteOnClose) !== 0 || (disposition !== OPEN && disposition !== CREATE && disposition !== OPEN_OR_CREATE);
    if (isChange || (!entry && disposition !== OPEN)) {
      peer.reached("command", username, `tried to ${entry ? "change" : "create"} ${name === "" ? share.name : `${name} in ${share.name}`}`);
      return STATUS.accessDenied;
    }
    if (!entry) return name.includes("\\") ? STATUS.pathNotFound : STATUS.nameNotFound;
    if (disposition === CREATE) return STATUS.collision;
    if (entry.document && (options & OPTION.folder) !== 0) return STATUS.noFolder;
    if (!entry.document && (options & OPTION.file) !== 0) return STATUS.isFolder;
    return entry.document ? { kind: "file", entry, wasRead: false } : { kind: "folder", entry, rest: null };
  };
  const idOf = ({ body, isRelated }: SmbRequest, at: number): bigint => {
    if (body.length < at + ID_OCTETS) return 0n;
    const id = body.readBigUInt64LE(at + 8);
    return isRelated && id === LAST ? current : id;
  };
  return {
    open(request, share, username) {
      if (request.body.length < BODY_OCTETS) return refuse(STATUS.invalid);
      if (opens.size >= MAX_OPENS) return refuse(STATUS.insufficient);
      const chosen = choose(request, share, username);
      if (typeof chosen === "number") return refuse(chosen);
      lastId += 1n;
      current = lastId;
      opens.set(current, chosen);
      const facts = chosen.kind === "pipe" ? Buffer.concat([Buffer.alloc(32), pack([8, 4096], [8, 0], [4, 0x80])]) : encodeFacts(chosen.entry, "allocation-first");
      return { status: STATUS.success, body: Buffer.concat([pack([2, 89], [1, 0], [1, 0], [4, OPENED]), facts, pack([4, 0]), encodeId(current), pack([4, 0], [4, 0])]) };
    },
    find: (request, at) => opens.get(idOf(request, at)) ?? null,
    close(request) {
      const id = idOf(request, 8);
      const one = opens.get(id);
      if (!opens.delete(id) || !one) return refuse(STATUS.fileClosed);
      const hasFacts = one.kind !== "pipe" && (request.body.readUInt16LE(2) & WITH_FACTS) !== 0;
      return { status: STATUS.success, body: Buffer.concat([pack([2, 60], [2, hasFacts ? WITH_FACTS : 0], [4, 0]), hasFacts ? encodeFacts(one.entry, "allocation-first") : Buffer.alloc(52)]) };
    },
    forgetLast: () => void (current = LAST),
  };
}

/** Both halves are the same number. */
export function encodeId(id: bigint): Buffer {
  const bytes = Buffer.alloc(ID_OCTETS);
  bytes.writeBigUInt64LE(id, 0);
  bytes.writeBigUInt64LE(id, 8);
  return bytes;
}

/** Files by SFTP for who was let in with bait: documents are read, and what is sent is kept as evidence. Nothing else changes. @see draft-ietf-secsh-filexfer-02, as OpenSSH has it */
import type { FileEntry, SFTPWrapper } from "ssh2";
import type { ComingFile } from "../../evidence/file-store.ts";
import { MAX_UNREAD_BYTES, type Peer, type Stage } from "../service.ts";
import { contentAt, createShellState, namesAt, resolvePath, type ShellState } from "../shell/answers.ts";

/** Who was let in. */
export interface SftpGuest {
  readonly peer: Pick<Peer, "address" | "gave" | "onEnd" | "reached" | "stream" | "took">;
  readonly stage: Stage;
  readonly username: string;
}

type Open = { readonly kind: "folder"; readonly path: string; wasListed: boolean } | { readonly kind: "read"; readonly content: Buffer; readonly modifiedMs: number } | { readonly kind: "write"; readonly path: string; file: ComingFile | null; octets: number };

const STATUS = { ok: 0, end: 1, notFound: 2, denied: 3, failure: 4 } as const;
const [WRITE, CREATE] = [0x2, 0x8] as const;
const [FOLDER_MODE, FILE_MODE] = [0o040_755, 0o100_644] as const;
const MAX_HANDLES = 16;
const MAX_READ = 32 * 1024;
/** What one session is answered: what a client does not read waits in memory. */
const MAX_ANSWERED = 1024 * 1024;
/** Of an answer without content, and of what the library keeps for it. */
const ANSWER_OCTETS = 256;
/** Files that were sent, and are still there for who looks. */
const MAX_SENT = 16;

/** What is open in one session, what was sent in it, and who asks. */
interface SftpSession extends SftpGuest {
  readonly sftp: SFTPWrapper;
  readonly place: ShellState;
  /** Octets of each file that was sent. */
  readonly sent: ReadonlyMap<string, number>;
  readonly isFull: () => boolean;
  find(handle: Buffer): Open | undefined;
  open(id: number, made: Open): void;
  /** @returns Whether it was open. */
  close(handle: Buffer): boolean;
  /** What fails is answered, and ends nothing else. */
  on(event: string, answer: (id: number, ...given: never[]) => void): void;
  /** More was answered. */
  count(octets: number): void;
}

/** Serves it until the channel ends. */
export function serveSftp(sftp: SFTPWrapper, guest: SftpGuest): void {
  const { peer } = guest;
  const opens = new Map<string, Open>();
  const sent = new Map<string, number>();
  let [lastHandle, answered] = [0, 0];
  const finish = (open: Open | undefined) => {
    const kept = open?.kind === "write" ? open.file?.end() : null;
    if (open?.kind !== "write" || !kept) return;
    if (sent.size < MAX_SENT) sent.set(open.path, kept.octets);
    peer.gave(kept, open.path);
  };
  const finishAll = () => {
    for (const open of opens.values()) finish(open);
    opens.clear();
  };
  const session: SftpSession = {
    ...guest, sftp, sent, place: createShellState(guest),
    isFull: () => opens.size >= MAX_HANDLES, find: (handle) => opens.get(handle.toString("latin1")), count: (octets) => void (answered += octets),
    open(id, made) {
      lastHandle += 1;
      opens.set(`${lastHandle}`, made);
      sftp.handle(id, Buffer.from(`${lastHandle}`, "latin1"));
    },
    close(handle) {
      finish(session.find(handle));
      return opens.delete(handle.toString("latin1"));
    },
    on: (event, answer) => void sftp.on(event, (id: number, ...given: never[]) => {
      // What was to be read of a stream that has ended.
      if (peer.stream.destroyed) return;
      answered += ANSWER_OCTETS;
      try {
        if (answered > MAX_ANSWERED || peer.stream.writableLength > MAX_UNREAD_BYTES) peer.stream.destroy();
        else answer(id, ...given);
      } catch {
        sftp.status(id, STATUS.failure);
      }
    }),
  };
  serveFolders(session);
  serveFiles(session);
  refuseChanges(session);
  // The client has no more to ask: a real server ends then, and clients wait for it.
  sftp.on("end", () => {
    finishAll();
    sendExitStatus(sftp);
    sftp.end();
  });
  sftp.on("close", finishAll);
  sftp.on("error", finishAll);
  peer.onEnd(finishAll);
}

function serveFolders({ sftp, place, stage, peer, username, sent, isFull, find, open, on, count }: SftpSession): void {
  const look = (id: number, path: string) => {
    const whole = resolvePath(path, place);
    const found = contentAt(whole, place);
    const octets = found?.content.length ?? sent.get(whole);
    if (octets === undefined && !namesAt(whole, place)) return sftp.status(id, STATUS.notFound);
    sftp.attrs(id, attributes(octets, found?.modifiedMs ?? stage.startedMs));
  };
  on("REALPATH", (id, path: string) => sftp.name(id, [entry(resolvePath(path, place), undefined, stage.startedMs)]));
  on("STAT", look);
  on("LSTAT", look);
  on("OPENDIR", (id, path: string) => {
    const whole = resolvePath(path, place);
    if (!namesAt(whole, place)) return sftp.status(id, STATUS.notFound);
    if (isFull()) return sftp.status(id, STATUS.failure);
    peer.reached("command", username, `sftp: listed ${whole}`);
    open(id, { kind: "folder", path: whole, wasListed: false });
  });
  on("READDIR", (id, handle: Buffer) => {
    const folder = find(handle);
    if (folder?.kind !== "folder" || folder.wasListed) return sftp.status(id, folder ? STATUS.end : STATUS.failure);
    folder.wasListed = true;
    const names = [".", "..", ...namesAt(folder.path, place) ?? []].map((name) => {
      const found = contentAt(`${folder.path === "/" ? "" : folder.path}/${name}`, place);
      return entry(name, found?.content.length, found?.modifiedMs ?? stage.startedMs);
    });
    count(names.length * 200);
    sftp.name(id, names);
  });
}

function serveFiles({ sftp, place, stage, peer, username, isFull, find, open, close, on, count }: SftpSession): void {
  on("OPEN", (id, path: string, flags: number) => {
    const whole = resolvePath(path, place);
    if (isFull()) return sftp.status(id, STATUS.failure);
    if ((flags & (WRITE | CREATE)) !== 0) {
      peer.reached("command", username, `sftp: wrote ${whole}`);
      return namesAt(whole, place) ? sftp.status(id, STATUS.failure) : open(id, { kind: "write", path: whole, file: null, octets: 0 });
    }
    const found = contentAt(whole, place);
    if (!found) return sftp.status(id, namesAt(whole, place) ? STATUS.failure : STATUS.notFound);
    if (found.document) peer.took(found.document, username);
    else peer.reached("command", username, `sftp: read ${whole}`);
    open(id, { kind: "read", ...found });
  });
  on("READ", (id, handle: Buffer, offset: number, octets: number) => {
    const file = find(handle);
    if (file?.kind !== "read") return sftp.status(id, STATUS.failure);
    const bytes = file.content.subarray(offset, offset + Math.min(octets, MAX_READ));
    count(bytes.length);
    if (bytes.length === 0) sftp.status(id, STATUS.end);
    else sftp.data(id, bytes);
  });
  on("WRITE", (id, handle: Buffer, offset: number, bytes: Buffer) => {
    const file = find(handle);
    // Clients write one part after the other.
    if (file?.kind !== "write" || offset !== file.octets) return sftp.status(id, STATUS.failure);
    file.file ??= stage.files.begin(peer.address);
    if (file.file?.add(bytes) !== true) return sftp.status(id, STATUS.failure);
    file.octets += bytes.length;
    sftp.status(id, STATUS.ok);
  });
  on("FSTAT", (id, handle: Buffer) => {
    const one = find(handle);
    if (!one) return sftp.status(id, STATUS.failure);
    sftp.attrs(id, attributes(one.kind === "folder" ? undefined : one.kind === "read" ? one.content.length : one.octets, one.kind === "read" ? one.modifiedMs : stage.startedMs));
  });
  on("CLOSE", (id, handle: Buffer) => sftp.status(id, close(handle) ? STATUS.ok : STATUS.failure));
}

/** Times and modes are said to be set: clients set them of what they have sent. */
function refuseChanges({ sftp, peer, username, on }: SftpSession): void {
  for (const event of ["SETSTAT", "FSETSTAT", "MKDIR"]) on(event, (id) => sftp.status(id, STATUS.ok));
  for (const event of ["REMOVE", "RMDIR", "RENAME", "SYMLINK"]) {
    on(event, (id, path: string) => {
      peer.reached("command", username, `sftp: ${event.toLowerCase()} ${path}`);
      sftp.status(id, STATUS.denied);
    });
  }
}

/** That all went well. The library says so of shells and commands alone, and has no door for it here; without it OpenSSH's scp takes what it sent for failed. */
function sendExitStatus(sftp: SFTPWrapper): void {
  const { _protocol: protocol, outgoing } = sftp as SFTPWrapper & { readonly _protocol?: { exitStatus?(channel: number, status: number): void }; readonly outgoing?: { readonly id?: number } };
  if (outgoing?.id !== undefined) protocol?.exitStatus?.(outgoing.id, 0);
}

/** @param octets Undefined for a folder. */
function attributes(octets: number | undefined, modifiedMs: number) {
  const seconds = Math.floor(modifiedMs / 1000);
  return { mode: octets === undefined ? FOLDER_MODE : FILE_MODE, uid: 1000, gid: 1000, size: octets ?? 4096, atime: seconds, mtime: seconds };
}

/** With the line that `ls -l` shows. */
function entry(filename: string, octets: number | undefined, modifiedMs: number): FileEntry {
  const [, month = "", day = "", year = ""] = /^\w+, (\d+) (\w+) (\d+)/.exec(new Date(modifiedMs).toUTCString()) ?? [];
  const own = attributes(octets, modifiedMs);
  return { filename, attrs: own, longname: `${octets === undefined ? "drwxr-xr-x" : "-rw-r--r--"}    1 1000     1000     ${String(own.size).padStart(8)} ${day} ${month}  ${year} ${filename}` };
}

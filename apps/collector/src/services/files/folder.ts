import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "@lanthorn/runtime";
import type { Sealing } from "../../sealing/sealing.ts";
import { type Crypt, hasHeader, HEADER_BYTES, newHeader, openHeader, resealHeader } from "./sealed-bytes.ts";

/** A file of a probe. Both are UUIDs, so that neither can lead elsewhere. */
export interface FileName {
  readonly probeId: string;
  readonly id: string;
}

/** Files of probes in `<data_dir>/files/<probe id>/<file id>`, with `.part` behind while they are not verified; encrypted from their first piece on. */
export interface FileFolder {
  /** How many bytes of a file are here, finished or not; 0 where there is none, or none that can be read. */
  size(name: FileName): Promise<number>;
  /** Writes a piece at `offset`, cuts what is behind it, and waits for the disk. */
  write(name: FileName, offset: number, piece: Uint8Array): Promise<void>;
  /** SHA-256 in hexadecimal of what is here, finished or not; null where there is nothing. */
  digest(name: FileName): Promise<string | null>;
  /** Gives an unfinished file its name, and waits for the disk. Does nothing for one that has it. */
  finish(name: FileName): Promise<void>;
  /** Takes a file away, whatever there is of it. */
  remove(name: FileName): Promise<void>;
  /** All that are here. */
  list(): Promise<readonly FileName[]>;
  /** The content of a finished file, decrypted while it is read; null where there is none that can be read. */
  read(name: FileName): Promise<AsyncGenerator<Uint8Array> | null>;
  /** Seals the key of a file with the sealing key of now, after a rotation. */
  reseal(name: FileName): Promise<void>;
  /** Free bytes of the disk. */
  free(): Promise<number>;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PART = ".part";
const READ_BYTES = 1 << 20;

/** @param dataDir The collector's data directory. @param sealing Seals the files' keys. */
export function createFileFolder(dataDir: string, sealing: Sealing): FileFolder {
  const home = join(dataDir, "files");
  const whole = ({ probeId, id }: FileName) => join(home, probeId, id);
  const part = (name: FileName) => `${whole(name)}${PART}`;
  return {
    async size(name) {
      const draft = await readFacts(part(name), sealing, ownerOf(name));
      // One that an older version began is plain, and begins again.
      if (draft) return draft.crypt === null ? 0 : draft.size;
      return (await readFacts(whole(name), sealing, ownerOf(name)))?.size ?? 0;
    },
    async write(name, offset, piece) {
      const path = part(name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const file = await open(path, offset === 0 ? "w" : "r+", 0o600);
      try {
        const crypt = offset === 0 ? await begin(file, sealing, ownerOf(name)) : await goOn(file, sealing, ownerOf(name));
        await writeAll(file, crypt(offset, piece), HEADER_BYTES + offset);
        await file.truncate(HEADER_BYTES + offset + piece.length);
        await file.datasync();
      } finally {
        await file.close();
      }
      // A new file is there after a power cut once its folder is written.
      if (offset === 0) await syncFolder(dirname(path));
    },
    async digest(name) {
      for (const path of [part(name), whole(name)]) {
        const facts = await readFacts(path, sealing, ownerOf(name));
        if (!facts) continue;
        const hash = createHash("sha256");
        for await (const chunk of readPlain(path, facts)) hash.update(chunk);
        return hash.digest("hex");
      }
      return null;
    },
    async finish(name) {
      if (!(await statOrNull(part(name)))) return;
      await rename(part(name), whole(name));
      await syncFolder(dirname(whole(name)));
    },
    async remove(name) {
      await rm(part(name), { force: true });
      await rm(whole(name), { force: true });
    },
    async list() {
      const names: FileName[] = [];
      for (const probeId of (await listOrNothing(home)).filter((entry) => UUID.test(entry))) {
        const ids = (await listOrNothing(join(home, probeId))).map((entry) => entry.replace(/\.part$/, ""));
        names.push(...[...new Set(ids)].filter((id) => UUID.test(id)).map((id) => ({ probeId, id })));
      }
      return names;
    },
    async read(name) {
      const facts = await readFacts(whole(name), sealing, ownerOf(name));
      return facts && readPlain(whole(name), facts);
    },
    async reseal(name) {
      for (const path of [part(name), whole(name)]) await resealFile(path, sealing, ownerOf(name));
    },
    async free() {
      const { bavail, bsize } = await statfs(dataDir);
      return bavail * bsize;
    },
  };
}

/** What the key of a file is bound to: another probe's file does not open with it. */
function ownerOf({ probeId, id }: FileName): string {
  return `file ${probeId} ${id}`;
}

/** How a file is to be read: `size` is that of its content, `crypt` null for a plain one of an older version. */
interface FileFacts {
  readonly size: number;
  readonly crypt: Crypt | null;
}

/** Null for a file that is not there or that none of the keys opens. */
async function readFacts(path: string, sealing: Sealing, owner: string): Promise<FileFacts | null> {
  const file = await openOrNull(path, "r");
  if (!file) return null;
  try {
    const { size } = await file.stat();
    const header = await readHeader(file);
    if (!hasHeader(header)) return { size, crypt: null };
    const crypt = openHeader(sealing, owner, header);
    return crypt && { size: size - HEADER_BYTES, crypt };
  } finally {
    await file.close();
  }
}

async function* readPlain(path: string, { crypt }: FileFacts): AsyncGenerator<Uint8Array> {
  const file = await open(path, "r");
  try {
    const start = crypt === null ? 0 : HEADER_BYTES;
    for (let at = 0; ; ) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, start + at);
      if (bytesRead === 0) return;
      const bytes = buffer.subarray(0, bytesRead);
      yield crypt === null ? bytes : crypt(at, bytes);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

async function begin(file: FileHandle, sealing: Sealing, owner: string): Promise<Crypt> {
  const { header, crypt } = newHeader(sealing, owner);
  await writeAll(file, header, 0);
  return crypt;
}

/** @throws Error for a file that cannot be gone on with: its size was said to be 0. */
async function goOn(file: FileHandle, sealing: Sealing, owner: string): Promise<Crypt> {
  const header = await readHeader(file);
  const crypt = hasHeader(header) ? openHeader(sealing, owner, header) : null;
  if (!crypt) throw new Error(`${owner} cannot be decrypted`);
  return crypt;
}

async function resealFile(path: string, sealing: Sealing, owner: string): Promise<void> {
  const file = await openOrNull(path, "r+");
  if (!file) return;
  try {
    const header = await readHeader(file);
    const anew = hasHeader(header) ? resealHeader(sealing, owner, header) : null;
    if (!anew) return;
    await writeAll(file, anew, 0);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function readHeader(file: FileHandle): Promise<Uint8Array> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
}

async function openOrNull(path: string, flags: string): Promise<FileHandle | null> {
  return open(path, flags).catch((error: unknown) => absent(error, null));
}

async function statOrNull(path: string) {
  return stat(path).catch((error: unknown) => absent(error, null));
}

async function listOrNothing(path: string): Promise<readonly string[]> {
  return readdir(path).catch((error: unknown) => absent(error, []));
}

function absent<T>(error: unknown, instead: T): T {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return instead;
  throw error;
}

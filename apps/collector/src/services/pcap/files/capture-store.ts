import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, opendir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "@lanthorn/runtime";

/** A stored file that is being read. What is removed meanwhile can be read to its end. */
export interface StoredFile {
  /** Bytes from a position on; fewer at the end. */
  read(position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A file that was written whole, and has not its name yet. */
export interface Draft {
  /** Gives it its name, and waits for the disk; one of the same name is replaced. */
  keep(): Promise<void>;
  /** Removes it, where it was not kept. */
  discard(): Promise<void>;
}

/** A name that is stored, and when that was, in milliseconds since the epoch. */
export interface StoredName {
  readonly id: string;
  readonly storedAt: number;
}

/**
 * Where the files of captures lie, by the captures' ids: a directory, which several collectors may share. An object store can take its
 * place: a file is put whole, read by ranges and removed, and never changed.
 */
export interface CaptureStore {
  /** Writes a file, whole or not at all, and waits for the disk. It is there under its id once its draft is kept. */
  put(id: string, bytes: AsyncIterable<Uint8Array>): Promise<Draft>;
  /** Null where there is none. */
  open(id: string): Promise<StoredFile | null>;
  /** Null where there is none. */
  size(id: string): Promise<number | null>;
  /** Does nothing where there is none. */
  remove(id: string): Promise<void>;
  /** All that are there, and, by a name of their own, what was left of files that were not put whole. */
  list(): AsyncIterable<StoredName>;
  /** Bytes that may still be stored. */
  free(): Promise<number>;
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.[0-9a-f-]{36}\.part)?$/;

/** @param home The directory; made where it is missing. Files lie in folders by the last two digits of their ids. */
export function createDirectoryStore(home: string): CaptureStore {
  const pathOf = (id: string) => join(home, id.slice(34, 36), id);
  return {
    async put(id, bytes) {
      const path = pathOf(id);
      const draft = `${path}.${randomUUID()}.part`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        await write(draft, bytes);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      return {
        async keep() {
          await rename(draft, path);
          await syncFolder(dirname(path));
        },
        discard: () => rm(draft, { force: true }),
      };
    },
    async open(id) {
      const file = await open(pathOf(id), "r").catch(absent);
      return file && { read: (position, length) => readFully(file, position, length), close: () => file.close() };
    },
    size: async (id) => (await stat(pathOf(id)).catch(absent))?.size ?? null,
    remove: (id) => rm(pathOf(id), { force: true }),
    async *list() {
      for await (const folder of namesIn(home)) {
        for await (const id of namesIn(join(home, folder))) {
          const facts = ID.test(id) ? await stat(join(home, folder, id)).catch(absent) : null;
          if (facts) yield { id, storedAt: facts.mtimeMs };
        }
      }
    },
    async free() {
      await mkdir(home, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(home);
      return bavail * bsize;
    },
  };
}

async function write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    for await (const piece of bytes) {
      for (let at = 0; at < piece.length;) at += (await file.write(piece, at, piece.length - at)).bytesWritten;
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readFully(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  while (at < length) {
    const { bytesRead } = await file.read(bytes, at, length - at, position + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

async function* namesIn(path: string): AsyncGenerator<string> {
  const folder = await opendir(path).catch((error: NodeJS.ErrnoException) => (error.code === "ENOTDIR" ? null : absent(error)));
  if (folder) for await (const { name } of folder) yield name;
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

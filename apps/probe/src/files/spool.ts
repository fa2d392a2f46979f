import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { access, chown, copyFile, link, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FileBegin, type FileKind } from "@lanthorn/contract/uplink";
import { createId, nextTurn, parseJson, syncFolder } from "@lanthorn/runtime";
import { ProbeError } from "../errors.ts";

/**
 * Files on their way to the collector, in `<data_dir>/outgoing`: each is `<id>.data`, and `<id>.json` says what it is. They are files
 * rather than rows of the database, which the daemon holds for itself: other programs of the probe hand in theirs, and a database that is
 * set aside takes none of them with it. The traffic process hands in files too: no call waits for the disk.
 */
export interface Spool {
  /**
   * Puts a file into the spool. It is there once its `.json` is.
   * @param options.id Its id there and at the collector; a new one unless given. What waits under that id already stays as it is.
   * @param options.move The file is not needed any more: it is moved where it lies on the same file system, and otherwise removed once its copy is whole.
   * @returns What is reported to the collector of it.
   * @throws ProbeError `file-refused` for what is no file, is empty, or does not fit into the budget. The file is where it was then.
   */
  add(path: string, kind: FileKind, options?: { readonly id?: string; readonly move?: boolean }): Promise<FileBegin>;
  /** What waits, oldest first. What cannot be read is taken away. There may be thousands: nobody waits for the disk meanwhile. */
  list(): Promise<readonly FileBegin[]>;
  /** @returns Null where no file waits under this id. */
  find(id: string): Promise<FileBegin | null>;
  /** Where the bytes of a file are. */
  path(id: string): string;
  remove(id: string): Promise<void>;
}

/** Files that are gone through in one turn of the event loop, a millisecond at most. */
const TURN_FILES = 256;
/** So many files are added by what the last listing said, and what was added since: of thousands that wait, not each is listed for each that comes. */
const ADDED_WITHOUT_LISTING = 64;
const NAME = /^([0-9a-f-]{36})\.json$/;

/** @param options.budgetBytes What all that wait may take together. */
export function createSpool(options: { readonly dataDir: string; readonly budgetBytes: number }): Spool {
  const home = join(options.dataDir, "outgoing");
  const dataOf = (id: string) => join(home, `${id}.data`);
  const noteOf = (id: string) => join(home, `${id}.json`);
  const remove = async (id: string): Promise<void> => {
    // The note first: what has none is nothing.
    await rm(noteOf(id), { force: true });
    await rm(dataOf(id), { force: true });
  };
  const find = async (id: string): Promise<FileBegin | null> => {
    const file = parseNote(id, await readFile(noteOf(id), "utf8").catch(() => null));
    return file && await isThere(dataOf(id)) ? file : null;
  };

  /** @returns Null for a file that was taken away. */
  async function read(id: string, isDataThere: boolean): Promise<FileBegin | null> {
    const text = await readFile(noteOf(id), "utf8").catch(() => null);
    const file = parseNote(id, text);
    // It may have come while the folder was read.
    if (file && (isDataThere || await isThere(dataOf(id)))) return file;
    if (text !== null) await remove(id);
    return null;
  }

  /** By id: a note is never changed. */
  let known: ReadonlyMap<string, FileBegin> = new Map();
  async function list(): Promise<readonly FileBegin[]> {
    const entries = new Set(await readdir(home).catch(() => []));
    const found = new Map<string, FileBegin>();
    const ids = [...entries].flatMap((entry) => NAME.exec(entry)?.[1] ?? []).toSorted();
    for (const [index, id] of ids.entries()) {
      if (index % TURN_FILES === TURN_FILES - 1) await nextTurn();
      const isDataThere = entries.has(`${id}.data`);
      const file = (isDataThere && known.get(id)) || await read(id, isDataThere);
      if (file) found.set(id, file);
    }
    known = found;
    waiting = { bytes: [...found.values()].reduce((sum, { size }) => sum + size, 0), added: 0 };
    return [...found.values()];
  }

  /** What waits, as far as is known: others add and remove too. Null where nobody has looked for a while. */
  let waiting: { readonly bytes: number; readonly added: number } | null = null;
  async function requireRoom(path: string): Promise<void> {
    const found = await stat(path).catch(() => null);
    if (!found?.isFile() || found.size === 0) throw new ProbeError("file-refused", `${path} is not a file, or it is empty`);
    const fits = () => waiting !== null && waiting.bytes + found.size <= options.budgetBytes;
    if (waiting === null || waiting.added >= ADDED_WITHOUT_LISTING || !fits()) await list();
    if (fits()) return;
    throw new ProbeError(
      "file-refused", `${waiting?.bytes ?? 0} bytes already wait to be sent; with ${path} they exceed files.disk_budget_bytes, ${options.budgetBytes}`,
    );
  }

  return {
    list, find, remove, path: dataOf,
    async add(path, kind, { id = createId(), move = false } = {}) {
      const before = await find(id);
      if (before) {
        if (move) await rm(path, { force: true });
        return before;
      }
      await requireRoom(path);
      await mkdir(home, { recursive: true, mode: 0o700 });
      try {
        await place(path, dataOf(id), move);
        const file = { id, kind, ...(await settle(dataOf(id))) };
        await giveToOwner(options.dataDir, [home, dataOf(id)]);
        await writeNote(noteOf(id), JSON.stringify(file));
        await giveToOwner(options.dataDir, [noteOf(id)]);
        if (waiting) waiting = { bytes: waiting.bytes + file.size, added: waiting.added + 1 };
        if (move) await rm(path, { force: true });
        return file;
      } catch (cause) {
        await remove(id).catch(() => {});
        throw new ProbeError("file-refused", `${path} could not be put into ${home}`, { cause });
      }
    },
  };
}

const isThere = (path: string) => access(path).then(() => true, () => false);

/** Gives what root has made to whom the data directory belongs, as `giveToOwner` of `atomic-file.ts` does. */
async function giveToOwner(dataDir: string, made: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const owner = await stat(dataDir);
  if (owner.uid === 0) return;
  for (const path of made) await chown(path, owner.uid, owner.gid);
}

/** A second name for a file that is not needed under its own, so that no byte of it is copied; a copy otherwise. */
async function place(from: string, to: string, move: boolean): Promise<void> {
  // What an attempt left that did not come to its note.
  await rm(to, { force: true });
  const isLinked = move && await link(from, to).then(() => true, () => false);
  if (!isLinked) await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** Waits until a copy is on the disk. @returns What it is: the file may have grown since. */
async function settle(path: string): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  const file = await open(path, "r+");
  try {
    await file.chmod(0o600);
    await file.sync();
  } finally {
    await file.close();
  }
  return { size, sha256: hash.digest("hex") };
}

async function writeNote(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  await rm(temporary, { force: true });
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

/** @returns Null for what is no note of this file. */
function parseNote(id: string, text: string | null): FileBegin | null {
  const file = FileBegin.safeParse(parseJson(text ?? "")).data;
  return file?.id === id ? file : null;
}

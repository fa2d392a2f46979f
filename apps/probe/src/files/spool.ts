import { createHash } from "node:crypto";
import { constants, createReadStream, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { copyFile, link, open, readdir, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FileBegin, type FileKind } from "@lanthorn/contract/uplink";
import { createId, nextTurn, parseJson, readTextFile, syncFolder } from "@lanthorn/runtime";
import { giveToOwner } from "../atomic-file.ts";
import { ProbeError } from "../errors.ts";

/**
 * Files on their way to the collector, in `<data_dir>/outgoing`: each is `<id>.data`, and `<id>.json` says what it is. They are files
 * rather than rows of the database, which the daemon holds for itself: other programs of the probe hand in theirs, and a database that is
 * set aside takes none of them with it.
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
  find(id: string): FileBegin | null;
  /** Where the bytes of a file are. */
  path(id: string): string;
  remove(id: string): void;
}

/** Files that are gone through in one turn of the event loop, a millisecond at most. */
const TURN_FILES = 256;
const NAME = /^([0-9a-f-]{36})\.json$/;

/** @param options.budgetBytes What all that wait may take together. */
export function createSpool(options: { readonly dataDir: string; readonly budgetBytes: number }): Spool {
  const home = join(options.dataDir, "outgoing");
  const dataOf = (id: string) => join(home, `${id}.data`);
  const noteOf = (id: string) => join(home, `${id}.json`);
  const remove = (id: string): void => {
    // The note first: what has none is nothing.
    rmSync(noteOf(id), { force: true });
    rmSync(dataOf(id), { force: true });
  };
  const find = (id: string): FileBegin | null => {
    const file = parseNote(id, readTextFile(noteOf(id)));
    return file && existsSync(dataOf(id)) ? file : null;
  };

  /** @returns Null for a file that was taken away. */
  async function read(id: string, isDataThere: boolean): Promise<FileBegin | null> {
    const text = await readFile(noteOf(id), "utf8").catch(() => null);
    const file = parseNote(id, text);
    // It may have come while the folder was read.
    if (file && (isDataThere || existsSync(dataOf(id)))) return file;
    if (text !== null) remove(id);
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
    return [...found.values()];
  }

  return {
    list, find, remove, path: dataOf,
    async add(path, kind, { id = createId(), move = false } = {}) {
      const before = find(id);
      if (before) {
        if (move) rmSync(path, { force: true });
        return before;
      }
      requireRoom(path, await list(), options.budgetBytes);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      try {
        await place(path, dataOf(id), move);
        const file = { id, kind, ...(await settle(dataOf(id))) };
        giveToOwner(options.dataDir, [home, dataOf(id)]);
        await writeNote(noteOf(id), JSON.stringify(file));
        giveToOwner(options.dataDir, [noteOf(id)]);
        if (move) rmSync(path, { force: true });
        return file;
      } catch (cause) {
        remove(id);
        throw new ProbeError("file-refused", `${path} could not be put into ${home}`, { cause });
      }
    },
  };
}

function requireRoom(path: string, waitingFiles: readonly FileBegin[], budgetBytes: number): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size === 0) throw new ProbeError("file-refused", `${path} is not a file, or it is empty`);
  const waiting = waitingFiles.reduce((sum, { size }) => sum + size, 0);
  if (waiting + found.size <= budgetBytes) return;
  throw new ProbeError(
    "file-refused", `${waiting} bytes already wait to be sent; with ${path} they exceed files.disk_budget_bytes, ${budgetBytes}`,
  );
}

/** A second name for a file that is not needed under its own, so that no byte of it is copied; a copy otherwise. */
async function place(from: string, to: string, move: boolean): Promise<void> {
  // What an attempt left that did not come to its note.
  rmSync(to, { force: true });
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

/** The traffic process adds files too: its event loop must not wait for the disk. */
async function writeNote(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
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

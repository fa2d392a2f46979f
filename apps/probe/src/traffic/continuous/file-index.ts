import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, describeError, type Log, nextTurn } from "@lanthorn/runtime";
import { filePath, partPath, removeCaptureFile } from "../capture-files/facts.ts";
import type { FileContents } from "../capture-files/file-contents.ts";
import { type FilePart, partOf } from "../capture-files/file-places.ts";
import { readFileContents, repairPart } from "../capture-files/repair.ts";
import { createPacedWork, type PacedWork } from "../paced-work.ts";
import { encodeFlows, haveFlow, keyEndOf } from "./file-flows.ts";
import { type IndexedContents, type IndexedFile, type IndexStore, isDamage, openIndexStore, setAside } from "./index-store.ts";

/**
 * The index of continuous capture. SQLite is asked in small steps, from this process's only thread: another one would take 9 MB. Files are
 * added and removed while there is little to do: where the disk is slow, what is written to it waits.
 */
export interface FileIndex {
  add(file: IndexedFile, contents: FileContents): void;
  remove(id: string): void;
  /** @returns Those of the files in which both of two hosts, or one, may be: in one conversation, as far as is known. */
  withHosts(ids: readonly string[], hosts: readonly string[]): Promise<readonly string[]>;
  /** @returns Where in a file a time is, milliseconds since the epoch; null where that is not known, or nothing of it is there. */
  partOf(id: string, times: { readonly from: number; readonly to: number }): FilePart | null;
  /** Resolves when what lay in the folder is known. */
  readonly scanned: Promise<void>;
  /** Writes the files that wait. Those that are gone are removed at the next start. */
  close(): Promise<void>;
}

/** Files that wait; of the oldest beyond it nothing is known until the next start. */
const MAX_WAITING = 32;
/** Files that are gone and are still in the index, which does no harm; of the oldest beyond it that stays so until the next start. */
const MAX_GONE = 4096;
/** Of looking at files: a quarter of a millisecond each, or more where the disk is slow. */
const TURN_MS = 5;

interface FileIndexDeps {
  readonly folder: string;
  readonly maxFlowBytes: number;
  /** Files that lie in the folder, oldest first. */
  readonly ids: readonly string[];
  /** What is known of a file that lay in the folder; null where nothing was in it, and it is gone. */
  readonly onFile: (id: string, file: IndexedFile | null) => void;
  readonly load: () => number;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly log: Pick<Log, "warn">;
}

/** @param deps.load How much there is to do, 0 to 1: while it is high, this waits. */
export function createFileIndex(deps: FileIndexDeps): FileIndex {
  const work = createPacedWork(deps);
  const guarded = openGuarded(deps);
  const rows = createRowQueue({ work, guarded });
  /** Files that are removed before the scan comes to them. */
  const removed = new Set<string>();
  let isScanned = false;
  const scanned = scan(deps, { work, guarded, removed, add: rows.add, forget: rows.forget }).finally(() => {
    isScanned = true;
    removed.clear();
  });
  return {
    scanned, add: rows.add,
    remove(id) {
      if (!isScanned) removed.add(id);
      rows.forget(id);
    },
    async withHosts(ids, hosts) {
      const ends = hosts.flatMap((host) => keyEndOf(host) ?? []);
      // Which MAC address an IP packet had is not in the index.
      if (ends.length === 0) return ids;
      const found: string[] = [];
      let turnFrom = deps.clock.monotonic();
      for (const id of ids) {
        if (deps.clock.monotonic() - turnFrom >= TURN_MS) {
          await nextTurn();
          turnFrom = deps.clock.monotonic();
        }
        const flows = rows.waitingOf(id)?.flows ?? guarded.attempt((store) => store.flowsOf(id));
        if (flows === null || haveFlow(flows, ends)) found.push(id);
      }
      return found;
    },
    partOf(id, times) {
      const places = rows.waitingOf(id)?.places ?? guarded.attempt((store) => store.placesOf(id));
      return places && partOf(places, times);
    },
    async close() {
      work.close();
      await scanned;
      await rows.close();
      guarded.close();
    },
  };
}

/** Files that are to be added to the database, and such as are to leave it, one in a turn. */
function createRowQueue({ work, guarded }: { readonly work: PacedWork; readonly guarded: Guarded }) {
  const waiting = new Map<string, { readonly file: IndexedFile; readonly contents: IndexedContents }>();
  const gone = new Set<string>();
  let isVacuumDue = false;
  let writing: Promise<void> | null = null;

  async function write(): Promise<void> {
    work.begin();
    while ((waiting.size > 0 || gone.size > 0 || isVacuumDue) && await work.pace()) step();
    writing = null;
  }

  /** Files that are gone come first: they leave their room to those that are added. */
  function step(): void {
    const [id] = gone;
    if (isVacuumDue) {
      isVacuumDue = false;
      guarded.attempt((store) => store.vacuum());
    } else if (id === undefined) {
      writeOne();
    } else {
      gone.delete(id);
      isVacuumDue = true;
      guarded.attempt((store) => store.remove(id));
    }
  }

  function forget(id: string): void {
    waiting.delete(id);
    gone.add(id);
    for (const oldest of gone) if (gone.size > MAX_GONE) gone.delete(oldest);
    writing ??= write();
  }

  function writeOne(): void {
    for (const [id, { file, contents }] of waiting) {
      waiting.delete(id);
      guarded.attempt((store) => store.add(file, contents));
      return;
    }
  }

  function add(file: IndexedFile, contents: FileContents): void {
    waiting.set(file.id, { file, contents: { flows: encodeFlows(contents), places: contents.places.encode() } });
    for (const id of waiting.keys()) if (waiting.size > MAX_WAITING) waiting.delete(id);
    writing ??= write();
  }

  return {
    add, forget,
    /** What is known of a file that is not yet added. */
    waitingOf: (id: string) => waiting.get(id)?.contents,
    /** Adds what waits; `work` is closed before. */
    async close() {
      await writing;
      while (waiting.size > 0) writeOne();
    },
  };
}

/** The database as far as there is one: without it files are read in full. */
interface Guarded {
  /** @returns Null where it failed. */
  attempt<T>(step: (store: IndexStore) => T): T | null;
  close(): void;
}

function openGuarded({ folder, maxFlowBytes, log }: FileIndexDeps): Guarded {
  const path = join(folder, "index.sqlite");
  const warn = (reason: string) => log.warn({ reason, folder }, "the index of continuous capture has a problem; exports read more files than they need");
  let store: IndexStore | null = null;
  const open = () => {
    const opened = openIndexStore(path, { maxFlowBytes });
    ({ store } = opened);
    if (opened.wasCorrupt) warn(DAMAGED);
  };
  const orWarn = (step: () => void) => {
    try {
      step();
    } catch (error) {
      warn(describeError(error));
    }
  };
  orWarn(open);
  return {
    attempt(step) {
      if (store === null) return null;
      try {
        return step(store);
      } catch (error) {
        warn(describeError(error));
        if (!isDamage(error)) return null;
        store.close();
        store = null;
        orWarn(() => {
          setAside(path);
          open();
        });
        return null;
      }
    },
    close() {
      store?.close();
      store = null;
    },
  };
}

const DAMAGED = "it was damaged; it is set aside as index.sqlite.corrupt, and built anew from the files";

/** Reports what lies in the folder: as the index has it, or read anew. */
async function scan({ folder, ids, onFile }: FileIndexDeps, { work, guarded, removed, add, forget }: {
  readonly work: PacedWork; readonly guarded: Guarded; readonly removed: ReadonlySet<string>; readonly add: FileIndex["add"]; readonly forget: (id: string) => void;
}): Promise<void> {
  const known = new Map((guarded.attempt((store) => store.files()) ?? []).map((file) => [file.id, file]));
  const there = new Set(ids);
  for (const id of known.keys()) if (!there.has(id)) forget(id);
  // The newest first: they are asked for most, and the oldest may go before they are read.
  for (const id of ids.toReversed()) {
    if (removed.has(id)) continue;
    const file = known.get(id);
    if (file) {
      onFile(id, file);
      continue;
    }
    const read = await readAnew(folder, id, work).catch(() => null);
    if (work.isClosed) return;
    onFile(id, read?.file ?? null);
    if (read && !removed.has(id)) add(read.file, read.contents);
  }
}

/** Reads a file that is not in the index: of before a crash, or of an index that is gone. @returns Null where there is none any more. */
async function readAnew(folder: string, id: string, { pace }: PacedWork): Promise<{ readonly file: IndexedFile; readonly contents: FileContents } | null> {
  const isPart = await stat(filePath(folder, id)).then(() => false, () => true);
  const path = isPart ? partPath(folder, id) : filePath(folder, id);
  const read = isPart ? await repairPart(path, pace) : await readFileContents(path, pace);
  if (read === null) {
    await removeCaptureFile(folder, id);
    return null;
  }
  if (isPart) await rename(path, filePath(folder, id));
  const { contents } = read;
  const { size: bytes } = await stat(filePath(folder, id));
  return { file: factsOf(id, bytes, contents), contents };
}

/** What the index has of a file. */
export function factsOf(id: string, bytes: number, { packets, firstAt, lastAt }: FileContents): IndexedFile {
  return { id, bytes, frames: packets, from: Math.floor((firstAt ?? 0) * 1000), to: Math.ceil((lastAt ?? 0) * 1000) };
}

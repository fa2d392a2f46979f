import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { describeError } from "@lanthorn/runtime";
import type { FileWriter, WrittenFile } from "./buffer-pool.ts";
import type { DiskRoom } from "./disk-room.ts";

/** A file that whole blocks are appended to, for each of which room is claimed first. It ends with a whole block at any time. */
export interface BlockStore {
  /** Appends blocks in their order, written at once, unless there was a fault. What is appended meanwhile is written beside them, and resolves after them. It never rejects. */
  append(...blocks: readonly Uint8Array[]): Promise<void>;
  /** Resolves when the file is open, or cannot be. */
  readonly opened: Promise<void>;
  /** Why nothing more is written: `budget`, `floor`, or what the disk said; null while all is well. */
  readonly fault: string | null;
  /**
   * Writes the last block, for which room was kept, waits for the disk where it is to be durable, and closes.
   * @returns The file's size and checksum; null when there is no file.
   */
  finish(trailer: Uint8Array): Promise<{ readonly bytes: number; readonly sha256: string | null } | null>;
}

/**
 * @param deps.path A file that is not there yet.
 * @param deps.after What has to be done before the file is opened; its failure is the file's.
 * @param deps.trailerBytes Room that is claimed first and kept for `finish`.
 * @param deps.isDirect Whether whole pages go to the disk past the kernel's cache, where the file system lets them: for what nobody reads soon.
 * @param deps.isDurable Whether what is finished survives a power cut. To wait for that stalls everything else that is written to the disk.
 */
export function createBlockStore(deps: {
  readonly path: string; readonly room: DiskRoom; readonly trailerBytes: number; readonly isHashed: boolean; readonly isDurable: boolean; readonly isDirect?: boolean;
  readonly writer: FileWriter; readonly after: Promise<unknown>;
}): BlockStore {
  const { room } = deps;
  const hash = deps.isHashed ? createHash("sha256") : null;
  let file: WrittenFile | null = null;
  let kept = 0;
  const writes = createWrites(deps.writer, {
    onWhole: (block) => void hash?.update(block),
    onFault(reason) {
      store.fault ??= reason;
    },
  });

  /** @returns Why there is no room: in words where an older file cannot be removed, null where there is. */
  const claim = (bytes: number): Promise<string | null> => room.claim(bytes).catch((error: unknown) => describeError(error));

  async function open(): Promise<void> {
    const refusal = await claim(deps.trailerBytes);
    if (refusal !== null) {
      store.fault = refusal;
      return;
    }
    kept = deps.trailerBytes;
    file = await deps.after.then(() => openWritten(deps.path, deps.isDirect ?? false)).catch((error: unknown) => {
      store.fault = describeError(error);
      return null;
    });
  }

  /** Claims room, and begins to write what has it. */
  async function begin(blocks: readonly Uint8Array[]): Promise<readonly Write[]> {
    if (store.fault !== null || file === null) return [];
    const refusal = await claim(sizeOf(blocks));
    if (refusal === null) return [writes.begin(file, blocks)];
    if (blocks.length === 1) {
      store.fault ??= refusal;
      return [];
    }
    // There may be room for the first ones.
    const begun: Write[] = [];
    for (const block of blocks) begun.push(...await begin([block]));
    return begun;
  }

  async function settleAll(before: Promise<void>, begun: Promise<readonly Write[]>): Promise<void> {
    await before;
    for (const one of await begun) room.settle(one.bytes, await writes.settle(one));
  }

  function append(...blocks: readonly Uint8Array[]): Promise<void> {
    const begun = begins.then(() => begin(blocks));
    begins = begun;
    settled = settleAll(settled, begun);
    return settled;
  }

  async function finish(trailer: Uint8Array): Promise<{ readonly bytes: number; readonly sha256: string | null } | null> {
    await begins;
    await settled;
    if (file === null) {
      room.settle(kept, 0);
      return null;
    }
    writes.goOn();
    room.settle(kept, trailer.length <= kept ? await writes.settle(writes.begin(file, [trailer])) : 0);
    try {
      if (deps.isDurable) await file.handle.sync();
    } catch (error) {
      store.fault ??= describeError(error);
    }
    await Promise.allSettled([file.handle.close(), file.direct?.close()]);
    return { bytes: writes.written(), sha256: hash?.digest("hex") ?? null };
  }

  const store = { fault: null as string | null, opened: open(), append, finish };
  let begins: Promise<unknown> = store.opened;
  let settled: Promise<void> = store.opened;
  return store;
}

/** @throws NodeJS.ErrnoException where it is there, or cannot be made. */
async function openWritten(path: string, isDirect: boolean): Promise<WrittenFile> {
  const handle = await openFile(path, "wx", 0o600);
  const direct = isDirect ? await openFile(path, constants.O_WRONLY | constants.O_DIRECT).catch(() => null) : null;
  return { handle, direct };
}

/** Blocks that are on their way into a file. */
interface Write {
  readonly into: WrittenFile;
  readonly bytes: number;
  readonly done: Promise<Written>;
}

/** Writes into one file, beside each other: each behind all that were begun before it, and settled in this order. */
function createWrites(writer: FileWriter, { onWhole, onFault }: { readonly onWhole: (block: Uint8Array) => void; readonly onFault: (reason: string) => void }) {
  let written = 0;
  /** Where the next one begins; behind `written` while some are on their way. */
  let next = 0;
  /** One failed: what was begun behind it is not in the file. */
  let isCut = false;
  return {
    written: () => written,
    begin(into: WrittenFile, blocks: readonly Uint8Array[]): Write {
      const [position, bytes] = [next, sizeOf(blocks)];
      next += bytes;
      return { into, bytes, done: writeBlocks(writer, into, blocks, position) };
    },
    /** @returns How many octets are in the file: those of all blocks, or of those before the first that failed. What lies behind them is cut off again. */
    async settle({ into, done }: Write): Promise<number> {
      const { whole, fault } = await done;
      const inFile = isCut ? [] : whole;
      for (const block of inFile) onWhole(block);
      written += sizeOf(inFile);
      if (fault !== null) {
        onFault(fault);
        isCut = true;
      }
      // What comes behind may have been written meanwhile: it is cut off when it is settled.
      if (isCut) await into.handle.truncate(written).catch(() => {});
      return sizeOf(inFile);
    },
    /** After a fault too, when nothing is on its way any more. */
    goOn(): void {
      [next, isCut] = [written, false];
    },
  };
}

/** What became of blocks: those that are in the file, up to the first that is not whole, and why that one is not. */
interface Written {
  readonly whole: readonly Uint8Array[];
  readonly fault: string | null;
}

async function writeWhole(writer: FileWriter, file: WrittenFile, block: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < block.length;) at += await writer.write(file, block.subarray(at), position + at);
}

async function writeBlocks(writer: FileWriter, file: WrittenFile, blocks: readonly Uint8Array[], position: number): Promise<Written> {
  const isPast = await writer.writePast(file, blocks, position);
  return isPast ? { whole: blocks, fault: null } : writeAtOnce(writer, file, blocks, position);
}

async function writeAtOnce(writer: FileWriter, file: WrittenFile, blocks: readonly Uint8Array[], position: number): Promise<Written> {
  let end = position;
  const results = await Promise.allSettled(blocks.map((block) => {
    const begin = end;
    end += block.length;
    return writeWhole(writer, file, block, begin);
  }));
  const failed = results.find((result) => result.status === "rejected");
  return failed ? { whole: blocks.slice(0, results.indexOf(failed)), fault: describeError(failed.reason) } : { whole: blocks, fault: null };
}

const sizeOf = (blocks: readonly Uint8Array[]) => blocks.reduce((sum, { length }) => sum + length, 0);

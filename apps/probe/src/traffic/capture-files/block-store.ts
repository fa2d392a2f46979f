import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { describeError } from "@lanthorn/runtime";
import type { FileWriter, WrittenFile } from "./buffer-pool.ts";
import type { DiskRoom } from "./disk-room.ts";

/** A file that whole blocks are appended to, for each of which room is claimed first. It ends with a whole block at any time. */
export interface BlockStore {
  /** Appends blocks in their order, written at once, unless there was a fault. Call it again when it has resolved; it never rejects. */
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
  let written = 0;
  let kept = 0;

  /** @returns Why there is no room: in words where an older file cannot be removed, null where there is. */
  const claim = (bytes: number): Promise<string | null> => room.claim(bytes).catch((error: unknown) => describeError(error));

  async function begin(): Promise<void> {
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

  /** @returns How many octets are in the file: those of all blocks, or of those before the first that failed. What lies behind them is cut off again. */
  async function put(into: WrittenFile, blocks: readonly Uint8Array[]): Promise<number> {
    const isPast = await deps.writer.writePast(into, blocks, written);
    const { whole, fault } = isPast ? { whole: blocks, fault: null } : await writeAtOnce(deps.writer, into, blocks, written);
    for (const block of whole) hash?.update(block);
    const bytes = sizeOf(whole);
    written += bytes;
    if (fault !== null) {
      store.fault ??= fault;
      await into.handle.truncate(written).catch(() => {});
    }
    return bytes;
  }

  async function append(...blocks: readonly Uint8Array[]): Promise<void> {
    await store.opened;
    if (store.fault !== null || file === null) return;
    const bytes = sizeOf(blocks);
    const refusal = await claim(bytes);
    if (refusal !== null && blocks.length > 1) {
      // There may be room for the first ones.
      for (const block of blocks) await append(block);
      return;
    }
    store.fault = refusal;
    if (refusal === null) room.settle(bytes, await put(file, blocks));
  }

  async function finish(trailer: Uint8Array): Promise<{ readonly bytes: number; readonly sha256: string | null } | null> {
    await store.opened;
    if (file === null) {
      room.settle(kept, 0);
      return null;
    }
    room.settle(kept, trailer.length <= kept ? await put(file, [trailer]) : 0);
    try {
      if (deps.isDurable) await file.handle.sync();
    } catch (error) {
      store.fault ??= describeError(error);
    }
    await Promise.allSettled([file.handle.close(), file.direct?.close()]);
    return { bytes: written, sha256: hash?.digest("hex") ?? null };
  }

  const store = { fault: null as string | null, opened: begin(), append, finish };
  return store;
}

/** @throws NodeJS.ErrnoException where it is there, or cannot be made. */
async function openWritten(path: string, isDirect: boolean): Promise<WrittenFile> {
  const handle = await open(path, "wx", 0o600);
  const direct = isDirect ? await open(path, constants.O_WRONLY | constants.O_DIRECT).catch(() => null) : null;
  return { handle, direct };
}

/** What became of blocks: those that are in the file, up to the first that is not whole, and why that one is not. */
interface Written {
  readonly whole: readonly Uint8Array[];
  readonly fault: string | null;
}

async function writeWhole(writer: FileWriter, file: WrittenFile, block: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < block.length;) at += await writer.write(file, block.subarray(at), position + at);
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

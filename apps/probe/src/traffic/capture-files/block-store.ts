import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { describeError } from "@lanthorn/runtime";
import type { WriteBytes } from "./buffer-pool.ts";
import type { DiskRoom } from "./disk-room.ts";

/** A file that whole blocks are appended to, for each of which room is claimed first. It ends with a whole block at any time. */
export interface BlockStore {
  /** Appends, unless there was a fault. Call it again when it has resolved; it never rejects. */
  append(block: Uint8Array): Promise<void>;
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
 * @param deps.isDurable Whether what is finished survives a power cut. To wait for that stalls everything else that is written to the disk.
 */
export function createBlockStore(deps: {
  readonly path: string; readonly room: DiskRoom; readonly trailerBytes: number; readonly isHashed: boolean; readonly isDurable: boolean;
  readonly write: WriteBytes; readonly after: Promise<unknown>;
}): BlockStore {
  const { room } = deps;
  const hash = deps.isHashed ? createHash("sha256") : null;
  let handle: FileHandle | null = null;
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
    handle = await deps.after.then(() => open(deps.path, "wx", 0o600)).catch((error: unknown) => {
      store.fault = describeError(error);
      return null;
    });
  }

  /** @returns Whether all of it is in the file. A part of it is cut off again. */
  async function put(file: FileHandle, block: Uint8Array): Promise<boolean> {
    try {
      for (let at = 0; at < block.length;) at += await deps.write(file, block.subarray(at), written + at);
      hash?.update(block);
      written += block.length;
      return true;
    } catch (error) {
      store.fault ??= describeError(error);
      await file.truncate(written).catch(() => {});
      return false;
    }
  }

  async function append(block: Uint8Array): Promise<void> {
    await store.opened;
    if (store.fault !== null || handle === null) return;
    store.fault = await claim(block.length);
    if (store.fault !== null) return;
    const isWritten = await put(handle, block);
    room.settle(block.length, isWritten ? block.length : 0);
  }

  async function finish(trailer: Uint8Array): Promise<{ readonly bytes: number; readonly sha256: string | null } | null> {
    await store.opened;
    if (handle === null) {
      room.settle(kept, 0);
      return null;
    }
    const isWritten = trailer.length <= kept && await put(handle, trailer);
    room.settle(kept, isWritten ? trailer.length : 0);
    try {
      if (deps.isDurable) await handle.sync();
    } catch (error) {
      store.fault ??= describeError(error);
    }
    await handle.close().catch(() => {});
    return { bytes: written, sha256: hash?.digest("hex") ?? null };
  }

  const store = { fault: null as string | null, opened: begin(), append, finish };
  return store;
}

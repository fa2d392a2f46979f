import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { describeError } from "@lanthorn/runtime";
import type { DiskRoom } from "./disk-room.ts";

/** A file that whole blocks are appended to, for each of which room is claimed first. It ends with a whole block at any time. */
export interface BlockStore {
  /** Appends, in one call to the system, unless there was a fault. Call it again when it has resolved; it never rejects. */
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
 * @param deps.isDurable Whether what is finished survives a power cut. To wait for that stalls everything else that is written to the disk.
 */
export function createBlockStore(deps: {
  readonly path: string; readonly room: DiskRoom; readonly trailerBytes: number; readonly isHashed: boolean; readonly isDurable: boolean;
  readonly after: Promise<unknown>;
}): BlockStore {
  const { room } = deps;
  const hash = deps.isHashed ? createHash("sha256") : null;
  let handle: FileHandle | null = null;
  let fault: string | null = null;
  let written = 0;
  let kept = 0;

  async function begin(): Promise<void> {
    const refusal = await room.claim(deps.trailerBytes);
    if (refusal !== null) {
      fault = refusal;
      return;
    }
    kept = deps.trailerBytes;
    handle = await deps.after.then(() => open(deps.path, "wx", 0o600)).catch((error: unknown) => {
      fault = describeError(error);
      return null;
    });
  }

  /** @returns Whether all of it is in the file. A part of it is cut off again. */
  async function put(file: FileHandle, blocks: readonly Uint8Array[]): Promise<boolean> {
    try {
      const octets = octetsOf(blocks);
      for (let at = 0; at < octets;) at += (await file.writev(behind(blocks, at), written + at)).bytesWritten;
      if (hash) for (const bytes of blocks) hash.update(bytes);
      written += octets;
      return true;
    } catch (error) {
      fault ??= describeError(error);
      await file.truncate(written).catch(() => {});
      return false;
    }
  }

  const opened = begin();
  return {
    opened,
    get fault() {
      return fault;
    },
    async append(...blocks) {
      await opened;
      if (fault !== null || handle === null) return;
      const permitted: Uint8Array[] = [];
      for (const bytes of blocks) {
        fault ??= await room.claim(bytes.length);
        if (fault === null) permitted.push(bytes);
      }
      if (permitted.length === 0) return;
      const octets = octetsOf(permitted);
      const isWritten = await put(handle, permitted);
      room.settle(octets, isWritten ? octets : 0);
    },
    async finish(trailer) {
      await opened;
      if (handle === null) {
        room.settle(kept, 0);
        return null;
      }
      const isWritten = trailer.length <= kept && await put(handle, [trailer]);
      room.settle(kept, isWritten ? trailer.length : 0);
      try {
        if (deps.isDurable) await handle.sync();
      } catch (error) {
        fault ??= describeError(error);
      }
      await handle.close().catch(() => {});
      return { bytes: written, sha256: hash?.digest("hex") ?? null };
    },
  };
}

function octetsOf(blocks: readonly Uint8Array[]): number {
  return blocks.reduce((sum, { length }) => sum + length, 0);
}

/** What is behind the first `octets` octets: a call may write less than it is given. */
function behind(blocks: readonly Uint8Array[], octets: number): Uint8Array[] {
  let left = octets;
  return blocks.flatMap((bytes) => {
    const skipped = Math.min(left, bytes.length);
    left -= skipped;
    return skipped === bytes.length ? [] : [bytes.subarray(skipped)];
  });
}

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A file of a probe. Both are UUIDs, so that neither can lead elsewhere. */
export interface FileName {
  readonly probeId: string;
  readonly id: string;
}

/** Files of probes in `<data_dir>/files/<probe id>/<file id>`, with `.part` behind while they are not verified. */
export interface FileFolder {
  /** How many bytes of a file are here, finished or not; 0 where there is none. */
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
  /** Where a finished file is; null where there is none. */
  path(name: FileName): Promise<string | null>;
  /** Free bytes of the disk. */
  free(): Promise<number>;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const PART = ".part";

/** @param dataDir The collector's data directory. */
export function createFileFolder(dataDir: string): FileFolder {
  const home = join(dataDir, "files");
  const whole = ({ probeId, id }: FileName) => join(home, probeId, id);
  const part = (name: FileName) => `${whole(name)}${PART}`;
  return {
    size: async (name) => (await statOrNull(part(name)) ?? await statOrNull(whole(name)))?.size ?? 0,
    async write(name, offset, piece) {
      const path = part(name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const file = await open(path, offset === 0 ? "w" : "r+", 0o600);
      try {
        let at = 0;
        while (at < piece.length) at += (await file.write(piece, at, piece.length - at, offset + at)).bytesWritten;
        await file.truncate(offset + piece.length);
        await file.datasync();
      } finally {
        await file.close();
      }
      // A new file is there after a power cut once its folder is written.
      if (offset === 0) await syncFolder(dirname(path));
    },
    async digest(name) {
      for (const path of [part(name), whole(name)]) {
        if (!(await statOrNull(path))) continue;
        const hash = createHash("sha256");
        for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
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
    path: async (name) => (await statOrNull(whole(name)) ? whole(name) : null),
    async free() {
      const { bavail, bsize } = await statfs(dataDir);
      return bavail * bsize;
    },
  };
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

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

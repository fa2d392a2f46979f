/** Follows a file that grows, is renamed, emptied, removed and made anew, as log files are. */
import { existsSync } from "node:fs";
import { type Clock, describeError, type Log } from "@lanthorn/runtime";
import { type FilePosition, holdsPosition } from "./file-position.ts";
import { createLineReader, type LineReader } from "./lines.ts";
import { isFile, moveOn, moveToBegin, openAtEnd, type OpenFile, openFrom, openRenamed, statOrNull } from "./open-file.ts";

/** How following goes. */
export interface EveFileState {
  readonly status: "reading" | "missing" | "unreadable";
  /** Why it cannot be read; "" where it can. */
  readonly problem: string;
  /** Lines longer than `MAX_LINE_BYTES`. */
  readonly tooLong: number;
  /** Times that a rotated file was gone before all of it was read. */
  readonly lost: number;
}

/** The follower of one file. */
export interface EveFile {
  state(): EveFileState;
  close(): Promise<void>;
}

/** With `payload`, `packet` and HTTP bodies an alert is some 100 KB. */
export const MAX_LINE_BYTES = 512 * 1024;
const POLL_MS = 500;
const PIECE_BYTES = 64 * 1024;
/** A renamed file is written to until Suricata opens another: so many looks in a row it must not grow. */
const QUIET_LOOKS = 4;

interface FollowDeps {
  /** Where an earlier run was; null for none: it begins at the end, with what comes from now on. */
  readonly saved: FilePosition | null;
  /** Gets a view that is good during the call. */
  readonly onLine: (line: Buffer) => void;
  /** Called after each piece, when all its lines were handed over. */
  readonly onPosition: (position: FilePosition) => void;
  readonly clock: Pick<Clock, "after">;
  readonly log: Pick<Log, "warn" | "info">;
}

/** Follows it until it is closed; what cannot be read is tried again. */
export function followEveFile(path: string, deps: FollowDeps): EveFile {
  const { clock, log } = deps;
  const reader = createReader(path, deps);
  let state: Pick<EveFileState, "status" | "problem"> = { status: "missing", problem: "" };
  let isClosed = false;
  let cancel = () => {};

  async function turn(): Promise<void> {
    try {
      await reader.look();
      state = { status: "reading", problem: "" };
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
      const problem = isMissing ? "" : describeError(error);
      if (problem !== "" && problem !== state.problem) log.warn({ path, reason: problem }, "the EVE file cannot be read; trying again");
      state = { status: isMissing ? "missing" : "unreadable", problem };
    }
    if (!isClosed) cancel = clock.after(POLL_MS, next);
  }

  let running: Promise<void> = turn();
  function next(): void {
    running = turn();
  }

  return {
    state: () => ({ ...state, ...reader.counts }),
    async close() {
      isClosed = true;
      cancel();
      await reader.close(running);
    },
  };
}

/** What reads, look by look. */
function createReader(path: string, { saved, onLine, onPosition, log }: FollowDeps) {
  const counts = { tooLong: 0, lost: 0 };
  const lines: LineReader = createLineReader(MAX_LINE_BYTES, onLine, () => (counts.tooLong += 1));
  /** Nothing of it was seen before: what it holds is old. */
  let beginsAtEnd = saved === null && existsSync(path);
  let last = saved;
  let file: OpenFile | null = null;
  const closing = { isAsked: false };
  const readAll = createPieceReader(lines, { note, isEnded: () => closing.isAsked, onEmptied: () => log.info({ path }, "the EVE file was emptied: it is read from its beginning") });

  function note(position: FilePosition): void {
    last = position;
    beginsAtEnd = false;
    onPosition(position);
  }

  async function openNext(): Promise<OpenFile> {
    if (last !== null && !isFile(await statOrNull(path), last)) {
      const renamed = await openRenamed(path, last);
      if (renamed) return renamed;
      if (last.offset > 0) {
        counts.lost += 1;
        log.warn({ path }, "the EVE file was rotated away before all of it was read: alerts may be missing");
      }
      last = null;
    }
    const opened = await (beginsAtEnd ? openAtEnd(path) : openFrom(path, last));
    note(opened.position);
    return opened;
  }

  function begin(opened: OpenFile): OpenFile {
    lines.reset(opened.isInside);
    return opened;
  }

  return {
    counts,
    async look(): Promise<void> {
      file ??= begin(await openNext());
      await readAll(file);
      const named = await statOrNull(path);
      if (named === null || isFile(named, file.position) || file.quietLooks < QUIET_LOOKS) return;
      await file.handle.close();
      file = null;
      file = begin(await openFrom(path, null));
      note(file.position);
      await readAll(file);
    },
    /** @param looking The look that goes on. */
    async close(looking: Promise<void>): Promise<void> {
      closing.isAsked = true;
      await looking;
      await file?.handle.close();
      file = null;
    },
  };
}

/** Reads what a file has behind where it was read, piece by piece. */
function createPieceReader(lines: LineReader, { note, isEnded, onEmptied }: {
  readonly note: (position: FilePosition) => void; readonly isEnded: () => boolean; readonly onEmptied: () => void;
}) {
  const piece = Buffer.alloc(PIECE_BYTES);

  /** @returns Whether there was something. */
  async function readPiece(file: OpenFile): Promise<boolean> {
    const { size } = await file.handle.stat();
    if (size < file.offset || (size > file.offset && !(await holdsPosition(file.handle, file.position)))) {
      onEmptied();
      lines.reset();
      moveToBegin(file);
      note(file.position);
    }
    const { bytesRead } = await file.handle.read({ buffer: piece, position: file.offset });
    if (bytesRead === 0) return false;
    const read = piece.subarray(0, bytesRead);
    lines.read(read);
    moveOn(file, read, lines.pending);
    note(file.position);
    return true;
  }

  return async (file: OpenFile): Promise<void> => {
    let hasGrown = false;
    while (!isEnded() && await readPiece(file)) hasGrown = true;
    file.quietLooks = hasGrown ? 0 : file.quietLooks + 1;
  };
}

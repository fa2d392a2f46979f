/** Frames that belong into a file and are not there: absence must not read as silence. */
export interface FrameGaps {
  /** Whether there is such an interface. */
  has(interfaceId: number): boolean;
  /** @param frames How many; 0 where nobody knows. */
  add(interfaceId: number, frames: number, why: string): void;
  /** @returns What is written of the interface's next frame: its comment, with what is missing before it. The same object for each without. */
  factsOf(interfaceId: number, comment: string | undefined): PacketFacts;
  /** The same of a frame without a comment of its own; null where there is something to say of it, or no such interface. */
  plainFacts(interfaceId: number): PacketFacts | null;
  /** The frame with that comment is written. */
  written(interfaceId: number): void;
  /** What is missing behind the last frame, in words; empty for nothing. */
  atEnd(interfaceId: number): string;
}

/** What is written of a frame beside itself; all properties are there, since to look for one that is not costs V8 a search for each frame. */
export interface PacketFacts {
  readonly interfaceId?: number;
  readonly comment?: string | undefined;
  readonly missing?: number | undefined;
}

/** Of a comment, in characters. */
const MAX_COMMENT = 1000;

/** A comment as it is written: in one line, at most 1,000 characters. */
export function cleanComment(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is taken out
  return text.slice(0, MAX_COMMENT).replaceAll(/[\u0000-\u001f\u007f]/g, " ");
}

/** @param interfaces How many there are. */
export function createFrameGaps(interfaces: number): FrameGaps {
  const gaps = Array.from({ length: interfaces }, () => ({ frames: 0, why: "" }));
  const words = ({ frames, why }: { readonly frames: number; readonly why: string }, where: string) =>
    `${frames === 0 ? "an unknown number of" : frames} frames are missing ${where}: ${why}`;
  const plain = gaps.map((_, interfaceId): PacketFacts => ({ interfaceId, comment: undefined, missing: undefined }));
  return {
    has: (interfaceId) => gaps[interfaceId] !== undefined,
    add(interfaceId, frames, why) {
      const gap = gaps[interfaceId];
      if (!gap || frames < 0) return;
      gap.why = gap.why === "" || gap.why === why ? why : `${why}, and for other reasons`;
      gap.frames += frames;
    },
    factsOf(interfaceId, comment) {
      const gap = gaps[interfaceId];
      if (gap === undefined || gap.why === "") return comment === undefined ? plain[interfaceId] ?? {} : { interfaceId, comment: cleanComment(comment), missing: undefined };
      const missing = words(gap, "before this one");
      return { interfaceId, comment: cleanComment(comment === undefined ? missing : `${comment}; ${missing}`), missing: gap.frames > 0 ? gap.frames : undefined };
    },
    plainFacts: (interfaceId) => (gaps[interfaceId]?.why === "" ? plain[interfaceId] ?? null : null),
    written(interfaceId) {
      const gap = gaps[interfaceId];
      if (!gap) return;
      gap.frames = 0;
      gap.why = "";
    },
    atEnd(interfaceId) {
      const gap = gaps[interfaceId];
      return gap && gap.why !== "" ? words(gap, "at the end") : "";
    },
  };
}

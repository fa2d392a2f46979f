/** What of nmap's XML is read, as it comes. */
export type NmapPiece =
  /** A whole `host` element. */
  | { readonly kind: "host"; readonly xml: string }
  /** How far a task of this run is, 0 to 1. */
  | { readonly kind: "progress"; readonly task: string; readonly done: number }
  /** A `host` element that is larger than anything that nmap writes; it is left out. */
  | { readonly kind: "oversize" };

/** A host with a thousand open ports and their scripts' words has some 600 KiB. */
const MAX_HOST_CHARACTERS = 2 * 1024 * 1024;
/** Longer than every opening that is looked for. */
const OVERLAP = 512;
const CLOSING = "</host>";
const OPENING = /<host[\s>]|<task(?:begin|progress|end)\s[^<>]{0,400}>/g;

/**
 * Cuts what nmap writes into the elements that count, so that hosts are read as they finish and nothing is held but one of them. A document
 * type, with entities of whatever size, is never handed on.
 * @returns What to call with each piece of text.
 */
export function createOutputSplitter(): (text: string) => readonly NmapPiece[] {
  let rest = "";
  let isInHost = false;
  let isDropping = false;
  let searched = 0;
  return (text) => {
    const pieces: NmapPiece[] = [];
    rest += text;
    for (;;) {
      if (isInHost) {
        const end = rest.indexOf(CLOSING, Math.max(0, searched - CLOSING.length));
        if (end >= 0 && !isDropping) pieces.push({ kind: "host", xml: rest.slice(0, end + CLOSING.length) });
        if (end >= 0) {
          rest = rest.slice(end + CLOSING.length);
          isInHost = false;
          isDropping = false;
          continue;
        }
        if (!isDropping && rest.length > MAX_HOST_CHARACTERS) {
          isDropping = true;
          pieces.push({ kind: "oversize" });
        }
        if (isDropping) rest = rest.slice(-CLOSING.length);
        searched = rest.length;
        return pieces;
      }
      OPENING.lastIndex = 0;
      const found = OPENING.exec(rest);
      if (!found) {
        rest = rest.slice(-OVERLAP);
        return pieces;
      }
      isInHost = found[0].startsWith("<host");
      rest = rest.slice(isInHost ? found.index : found.index + found[0].length);
      searched = 0;
      const progress = isInHost ? null : readProgress(found[0]);
      if (progress) pieces.push(progress);
    }
  };
}

function readProgress(tag: string): NmapPiece | null {
  const task = /\stask="([^"]*)"/.exec(tag)?.[1];
  if (task === undefined) return null;
  const percent = tag.startsWith("<taskbegin") ? 0 : tag.startsWith("<taskend") ? 100 : Number(/\spercent="([\d.]+)"/.exec(tag)?.[1] ?? 0);
  return Number.isFinite(percent) ? { kind: "progress", task, done: Math.min(1, percent / 100) } : null;
}

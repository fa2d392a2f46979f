/** What was typed in a shell and what it said, for a player of terminals. @see https://docs.asciinema.org/manual/asciicast/v2/ */
import { MAX_TRANSCRIPT_CHARACTERS } from "@lanthorn/contract/uplink";

/** A recording that grows. */
export interface Transcript {
  /** @param kind What was said, or what was typed. */
  add(kind: "i" | "o", text: string): void;
  /** All of it; empty where nobody typed anything. */
  text(): string;
}

const END = "the rest was not recorded";
/** Room for the line that says that it ends. */
const ROOM = MAX_TRANSCRIPT_CHARACTERS - 128;

/** @param startedMs Milliseconds since the epoch. @param monotonic Milliseconds that only rise. */
export function createTranscript(startedMs: number, monotonic: () => number, size: { readonly columns: number; readonly rows: number }): Transcript {
  const begin = monotonic();
  const lines = [JSON.stringify({ version: 2, width: size.columns, height: size.rows, timestamp: Math.floor(startedMs / 1000) })];
  let [characters, isFull, wasTyped] = [lines[0]?.length ?? 0, false, false];
  return {
    add(kind, text) {
      wasTyped ||= kind === "i";
      if (isFull || text === "") return;
      const line = JSON.stringify([Math.round(monotonic() - begin) / 1000, kind, text]);
      isFull = characters + line.length + 1 > ROOM;
      lines.push(isFull ? JSON.stringify([Math.round(monotonic() - begin) / 1000, "o", `\r\n[${END}]\r\n`]) : line);
      characters += line.length + 1;
    },
    text: () => (wasTyped ? `${lines.join("\n")}\n` : ""),
  };
}

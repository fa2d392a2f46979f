/** Shows what was done in a shell, without anything that a terminal would obey. @see https://docs.asciinema.org/manual/asciicast/v2/ */
import { parseJson } from "@lanthorn/runtime";
import * as z from "zod";

const Line = z.tuple([z.number(), z.string(), z.string()]);

/** Where control characters have pictures of their own. */
const PICTURES = 0x2400;
const DELETE = 0x7f;
const DELETE_PICTURE = "\u2421";

/** @returns What was shown, lines that end with LF; control characters as pictures, others that have no glyph as `?`. Lines that are no asciicast are left out. */
export function replayTranscript(asciicast: string): string {
  const shown = asciicast.split("\n").slice(1).map((text) => Line.safeParse(parseJson(text))).flatMap(({ data }) => (data?.[1] === "o" ? [data[2]] : [])).join("");
  return takeBack(shown.replaceAll("\r\n", "\n")).replaceAll(/[^\P{C}\n]/gu, toPicture);
}

/** Characters that were deleted as they were typed. */
function takeBack(text: string): string {
  const [first = "", ...rest] = text.split("\b \b");
  return rest.reduce((before, after) => before.slice(0, -1) + after, first);
}

function toPicture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === DELETE) return DELETE_PICTURE;
  return code < 0x20 ? String.fromCodePoint(PICTURES + code) : "?";
}

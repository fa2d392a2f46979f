import { Fragment } from "react";

/** More of a name helps nobody, and ten kilobytes of it would push everything else away. */
const MAX_CHARACTERS = 200;

/** Marks that turn the direction of what follows, and control characters: shown by their number, since unseen they make one name look like another. */
const UNSEEN = /[\p{Cc}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** Longer than a MAC address, and than what anybody calls a host. */
const LONG_WORD = /\S{24,}/gu;
const PIECE = /.{10}(?=.)/gu;

/** A text that comes from the network as it can be shown: cut, and without what turns or hides letters. */
export function showForeign(text: string, longest = MAX_CHARACTERS): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return cut.replaceAll(/[\t\r\n]+/g, " ").replaceAll(UNSEEN, (mark) => `⟨${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** A text that comes from the network: a name, a banner, a vendor. It turns no text around it, is never more than a text, and makes no column of a table wider than a long word. */
export function Foreign({ text, longest }: { readonly text: string; readonly longest?: number }) {
  return <bdi>{breakLongWords(showForeign(text, longest)).map((part, at) => <Fragment key={at}>{at > 0 && <wbr />}{part}</Fragment>)}</bdi>;
}

/** @returns A text in parts between which a line may break: words that are longer than most names are cut into pieces. */
export function breakLongWords(text: string): readonly string[] {
  return text.replaceAll(LONG_WORD, (word) => word.replaceAll(PIECE, "$&\n")).split("\n");
}

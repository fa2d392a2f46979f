/** More of a name helps nobody, and ten kilobytes of it would push everything else away. */
const MAX_CHARACTERS = 200;

/** Marks that turn the direction of what follows, and control characters: shown by their number, since unseen they make one name look like another. */
const UNSEEN = /[\p{Cc}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** A text that comes from the network as it can be shown: cut, and without what turns or hides letters. */
export function showForeign(text: string, longest = MAX_CHARACTERS): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return cut.replaceAll(/[\t\r\n]+/g, " ").replaceAll(UNSEEN, (mark) => `⟨${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** A text that comes from the network: a name, a banner, a vendor. It turns no text around it and is never more than a text. */
export function Foreign({ text, longest }: { readonly text: string; readonly longest?: number }) {
  return <bdi>{showForeign(text, longest)}</bdi>;
}

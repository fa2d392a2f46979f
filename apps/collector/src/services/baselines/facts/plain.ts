/** A text of a device as a fact may have it: without control characters, and not longer than `longest`. */
export function plain(text: string, longest: number): string {
  return text.replaceAll(/\p{Cc}/gu, " ").trim().slice(0, longest);
}

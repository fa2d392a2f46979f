/** Tags as they are written, with commas between them; spaces around one and empty ones do not count. */
export function parseTags(text: string): string[] {
  return text.split(",").map((tag) => tag.trim()).filter((tag) => tag !== "");
}

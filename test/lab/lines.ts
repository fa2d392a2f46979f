/** A configuration file of these lines. */
export function lines(...texts: readonly string[]): string {
  return `${texts.join("\n")}\n`;
}

/** Why a pattern is refused; never leaves this folder. */
export class UnsupportedSyntax extends Error {}

/** A place in a text that is being read. */
export class Cursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  atEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** @returns The next character, or the empty text at the end. */
  peek(): string {
    return this.text[this.at] ?? "";
  }

  /** @throws UnsupportedSyntax at the end. */
  next(): string {
    if (this.atEnd()) throw new UnsupportedSyntax("the pattern ends too early");
    this.at += 1;
    return this.text[this.at - 1] ?? "";
  }

  take(wanted: string): boolean {
    if (!this.text.startsWith(wanted, this.at)) return false;
    this.at += wanted.length;
    return true;
  }

  /** @param pattern With the flag `y`. */
  takeMatch(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text)?.[0] ?? null;
    this.at += match?.length ?? 0;
    return match;
  }
}

import { compare, isSame, linesOf } from "./compare.ts";
import { maskLines } from "./mask.ts";

/** What is done with the texts of configurations, each at most half a megabyte: seconds of work at worst. */
export type TextTask =
  /** What an upload changes; `before` is null for a device's first. */
  | { readonly kind: "change"; readonly before: string | null; readonly text: string }
  | {
    readonly kind: "diff"; readonly from: string; readonly to: string; readonly names: { readonly from: string; readonly to: string };
    readonly masked: boolean;
  }
  | { readonly kind: "mask"; readonly text: string };

/** What each kind gives. */
export interface TextResults {
  /** `isSame` where the text says what `before` says; `content` is the text as it is kept. */
  readonly change: {
    readonly isSame: boolean; readonly content: string; readonly lines: number; readonly added: number; readonly removed: number;
  };
  /** `diff` is in the unified format. */
  readonly diff: { readonly added: number; readonly removed: number; readonly diff: string };
  /** The text with its secrets hidden. */
  readonly mask: string;
}

/** Does a task where it may take its time: in a process of its own. */
export function workOnTexts(task: TextTask): TextResults[TextTask["kind"]] {
  if (task.kind === "mask") return `${maskLines(linesOf(task.text)).join("\n")}\n`;
  if (task.kind === "diff") {
    const { names, masked } = task;
    const comparison = compare(linesOf(task.from), linesOf(task.to));
    return { added: comparison.added, removed: comparison.removed, diff: comparison.unified(names, { masked }) };
  }
  const lines = linesOf(task.text);
  const before = task.before === null ? null : linesOf(task.before);
  const content = `${lines.join("\n")}\n`;
  if (before === null) return { isSame: false, content, lines: lines.length, added: lines.length, removed: 0 };
  if (isSame(before, lines)) return { isSame: true, content, lines: lines.length, added: 0, removed: 0 };
  const { added, removed } = compare(before, lines);
  return { isSame: false, content, lines: lines.length, added, removed };
}

/** Changes of a rule's text that need no knowledge of what it looks for. */

import { splitRule } from "../text/options.ts";

/** What is changed. What is left out stays. */
export interface RuleChange {
  readonly action?: string | undefined;
  readonly priority?: number | undefined;
  /** As behind `threshold:`. `null` takes `threshold` and `detection_filter` out. */
  readonly threshold?: string | null | undefined;
  /** Texts of the options and what stands for each, every time and as it is written; in this order. */
  readonly replace?: readonly { readonly from: string; readonly to: string }[] | undefined;
}

/**
 * @param text One logical line, as `readRuleList` gives it.
 * @returns The changed line, or `null` for one that is no rule. Whether it can be run is for `parseRules` to say.
 */
export function changeRule(text: string, { action, priority, threshold, replace = [] }: RuleChange): string | null {
  const replaced = replace.reduce((line, { from, to }) => replaceOptions(line, from, to), text);
  const parts = splitRule(replaced);
  if (!parts.ok) return null;
  const [first = "", ...header] = parts.header;
  const dropped = new Set([...(priority === undefined ? [] : ["priority"]), ...(threshold === undefined ? [] : ["threshold", "detection_filter"])]);
  const kept = parts.options.filter(({ name }) => !dropped.has(name)).map(({ name, value }) => (value === null ? `${name};` : `${name}:${value};`));
  const added = [...(priority === undefined ? [] : [`priority:${priority};`]), ...(threshold === undefined || threshold === null ? [] : [`threshold:${threshold};`])];
  return `${[action ?? first, ...header].join(" ")} (${[...kept, ...added].join(" ")})`;
}

function replaceOptions(text: string, from: string, to: string): string {
  const open = text.indexOf("(");
  return open < 0 || from === "" ? text : text.slice(0, open) + text.slice(open).replaceAll(from, () => to);
}

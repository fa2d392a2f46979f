import { useEffect, useSyncExternalStore } from "react";
import { usePreferences } from "../preferences/preferences.ts";

/** Something that can be done by keyboard: the same list makes the palette and the help. */
export interface Command {
  readonly id: string;
  /** What it does, as a person would ask for it. */
  readonly title: string;
  readonly group: "Go to" | "This page" | "Anywhere";
  /** `g d`: two keys one after the other; `?`: one; `mod+k`: with Control or Command. */
  readonly keys?: string;
  readonly run: () => void;
}

/** A second key counts only so long after the first. */
const SEQUENCE_MS = 1200;

let commands: readonly Command[] = [];
const listeners = new Set<() => void>();

/** Makes commands available while the component is there. The list must stay the same object while nothing changes. */
export function useCommands(own: readonly Command[]): void {
  useEffect(() => {
    replace([...commands, ...own]);
    return () => replace(commands.filter((command) => !own.includes(command)));
  }, [own]);
}

/** @returns Every command that is available now. */
export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore(subscribe, () => commands);
}

/** Listens to the keyboard; to be used once. */
export function useKeyboard(): void {
  const { singleKeys } = usePreferences();
  useEffect(() => {
    let first: { readonly key: string; readonly atMs: number } | null = null;
    const onKeyDown = (event: KeyboardEvent) => {
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const isModified = event.ctrlKey || event.metaKey;
      if (event.defaultPrevented || event.altKey || event.isComposing || (key === "Enter" && isPressed(event.target))) return;
      if (!isModified && (singleKeys === "off" || isTyping(event.target) || document.querySelector("dialog[open]"))) return;
      const sequence = first && event.timeStamp - first.atMs < SEQUENCE_MS ? `${first.key} ${key}` : null;
      const wanted = isModified ? [`mod+${key}`] : [...(sequence === null ? [] : [sequence]), key];
      const command = wanted.flatMap((keys) => commands.filter((each) => each.keys === keys)).at(0);
      first = isModified ? null : { key, atMs: event.timeStamp };
      if (!command) return;
      event.preventDefault();
      first = null;
      command.run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [singleKeys]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName));
}

/** What Enter presses by itself. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a[href], button, summary, [role=button]") !== null;
}

function replace(next: readonly Command[]): void {
  commands = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

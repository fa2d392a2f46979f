import { useRouter } from "@tanstack/react-router";
import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";
import { clock } from "../clock.ts";
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
/** Keys wait so long for what is on its way, and so many of them; then they are for what is there. */
const HOLD_MS = 5000;
const MAX_HELD = 64;

interface Press {
  readonly key: string;
  readonly isModified: boolean;
  readonly atMs: number;
}

let commands: readonly Command[] = [];
const listeners = new Set<() => void>();

/** Makes commands available while the component is there. The list must stay the same object while nothing changes. */
export function useCommands(own: readonly Command[]): void {
  useLayoutEffect(() => {
    replace([...commands, ...own]);
    return () => replace(commands.filter((command) => !own.includes(command)));
  }, [own]);
}

/** @returns Every command that is available now. */
export function useAllCommands(): readonly Command[] {
  return useSyncExternalStore(subscribe, () => commands);
}

/** What keys wait for: a page, and who is logged in, on which it depends what a page can do. */
type Awaited = "page" | "caller";

/**
 * Listens to the keyboard; to be used once. What is pressed while another page is on its way is for that page, and waits for it. So
 * does what does nothing yet, until it is known what the person may do.
 */
export function useKeyboard({ isCallerKnown }: { readonly isCallerKnown: boolean }): void {
  const router = useRouter();
  const { singleKeys } = usePreferences();
  const [keyboard] = useState(createKeyboard);
  useEffect(() => keyboard.setSingleKeys(singleKeys === "on"), [keyboard, singleKeys]);
  useEffect(() => (isCallerKnown ? keyboard.release("caller") : keyboard.hold("caller")), [keyboard, isCallerKnown]);
  useEffect(() => {
    const unsubscribe = [router.subscribe("onBeforeNavigate", () => keyboard.hold("page")), router.subscribe("onResolved", () => keyboard.release("page"))];
    document.addEventListener("keydown", keyboard.press);
    return () => {
      document.removeEventListener("keydown", keyboard.press);
      for (const stop of unsubscribe) stop();
      keyboard.close();
    };
  }, [keyboard, router]);
}

function createKeyboard() {
  /** Without them only those with Control or Command count. */
  let hasSingleKeys = true;
  let first: Press | null = null;
  let held: Press[] = [];
  const awaited = new Set<Awaited>();
  let cancel: () => void = () => undefined;
  const find = (press: Press): Command | undefined => {
    const sequence = first && press.atMs - first.atMs < SEQUENCE_MS ? `${first.key} ${press.key}` : null;
    const wanted = press.isModified ? [`mod+${press.key}`] : [...(sequence === null ? [] : [sequence]), press.key];
    return wanted.flatMap((keys) => commands.filter((each) => each.keys === keys)).at(0);
  };
  /** Runs its command, where it has one. @returns Whether it has. */
  const run = (press: Press): boolean => {
    const command = find(press);
    first = press.isModified || command ? null : press;
    command?.run();
    return command !== undefined;
  };
  const isForPage = () => hasSingleKeys && !isTyping(document.activeElement) && !document.querySelector("dialog[open]");
  const waits = (press: Press) => !press.isModified && isHeld(press.key)
    && (awaited.has("page") || held.length > 0 || (awaited.has("caller") && !find(press) && !commands.some(({ keys }) => keys?.startsWith(`${press.key} `))));
  /** One after the other, as the first may open a dialog or go elsewhere again. */
  const runHeld = () => {
    const [press, ...rest] = held;
    if (awaited.size > 0 || !press) return;
    held = rest;
    try {
      if (isForPage()) flushSync(() => run(press));
    } finally {
      runHeld();
    }
  };
  const runHeldAfter = (delayMs: number) => {
    cancel();
    cancel = clock.after(delayMs, () => {
      awaited.clear();
      runHeld();
    });
  };
  return {
    setSingleKeys(isOn: boolean) {
      hasSingleKeys = isOn;
    },
    press(event: KeyboardEvent) {
      const press = { key: event.key.length === 1 ? event.key.toLowerCase() : event.key, isModified: event.ctrlKey || event.metaKey, atMs: event.timeStamp };
      if (event.defaultPrevented || event.altKey || event.isComposing || (press.key === "Enter" && isPressed(event.target))) return;
      if (!press.isModified && (!isForPage() || isTyping(event.target))) return;
      if (waits(press)) {
        event.preventDefault();
        if (held.length < MAX_HELD) held.push(press);
      } else if (run(press)) event.preventDefault();
    },
    hold(what: Awaited) {
      awaited.add(what);
      runHeldAfter(HOLD_MS);
    },
    release(what: Awaited) {
      awaited.delete(what);
      if (awaited.size === 0) runHeldAfter(0);
    },
    close: () => cancel(),
  };
}

/** What a browser does itself with other keys, it does at once. */
function isHeld(key: string): boolean {
  return key === "Enter" || (key.length === 1 && key !== " ");
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

import { useSyncExternalStore } from "react";

/** How things are shown now. The collector keeps it for the person; the browser keeps the colors alone, for what is drawn before it is known. */
export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  readonly zone: "local" | "utc" | "site";
  /** Whether single keys do something. Who dictates, or rests a hand on the keyboard, turns them off. @see WCAG 2.1.4 */
  readonly singleKeys: "on" | "off";
}

const THEMES: readonly Preferences["theme"][] = ["system", "light", "dark"];
const KEY = "lanthorn.theme";
const USUAL: Preferences = { theme: "system", zone: "local", singleKeys: "on" };

let current = USUAL;
const listeners = new Set<() => void>();

/** Shows the colors of the last time; to be called once, before anything is drawn. */
export function loadTheme(): void {
  const stored = readTheme();
  current = { ...current, theme: THEMES.find((theme) => theme === stored) ?? "system" };
  applyTheme();
}

/** Shows things so from now on, and the colors at once the next time. */
export function showPreferences(chosen: Preferences): void {
  if (chosen.theme === current.theme && chosen.zone === current.zone && chosen.singleKeys === current.singleKeys) return;
  current = chosen;
  applyTheme();
  try {
    localStorage.setItem(KEY, current.theme);
  } catch {
    // A browser that keeps nothing shows its own colors until the collector has answered.
  }
  for (const listener of listeners) listener();
}

/** As for a person of whom nothing is known; the colors stay. */
export function forgetPreferences(): void {
  showPreferences({ ...USUAL, theme: current.theme });
}

/** @returns How things are shown now; whoever uses it is drawn again when that changes. */
export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function readTheme(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function applyTheme(): void {
  if (current.theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = current.theme;
}

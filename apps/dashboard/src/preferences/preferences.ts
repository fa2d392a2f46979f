import { useSyncExternalStore } from "react";

/** What a person has chosen for this browser. Nothing of it is secret. */
export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  readonly zone: "local" | "utc";
  /** Whether single keys do something. Who dictates, or rests a hand on the keyboard, turns them off. @see WCAG 2.1.4 */
  readonly singleKeys: "on" | "off";
}

const CHOICES: { readonly [name in keyof Preferences]: readonly Preferences[name][] } = {
  theme: ["system", "light", "dark"], zone: ["local", "utc"], singleKeys: ["on", "off"],
};
const KEY = "lanthorn.preferences";

let current: Preferences = { theme: "system", zone: "local", singleKeys: "on" };
const listeners = new Set<() => void>();

/** Reads what was chosen before; to be called once, before anything is drawn. */
export function loadPreferences(): void {
  const stored = readStored();
  const chosen = Object.entries(CHOICES).flatMap(([name, choices]) => {
    const value = choices.find((choice) => choice === stored[name]);
    return value === undefined ? [] : [[name, value]];
  });
  current = { ...current, ...Object.fromEntries(chosen) as Partial<Preferences> };
  applyTheme();
}

/** Changes a choice, here and for the next time. */
export function setPreference<Name extends keyof Preferences>(name: Name, value: Preferences[Name]): void {
  current = { ...current, [name]: value };
  applyTheme();
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing still shows what was chosen.
  }
  for (const listener of listeners) listener();
}

/** @returns What is chosen now; whoever uses it is drawn again when that changes. */
export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function readStored(): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
  } catch {
    return {};
  }
}

function applyTheme(): void {
  if (current.theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = current.theme;
}

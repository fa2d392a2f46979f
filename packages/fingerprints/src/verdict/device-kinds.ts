import type { Reading } from "./decide.ts";

/**
 * What evidence may say where it does not know which: who makes computers makes servers and workstations. It supports both, contradicts all
 * other kinds, and is no verdict by itself.
 */
export const COMPUTER = "computer";

const COMPUTERS: ReadonlySet<string> = new Set(["server", "workstation"]);

/** A kind of device, with what it is a kind of. */
export function readDeviceKind(value: string): Reading {
  const name = value.toLowerCase();
  const keys = COMPUTERS.has(name) ? [name, COMPUTER] : [name];
  return { keys, spelled: [value, ...keys.slice(1)] };
}

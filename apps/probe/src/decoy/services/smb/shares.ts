/** What a decoy shares: one folder of bait documents, and what each server of its kind has beside it. */
import type { Persona } from "../../personas/persona.ts";
import type { Stage } from "../service.ts";

/** A share. */
export interface SmbShare {
  readonly name: string;
  readonly comment: string;
  readonly kind: "documents" | "pipes" | "closed";
}

const NAMES = ["Company", "Office", "Shared", "Data", "Public", "Team"] as const;

/** Whether it claims to be Windows; otherwise it claims to be Samba. */
export function isWindowsServer({ windows: [major] }: Pick<Persona, "windows">): boolean {
  return major >= 10;
}

/** @returns Those of a server of this kind, in the order in which it lists them. */
export function sharesOf({ persona, hostname, derive }: Pick<Stage, "derive" | "hostname" | "persona">): readonly SmbShare[] {
  const documents: SmbShare = { name: NAMES[(derive("share", 1)[0] ?? 0) % NAMES.length] ?? NAMES[0], comment: "", kind: "documents" };
  return isWindowsServer(persona) ? [
    { name: "ADMIN$", comment: "Remote Admin", kind: "closed" }, { name: "C$", comment: "Default share", kind: "closed" }, documents, { name: "IPC$", comment: "Remote IPC", kind: "pipes" },
  ] : [documents, { name: "IPC$", comment: `IPC Service (${hostname})`, kind: "pipes" }];
}

/** What a decoy shares: one folder of bait documents, and what each server of its kind has beside it. */
import type { Stage } from "../service.ts";

/** A share. */
export interface SmbShare {
  readonly name: string;
  readonly comment: string;
  readonly kind: "documents" | "pipes" | "closed";
}

const NAMES = ["Company", "Office", "Shared", "Data", "Public", "Team"] as const;

/** @returns Those of a server of this kind, in the order in which it lists them. */
export function sharesOf({ persona, hostname, derive }: Pick<Stage, "derive" | "hostname" | "persona">): readonly SmbShare[] {
  const documents: SmbShare = { name: NAMES[(derive("share", 1)[0] ?? 0) % NAMES.length] ?? NAMES[0], comment: "", kind: "documents" };
  const isWindows = persona.windows[0] >= 10;
  return isWindows ? [
    { name: "ADMIN$", comment: "Remote Admin", kind: "closed" }, { name: "C$", comment: "Default share", kind: "closed" }, documents, { name: "IPC$", comment: "Remote IPC", kind: "pipes" },
  ] : [documents, { name: "IPC$", comment: `IPC Service (${hostname})`, kind: "pipes" }];
}

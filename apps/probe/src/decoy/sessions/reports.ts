/** What services say of those who are there, made fit to be shown. */
import { type HoneypotEvidence, type HoneypotStage } from "@lanthorn/contract/uplink";
import type { Peer } from "../services/service.ts";

/** Whom it is reported to. */
export interface Witness {
  /** @param username Printable, as `detail`. @param techniques In place of those of the rung. */
  onStep(rung: HoneypotStage, username: string, detail: string, techniques?: readonly string[]): void;
  /** After the step that it is. @param password Printable, and its first 255 characters. */
  onPassword(username: string, password: string, isBait: boolean): void;
  /** After the step that it is. What is in it is printable, but for transcripts. */
  onEvidence(evidence: Evidence): void;
}

/** What is kept of a session beside its incident. */
export type Evidence = Pick<HoneypotEvidence, "files" | "fingerprints" | "transcript">;

/** Whether it is one of the decoys' bait credentials. */
export type IsBait = (username: string, isPassword: (password: string) => boolean) => boolean;

const MAX_TEXT = 255;
/** Data from a network's shared drive. */
const TAKEN = ["T1039"] as const;

/** @returns A service's side of it. */
export function reportTo(witness: Witness, isBait: IsBait): Pick<Peer, "gave" | "isProgram" | "reached" | "recorded" | "took" | "tried"> {
  const taken = new Set<string>();
  return {
    reached: (rung, username, detail) => witness.onStep(rung, printable(username), printable(detail)),
    tried(username, given, detail = "") {
      const bait = isBait(username, typeof given === "string" ? (password) => password === given : given);
      witness.onStep(bait ? "bait_credential" : "credential", printable(username), printable(bait ? `used a bait credential; ${detail}`.replace(/; $/, "") : detail));
      if (typeof given === "string") witness.onPassword(printable(username), printable(given), bait);
      return bait;
    },
    gave(file, name) {
      witness.onStep("file", "", `${printable(name).slice(0, 100)}: ${file.octets} bytes, SHA-256 ${file.sha256}${file.isKept ? "" : ", not kept"}`);
      witness.onEvidence({ transcript: null, fingerprints: [], files: [{ name: printable(name), sha256: file.sha256, octets: file.octets, is_kept: file.isKept, direction: "sent" }] });
    },
    took({ name, content: { length: octets }, sha256 }, username) {
      witness.onStep("file", printable(username), `read ${name}: ${octets} bytes, SHA-256 ${sha256}`, TAKEN);
      if (!taken.has(sha256)) witness.onEvidence({ transcript: null, fingerprints: [], files: [{ name, sha256, octets, is_kept: true, direction: "read" }] });
      taken.add(sha256);
    },
    isProgram: (kind, value) => witness.onEvidence({ transcript: null, files: [], fingerprints: [{ kind, value: printable(value) }] }),
    recorded(transcript) {
      if (transcript !== "") witness.onEvidence({ transcript, files: [], fingerprints: [] });
    },
  };
}

/** Without what would move a terminal's cursor or change the direction of writing. */
function printable(text: string): string {
  return text.slice(0, MAX_TEXT).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ".");
}

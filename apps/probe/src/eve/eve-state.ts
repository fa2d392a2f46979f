import type { IdsState } from "@lanthorn/contract/uplink";
import type { EveState } from "./eve-intake.ts";

/** Suricata says each eight seconds how it does, unless its configuration says otherwise. */
const SILENT_MS = 300_000;
const MAX_ERROR = 512;

/** The intake as the health report has it. @param now Milliseconds since the epoch. */
export function toSuricataState({ file, socket, alerts, drops, lastAt, malformed, lost }: EveState, now: number): NonNullable<IdsState["suricata"]> {
  const isMissing = file?.status === "missing" && (socket === null || socket.connections === 0);
  const isHeard = lastAt !== null && now - lastAt < SILENT_MS;
  const missed = lost + (file?.lost ?? 0) + (file?.tooLong ?? 0) + (socket?.tooLong ?? 0);
  const problems = [
    file?.problem ?? "", socket?.problem ?? "", missed > 0 ? `${missed} records or files were not taken in` : "", malformed > 0 ? `${malformed} lines are no records of EVE` : "",
  ];
  return {
    state: isMissing ? "missing" : isHeard ? "reading" : "silent", alerts, frames: drops?.packets ?? null, dropped: drops?.kernelDropped ?? null,
    error: problems.filter(Boolean).join("; ").slice(0, MAX_ERROR) || null,
  };
}

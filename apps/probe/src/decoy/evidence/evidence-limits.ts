/** How much evidence one incident has: whoever sends a thousand files, or has a thousand names, says no more by them. */
import { createRecent } from "../sessions/recent.ts";
import type { Evidence } from "../sessions/reports.ts";

/** Of all incidents. */
export interface EvidenceLimits {
  /** @returns What is new of it, as far as there is room, and how many pieces there was none for. */
  admit(incidentId: string, given: Evidence, nowMs: number): { readonly evidence: Evidence; readonly leftOut: number };
}

/** Of one incident. Those of whom nothing came for an hour are forgotten. */
const [MAX_FINGERPRINTS, MAX_FILES, MAX_TRANSCRIPTS] = [8, 16, 16];
const [MAX_INCIDENTS, KNOWN_MS] = [4096, 3_600_000];

/** @returns One that has seen nothing. */
export function createEvidenceLimits(): EvidenceLimits {
  const incidents = createRecent<{ readonly fingerprints: Set<string>; readonly files: Set<string>; transcripts: number }>(MAX_INCIDENTS, KNOWN_MS);
  return {
    admit(incidentId, { fingerprints, files, transcript }, nowMs) {
      const has = incidents.of(incidentId, nowMs, () => ({ fingerprints: new Set(), files: new Set(), transcripts: 0 }));
      let leftOut = 0;
      /** A thousand guesses by one program are one program. */
      const isAdmitted = (known: Set<string>, key: string, max: number): boolean => {
        if (known.has(key)) return false;
        if (known.size >= max) leftOut += 1;
        return known.size < max && known.add(key).size > 0;
      };
      const isRecorded = transcript !== null && has.transcripts < MAX_TRANSCRIPTS;
      if (isRecorded) has.transcripts += 1;
      else if (transcript !== null) leftOut += 1;
      const evidence = {
        transcript: isRecorded ? transcript : null,
        fingerprints: fingerprints.filter(({ kind, value }) => isAdmitted(has.fingerprints, `${kind} ${value}`, MAX_FINGERPRINTS)),
        files: files.filter(({ name, sha256 }) => isAdmitted(has.files, `${sha256} ${name}`, MAX_FILES)),
      };
      return { evidence, leftOut };
    },
  };
}

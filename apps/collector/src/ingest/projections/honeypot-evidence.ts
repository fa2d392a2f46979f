import type { Projection } from "./projection.ts";

/** Transcripts are kept by the service of decoys alone, and for its time: people type passwords in shells. */
export const honeypotEvidence: Projection<"honeypot_evidence"> = {
  hosts: () => [],
  apply: ({ data }) => ({ type: "honeypot_evidence", deviceId: null, data, logged: { ...data, transcript: null } }),
};

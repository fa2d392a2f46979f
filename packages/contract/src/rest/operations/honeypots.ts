import * as z from "zod";
import { Id } from "../../values.ts";
import { listEnvelope } from "../envelopes.ts";
import {
  Honeypot, HoneypotCredential, HoneypotCredentialRevealed, HoneypotCredentialsQuery, HoneypotExemption, HoneypotExemptionCreate, HoneypotExemptionsQuery, HoneypotFile, HoneypotProposal, HoneypotProposalsQuery,
  HoneypotSession, HoneypotSessionDetail, HoneypotSessionsQuery, HoneypotsQuery, HoneypotTranscripts, HoneypotTranscriptsQuery,
} from "../honeypots.ts";
import { operations } from "../operation.ts";

const OfHoneypot = z.object({ honeypot_id: Id });
const OfSession = z.object({ honeypot_session_id: Id });
const OfExemption = z.object({ honeypot_exemption_id: Id });
const OfCredential = z.object({ honeypot_credential_id: Id });

/** Decoys, who touched them, who may, and what was tried. */
export const honeypotsOperations = operations({
  listHoneypots: { target: "GET /honeypots", query: HoneypotsQuery, status: 200, answer: listEnvelope(Honeypot) },
  readHoneypot: { target: "GET /honeypots/{honeypot_id}", params: OfHoneypot, status: 200, answer: Honeypot },
  testHoneypot: { target: "POST /honeypots/{honeypot_id}/test", params: OfHoneypot, status: 202, answer: Honeypot },
  listHoneypotProposals: { target: "GET /honeypots/proposals", query: HoneypotProposalsQuery, status: 200, answer: listEnvelope(HoneypotProposal) },
  listHoneypotSessions: { target: "GET /honeypots/sessions", query: HoneypotSessionsQuery, status: 200, answer: listEnvelope(HoneypotSession) },
  readHoneypotSession: { target: "GET /honeypots/sessions/{honeypot_session_id}", params: OfSession, status: 200, answer: HoneypotSessionDetail },
  readHoneypotTranscripts: {
    target: "GET /honeypots/sessions/{honeypot_session_id}/transcript", params: OfSession, query: HoneypotTranscriptsQuery, status: 200, answer: HoneypotTranscripts,
  },
  listHoneypotFiles: { target: "GET /honeypots/sessions/{honeypot_session_id}/files", params: OfSession, status: 200, answer: z.object({ files: z.array(HoneypotFile).describe("The oldest first.") }) },
  listHoneypotExemptions: { target: "GET /honeypots/exemptions", query: HoneypotExemptionsQuery, status: 200, answer: listEnvelope(HoneypotExemption) },
  readHoneypotExemption: { target: "GET /honeypots/exemptions/{honeypot_exemption_id}", params: OfExemption, status: 200, answer: HoneypotExemption },
  createHoneypotExemption: { target: "POST /honeypots/exemptions", body: HoneypotExemptionCreate, status: 201, answer: HoneypotExemption },
  deleteHoneypotExemption: { target: "DELETE /honeypots/exemptions/{honeypot_exemption_id}", params: OfExemption, status: 204 },
  listHoneypotCredentials: { target: "GET /honeypots/credentials", query: HoneypotCredentialsQuery, status: 200, answer: listEnvelope(HoneypotCredential) },
  /** With its password; the audit log says who has asked. */
  revealHoneypotCredential: { target: "POST /honeypots/credentials/{honeypot_credential_id}/reveal", params: OfCredential, status: 200, answer: HoneypotCredentialRevealed },
});

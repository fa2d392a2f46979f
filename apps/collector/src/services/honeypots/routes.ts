import { honeypotsOperations } from "@lanthorn/contract";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import type { HoneypotCredentialsService } from "./credentials/service.ts";
import type { DecoysService } from "./decoys.ts";
import type { HoneypotEvidenceService } from "./evidence/service.ts";
import type { ExemptionsService } from "./exemptions/service.ts";
import type { ProposalsService } from "./proposals/service.ts";
import type { TestsService } from "./tests/service.ts";
import type { SessionsService } from "./sessions/service.ts";

const { endpoint, routes } = endpointsOf<{
  readonly decoys: DecoysService;
  readonly tests: TestsService;
  readonly proposals: ProposalsService;
  readonly sessions: SessionsService;
  readonly exemptions: ExemptionsService;
  readonly evidence: HoneypotEvidenceService;
  readonly credentials: HoneypotCredentialsService;
}>();

/** `/honeypots` and what is below it. */
export const honeypotsRoutes = routes(
  endpoint("sensors:read", honeypotsOperations.listHoneypots, {
    summary: "List decoys", description: "As the probes beside them reported them within the last half minute. Decoys are set up in the file `decoy.toml` of their machine.",
    answer: "Decoys by site, probe and name",
  }, async (c, { decoys }) => c.json(toAnswer(await decoys.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", honeypotsOperations.listHoneypotProposals, {
    summary: "List what decoys might be",
    description: "By what the inventory has most of at each site: a decoy among many of its kind is believed. Only kinds that a persona plays without contradicting itself, of which there are at least two, at most 100. "
    + "The address is free in the plan of IPAM and reserved for nobody: the decoy's machine looks again whether somebody has it before it takes it.",
    answer: "Proposals by site, that of which there are most devices first",
  }, async (c, { proposals }) => c.json(toAnswer(await proposals.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", honeypotsOperations.listHoneypotSessions, {
    summary: "List what was done at decoys",
    description: "One session for each source and decoy, until the source was silent for an hour. Sessions are kept for 90 days, and at most 10,000 for a site: beyond them the oldest go.",
    answer: "Sessions, the newest first",
  }, async (c, { sessions }) => c.json(toAnswer(await sessions.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", honeypotsOperations.readHoneypotSession, {
    summary: "Read a session at a decoy", description: "With each rise of it: what was done, when, and which event of the log says so.", answer: "The session",
  }, async (c, { sessions }) => c.json(await sessions.read(identityOf(c).tenantId, c.req.valid("param").honeypot_session_id), 200)),
  endpoint("vault:reveal", honeypotsOperations.readHoneypotTranscripts, {
    "x-secret": "shown", summary: "Read what was typed in a decoy's shell",
    description: "People type passwords in shells: each call is recorded in the audit log. "
    + "One transcript for each shell of the session, as asciicast of version 2: 200 or a megabyte in one answer, and the rest behind `next_cursor`. A site's newest 500 are kept. "
    + "They hold what an intruder typed and what was shown, escape sequences of terminals among it: "
    + "a player must not pass these on to a terminal. `lanthorn honeypot replay` does not.",
    answer: "Transcripts, the oldest first",
  }, async (c, { evidence }) => c.json(await evidence.transcripts(actorOf(c), c.req.valid("param").honeypot_session_id, c.req.valid("query")), 200)),
  endpoint("sensors:read", honeypotsOperations.listHoneypotFiles, {
    summary: "List files that were sent to a decoy",
    description: "At most 200 of a session. The files themselves stay on the decoy's machine, in `files` of its folder, by their SHA-256.", answer: "Files, the oldest first",
  }, async (c, { evidence }) => c.json(await evidence.files(identityOf(c).tenantId, c.req.valid("param").honeypot_session_id), 200)),
  endpoint("sensors:read", honeypotsOperations.listHoneypotExemptions, {
    summary: "List who may touch decoys", description: "Those of the decoys' own files are not among them.", answer: "Exemptions that have not expired, the oldest first",
  }, async (c, { exemptions }) => c.json(toAnswer(await exemptions.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("sensors:read", honeypotsOperations.readHoneypotExemption, {
    summary: "Read an exemption from decoys", answer: "The exemption",
  }, async (c, { exemptions }) => c.json(await exemptions.read(identityOf(c).tenantId, c.req.valid("param").honeypot_exemption_id), 200)),
  endpoint("sensors:write", honeypotsOperations.createHoneypotExemption, {
    summary: "Let somebody touch decoys",
    description: "Connections from there are served and counted, and reported to nobody. The site's probes get it at once, or when they reconnect. A site has at most 32.",
    example: {
      site_id: "01939f6e-2a10-7c3e-8f00-000000000002", name: "vulnerability scanner", addresses: ["192.0.2.10"], ports: [80, 443], hours: "22:00-04:30", reason: "scans every night",
    },
    answer: "The exemption",
  }, async (c, { exemptions }) => {
    const made = await exemptions.add(actorOf(c), c.req.valid("json"));
    return c.json(made, 201, { location: `/api/v1/honeypots/exemptions/${made.id}` });
  }),
  endpoint("sensors:write", honeypotsOperations.deleteHoneypotExemption, {
    summary: "End an exemption from decoys", answer: "Ended: who was exempt is reported again",
  }, async (c, { exemptions }) => {
    await exemptions.remove(actorOf(c), c.req.valid("param").honeypot_exemption_id);
    return c.body(null, 204);
  }),
  endpoint("sensors:read", honeypotsOperations.listHoneypotCredentials, {
    summary: "List credentials that were tried at decoys, without their passwords",
    description: "Each pair of name and password once in a session, the first 64 of it. Of services that are only shown a proof of the password there is none. They are kept as sessions are.",
    answer: "Credentials, the newest first",
  }, async (c, { credentials }) => c.json(toAnswer(await credentials.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("vault:reveal", honeypotsOperations.revealHoneypotCredential, {
    "x-secret": "shown", summary: "Read a credential that was tried at a decoy, with its password",
    description: "People mistype: it may be somebody's own. Each call is recorded in the audit log.", answer: "The credential with its password",
  }, async (c, { credentials }) => c.json(await credentials.reveal(actorOf(c), c.req.valid("param").honeypot_credential_id), 200)),
  // Behind those whose paths have a word where these have an id.
  endpoint("sensors:read", honeypotsOperations.readHoneypot, {
    summary: "Read a decoy", answer: "The decoy",
  }, async (c, { decoys }) => c.json(await decoys.read(identityOf(c).tenantId, c.req.valid("param").honeypot_id), 200)),
  endpoint("sensors:write", honeypotsOperations.testHoneypot, {
    summary: "Test whether a decoy would alert",
    description: "The probe connects to the decoy's first service and waits for what it reports. That is in the log, on the stream and in the sessions, marked as a test; it raises no alert and calls no webhook. Read the "
    + "decoy again: `test` says what came of it, within 30 seconds.",
    answer: "The decoy, whose probe was asked",
  }, async (c, { tests }) => c.json(await tests.test(actorOf(c), c.req.valid("param").honeypot_id), 202)),
);

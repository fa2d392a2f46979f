import * as z from "zod";
import { Id } from "../../values.ts";
import { IdPageQuery, listEnvelope } from "../envelopes.ts";
import { Credential, CredentialCreate, CredentialRevealed, CredentialUpdate } from "../vault.ts";
import { operations } from "../operation.ts";

const OfCredential = z.object({ credential_id: Id });

/** What probes log in to devices with. */
export const vaultOperations = operations({
  listCredentials: { target: "GET /vault/credentials", query: IdPageQuery, status: 200, answer: listEnvelope(Credential) },
  createCredential: { target: "POST /vault/credentials", body: CredentialCreate, status: 201, answer: Credential },
  readCredential: { target: "GET /vault/credentials/{credential_id}", params: OfCredential, status: 200, answer: Credential },
  updateCredential: {
    target: "PUT /vault/credentials/{credential_id}", params: OfCredential, body: CredentialUpdate, status: 200, answer: Credential,
  },
  deleteCredential: { target: "DELETE /vault/credentials/{credential_id}", params: OfCredential, status: 204 },
  /** With its secret; the audit log says who has asked. */
  revealCredential: {
    target: "POST /vault/credentials/{credential_id}/reveal", params: OfCredential, status: 200, answer: CredentialRevealed,
  },
});

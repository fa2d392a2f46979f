import { z } from "@hono/zod-openapi";
import { Credential, CredentialCreate, CredentialRevealed, CredentialUpdate, Id, IdPageQuery, listEnvelope } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { VaultService } from "./service.ts";

const CREDENTIALS = "/vault/credentials";
const Params = z.object({ credential_id: Id });
const EXAMPLE: z.input<typeof CredentialCreate> = {
  type: "snmp", name: "Switches, read only", settings: { version: "2c" }, secret: { community: "an example" }, networks: ["192.0.2.0/24"],
};

const { endpoint, routes } = endpointsOf<VaultService>();

/** `/vault/credentials`. */
export const vaultRoutes = routes(
  endpoint("vault:read", `GET ${CREDENTIALS}`, {
    operationId: "listCredentials", summary: "List credentials without their secrets", query: IdPageQuery,
    answer: [200, "Credentials in the order in which they were made", listEnvelope(Credential)],
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("vault:write", `POST ${CREDENTIALS}`, {
    operationId: "createCredential", summary: "Create a credential and hand it to probes",
    description: "It is encrypted at rest, and sent to each probe encrypted to that probe's own key, at once or when the probe reconnects.",
    body: jsonBody(CredentialCreate, EXAMPLE), answer: [201, "The new credential, without its secret", Credential],
  }, async (c, service) => {
    const credential = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(credential, 201, { location: `/api/v1${CREDENTIALS}/${credential.id}` });
  }),
  endpoint("vault:read", `GET ${CREDENTIALS}/{credential_id}`, {
    operationId: "readCredential", summary: "Read a credential without its secret", params: Params,
    answer: [200, "The credential", Credential],
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").credential_id), 200)),
  endpoint("vault:write", `PUT ${CREDENTIALS}/{credential_id}`, {
    operationId: "updateCredential", summary: "Change a credential",
    description: "Fields left out stay. Probes that have it, or get it, are updated at once.", params: Params,
    body: jsonBody(CredentialUpdate, { networks: ["192.0.2.0/25"] }),
    answer: [200, "The credential as it is now, without its secret", Credential],
  }, async (c, service) => c.json(await service.update(actorOf(c), c.req.valid("param").credential_id, c.req.valid("json")), 200)),
  endpoint("vault:write", `DELETE ${CREDENTIALS}/{credential_id}`, {
    operationId: "deleteCredential", summary: "Delete a credential",
    description: "Probes delete it when they get the change, at once or when they reconnect: what they could know by then is to be changed on "
    + "the devices.",
    params: Params, answer: [204, "Deleted"],
  }, async (c, service) => {
    await service.remove(actorOf(c), c.req.valid("param").credential_id);
    return c.body(null, 204);
  }),
  endpoint("vault:reveal", `POST ${CREDENTIALS}/{credential_id}/reveal`, {
    "x-secret": "shown", operationId: "revealCredential", summary: "Read a credential with its secret",
    description: "Each call is recorded in the audit log.", params: Params,
    answer: [200, "The credential with its secret", CredentialRevealed],
  }, async (c, service) => c.json(await service.reveal(actorOf(c), c.req.valid("param").credential_id), 200)),
);

import { z } from "@hono/zod-openapi";
import { Credential, CredentialCreate, CredentialRevealed, CredentialUpdate, Id, IdPageQuery, listEnvelope } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { VaultService } from "./service.ts";

const CREDENTIALS = "/vault/credentials";
const Params = z.object({ credential_id: Id });
const EXAMPLE: z.input<typeof CredentialCreate> = {
  type: "snmp", name: "Switches, read only", settings: { version: "2c" }, secret: { community: "an example" }, networks: ["192.0.2.0/24"],
};

const list = declareRoute("vault:read", {
  method: "get",
  path: CREDENTIALS,
  operationId: "listCredentials",
  summary: "List credentials without their secrets",
  request: { query: IdPageQuery },
  responses: { 200: { description: "Credentials in the order in which they were made", content: json(listEnvelope(Credential)) } },
});

const create = declareRoute("vault:write", {
  method: "post",
  path: CREDENTIALS,
  operationId: "createCredential",
  summary: "Create a credential and hand it to probes",
  description: "It is encrypted at rest, and sent to each probe encrypted to that probe's own key, at once or when the probe reconnects.",
  request: { body: jsonBody(CredentialCreate, EXAMPLE) },
  responses: { 201: { description: "The new credential, without its secret", content: json(Credential) } },
});

const read = declareRoute("vault:read", {
  method: "get",
  path: `${CREDENTIALS}/{credential_id}`,
  operationId: "readCredential",
  summary: "Read a credential without its secret",
  request: { params: Params },
  responses: { 200: { description: "The credential", content: json(Credential) } },
});

const update = declareRoute("vault:write", {
  method: "put",
  path: `${CREDENTIALS}/{credential_id}`,
  operationId: "updateCredential",
  summary: "Change a credential",
  description: "Fields left out stay. Probes that have it, or get it, are updated at once.",
  request: { params: Params, body: jsonBody(CredentialUpdate, { networks: ["192.0.2.0/25"] }) },
  responses: { 200: { description: "The credential as it is now, without its secret", content: json(Credential) } },
});

const remove = declareRoute("vault:write", {
  method: "delete",
  path: `${CREDENTIALS}/{credential_id}`,
  operationId: "deleteCredential",
  summary: "Delete a credential",
  description: "Probes delete it when they get the change, at once or when they reconnect: what they could know by then is to be changed on "
    + "the devices.",
  request: { params: Params },
  responses: { 204: { description: "Deleted" } },
});

const reveal = declareRoute("vault:reveal", {
  method: "post",
  path: `${CREDENTIALS}/{credential_id}/reveal`,
  "x-secret": "shown",
  operationId: "revealCredential",
  summary: "Read a credential with its secret",
  description: "Each call is recorded in the audit log.",
  request: { params: Params },
  responses: { 200: { description: "The credential with its secret", content: json(CredentialRevealed) } },
});

/** `/vault/credentials`. */
export function vaultRoutes(service: VaultService) {
  const router = createRouter();
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  router.openapi(create, async (c) => {
    const credential = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(credential, 201, { location: `/api/v1${CREDENTIALS}/${credential.id}` });
  });
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").credential_id), 200));
  router.openapi(
    update, async (c) => c.json(await service.update(actorOf(c), c.req.valid("param").credential_id, c.req.valid("json")), 200),
  );
  router.openapi(remove, async (c) => {
    await service.remove(actorOf(c), c.req.valid("param").credential_id);
    return c.body(null, 204);
  });
  router.openapi(reveal, async (c) => c.json(await service.reveal(actorOf(c), c.req.valid("param").credential_id), 200));
  return router;
}

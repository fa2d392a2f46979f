import type { z } from "@hono/zod-openapi";
import type { CredentialCreate} from "@lanthorn/contract";
import { vaultOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import type { VaultService } from "./service.ts";

const CREDENTIALS = "/vault/credentials";
const EXAMPLE: z.input<typeof CredentialCreate> = {
  type: "snmp", name: "Switches, read only", settings: { version: "2c" }, secret: { community: "an example" }, networks: ["192.0.2.0/24"],
};

const { endpoint, routes } = endpointsOf<VaultService>();

/** `/vault/credentials`. */
export const vaultRoutes = routes(
  endpoint("vault:read", vaultOperations.listCredentials, {
    summary: "List credentials without their secrets", answer: "Credentials in the order in which they were made",
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("vault:write", vaultOperations.createCredential, {
    summary: "Create a credential and hand it to probes",
    description: "It is encrypted at rest, and sent to each probe encrypted to that probe's own key, at once or when the probe reconnects.",
    example: EXAMPLE, answer: "The new credential, without its secret",
  }, async (c, service) => {
    const credential = await service.create(actorOf(c), c.req.valid("json"));
    return c.json(credential, 201, { location: `/api/v1${CREDENTIALS}/${credential.id}` });
  }),
  endpoint("vault:read", vaultOperations.readCredential, {
    summary: "Read a credential without its secret", answer: "The credential",
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").credential_id), 200)),
  endpoint("vault:write", vaultOperations.updateCredential, {
    summary: "Change a credential", description: "Fields left out stay. Probes that have it, or get it, are updated at once.",
    example: { networks: ["192.0.2.0/25"] }, answer: "The credential as it is now, without its secret",
  }, async (c, service) => c.json(await service.update(actorOf(c), c.req.valid("param").credential_id, c.req.valid("json")), 200)),
  endpoint("vault:write", vaultOperations.deleteCredential, {
    summary: "Delete a credential",
    description: "Probes delete it when they get the change, at once or when they reconnect: what they could know by then is to be changed on "
    + "the devices.",
    answer: "Deleted",
  }, async (c, service) => {
    await service.remove(actorOf(c), c.req.valid("param").credential_id);
    return c.body(null, 204);
  }),
  endpoint("vault:reveal", vaultOperations.revealCredential, {
    "x-secret": "shown", summary: "Read a credential with its secret", description: "Each call is recorded in the audit log.",
    answer: "The credential with its secret",
  }, async (c, service) => c.json(await service.reveal(actorOf(c), c.req.valid("param").credential_id), 200)),
);

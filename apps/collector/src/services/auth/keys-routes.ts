import { z } from "@hono/zod-openapi";
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeysQuery, ApiKeyUpdate, Id, listEnvelope } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { KeysService } from "./keys-service.ts";

const KeyParams = z.object({ key_id: Id });

const { endpoint, routes } = endpointsOf<KeysService>();

/** `/auth/keys` and `/auth/keys/{key_id}`. */
export const keysRoutes = routes(
  endpoint("signed-in", "GET /auth/keys", {
    operationId: "listApiKeys", summary: "List API keys",
    description: "Your own. With the scope `users:read` everybody's, or those of `user_id`.", query: ApiKeysQuery,
    answer: [200, "Keys in the order in which they were made, without their secrets", listEnvelope(ApiKey)],
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c), c.req.valid("query"))), 200)),
  endpoint("signed-in", "POST /auth/keys", {
    "x-secret": "made", operationId: "createApiKey", summary: "Create an API key",
    description: "Its scopes are among its owner's. It loses a scope when its owner does, and is deleted with its owner. An API key cannot "
    + "make another.",
    body: jsonBody(ApiKeyCreate), answer: [201, "The key, shown only in this answer", ApiKeyCreated],
  }, async (c, service) => {
    const key = await service.create({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("json"));
    return c.json(key, 201, { location: `/api/v1/auth/keys/${key.id}` });
  }),
  endpoint("signed-in", "GET /auth/keys/{key_id}", {
    operationId: "readApiKey", summary: "Read an API key's record",
    description: "Your own; with the scope `users:read` anybody's. The key itself is shown only when it is created.", params: KeyParams,
    answer: [200, "The key's record", ApiKey],
  }, async (c, service) => c.json(await service.read(identityOf(c), c.req.valid("param").key_id), 200)),
  endpoint("signed-in", "PUT /auth/keys/{key_id}", {
    operationId: "updateApiKey", summary: "Change an API key's name, scopes or expiry",
    description: "Fields left out stay. Your own. With the scope `users:write` anybody's. A scope that is added must be one of the "
    + "caller's own. The change applies at once, also to streams.",
    params: KeyParams, body: jsonBody(ApiKeyUpdate), answer: [200, "The key's record", ApiKey],
  }, async (c, service) => {
    const caller = { identity: identityOf(c), actor: actorOf(c) };
    return c.json(await service.update(caller, c.req.valid("param").key_id, c.req.valid("json")), 200);
  }),
  endpoint("signed-in", "DELETE /auth/keys/{key_id}", {
    operationId: "revokeApiKey", summary: "Revoke an API key", description: "Your own. With the scope `users:write` anybody's.",
    params: KeyParams, answer: [204, "Revoked"],
  }, async (c, service) => {
    await service.remove({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("param").key_id);
    return c.body(null, 204);
  }),
);

import { z } from "@hono/zod-openapi";
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeysQuery, ApiKeyUpdate, Id, listEnvelope } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { KeysService } from "./keys-service.ts";

const list = declareRoute("signed-in", {
  method: "get",
  path: "/auth/keys",
  operationId: "listApiKeys",
  summary: "List API keys",
  description: "Your own. With the scope `users:read` everybody's, or those of `user_id`.",
  request: { query: ApiKeysQuery },
  responses: {
    200: { description: "Keys in the order in which they were made, without their secrets", content: json(listEnvelope(ApiKey)) },
  },
});

const create = declareRoute("signed-in", {
  method: "post",
  path: "/auth/keys",
  "x-secret": "made",
  operationId: "createApiKey",
  summary: "Create an API key",
  description: "Its scopes are among its owner's. It loses a scope when its owner does, and is deleted with its owner. An API key cannot "
    + "make another.",
  request: { body: jsonBody(ApiKeyCreate) },
  responses: { 201: { description: "The key, shown only in this answer", content: json(ApiKeyCreated) } },
});

const KeyParams = z.object({ key_id: Id });

const read = declareRoute("signed-in", {
  method: "get",
  path: "/auth/keys/{key_id}",
  operationId: "readApiKey",
  summary: "Read an API key's record",
  description: "Your own; with the scope `users:read` anybody's. The key itself is shown only when it is created.",
  request: { params: KeyParams },
  responses: { 200: { description: "The key's record", content: json(ApiKey) } },
});

const update = declareRoute("signed-in", {
  method: "put",
  path: "/auth/keys/{key_id}",
  operationId: "updateApiKey",
  summary: "Change an API key's name, scopes or expiry",
  description: "Fields left out stay. Your own. With the scope `users:write` anybody's. A scope that is added must be one of the "
    + "caller's own. The change applies at once, also to streams.",
  request: { params: KeyParams, body: jsonBody(ApiKeyUpdate) },
  responses: { 200: { description: "The key's record", content: json(ApiKey) } },
});

const remove = declareRoute("signed-in", {
  method: "delete",
  path: "/auth/keys/{key_id}",
  operationId: "revokeApiKey",
  summary: "Revoke an API key",
  description: "Your own. With the scope `users:write` anybody's.",
  request: { params: KeyParams },
  responses: { 204: { description: "Revoked" } },
});

/** `/auth/keys` and `/auth/keys/{key_id}`. */
export function keysRoutes(service: KeysService) {
  const router = createRouter();
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c), c.req.valid("query"))), 200));
  router.openapi(create, async (c) => {
    const key = await service.create({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("json"));
    return c.json(key, 201, { location: `/api/v1/auth/keys/${key.id}` });
  });
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c), c.req.valid("param").key_id), 200));
  router.openapi(update, async (c) => {
    const caller = { identity: identityOf(c), actor: actorOf(c) };
    return c.json(await service.update(caller, c.req.valid("param").key_id, c.req.valid("json")), 200);
  });
  router.openapi(remove, async (c) => {
    await service.remove({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("param").key_id);
    return c.body(null, 204);
  });
  return router;
}

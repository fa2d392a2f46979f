import { authOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../../gateway/environment.ts";
import { toAnswer } from "../../../gateway/page.ts";
import { endpointsOf } from "../../../gateway/endpoint.ts";
import type { KeysService } from "./service.ts";

const { endpoint, routes } = endpointsOf<KeysService>();

/** `/auth/keys` and `/auth/keys/{key_id}`. */
export const keysRoutes = routes(
  endpoint("signed-in", authOperations.listApiKeys, {
    summary: "List API keys", description: "Your own. With the scope `users:read` everybody's, or those of `user_id`.",
    answer: "Keys in the order in which they were made, without their secrets",
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c), c.req.valid("query"))), 200)),
  endpoint("signed-in", authOperations.createApiKey, {
    "x-secret": "made", summary: "Create an API key",
    description: "Its scopes are among its owner's. It loses a scope when its owner does, and is deleted with its owner. An API key cannot "
    + "make another.",
    answer: "The key, shown only in this answer",
  }, async (c, service) => {
    const key = await service.create({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("json"));
    return c.json(key, 201, { location: `/api/v1/auth/keys/${key.id}` });
  }),
  endpoint("signed-in", authOperations.readApiKey, {
    summary: "Read an API key's record",
    description: "Your own; with the scope `users:read` anybody's. The key itself is shown only when it is created.",
    answer: "The key's record",
  }, async (c, service) => c.json(await service.read(identityOf(c), c.req.valid("param").key_id), 200)),
  endpoint("signed-in", authOperations.updateApiKey, {
    summary: "Change an API key's name, scopes or expiry",
    description: "Fields left out stay. Your own. With the scope `users:write` anybody's. A scope that is added must be one of the "
    + "caller's own. The change applies at once, also to streams.",
    answer: "The key's record",
  }, async (c, service) => {
    const caller = { identity: identityOf(c), actor: actorOf(c) };
    return c.json(await service.update(caller, c.req.valid("param").key_id, c.req.valid("json")), 200);
  }),
  endpoint("signed-in", authOperations.revokeApiKey, {
    summary: "Revoke an API key", description: "Your own. With the scope `users:write` anybody's.", answer: "Revoked",
  }, async (c, service) => {
    await service.remove({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("param").key_id);
    return c.body(null, 204);
  }),
);

import { z } from "@hono/zod-openapi";
import { Id, listEnvelope, User, UserCreate, UsersQuery, UserUpdate } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { UsersService } from "./users-service.ts";

const Params = z.object({ user_id: Id });

const list = declareRoute("users:read", {
  method: "get",
  path: "/users",
  operationId: "listUsers",
  summary: "List users",
  request: { query: UsersQuery },
  responses: { 200: { description: "Users in the order in which they were made", content: json(listEnvelope(User)) } },
});

const read = declareRoute("users:read", {
  method: "get",
  path: "/users/{user_id}",
  operationId: "readUser",
  summary: "Read a user",
  request: { params: Params },
  responses: { 200: { description: "The user", content: json(User) } },
});

const create = declareRoute("users:write", {
  method: "post",
  path: "/users",
  operationId: "createUser",
  summary: "Create a user",
  description: "The role may allow no more than the caller may do.",
  request: { body: jsonBody(UserCreate) },
  responses: { 201: { description: "The new user", content: json(User) } },
});

const update = declareRoute("users:write", {
  method: "put",
  path: "/users/{user_id}",
  operationId: "updateUser",
  summary: "Change a user's role, e-mail address or password",
  description: "Fields left out stay. A new role applies at once, also to existing tokens and API keys. A new password revokes the user's "
    + "tokens. The last administrator keeps the role (409).",
  request: { params: Params, body: jsonBody(UserUpdate) },
  responses: { 200: { description: "The user", content: json(User) } },
});

const remove = declareRoute("users:write", {
  method: "delete",
  path: "/users/{user_id}",
  operationId: "deleteUser",
  summary: "Delete a user, with the user's tokens and API keys",
  description: "The last administrator cannot be deleted (409).",
  request: { params: Params },
  responses: { 204: { description: "Deleted" } },
});

/** `/users` and `/users/{user_id}`. */
export function usersRoutes(service: UsersService) {
  const router = createRouter();
  router.openapi(list, async (c) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200));
  router.openapi(read, async (c) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").user_id), 200));
  router.openapi(create, async (c) => {
    const user = await service.create({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("json"));
    return c.json(user, 201, { location: `/api/v1/users/${user.id}` });
  });
  router.openapi(update, async (c) => {
    const caller = { identity: identityOf(c), actor: actorOf(c) };
    return c.json(await service.update(caller, c.req.valid("param").user_id, c.req.valid("json")), 200);
  });
  router.openapi(remove, async (c) => {
    await service.remove({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("param").user_id);
    return c.body(null, 204);
  });
  return router;
}

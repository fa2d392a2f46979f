import { z } from "@hono/zod-openapi";
import { Id, listEnvelope, User, UserCreate, UsersQuery, UserUpdate } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { toAnswer } from "../../gateway/page.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { jsonBody } from "../../gateway/route.ts";
import type { UsersService } from "./users-service.ts";

const Params = z.object({ user_id: Id });

const { endpoint, routes } = endpointsOf<UsersService>();

/** `/users` and `/users/{user_id}`. */
export const usersRoutes = routes(
  endpoint("users:read", "GET /users", {
    operationId: "listUsers", summary: "List users", query: UsersQuery,
    answer: [200, "Users in the order in which they were made", listEnvelope(User)],
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("users:read", "GET /users/{user_id}", {
    operationId: "readUser", summary: "Read a user", params: Params, answer: [200, "The user", User],
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").user_id), 200)),
  endpoint("users:write", "POST /users", {
    operationId: "createUser", summary: "Create a user", description: "The role may allow no more than the caller may do.",
    body: jsonBody(UserCreate), answer: [201, "The new user", User],
  }, async (c, service) => {
    const user = await service.create({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("json"));
    return c.json(user, 201, { location: `/api/v1/users/${user.id}` });
  }),
  endpoint("users:write", "PUT /users/{user_id}", {
    operationId: "updateUser", summary: "Change a user's role, e-mail address or password",
    description: "Fields left out stay. A new role applies at once, also to existing tokens and API keys. A new password revokes the user's "
    + "tokens. The last administrator keeps the role (409).",
    params: Params, body: jsonBody(UserUpdate), answer: [200, "The user", User],
  }, async (c, service) => {
    const caller = { identity: identityOf(c), actor: actorOf(c) };
    return c.json(await service.update(caller, c.req.valid("param").user_id, c.req.valid("json")), 200);
  }),
  endpoint("users:write", "DELETE /users/{user_id}", {
    operationId: "deleteUser", summary: "Delete a user, with the user's tokens and API keys",
    description: "The last administrator cannot be deleted (409).", params: Params, answer: [204, "Deleted"],
  }, async (c, service) => {
    await service.remove({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("param").user_id);
    return c.body(null, 204);
  }),
);

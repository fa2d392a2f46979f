import { authOperations } from "@lanthorn/contract";
import { actorOf, identityOf } from "../../../gateway/environment.ts";
import { toAnswer } from "../../../gateway/page.ts";
import { endpointsOf } from "../../../gateway/endpoint.ts";
import type { UsersService } from "./service.ts";

const { endpoint, routes } = endpointsOf<UsersService>();

/** `/users` and `/users/{user_id}`. */
export const usersRoutes = routes(
  endpoint("users:read", authOperations.listUsers, {
    summary: "List users", answer: "Users in the order in which they were made",
  }, async (c, service) => c.json(toAnswer(await service.list(identityOf(c).tenantId, c.req.valid("query"))), 200)),
  endpoint("users:read", authOperations.readUser, {
    summary: "Read a user", answer: "The user",
  }, async (c, service) => c.json(await service.read(identityOf(c).tenantId, c.req.valid("param").user_id), 200)),
  endpoint("users:write", authOperations.createUser, {
    summary: "Create a user", description: "The role may allow no more than the caller may do.", answer: "The new user",
  }, async (c, service) => {
    const user = await service.create({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("json"));
    return c.json(user, 201, { location: `/api/v1/users/${user.id}` });
  }),
  endpoint("users:write", authOperations.updateUser, {
    summary: "Change a user's role, e-mail address or password",
    description: "Fields left out stay. A new role applies at once, also to existing tokens and API keys. A new password revokes the user's "
    + "tokens. The last administrator keeps the role (409).",
    answer: "The user",
  }, async (c, service) => {
    const caller = { identity: identityOf(c), actor: actorOf(c) };
    return c.json(await service.update(caller, c.req.valid("param").user_id, c.req.valid("json")), 200);
  }),
  endpoint("users:write", authOperations.deleteUser, {
    summary: "Delete a user, with the user's tokens and API keys", description: "The last administrator cannot be deleted (409).",
    answer: "Deleted",
  }, async (c, service) => {
    await service.remove({ identity: identityOf(c), actor: actorOf(c) }, c.req.valid("param").user_id);
    return c.body(null, 204);
  }),
);

import { LoginRequest, Me, PasswordChange, PasswordConfirmation, PasswordConfirmed, StreamTicket, TokenResponse } from "@lanthorn/contract";
import type { Authentication } from "../../gateway/authentication.ts";
import { actorOf, identityOf } from "../../gateway/environment.ts";
import { createRouter, declareRoute, json, jsonBody } from "../../gateway/route.ts";
import type { PeopleService } from "./service.ts";

const login = declareRoute("anyone", {
  method: "post",
  path: "/auth/login",
  "x-secret": "shown",
  operationId: "login",
  summary: "Log in",
  description: "Five wrong passwords for one user from one address in 15 minutes: 429 until the window ends.",
  request: { body: jsonBody(LoginRequest) },
  responses: { 200: { description: "A token", content: json(TokenResponse) } },
});

const me = declareRoute("known", {
  method: "get",
  path: "/me",
  operationId: "readCaller",
  summary: "Read who calls",
  description: "The user, the tenant and the current scopes of the token or API key of this request.",
  responses: { 200: { description: "The caller", content: json(Me) } },
});

const refresh = declareRoute("signed-in", {
  method: "post",
  path: "/auth/refresh",
  "x-secret": "shown",
  operationId: "refreshToken",
  summary: "Get a new token",
  responses: { 200: { description: "A new token. The one that was sent stays valid until it expires", content: json(TokenResponse) } },
});

const logout = declareRoute("signed-in", {
  method: "post",
  path: "/auth/logout",
  operationId: "logout",
  summary: "Log out",
  responses: { 204: { description: "The token is revoked" } },
});

const password = declareRoute("signed-in", {
  method: "post",
  path: "/auth/password",
  "x-secret": "made",
  operationId: "changePassword",
  summary: "Change your password",
  description: "All tokens of the user are revoked. API keys stay.",
  request: { body: jsonBody(PasswordChange) },
  responses: { 200: { description: "A new token", content: json(TokenResponse) } },
});

const confirm = declareRoute("signed-in", {
  method: "post",
  path: "/auth/confirm",
  operationId: "confirmPassword",
  summary: "Confirm your password",
  description: "Some calls need it within the last 5 minutes, by the same token: they answer 403 with `details.required` = `password`. Wrong "
    + "passwords count as at login.",
  request: { body: jsonBody(PasswordConfirmation) },
  responses: { 200: { description: "The token counts as confirmed until then", content: json(PasswordConfirmed) } },
});

const ticket = declareRoute("devices:read", {
  method: "post",
  path: "/ws/ticket",
  "x-secret": "shown",
  operationId: "createStreamTicket",
  summary: "Create a ticket for the event stream",
  description: "For `/ws/events?ticket=…` within 30 s. The stream ends with the token or key that created the ticket.",
  responses: { 201: { description: "The ticket", content: json(StreamTicket) } },
});

/** `/me`, `/auth/login`, `/auth/refresh`, `/auth/logout`, `/auth/password`, `/auth/confirm` and `/ws/ticket`. */
export function peopleRoutes(service: PeopleService, authentication: Pick<Authentication, "createTicket">) {
  const router = createRouter();
  router.openapi(login, async (c) => c.json(await service.login({ ...c.req.valid("json"), address: c.env.peer.address }), 200));
  router.openapi(me, async (c) => c.json(await service.me(identityOf(c)), 200));
  router.openapi(refresh, async (c) => c.json(await service.refresh(identityOf(c)), 200));
  router.openapi(logout, async (c) => {
    await service.logout(identityOf(c), actorOf(c));
    return c.body(null, 204);
  });
  router.openapi(password, async (c) => c.json(await service.changePassword(identityOf(c), actorOf(c), c.req.valid("json")), 200));
  router.openapi(confirm, async (c) => c.json(await service.confirm(identityOf(c), actorOf(c), c.req.valid("json").password), 200));
  router.openapi(ticket, async (c) => c.json(await authentication.createTicket(identityOf(c)), 201));
  return router;
}

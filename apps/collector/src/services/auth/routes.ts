import { authOperations } from "@lanthorn/contract";
import type { Clock } from "@lanthorn/runtime";
import type { Authentication } from "../../gateway/authentication.ts";
import { actorOf, identityOf, isIdentity } from "../../gateway/environment.ts";
import { endpointsOf } from "../../gateway/endpoint.ts";
import { forgetInBrowser, keepInBrowser, keptInBrowser, refuseOtherOrigins } from "./login/browser-session.ts";
import type { AuthService } from "./service.ts";

const { endpoint, routes } = endpointsOf<{
  readonly service: AuthService;
  readonly authentication: Pick<Authentication, "byToken" | "createTicket">;
  readonly clock: Pick<Clock, "now">;
}>();

/** `/me`, `/auth/login`, `/auth/refresh`, `/auth/logout`, `/auth/session`, `/auth/password`, `/auth/confirm` and `/ws/ticket`. */
export const authRoutes = routes(
  endpoint("anyone", authOperations.login, {
    "x-secret": "shown", summary: "Log in",
    description: "Five wrong passwords for one user from one address in 15 minutes: 429 until the window ends.", answer: "A token",
  }, async (c, { service }) => c.json(await service.login({ ...c.req.valid("json"), address: c.env.peer.address }), 200)),
  endpoint("known", authOperations.readCaller, {
    summary: "Read who calls", description: "The user, the tenant and the current scopes of the token or API key of this request.",
    answer: "The caller",
  }, async (c, { service }) => c.json(await service.me(identityOf(c)), 200)),
  endpoint("signed-in", authOperations.refreshToken, {
    "x-secret": "shown", summary: "Get a new token", answer: "A new token. The one that was sent stays valid until it expires",
  }, async (c, { service }) => c.json(await service.refresh(identityOf(c)), 200)),
  endpoint("signed-in", authOperations.logout, {
    summary: "Log out", description: "A browser that keeps a token forgets it.", answer: "The token is revoked",
  }, async (c, { service }) => {
    await service.logout(identityOf(c), actorOf(c));
    forgetInBrowser(c);
    return c.body(null, 204);
  }),
  endpoint("signed-in", authOperations.keepSession, {
    "x-secret": "shown", summary: "Keep the session in the browser",
    description: "For the dashboard: the answer sets an `HttpOnly`, `SameSite=Strict` cookie that holds the token until it expires. The cookie opens "
    + "no route but `/auth/session/resume`.",
    answer: "The browser keeps the token of this request",
  }, (c, { clock }) => {
    refuseOtherOrigins(c);
    keepInBrowser(c, secondsUntil(identityOf(c).expiresAt, clock));
    return c.body(null, 204);
  }),
  endpoint("anyone", authOperations.resumeSession, {
    "x-secret": "shown", summary: "Resume the session that the browser keeps",
    description: "For the dashboard, when its page is opened anew. A cookie that is no longer valid is removed.",
    answer: "The token that the browser keeps",
  }, async (c, { authentication, clock }) => {
    refuseOtherOrigins(c);
    const token = keptInBrowser(c) ?? "";
    const identity = token === "" ? null : await authentication.byToken(token);
    if (isIdentity(identity)) {
      return c.json({ token: { access_token: token, token_type: "bearer" as const, expires_in: secondsUntil(identity.expiresAt, clock) } }, 200);
    }
    forgetInBrowser(c);
    return c.json({ token: null }, 200);
  }),
  endpoint("signed-in", authOperations.changePassword, {
    "x-secret": "made", summary: "Change your password", description: "All tokens of the user are revoked. API keys stay.",
    answer: "A new token",
  }, async (c, { service }) => c.json(await service.changePassword(identityOf(c), actorOf(c), c.req.valid("json")), 200)),
  endpoint("signed-in", authOperations.confirmPassword, {
    summary: "Confirm your password",
    description: "Some calls need it within the last 5 minutes, by the same token: they answer 403 with `details.required` = `password`. Wrong "
    + "passwords count as at login.",
    answer: "The token counts as confirmed until then",
  }, async (c, { service }) => c.json(await service.confirm(identityOf(c), actorOf(c), c.req.valid("json").password), 200)),
  endpoint("devices:read", authOperations.createStreamTicket, {
    "x-secret": "shown", summary: "Create a ticket for the event stream",
    description: "For `/ws/events?ticket=…` within 30 s. The stream ends with the token or key that created the ticket.",
    answer: "The ticket",
  }, async (c, { authentication }) => c.json(await authentication.createTicket(identityOf(c)), 201)),
);

function secondsUntil(expiresAt: number | null, clock: Pick<Clock, "now">): number {
  return Math.max(1, Math.floor(((expiresAt ?? 0) - clock.now()) / 1000));
}

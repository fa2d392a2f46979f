import { LoginRequest, TokenResponse } from "@lanthorn/contract";
import { identityOf } from "../../gateway/environment.ts";
import { createRouter, declareRoute, json } from "../../gateway/route.ts";
import type { PeopleService } from "./service.ts";

const login = declareRoute("anyone", {
  method: "post",
  path: "/auth/login",
  request: { body: { required: true, content: json(LoginRequest) } },
  responses: { 200: { description: "A token", content: json(TokenResponse) } },
});

const refresh = declareRoute("signed-in", {
  method: "post",
  path: "/auth/refresh",
  responses: { 200: { description: "A new token; the one that was sent counts until it ends", content: json(TokenResponse) } },
});

/** `/auth/login` and `/auth/refresh`. */
export function peopleRoutes(service: PeopleService) {
  const router = createRouter();
  router.openapi(login, async (c) => {
    const { username, password } = c.req.valid("json");
    return c.json(await service.login({ username, password, address: c.env.peer.address }), 200);
  });
  router.openapi(refresh, async (c) => c.json(await service.refresh(identityOf(c)), 200));
  return router;
}

import * as z from "zod";
import { Id } from "../../values.ts";
import {
  ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyUpdate, ApiKeysQuery, BrowserSession, LoginRequest, Me, PasswordChange, PasswordConfirmation,
  PasswordConfirmed, StreamTicket, TokenResponse, User, UserCreate, UserUpdate, UsersQuery,
} from "../auth.ts";
import { listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfKey = z.object({ key_id: Id });
const OfUser = z.object({ user_id: Id });

/** Who may do what: tokens, API keys and users. */
export const authOperations = operations({
  login: { target: "POST /auth/login", body: LoginRequest, status: 200, answer: TokenResponse },
  /** The user, the tenant and the scopes of the token or key that is sent. */
  readCaller: { target: "GET /me", status: 200, answer: Me },
  refreshToken: { target: "POST /auth/refresh", status: 200, answer: TokenResponse },
  logout: { target: "POST /auth/logout", status: 204 },
  /** The browser keeps the token that is sent, in a cookie that no script can read. */
  keepSession: { target: "POST /auth/session", status: 204 },
  /** The token that the browser keeps: a page that is opened anew goes on with it. */
  resumeSession: { target: "POST /auth/session/resume", status: 200, answer: BrowserSession },
  /** Every other token of the person ends. Answers a new one. */
  changePassword: { target: "POST /auth/password", body: PasswordChange, status: 200, answer: TokenResponse },
  /** The token that is sent counts as confirmed for five minutes. */
  confirmPassword: { target: "POST /auth/confirm", body: PasswordConfirmation, status: 200, answer: PasswordConfirmed },
  /** Opens one stream, within 30 s, without a token in the URL. */
  createStreamTicket: { target: "POST /ws/ticket", status: 201, answer: StreamTicket },
  listApiKeys: { target: "GET /auth/keys", query: ApiKeysQuery, status: 200, answer: listEnvelope(ApiKey) },
  createApiKey: { target: "POST /auth/keys", body: ApiKeyCreate, status: 201, answer: ApiKeyCreated },
  readApiKey: { target: "GET /auth/keys/{key_id}", params: OfKey, status: 200, answer: ApiKey },
  updateApiKey: { target: "PUT /auth/keys/{key_id}", params: OfKey, body: ApiKeyUpdate, status: 200, answer: ApiKey },
  revokeApiKey: { target: "DELETE /auth/keys/{key_id}", params: OfKey, status: 204 },
  listUsers: { target: "GET /users", query: UsersQuery, status: 200, answer: listEnvelope(User) },
  readUser: { target: "GET /users/{user_id}", params: OfUser, status: 200, answer: User },
  createUser: { target: "POST /users", body: UserCreate, status: 201, answer: User },
  updateUser: { target: "PUT /users/{user_id}", params: OfUser, body: UserUpdate, status: 200, answer: User },
  deleteUser: { target: "DELETE /users/{user_id}", params: OfUser, status: 204 },
});

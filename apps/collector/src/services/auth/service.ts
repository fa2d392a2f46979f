import { type OwnPassword, ownPassword, type OwnPasswordDependencies } from "./login/own-password.ts";
import { type Sessions, sessions } from "./login/sessions.ts";

/** Logins, tokens and passwords of users. Every password that was compared is in the audit log, right or wrong. */
export interface AuthService extends Sessions, OwnPassword {}

/**
 * A login with an unknown name takes as long as one with a wrong password.
 * @param deps.onAccessChanged Called after the commit of a logout or a new password; it closes streams of ended tokens.
 */
export function createAuthService(deps: OwnPasswordDependencies): AuthService {
  return { ...sessions(deps), ...ownPassword(deps) };
}

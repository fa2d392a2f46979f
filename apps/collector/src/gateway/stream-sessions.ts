import type { Clock } from "@lanthorn/runtime";
import type { Authentication } from "./authentication.ts";
import type { Identity } from "./environment.ts";
import { ApiError, rateLimited } from "./errors.ts";

/** How many WebSockets may be open at once. */
export interface StreamLimits {
  readonly total: number;
  readonly perTenant: number;
  /** Whatever token, ticket or key of the user's each was opened with. */
  readonly perUser: number;
}

/** Why a stream ends that its client has not ended. */
export type StreamEnd =
  | { readonly code: 4401; readonly reason: string }
  | { readonly code: 1011; readonly reason: string };

/** Open WebSockets and their limits. A stream ends when its token or key no longer allows it. */
export interface StreamSessions {
  /**
   * Takes a place for a stream, and watches from then on whether its bearer may still have it.
   * @param options.scope What the stream needs.
   * @param options.onEnd Called once, when the token or key has ended, was revoked or has lost the scope (4401), or when that
   * could not be found out (1011).
   * @returns Gives the place back; or the refusal, where there is none.
   */
  open(options: {
    readonly identity: Identity; readonly scope: string; readonly onEnd: (end: StreamEnd) => void;
  }): (() => void) | ApiError;
  /** Somebody of the tenant may have lost something: each of its streams is checked now. */
  accessChanged(tenantId: string): void;
  count(): number;
}

/** A change without a message, as by a command on the machine, is seen within this time. */
const CHECK_EVERY_MS = 10_000;
/** One that is refused a place may find one when another has been given up. */
const ASK_AGAIN_MS = 10_000;

interface Session {
  readonly identity: Identity;
  check(): void;
}

/** The streams of all users, on this process: the own ones, and those of services behind the gateway. */
export function createStreamSessions(deps: {
  readonly authentication: Pick<Authentication, "again">; readonly limits: StreamLimits; readonly clock: Clock;
}): StreamSessions {
  const { limits, clock } = deps;
  const sessions = new Set<Session>();

  const refusal = ({ tenantId, userId }: Identity): ApiError | null => {
    if (sessions.size >= limits.total) return new ApiError("SERVICE_UNAVAILABLE", "no more streams can be served now");
    const ofTenant = [...sessions].filter(({ identity }) => identity.tenantId === tenantId);
    if (ofTenant.length >= limits.perTenant) return tooMany("tenant", limits.perTenant);
    const ofUser = ofTenant.filter(({ identity }) => identity.userId === userId);
    return ofUser.length >= limits.perUser ? tooMany("user", limits.perUser) : null;
  };

  return {
    open({ identity, scope, onEnd }) {
      const refused = refusal(identity);
      if (refused) return refused;
      let checking = false;
      let again = false;
      const close = () => {
        sessions.delete(session);
        for (const cancel of timers) cancel();
      };
      const end = (why: StreamEnd) => {
        if (!sessions.has(session)) return;
        close();
        onEnd(why);
      };
      const check = async () => {
        try {
          do {
            again = false;
            const now = await deps.authentication.again(identity);
            if (typeof now === "string") end({ code: 4401, reason: now });
            else if (!now.scopes.has(scope)) end({ code: 4401, reason: `this needs the scope ${scope}` });
          } while (again && sessions.has(session));
        } catch {
          end({ code: 1011, reason: "the token could not be checked" });
        } finally {
          checking = false;
        }
      };
      const session: Session = {
        identity,
        check() {
          // What changes while a check reads is seen by one more.
          again = true;
          if (checking) return;
          checking = true;
          void check();
        },
      };
      const expired = () => end({ code: 4401, reason: "the token has expired" });
      // A key may end later than a timer can run, or never: that is seen with the checks.
      const expiresAt = identity.key ? null : identity.expiresAt;
      const timers = [
        clock.every(CHECK_EVERY_MS, () => session.check()),
        ...(expiresAt === null ? [] : [clock.after(Math.max(0, expiresAt - clock.now()), expired)]),
      ];
      sessions.add(session);
      // Something may have changed since the bearer was let in, before anybody could tell this session.
      session.check();
      return close;
    },
    accessChanged(tenantId) {
      for (const session of sessions) if (session.identity.tenantId === tenantId) session.check();
    },
    count: () => sessions.size,
  };
}

/** 429 with `details: { reason: "too-many-streams", of, limit }`. */
function tooMany(of: "tenant" | "user", limit: number): ApiError {
  const { message, headers } = rateLimited(
    `this ${of} has ${limit} streams open, the maximum: close one first`, ASK_AGAIN_MS,
  );
  return new ApiError("RATE_LIMITED", message, { headers, details: { reason: "too-many-streams", of, limit } });
}
